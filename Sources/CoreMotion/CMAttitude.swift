// Attitude, with the SDK's names.

public import Foundation
import LocationServices
import Synchronization

/// A rotation as a unit quaternion. One of a `CMAttitude` turns a vector from the device to the reference frame.
public struct CMQuaternion: Sendable {
  /// The vector part along x.
  public var x: Double
  /// The vector part along y.
  public var y: Double
  /// The vector part along z.
  public var z: Double
  /// The scalar part.
  public var w: Double

  /// Makes one of zeros, which is no rotation.
  public init() { self.init(x: 0, y: 0, z: 0, w: 0) }

  /// Makes a quaternion of its components.
  public init(x: Double, y: Double, z: Double, w: Double) {
    (self.x, self.y, self.z, self.w) = (x, y, z, w)
  }
}

/// A rotation as a matrix, row by row. One of a `CMAttitude` turns a vector from the reference frame to the device, the
/// other way round than its quaternion: that is how the SDK has them.
public struct CMRotationMatrix: Sendable {
  /// Row 1, column 1.
  public var m11: Double
  /// Row 1, column 2.
  public var m12: Double
  /// Row 1, column 3.
  public var m13: Double
  /// Row 2, column 1.
  public var m21: Double
  /// Row 2, column 2.
  public var m22: Double
  /// Row 2, column 3.
  public var m23: Double
  /// Row 3, column 1.
  public var m31: Double
  /// Row 3, column 2.
  public var m32: Double
  /// Row 3, column 3.
  public var m33: Double

  /// Makes a matrix of zeros.
  public init() {
    self.init(m11: 0, m12: 0, m13: 0, m21: 0, m22: 0, m23: 0, m31: 0, m32: 0, m33: 0)
  }

  /// Makes a matrix of its entries.
  public init(
    m11: Double, m12: Double, m13: Double, m21: Double, m22: Double, m23: Double, m31: Double,
    m32: Double, m33: Double
  ) {
    (self.m11, self.m12, self.m13) = (m11, m12, m13)
    (self.m21, self.m22, self.m23) = (m21, m22, m23)
    (self.m31, self.m32, self.m33) = (m31, m32, m33)
  }
}

/// What attitudes are measured against. Z points up in all of them.
public struct CMAttitudeReferenceFrame: OptionSet, Hashable, Sendable {
  /// The SDK's number.
  public let rawValue: UInt

  /// Makes a frame, or a set of them, of the SDK's number.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// X lay to the right of the device when attitudes were first asked for. The gyro alone holds it: it never jumps, and
  /// drifts about the vertical by what is not known of the gyro's bias, degrees in minutes.
  public static let xArbitraryZVertical = CMAttitudeReferenceFrame(rawValue: 1)
  /// The same, led back by the magnetometer to the angle that it had to magnetic north when that was first known: with
  /// a time constant of ten seconds, by a quarter of a degree a second at most, and not while the field is disturbed. It
  /// never jumps.
  public static let xArbitraryCorrectedZVertical = CMAttitudeReferenceFrame(rawValue: 2)
  /// X points to magnetic north, Y to the west. It takes a calibrated magnetometer.
  public static let xMagneticNorthZVertical = CMAttitudeReferenceFrame(rawValue: 4)
  /// X points to true north, Y to the west. It takes the place of the device besides, by a receiver or the board file.
  public static let xTrueNorthZVertical = CMAttitudeReferenceFrame(rawValue: 8)

  /// The frame of the services; `nil` for none, and for several at once.
  var frame: MotionFrame? {
    switch self {
    case .xArbitraryZVertical: .arbitrary
    case .xArbitraryCorrectedZVertical: .arbitraryCorrected
    case .xMagneticNorthZVertical: .magneticNorth
    case .xTrueNorthZVertical: .trueNorth
    default: nil
    }
  }

  init(_ frame: MotionFrame) {
    switch frame {
    case .arbitrary: self = .xArbitraryZVertical
    case .arbitraryCorrected: self = .xArbitraryCorrectedZVertical
    case .magneticNorth: self = .xMagneticNorthZVertical
    case .trueNorth: self = .xTrueNorthZVertical
    }
  }
}

