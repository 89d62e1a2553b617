// The values and errors of Core Motion, with the SDK's names.

@_exported public import Foundation
@_exported public import FoundationCombine
import LocationServices
import SensorTypes

/// Anything of Core Motion that happened at a moment. It does not change.
open class CMLogItem: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because nothing in it can change after `init`; unchecked because the class is open, as the
  // SDK's is.

  private let seconds: TimeInterval

  /// Seconds on the monotonic clock, which starts at the boot.
  open var timestamp: TimeInterval { seconds }

  /// Something that happened at the boot. It is there for subclasses.
  public override init() {
    seconds = 0
    super.init()
  }

  init(timestamp: TimeInterval) {
    seconds = timestamp
    super.init()
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the time.
  open func encode(with coder: NSCoder) { coder.encode(timestamp, forKey: "timestamp") }

  /// Reads the time; `nil` where there is none.
  public required init?(coder: NSCoder) {
    guard coder.containsValue(forKey: "timestamp") else { return nil }
    seconds = coder.decodeDouble(forKey: "timestamp")
    super.init()
  }
}

/// How much the device has climbed since the updates were started. It does not change.
open class CMAltitudeData: CMLogItem, @unchecked Sendable {
  private let metres: Double
  private let kilopascals: Double

  /// Metres above the first event.
  open var relativeAltitude: NSNumber { NSNumber(value: metres) }
  /// Static pressure in kilopascals.
  open var pressure: NSNumber { NSNumber(value: kilopascals) }

  /// An altitude that is no number, at a pressure that is none. It is there for subclasses.
  public override init() {
    (metres, kilopascals) = (.nan, .nan)
    super.init()
  }

  init(relativeAltitude: Double, pressure: Double, timestamp: TimeInterval) {
    metres = relativeAltitude
    kilopascals = pressure
    super.init(timestamp: timestamp)
  }

  convenience init(_ report: AltitudeReport) {
    self.init(
      relativeAltitude: report.relativeAltitude, pressure: report.pressure / 1_000,
      timestamp: report.time.seconds)
  }

  /// Whether the other has the same values.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CMAltitudeData else { return false }
    return numbers == other.numbers
  }

  // A value that is not a number is equal to itself here.
  private var numbers: [UInt64] { [metres, kilopascals, timestamp].map(\.bitPattern) }

  /// A hash over the values.
  open override var hash: Int { numbers.hashValue }

  /// Altitude, pressure and time.
  open override var description: String {
    String(
      format: "Altitude %.2f m Pressure %.4f kPa @ %.6f", metres, kilopascals, timestamp)
  }

  /// Writes the values.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(metres, forKey: "relativeAltitude")
    coder.encode(kilopascals, forKey: "pressure")
  }

  /// Reads the values; `nil` where one is missing.
  public required init?(coder: NSCoder) {
    guard coder.containsValue(forKey: "relativeAltitude"), coder.containsValue(forKey: "pressure")
    else { return nil }
    metres = coder.decodeDouble(forKey: "relativeAltitude")
    kilopascals = coder.decodeDouble(forKey: "pressure")
    super.init(coder: coder)
  }
}

/// The domain of Core Motion's errors.
public let CMErrorDomain = "CMErrorDomain"

/// The number of a Core Motion error.
public struct CMError: RawRepresentable, Hashable, Sendable {
  /// The number.
  public var rawValue: UInt32

  /// Makes the error of a number.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Makes the error of a number.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// No error: never told.
public let CMErrorNULL = CMError(100)
/// The device must be moved first: its magnetometer has no calibration.
public let CMErrorDeviceRequiresMovement = CMError(101)
/// True north is not known, because nobody knows where the board is.
public let CMErrorTrueNorthNotAvailable = CMError(102)
/// Something else: never on a board.
public let CMErrorUnknown = CMError(103)
/// The device counts no steps and knows no activities: no board does.
public let CMErrorMotionActivityNotAvailable = CMError(104)
/// The application may not know about activities: never told on a board.
public let CMErrorMotionActivityNotAuthorized = CMError(105)
/// The application was not built to know about activities: never told on a board.
public let CMErrorMotionActivityNotEntitled = CMError(106)
/// A parameter that makes no sense: no frame for device motion, or several at once.
public let CMErrorInvalidParameter = CMError(107)
/// A call that makes no sense now: never on a board.
public let CMErrorInvalidAction = CMError(108)
/// Not there, or not any more: a board without the chip, or a chip that stopped answering.
public let CMErrorNotAvailable = CMError(109)
/// The application was not built for it: never on a board.
public let CMErrorNotEntitled = CMError(110)
/// The application may not use it: never on a board.
public let CMErrorNotAuthorized = CMError(111)
/// No data came: never on a board.
public let CMErrorNilData = CMError(112)
/// The size is wrong: never on a board.
public let CMErrorSize = CMError(113)

/// Whether the application may use motion data. On a board it may, and nobody is asked.
public enum CMAuthorizationStatus: Int, Sendable {
  /// Nobody has decided yet: never on a board.
  case notDetermined = 0
  /// Forbidden, and the user cannot change it: never on a board.
  case restricted = 1
  /// The user has said no: never on a board.
  case denied = 2
  /// Allowed.
  case authorized = 3
}
