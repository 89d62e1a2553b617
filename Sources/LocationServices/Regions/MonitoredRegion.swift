// What a client has watched, and what it is told of it.

public import Geodesy

/// On which side of a region's boundary the board is.
public enum RegionState: String, Hashable, Codable, Sendable {
  /// Not known yet.
  case unknown
  /// Inside.
  case inside
  /// Outside.
  case outside
}

/// A circle on the ellipsoid, or where certain beacons are heard, that is watched by a name.
public struct MonitoredRegion: Hashable, Codable, Sendable {
  /// The longest name, bytes of UTF-8.
  public static let longestName = 256
  /// The largest radius, metres: a quarter of a meridian. A larger circle is a smaller one around the antipode.
  public static let largestRadius = 10_000_000.0

  /// The name.
  public var identifier: String
  /// The beacons, where it is no circle; middle and radius say nothing then.
  public var beacons: WatchedBeacons?
  /// The middle.
  public var center: Position
  /// Metres.
  public var radius: Double
  /// Whether entering is told.
  public var notifiesOnEntry: Bool
  /// Whether leaving is told.
  public var notifiesOnExit: Bool

  /// Makes a region; `problem` says what is wrong with it.
  public init(
    identifier: String, center: Position, radius: Double, notifiesOnEntry: Bool = true,
    notifiesOnExit: Bool = true
  ) {
    self.identifier = identifier
    self.center = center
    self.radius = radius
    self.notifiesOnEntry = notifiesOnEntry
    self.notifiesOnExit = notifiesOnExit
  }

  /// Makes a region of beacons.
  public init(
    identifier: String, beacons: WatchedBeacons, notifiesOnEntry: Bool = true,
    notifiesOnExit: Bool = true
  ) {
    self.init(
      identifier: identifier, center: Position(latitude: 0, longitude: 0), radius: 0,
      notifiesOnEntry: notifiesOnEntry, notifiesOnExit: notifiesOnExit)
    self.beacons = beacons
  }

  /// Why it cannot be watched; `nil` where it can.
  public var problem: String? {
    if identifier.utf8.count > Self.longestName {
      return "its identifier has more than \(Self.longestName) bytes"
    }
    if let beacons { return beacons.constraint.problem }
    if !(abs(center.latitude) <= 90 && abs(center.longitude) <= 180) {
      return "its middle is no place on earth"
    }
    if !(radius > 0) { return "its radius is not above 0 m" }
    if radius > Self.largestRadius {
      return "its radius is above \(Int(Self.largestRadius / 1_000)) km"
    }
    return nil
  }

  /// Whether the other is the same circle, or the same beacons.
  public func hasShape(of other: MonitoredRegion) -> Bool {
    center == other.center && radius == other.radius
      && beacons?.constraint == other.beacons?.constraint
  }
}

/// What a client is told of a region.
public struct RegionEvent: Hashable, Codable, Sendable {
  /// The kinds of event.
  public enum Kind: Hashable, Codable, Sendable {
    /// It is watched from now on.
    case started
    /// It is not watched, and why.
    case failed(String)
    /// Its boundary was crossed, to the inside or the outside.
    case crossed(to: RegionState)
    /// Where the board is became known for the first time: no crossing.
    case settled(RegionState)
    /// The answer to a question.
    case answered(RegionState)
  }

  /// The region.
  public var region: MonitoredRegion
  /// What.
  public var kind: Kind

  /// Makes an event.
  public init(region: MonitoredRegion, kind: Kind) {
    self.region = region
    self.kind = kind
  }

  /// The state that is known by it; `nil` where it says none.
  public var state: RegionState? {
    switch kind {
    case .crossed(let state), .settled(let state): state
    case .started, .failed, .answered: nil
    }
  }
}
