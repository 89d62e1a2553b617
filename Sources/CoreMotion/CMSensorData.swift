// What accelerometer, gyro and magnetometer measure, with the SDK's names and units.

public import Foundation
import LocationServices
import SensorTypes

/// An acceleration in units of g, 9.80665 m/s^2, along the axes of the device.
///
/// The signs are the SDK's: a device that lies on its back measures -1 along z, one that falls nothing, and one that is
/// pushed to the right a negative x.
public struct CMAcceleration: Sendable {
  /// To the right.
  public var x: Double
  /// To the top.
  public var y: Double
  /// Out of the screen.
  public var z: Double

  /// Makes none.
  public init() { self.init(x: 0, y: 0, z: 0) }

  /// Makes an acceleration of its components.
  public init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }

  /// Of a specific force, m/s^2, which points up at rest.
  init(force: SIMD3<Double>) {
    let g = -force / 9.80665
    self.init(x: g.x, y: g.y, z: g.z)
  }
}

/// A rate of turning about the axes of the device, rad/s, right-handed.
public struct CMRotationRate: Sendable {
  /// About the axis to the right.
  public var x: Double
  /// About the axis to the top.
  public var y: Double
  /// About the axis out of the screen.
  public var z: Double

  /// Makes none.
  public init() { self.init(x: 0, y: 0, z: 0) }

  /// Makes a rate of its components.
  public init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }
}

/// A magnetic field along the axes of the device, microtesla.
public struct CMMagneticField: Sendable {
  /// To the right.
  public var x: Double
  /// To the top.
  public var y: Double
  /// Out of the screen.
  public var z: Double

  /// Makes none.
  public init() { self.init(x: 0, y: 0, z: 0) }

  /// Makes a field of its components.
  public init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }
}

extension SIMD3<Double> {
  func encode(with coder: NSCoder) {
    for (key, value) in [("x", x), ("y", y), ("z", z)] { coder.encode(value, forKey: key) }
  }

  /// From an archive; `nil` where a component is missing.
  init?(archive coder: NSCoder) {
    guard ["x", "y", "z"].allSatisfy(coder.containsValue(forKey:)) else { return nil }
    self.init(
      coder.decodeDouble(forKey: "x"), coder.decodeDouble(forKey: "y"),
      coder.decodeDouble(forKey: "z"))
  }
}

/// What a sensor has measured along three axes at a moment. It does not change.
///
/// The SDK has no such class: there the three below are log items as they are here, and nothing is lost by not knowing it.
open class CMAxesData: CMLogItem, @unchecked Sendable {
  final let value: SIMD3<Double>

  /// Values that are no numbers. It is there for subclasses.
  public override init() {
    value = SIMD3(repeating: .nan)
    super.init()
  }

  init(_ value: SIMD3<Double>, timestamp: TimeInterval) {
    self.value = value
    super.init(timestamp: timestamp)
  }

  /// Whether the other is of the same sensor, and has the same values.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CMAxesData else { return false }
    return (other.isKind(of: type(of: self)) || isKind(of: type(of: other)))
      && numbers == other.numbers
  }

  // A value that is not a number is equal to itself here.
  private var numbers: [UInt64] { [value.x, value.y, value.z, timestamp].map(\.bitPattern) }

  /// A hash over the values.
  open override var hash: Int { numbers.hashValue }

  /// The values and the time.
  open override var description: String {
    String(format: "x %f y %f z %f @ %f", value.x, value.y, value.z, timestamp)
  }

  /// Writes the values.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    value.encode(with: coder)
  }

  /// Reads the values; `nil` where one is missing.
  public required init?(coder: NSCoder) {
    guard let value = SIMD3<Double>(archive: coder) else { return nil }
    self.value = value
    super.init(coder: coder)
  }
}

/// What the accelerometer has measured at a moment. It does not change.
open class CMAccelerometerData: CMAxesData, @unchecked Sendable {
  /// In units of g, gravity included.
  open var acceleration: CMAcceleration { CMAcceleration(x: value.x, y: value.y, z: value.z) }

  convenience init(_ sample: MotionSample) {
    let g = CMAcceleration(force: sample.value)
    self.init(SIMD3(g.x, g.y, g.z), timestamp: sample.time.seconds)
  }
}

/// What the gyro has measured at a moment. It does not change.
open class CMGyroData: CMAxesData, @unchecked Sendable {
  /// As the chip gives it, rad/s: its bias is in it. `CMDeviceMotion.rotationRate` is freed of that.
  open var rotationRate: CMRotationRate { CMRotationRate(x: value.x, y: value.y, z: value.z) }

  convenience init(_ sample: MotionSample) {
    self.init(sample.value, timestamp: sample.time.seconds)
  }
}

/// What the magnetometer has measured at a moment. It does not change.
open class CMMagnetometerData: CMAxesData, @unchecked Sendable {
  /// As the chip gives it, microtesla: the board's iron is in it. `CMDeviceMotion.magneticField` is freed of that.
  open var magneticField: CMMagneticField { CMMagneticField(x: value.x, y: value.y, z: value.z) }

  convenience init(_ sample: MotionSample) {
    self.init(sample.value, timestamp: sample.time.seconds)
  }
}
