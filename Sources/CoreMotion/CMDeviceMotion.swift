// Attitude and all that goes with it, with the SDK's names.

public import Foundation
import LocationServices
import SensorTypes

/// How far a calibrated field can be trusted.
public enum CMMagneticFieldCalibrationAccuracy: Int32, Sendable {
  /// Not calibrated: the field beside it means nothing.
  case uncalibrated = -1
  /// Something beside the earth is measured, or north is known to no better than 15 degrees.
  case low = 0
  /// North is known to 15 degrees.
  case medium = 1
  /// North is known to 5 degrees.
  case high = 2

  init(_ trust: FieldTrust) {
    switch trust {
    case .uncalibrated: self = .uncalibrated
    case .low: self = .low
    case .medium: self = .medium
    case .high: self = .high
    }
  }
}

/// A field without the board's iron, and how far it can be trusted.
public struct CMCalibratedMagneticField: Sendable {
  /// Microtesla, along the axes of the device; zero where there is none.
  public var field: CMMagneticField
  /// How far it can be trusted; `uncalibrated` where there is none.
  public var accuracy: CMMagneticFieldCalibrationAccuracy

  /// Makes none.
  public init() { self.init(field: CMMagneticField(), accuracy: .uncalibrated) }

  /// Makes a field.
  public init(field: CMMagneticField, accuracy: CMMagneticFieldCalibrationAccuracy) {
    self.field = field
    self.accuracy = accuracy
  }
}

/// How the device is turned, turns and is pushed, at a moment. But for its attitude, which can be multiplied, it does not
/// change.
open class CMDeviceMotion: CMLogItem, @unchecked Sendable {
  /// Where the sensors are.
  public enum SensorLocation: Int, Sendable {
    /// In the device.
    case `default` = 0
    /// In a headphone, the left one: never on a board.
    case headphoneLeft = 1
    /// In a headphone, the right one: never on a board.
    case headphoneRight = 2
  }

  /// What all values come from.
  struct Values: Sendable, Equatable {
    var rate = SIMD3<Double>.zero
    /// In units of g, with the SDK's signs.
    var gravity = SIMD3<Double>.zero
    var userAcceleration = SIMD3<Double>.zero
    var field = SIMD3<Double>.zero
    var accuracy = CMMagneticFieldCalibrationAccuracy.uncalibrated
    var heading = -1.0
    var headingAccuracy = -1.0
  }

  private let values: Values
  private let turned: CMAttitude

  /// Against the frame that was asked for.
  open var attitude: CMAttitude { turned }
  /// Rad/s about the axes of the device, without the bias of the gyro.
  open var rotationRate: CMRotationRate {
    CMRotationRate(x: values.rate.x, y: values.rate.y, z: values.rate.z)
  }
  /// Where down is, along the axes of the device, 1 g long.
  open var gravity: CMAcceleration {
    CMAcceleration(x: values.gravity.x, y: values.gravity.y, z: values.gravity.z)
  }
  /// What the accelerometer measures beside gravity, in units of g, with the signs of `CMAcceleration`: the sum of the
  /// two is what was measured, the accelerometer's own error included.
  open var userAcceleration: CMAcceleration {
    let a = values.userAcceleration
    return CMAcceleration(x: a.x, y: a.y, z: a.z)
  }
  /// The field without the board's iron; uncalibrated in `xArbitraryZVertical`, which uses none.
  open var magneticField: CMCalibratedMagneticField {
    CMCalibratedMagneticField(
      field: CMMagneticField(x: values.field.x, y: values.field.y, z: values.field.z),
      accuracy: values.accuracy)
  }
  /// Degrees of the device's y axis clockwise from the north of the frame, 0 up to 360; -1 in a frame without north.
  open var heading: Double { values.heading }
  /// Half the width of the 95 % interval about magnetic north, degrees, as `CLHeading.headingAccuracy`; -1 in a frame
  /// without north, and while the field is disturbed.
  open var headingAccuracy: Double { values.headingAccuracy }
  /// In the device.
  open var sensorLocation: SensorLocation { .default }

  /// A device that lies in its frame, and feels nothing. It is there for subclasses.
  public override init() {
    turned = CMAttitude()
    values = Values()
    super.init()
  }

  init(_ attitude: CMQuaternion, _ values: Values, timestamp: TimeInterval) {
    turned = CMAttitude(attitude)
    self.values = values
    super.init(timestamp: timestamp)
  }

  convenience init(_ report: DeviceMotionReport) {
    let measured = CMAcceleration(force: report.force)
    self.init(
      CMQuaternion(
        x: report.vector.x, y: report.vector.y, z: report.vector.z, w: report.scalar),
      Values(
        rate: report.angularRate, gravity: -report.up,
        userAcceleration: SIMD3(measured.x, measured.y, measured.z) + report.up,
        field: report.fieldTrust == .uncalibrated ? .zero : report.field ?? .zero,
        accuracy: CMMagneticFieldCalibrationAccuracy(report.fieldTrust),
        heading: report.heading ?? -1, headingAccuracy: report.headingAccuracy ?? -1),
      timestamp: report.time.seconds)
  }

  /// Whether the other has the same values.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CMDeviceMotion else { return false }
    return other === self
      || values == other.values && turned == other.turned && timestamp == other.timestamp
  }

  /// A hash over attitude and time.
  open override var hash: Int { turned.hash ^ timestamp.hashValue }

  /// Attitude, rates, accelerations and time.
  open override var description: String {
    let (rate, user) = (values.rate, values.userAcceleration)
    return String(
      format: "%@ RotationRate %f %f %f UserAcceleration %f %f %f @ %f", turned.description, rate.x,
      rate.y, rate.z, user.x, user.y, user.z, timestamp)
  }

  private static let keys = ["rate", "gravity", "userAcceleration", "field"]

  /// Writes the values.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(turned, forKey: "attitude")
    let vectors = [values.rate, values.gravity, values.userAcceleration, values.field]
    for (key, vector) in zip(Self.keys, vectors) {
      for axis in 0..<3 { coder.encode(vector[axis], forKey: "\(key)\(axis)") }
    }
    coder.encode(values.accuracy.rawValue, forKey: "accuracy")
    coder.encode(values.heading, forKey: "heading")
    coder.encode(values.headingAccuracy, forKey: "headingAccuracy")
  }

  /// Reads the values; `nil` where one is missing or makes no sense.
  public required init?(coder: NSCoder) {
    let names = Self.keys.flatMap { key in (0..<3).map { "\(key)\($0)" } }
    guard (names + ["accuracy", "heading"]).allSatisfy(coder.containsValue(forKey:)),
      let attitude = coder.decodeObject(of: CMAttitude.self, forKey: "attitude"),
      let accuracy = CMMagneticFieldCalibrationAccuracy(
        rawValue: coder.decodeInt32(forKey: "accuracy"))
    else { return nil }
    func vector(_ key: String) -> SIMD3<Double> {
      SIMD3(
        coder.decodeDouble(forKey: key + "0"), coder.decodeDouble(forKey: key + "1"),
        coder.decodeDouble(forKey: key + "2"))
    }
    turned = attitude
    values = Values(
      rate: vector("rate"), gravity: vector("gravity"),
      userAcceleration: vector("userAcceleration"), field: vector("field"), accuracy: accuracy,
      heading: coder.decodeDouble(forKey: "heading"),
      // What was written before there was one has none.
      headingAccuracy: coder.containsValue(forKey: "headingAccuracy")
        ? coder.decodeDouble(forKey: "headingAccuracy") : -1)
    super.init(coder: coder)
  }
}
