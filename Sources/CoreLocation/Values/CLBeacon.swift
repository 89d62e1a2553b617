// Beacons: what is looked for, and what is heard.

public import Foundation

/// A beacon's first number, 0 to 65535.
public typealias CLBeaconMajorValue = UInt16
/// A beacon's second number, 0 to 65535.
public typealias CLBeaconMinorValue = UInt16

/// Which beacons are meant: an identifier, and one or both numbers where not all with it are. It does not change.
open class CLBeaconIdentityConstraint: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the SDK's is.

  private let values: (uuid: UUID, major: CLBeaconMajorValue?, minor: CLBeaconMinorValue?)

  /// The identifier.
  open var uuid: UUID { values.uuid }
  /// The first number; `nil` for any.
  open var major: CLBeaconMajorValue? { values.major }
  /// The second number; `nil` for any.
  open var minor: CLBeaconMinorValue? { values.minor }

  /// All beacons with an identifier.
  public init(uuid: UUID) {
    values = (uuid, nil, nil)
    super.init()
  }

  /// All beacons with an identifier and a first number.
  public init(uuid: UUID, major: CLBeaconMajorValue) {
    values = (uuid, major, nil)
    super.init()
  }

  /// One beacon.
  public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
    values = (uuid, major, minor)
    super.init()
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the other means the same beacons.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLBeaconIdentityConstraint else { return false }
    return uuid == other.uuid && major == other.major && minor == other.minor
  }

  /// A hash over identifier and numbers.
  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(uuid)
    hasher.combine(major)
    hasher.combine(minor)
    return hasher.finalize()
  }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes identifier and numbers.
  open func encode(with coder: NSCoder) {
    coder.encode(uuid.uuidString as NSString, forKey: "uuid")
    if let major { coder.encode(number: Double(major), forKey: "major") }
    if let minor { coder.encode(number: Double(minor), forKey: "minor") }
  }

  /// Reads what `encode(with:)` wrote; `nil` without an identifier, with a number that is none, or a minor alone.
  public required init?(coder: NSCoder) {
    guard let uuid = coder.text(forKey: "uuid").flatMap(UUID.init(uuidString:)) else { return nil }
    func number(_ key: String) -> UInt16?? {
      guard coder.containsValue(forKey: key) else { return .some(nil) }
      return coder.integer(forKey: key, in: 0...65_535).map { .some(UInt16($0)) }
    }
    guard let major = number("major"), let minor = number("minor"), major != nil || minor == nil
    else { return nil }
    values = (uuid, major, minor)
    super.init()
  }
}

/// A beacon that was heard. It does not change.
open class CLBeacon: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the SDK's is.

  private struct Values: Sendable {
    var uuid: UUID
    var major: UInt16
    var minor: UInt16
    var proximity: CLProximity
    var accuracy: CLLocationAccuracy
    var rssi: Int
    var timestamp: Date
  }

  private let values: Values

  /// The identifier.
  open var uuid: UUID { values.uuid }
  /// The identifier by its older name.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { values.uuid }
  /// The first number.
  open var major: NSNumber { NSNumber(value: values.major) }
  /// The second number.
  open var minor: NSNumber { NSNumber(value: values.minor) }
  /// How far away it is, roughly: `immediate` below 0.5 m of `accuracy`, `near` below 3 m, else `far`; `unknown` where
  /// that is not known.
  open var proximity: CLProximity { values.proximity }
  /// The distance by the strength of the signal, metres, and one sigma of it as well: walls and people make it wrong by a
  /// factor of two. Negative: not known. By d = 10^((P - R) / 20), with P what the beacon says of its strength at one
  /// metre and R the mean of five seconds.
  open var accuracy: CLLocationAccuracy { values.accuracy }
  /// The mean strength of its signal since it was last told, dBm; 0: not known.
  open var rssi: Int { values.rssi }
  /// When it was last heard.
  open var timestamp: Date { values.timestamp }

  /// A beacon of zeros that is not known to be anywhere. It is there for subclasses.
  public override init() {
    values = Values(
      uuid: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), major: 0, minor: 0,
      proximity: .unknown, accuracy: -1, rssi: 0, timestamp: Date())
    super.init()
  }

  init(
    uuid: UUID, major: UInt16, minor: UInt16, proximity: CLProximity,
    accuracy: CLLocationAccuracy, rssi: Int, timestamp: Date
  ) {
    values = Values(
      uuid: uuid, major: major, minor: minor, proximity: proximity, accuracy: accuracy, rssi: rssi,
      timestamp: timestamp)
    super.init()
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the values.
  open func encode(with coder: NSCoder) {
    coder.encode(uuid.uuidString as NSString, forKey: "uuid")
    coder.encode(numbers: [
      major.doubleValue, minor.doubleValue, Double(proximity.rawValue), accuracy, Double(rssi),
      timestamp.timeIntervalSinceReferenceDate,
    ])
  }

  /// Reads the values; `nil` where one is missing, or is none.
  public required init?(coder: NSCoder) {
    guard let uuid = coder.text(forKey: "uuid").flatMap(UUID.init(uuidString:)),
      let numbers = coder.numbers(6), let major = UInt16(exactly: numbers[0]),
      let minor = UInt16(exactly: numbers[1]),
      let proximity = Int(exactly: numbers[2]).flatMap(CLProximity.init(rawValue:)),
      let rssi = Int(exactly: numbers[4])
    else { return nil }
    values = Values(
      uuid: uuid, major: major, minor: minor, proximity: proximity, accuracy: numbers[3],
      rssi: rssi, timestamp: Date(timeIntervalSinceReferenceDate: numbers[5]))
    super.init()
  }
}
