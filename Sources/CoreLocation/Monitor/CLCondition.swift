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

    init(_ region: MonitoredRegion) {
      self.init(
        center: CLLocationCoordinate2D(
          latitude: region.center.latitude, longitude: region.center.longitude),
        radius: region.radius)
    }

    func region(_ identifier: String, of monitor: String) -> MonitoredRegion {
      MonitoredRegion(
        identifier: identifier, monitor: monitor,
        center: Position(latitude: center.latitude, longitude: center.longitude), radius: radius)
    }
  }

  /// To hear a beacon. This version monitors none: the record says `unmonitored`, and there is no event.
  public struct BeaconIdentityCondition: CLCondition, Hashable {
    /// The beacon's identifier.
    public let uuid: UUID
    /// Its first number; `nil` for any.
    public let major: CLBeaconMajorValue?
    /// Its second number; `nil` for any.
    public let minor: CLBeaconMinorValue?

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
