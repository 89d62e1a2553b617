// Areas that can be monitored.

public import Foundation
import Geodesy

/// An area with a name. Make a `CLCircularRegion` or a `CLBeaconRegion`.
///
/// Regions compare by `identifier`: two with the same one are the same region, whatever their shape, and of two that
/// are monitored the later replaces the earlier.
open class CLRegion: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable as the SDK's: the two flags are to be set before a region is handed to a manager.

  private let name: String

  /// The name, by which regions are told apart.
  open var identifier: String { name }
  /// Whether entering it is told; true by default.
  open var notifyOnEntry = true
  /// Whether leaving it is told; true by default.
  open var notifyOnExit = true

  init(name: String) {
    self.name = name
    super.init()
  }

  /// A region with the same name, shape and flags.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = CLRegion(name: identifier)
    copy.takeFlags(of: self)
    return copy
  }

  fileprivate func takeFlags(of region: CLRegion) {
    (notifyOnEntry, notifyOnExit) = (region.notifyOnEntry, region.notifyOnExit)
  }

  /// Whether the other has the same name.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CLRegion)?.identifier == identifier
  }

  /// A hash of the name.
  open override var hash: Int { identifier.hashValue }

  /// The name.
  open override var description: String { "\(type(of: self)) (identifier:'\(identifier)')" }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the name and the flags.
  open func encode(with coder: NSCoder) {
    coder.encode(identifier as NSString, forKey: "identifier")
    coder.encode(number: notifyOnEntry ? 1 : 0, forKey: "onEntry")
    coder.encode(number: notifyOnExit ? 1 : 0, forKey: "onExit")
  }

  /// Reads the name and the flags; `nil` where one is missing.
  public required init?(coder: NSCoder) {
    guard let name = coder.text(forKey: "identifier"), let onEntry = coder.flag(forKey: "onEntry"),
      let onExit = coder.flag(forKey: "onExit")
    else { return nil }
    self.name = name
    (notifyOnEntry, notifyOnExit) = (onEntry, onExit)
    super.init()
  }

  fileprivate init(copyOf region: CLRegion) {
    name = region.identifier
    super.init()
    takeFlags(of: region)
  }
}

/// What lies within a distance of a point, over the WGS 84 ellipsoid.
open class CLCircularRegion: CLRegion, @unchecked Sendable {
  private let middle: CLLocationCoordinate2D
  private let distance: CLLocationDistance

  /// The middle.
  open var center: CLLocationCoordinate2D { middle }
  /// The radius, metres; 0 where it was made with a negative one, or with none.
  open var radius: CLLocationDistance { distance }

  /// Makes a region. It is not checked: one whose middle is no coordinate contains nothing.
  public init(
    center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String
  ) {
    middle = center
    distance = radius > 0 ? radius : 0
    super.init(name: identifier)
  }

  private init(copyOf region: CLCircularRegion) {
    (middle, distance) = (region.center, region.radius)
    super.init(copyOf: region)
  }

  /// Whether a coordinate is inside, or on the boundary, by the length of the shortest line to the middle. The SDK has
  /// a sphere for that, and may say otherwise within half a percent of the radius.
  open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    guard CLLocationCoordinate2DIsValid(center), CLLocationCoordinate2DIsValid(coordinate) else {
      return false
    }
    return Geodesic.inverse(
      from: Position(latitude: center.latitude, longitude: center.longitude),
      to: Position(latitude: coordinate.latitude, longitude: coordinate.longitude)
    ).distance <= radius
  }

  /// A region with the same name, shape and flags.
  open override func copy(with zone: NSZone? = nil) -> Any { CLCircularRegion(copyOf: self) }

  /// The name and the shape, as the SDK prints them.
  open override var description: String {
    let shape = String(
      format: "center:<%+.8f,%+.8f>, radius:%.2fm", center.latitude, center.longitude, radius)
    return "CLCircularRegion (identifier:'\(identifier)', \(shape))"
  }

  /// Writes name, flags and shape.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(numbers: [center.latitude, center.longitude, radius])
  }

  /// Reads what `encode(with:)` wrote; `nil` where something is missing.
  public required init?(coder: NSCoder) {
    guard let numbers = coder.numbers(3) else { return nil }
    middle = CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1])
    distance = numbers[2] > 0 ? numbers[2] : 0
    super.init(coder: coder)
  }
}

