// Areas in which beacons are heard.

public import Foundation

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

  /// What a peripheral that is to be found as these beacons has to advertise: under the key that Core Bluetooth takes
  /// it by, 21 bytes, which are identifier, numbers and strength. A number that any beacon may have is 0.
  ///
  /// A board has no Core Bluetooth; behind the bytes 4C 00 02 15 they are an iBeacon's manufacturer data for BlueZ.
  ///
  /// - Parameter measuredPower: The strength at one metre, dBm, -128 to 127; `nil` for the -59 of a phone.
  open func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary {
    let constraint = beaconIdentityConstraint
    var data = withUnsafeBytes(of: constraint.uuid.uuid) { Data($0) }
    for number in [constraint.major ?? 0, constraint.minor ?? 0] {
      data.append(contentsOf: [UInt8(number >> 8), UInt8(number & 0xFF)])
    }
    let power = Int8(clamping: measuredPower?.intValue ?? -59)
    data.append(UInt8(bitPattern: power))
    return NSMutableDictionary(
      object: data as NSData, forKey: "kCBAdvDataAppleBeaconKey" as NSString)
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