/// How the device is turned against a reference frame.
///
/// The device's x points to the right, its y to the top, its z out of the screen. From the reference frame it is turned by
/// `yaw` about z, then by `pitch` about its own x, then by `roll` about its own y, each right-handed.
open class CMAttitude: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Unchecked because the class is open, as the SDK's is; all that changes is in the mutex.
  private let value: Mutex<CMQuaternion>

  /// The attitude of a device that lies in its frame. It is there for subclasses.
  public override init() {
    value = Mutex(CMQuaternion(x: 0, y: 0, z: 0, w: 1))
    super.init()
  }

  init(_ quaternion: CMQuaternion) {
    value = Mutex(quaternion)
    super.init()
  }

  /// The rotation from the device to the reference frame.
  open var quaternion: CMQuaternion { value.withLock { $0 } }

  /// The rotation from the reference frame to the device: its third column is up as the device sees it.
  open var rotationMatrix: CMRotationMatrix {
    let q = quaternion
    let (xx, yy, zz) = (2 * q.x * q.x, 2 * q.y * q.y, 2 * q.z * q.z)
    let (xy, xz, yz) = (2 * q.x * q.y, 2 * q.x * q.z, 2 * q.y * q.z)
    let (wx, wy, wz) = (2 * q.w * q.x, 2 * q.w * q.y, 2 * q.w * q.z)
    return CMRotationMatrix(
      m11: 1 - yy - zz, m12: xy + wz, m13: xz - wy,
      m21: xy - wz, m22: 1 - xx - zz, m23: yz + wx,
      m31: xz + wy, m32: yz - wx, m33: 1 - xx - yy)
  }

  /// The turn about the device's y axis, radians, -pi to pi: positive where its right side is lower.
  open var roll: Double {
    let m = rotationMatrix
    return atan2(-m.m13, m.m33)
  }

  /// The turn about the device's x axis, radians, -pi/2 to pi/2: positive where its top is higher.
  open var pitch: Double { asin(max(-1, min(1, rotationMatrix.m23))) }

  /// The turn about the vertical, radians, -pi to pi: positive where it is turned to the left. Where the device stands on
  /// its edge it is not told from roll.
  open var yaw: Double {
    let m = rotationMatrix
    return atan2(-m.m21, m.m22)
  }

  /// Makes this the attitude relative to another one: what the device was turned by since.
  open func multiply(byInverseOf attitude: CMAttitude) {
    let r = attitude.quaternion
    value.withLock { q in
      q = CMQuaternion(
        x: r.w * q.x - r.x * q.w - r.y * q.z + r.z * q.y,
        y: r.w * q.y - r.y * q.w - r.z * q.x + r.x * q.z,
        z: r.w * q.z - r.z * q.w - r.x * q.y + r.y * q.x,
        w: r.w * q.w + r.x * q.x + r.y * q.y + r.z * q.z)
    }
  }

  /// Another one of the same value: this one can be changed.
  open func copy(with zone: NSZone? = nil) -> Any { CMAttitude(quaternion) }

  /// Whether the other has the same value.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CMAttitude else { return false }
    let (a, b) = (quaternion, other.quaternion)
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w
  }

  /// A hash over the value.
  open override var hash: Int {
    let q = quaternion
    return [q.x, q.y, q.z, q.w].hashValue
  }

  /// The three angles, degrees.
  open override var description: String {
    String(
      format: "CMAttitude Pitch: %f, Roll: %f, Yaw: %f", pitch * 180 / .pi, roll * 180 / .pi,
      yaw * 180 / .pi)
  }

  /// Yes.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the quaternion.
  open func encode(with coder: NSCoder) {
    let q = quaternion
    for (key, value) in [("x", q.x), ("y", q.y), ("z", q.z), ("w", q.w)] {
      coder.encode(value, forKey: key)
    }
  }

  /// Reads the quaternion; `nil` where a part of it is missing.
  public required init?(coder: NSCoder) {
    guard ["x", "y", "z", "w"].allSatisfy(coder.containsValue(forKey:)) else { return nil }
    value = Mutex(
      CMQuaternion(
        x: coder.decodeDouble(forKey: "x"), y: coder.decodeDouble(forKey: "y"),
        z: coder.decodeDouble(forKey: "z"), w: coder.decodeDouble(forKey: "w")))
    super.init()
  }
}