/// Where beacons of an identity are heard.
open class CLBeaconRegion: CLRegion, @unchecked Sendable {
  private let constraint: CLBeaconIdentityConstraint

  /// Whether a report is to be made also when the display is switched on inside; false by default. A board has no
  /// display of its own, and makes none.
  open var notifyEntryStateOnDisplay = false

  /// Which beacons.
  open var beaconIdentityConstraint: CLBeaconIdentityConstraint { constraint }
  /// The beacons' identifier.
  open var uuid: UUID { constraint.uuid }
  /// The beacons' identifier by its older name.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { constraint.uuid }
  /// The beacons' first number; `nil` for any.
  open var major: NSNumber? { constraint.major.map { NSNumber(value: $0) } }
  /// The beacons' second number; `nil` for any.
  open var minor: NSNumber? { constraint.minor.map { NSNumber(value: $0) } }

  /// Makes a region of the beacons that fit a constraint.
  public init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
    constraint = beaconIdentityConstraint
    super.init(name: identifier)
  }

  /// Makes a region of all beacons with an identifier.
  public convenience init(uuid: UUID, identifier: String) {
    self.init(
      beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid), identifier: identifier)
  }

  /// Makes a region of all beacons with an identifier and a first number.
  public convenience init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
    self.init(
      beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid, major: major),
      identifier: identifier)
  }

  /// Makes a region of one beacon.
  public convenience init(
    uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    self.init(
      beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid, major: major, minor: minor),
      identifier: identifier)
  }

  /// The older spelling of `init(uuid:identifier:)`.
  @available(*, deprecated, renamed: "init(uuid:identifier:)")
  public convenience init(proximityUUID: UUID, identifier: String) {
    self.init(uuid: proximityUUID, identifier: identifier)
  }

  /// The older spelling of `init(uuid:major:identifier:)`.
  @available(*, deprecated, renamed: "init(uuid:major:identifier:)")
  public convenience init(
    proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String
  ) {
    self.init(uuid: proximityUUID, major: major, identifier: identifier)
  }

  /// The older spelling of `init(uuid:major:minor:identifier:)`.
  @available(*, deprecated, renamed: "init(uuid:major:minor:identifier:)")
  public convenience init(
    proximityUUID: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    self.init(uuid: proximityUUID, major: major, minor: minor, identifier: identifier)
  }

  private init(copyOf region: CLBeaconRegion) {
    constraint = region.beaconIdentityConstraint
    super.init(copyOf: region)
    notifyEntryStateOnDisplay = region.notifyEntryStateOnDisplay
  }

  /// A region with the same name, beacons and flags.
  open override func copy(with zone: NSZone? = nil) -> Any { CLBeaconRegion(copyOf: self) }

  /// Writes name, flags and beacons.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(beaconIdentityConstraint, forKey: "constraint")
    coder.encode(number: notifyEntryStateOnDisplay ? 1 : 0, forKey: "onDisplay")
  }

  /// Reads what `encode(with:)` wrote; `nil` where something is missing.
  public required init?(coder: NSCoder) {
    guard
      let constraint = coder.decodeObject(
        of: CLBeaconIdentityConstraint.self, forKey: "constraint"),
      let onDisplay = coder.flag(forKey: "onDisplay")
    else { return nil }
    self.constraint = constraint
    super.init(coder: coder)
    notifyEntryStateOnDisplay = onDisplay
  }
}
