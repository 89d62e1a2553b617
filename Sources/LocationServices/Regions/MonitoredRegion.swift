// What a client has watched, and what it is told of it.

package import Geodesy
package import SensorTypes

/// On which side of a region's boundary the board is.
package enum RegionState: String, Hashable, Codable, Sendable {
  case unknown
  case inside
  case outside
}

/// What a region is known by: its name among those of the managers, or of one monitor.
package struct RegionKey: Hashable, Codable, Sendable {
  /// The monitor's name; `nil` for the regions that all managers share.
  package var monitor: String?
  package var identifier: String

  package init(_ identifier: String, monitor: String? = nil) {
    self.monitor = monitor
    self.identifier = identifier
  }
}

/// A circle on the ellipsoid, or where certain beacons are heard, that is watched by a name.
package struct MonitoredRegion: Hashable, Codable, Sendable {
  /// The longest name, bytes of UTF-8.
  package static let longestName = 256
  /// The largest radius, metres: a quarter of a meridian. A larger circle is a smaller one around the antipode.
  package static let largestRadius = 10_000_000.0

  package var identifier: String
  /// The name of the monitor that it belongs to; `nil` for one that all managers share.
  package var monitor: String?
  /// The beacons, where it is no circle; middle and radius say nothing then.
  package var beacons: MonitoredBeacons?
  package var center: Position
  /// Metres.
  package var radius: Double
  /// Whether entering is told.
  package var notifiesOnEntry: Bool
  /// Whether leaving is told.
  package var notifiesOnExit: Bool

  /// Makes a region; `problem` says what is wrong with it.
  package init(
    identifier: String, monitor: String? = nil, center: Position, radius: Double,
    notifiesOnEntry: Bool = true, notifiesOnExit: Bool = true
  ) {
    self.identifier = identifier
    self.monitor = monitor
    self.center = center
    self.radius = radius
    self.notifiesOnEntry = notifiesOnEntry
    self.notifiesOnExit = notifiesOnExit
  }

  /// Makes a region of beacons.
  package init(
    identifier: String, monitor: String? = nil, beacons: MonitoredBeacons,
    notifiesOnEntry: Bool = true, notifiesOnExit: Bool = true
  ) {
    self.init(
      identifier: identifier, monitor: monitor, center: Position(latitude: 0, longitude: 0),
      radius: 0, notifiesOnEntry: notifiesOnEntry, notifiesOnExit: notifiesOnExit)
    self.beacons = beacons
  }

  /// What it is known by.
  package var key: RegionKey { RegionKey(identifier, monitor: monitor) }

  /// Why it cannot be watched; `nil` where it can.
  package var problem: String? {
    if max(identifier.utf8.count, monitor?.utf8.count ?? 0) > Self.longestName {
      return "its name has more than \(Self.longestName) bytes"
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
  package func hasShape(of other: MonitoredRegion) -> Bool {
    center == other.center && radius == other.radius
      && beacons?.constraint == other.beacons?.constraint
  }
}

/// Why a region is not watched, or not at the moment.
package enum RegionProblem: Hashable, Codable, Sendable, CustomStringConvertible {
  /// It is none that can be, and what is wrong with it.
  case unfit(String)
  /// As many as may be are watched already.
  case tooMany(Int)
  /// Its beacons cannot be heard, and why; it goes on by itself as soon as they can.
  case unheard(String)
  /// The application may not know of crossings, whether positions are refused or not exact enough, and why; it goes on by
  /// itself as soon as it may.
  case denied(AuthorizationReport)

  package var description: String {
    switch self {
    case .unfit(let problem), .unheard(let problem): problem
    case .denied(let report):
      report.isRefused
        ? AuthorizationProblem.notGranted.description
        : "positions are not exact enough: reduced accuracy"
    case .tooMany(let most): "\(most) regions are monitored already"
    }
  }
}

/// What a client is told of a region.
package struct RegionEvent: Hashable, Codable, Sendable {
  package var region: MonitoredRegion
  package var kind: RegionEventKind
  package var time: Timestamp
  /// The same by the receiver whose position says it, seconds since 1970.
  package var utc: Double?

  package init(region: MonitoredRegion, kind: RegionEventKind, time: Timestamp, utc: Double? = nil)
  {
    self.region = region
    self.kind = kind
    self.time = time
    self.utc = utc
  }

  /// The state that is known by it; `nil` where it says none.
  package var state: RegionState? {
    switch kind {
    case .crossed(let state), .settled(let state): state
    case .started, .failed, .answered, .unkept: nil
    }
  }
}

/// The kinds of event.
package enum RegionEventKind: Hashable, Codable, Sendable {
  /// It is watched from now on.
  case started
  /// It is not watched, or not at the moment, and why.
  case failed(RegionProblem)
  /// Its boundary was crossed, to the inside or the outside.
  case crossed(to: RegionState)
  /// Where the board is became known for the first time: no crossing.
  case settled(RegionState)
  /// The answer to a question.
  case answered(RegionState)
  /// It is watched until the program ends only, and why, for a person.
  case unkept(String)
}
