// What a monitor can watch.

public import Foundation
import Geodesy
import LocationServices

/// Something that is fulfilled or not, and that a `CLMonitor` watches.
public protocol CLCondition: Sendable {}

extension CLMonitor {
  /// To be within a circle.
  public struct CircularGeographicCondition: CLCondition, Hashable {
    /// The middle.
    public let center: CLLocationCoordinate2D
    /// Metres, up to 10,000 km.
    public let radius: CLLocationDistance

    /// Makes a condition.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
      self.center = center
      self.radius = radius
    }

    /// Whether both are the same circle.
    public static func == (a: Self, b: Self) -> Bool { a.numbers == b.numbers }

    /// Hashes the values.
    public func hash(into hasher: inout Hasher) { hasher.combine(numbers) }

    private var numbers: [Double] { [center.latitude, center.longitude, radius] }

  }

  /// To hear a beacon: as soon as one speaks, until none has for 30 seconds of listening. Where there is no Bluetooth it
  /// is unmonitored, and goes on by itself as soon as there is.
  public struct BeaconIdentityCondition: CLCondition, Hashable {
    /// The beacon's identifier.
    public let uuid: UUID
    /// Its first number; `nil` for any.
    public let major: CLBeaconMajorValue?
    /// Its second number; `nil` for any.
    public let minor: CLBeaconMinorValue?

    init(_ constraint: CLBeaconIdentityConstraint) {
      (uuid, major, minor) = (constraint.uuid, constraint.major, constraint.minor)
    }

    /// All beacons with an identifier.
    public init(uuid: UUID) { (self.uuid, major, minor) = (uuid, nil, nil) }

    /// All beacons with an identifier and a first number.
    public init(uuid: UUID, major: CLBeaconMajorValue) {
      (self.uuid, self.major, minor) = (uuid, major, nil)
    }

    /// One beacon.
    public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
      (self.uuid, self.major, self.minor) = (uuid, major, minor)
    }
  }
}

extension MonitoredRegion {
  /// A monitor's condition as the services know it; `nil` for one that they do not.
  init?(_ condition: any CLCondition, identifier: String, monitor: String) {
    switch condition {
    case let circle as CLMonitor.CircularGeographicCondition:
      let center = Position(
        latitude: circle.center.latitude, longitude: circle.center.longitude)
      self.init(
        identifier: identifier, monitor: monitor, center: center, radius: circle.radius)
    case let beacon as CLMonitor.BeaconIdentityCondition:
      let constraint = BeaconConstraint(
        uuid: BeaconUUID(beacon.uuid), major: beacon.major, minor: beacon.minor)
      self.init(identifier: identifier, monitor: monitor, beacons: MonitoredBeacons(constraint))
    default: return nil
    }
  }

  /// The condition as applications know it.
  var condition: any CLCondition {
    guard let constraint = beacons?.constraint else {
      return CLMonitor.CircularGeographicCondition(
        center: CLLocationCoordinate2D(latitude: center.latitude, longitude: center.longitude),
        radius: radius)
    }
    return CLMonitor.BeaconIdentityCondition(
      CLBeaconIdentityConstraint(constraint))
  }
}
