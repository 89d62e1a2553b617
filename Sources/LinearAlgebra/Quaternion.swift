/// A rotation as a unit quaternion, scalar first.
///
/// In Lodestone an attitude turns a vector from the *sensor* (or body) frame into the *earth* frame:
/// `earth = q.rotate(body)`.
public struct Quaternion: Sendable, Hashable, Codable {
  /// The scalar part, the cosine of half the angle.
  public var w: Double
  /// The vector part, the axis times the sine of half the angle.
  public var vector: Vector3

  /// Makes a quaternion from its four components.
  @inlinable public init(w: Double, x: Double, y: Double, z: Double) {
    self.w = w
    self.vector = Vector3(x, y, z)
  }

  /// Makes a quaternion from scalar and vector part.
  @inlinable public init(w: Double, vector: Vector3) {
    self.w = w
    self.vector = vector
  }

  /// The rotation that changes nothing.
  public static let identity = Quaternion(w: 1, vector: .zero)

  /// The rotation by the angle `|v|` (radians) about the direction of `v`, right-handed.
  @inlinable @inline(__always) public init(rotationVector v: Vector3) {
    let square = v.lengthSquared
    if square < 0.01 {
      // The series of cos(a/2) and sin(a/2)/a: exact to the last digit up to 0.1 rad, and without a
      // quotient that loses its digits near zero. By products: a gyro's every sample comes through here.
      let h = square / 4
      let scale = 0.5 - h * (1 / 12.0 - h * (1 / 240.0 - h * (1 / 10_080.0 - h * (1 / 725_760.0))))
      let w = 1 - h * (1 / 2.0 - h * (1 / 24.0 - h * (1 / 720.0 - h * (1 / 40_320.0))))
      self.init(w: w, vector: v * scale)
    } else {
      let angle = square.squareRoot()
      self.init(w: cos(angle / 2), vector: v * (sin(angle / 2) / angle))
    }
  }

  /// The rotation vector of this rotation, in radians, of at most pi in length.
  @inlinable public var rotationVector: Vector3 {
    let sign: Double = w < 0 ? -1 : 1
    let s = vector.length
    guard s > 1e-12 else { return vector * (2 * sign) }
    return vector * (2 * sign * atan2(s, abs(w)) / s)
  }

  /// The inverse of a unit quaternion.
  @inlinable @inline(__always) public var conjugate: Quaternion {
    Quaternion(w: w, vector: -vector)
  }

  /// The composition: `b` acts first.
  @inlinable @inline(__always) public static func * (a: Quaternion, b: Quaternion) -> Quaternion {
    Quaternion(
      w: a.w * b.w - a.vector.dot(b.vector),
      vector: a.w * b.vector + b.w * a.vector + a.vector.cross(b.vector))
  }

  /// The rotated vector.
  @inlinable @inline(__always) public func rotate(_ v: Vector3) -> Vector3 {
    let t = 2 * vector.cross(v)
    return v + w * t + vector.cross(t)
  }

  /// The quaternion scaled to length one; the identity where there is nothing to scale.
  @inlinable @inline(__always) public var normalized: Quaternion {
    let n = (w * w + vector.lengthSquared).squareRoot()
    guard n > 0, n.isFinite else { return .identity }
    let share = 1 / n
    return Quaternion(w: w * share, vector: vector * share)
  }

  /// The rotation on the shortest way from this one to `other`, at an even pace: this one at `share` 0, `other` at 1.
  @inlinable public func interpolated(to other: Quaternion, _ share: Double) -> Quaternion {
    let turn = (conjugate * other).rotationVector
    return (self * Quaternion(rotationVector: turn * share)).normalized
  }

  /// The rotation as a matrix.
  @inlinable @inline(__always) public var matrix: Matrix3 {
    let (x, y, z) = (vector.x, vector.y, vector.z)
    let (xx, yy, zz) = (2 * x * x, 2 * y * y, 2 * z * z)
    let (xy, xz, yz) = (2 * x * y, 2 * x * z, 2 * y * z)
    let (wx, wy, wz) = (2 * w * x, 2 * w * y, 2 * w * z)
    return Matrix3(
      columns: Vector3(1 - yy - zz, xy + wz, xz - wy), Vector3(xy - wz, 1 - xx - zz, yz + wx),
      Vector3(xz + wy, yz - wx, 1 - xx - yy))
  }

  /// The rotation of a proper orthonormal matrix (Shepperd's method: divide by the largest component).
  @inlinable public init(_ m: Matrix3) {
    let (a, b, c) = (m.columns.x, m.columns.y, m.columns.z)
    let trace = a.x + b.y + c.z
    if trace >= max(a.x, max(b.y, c.z)) {
      let w = (1 + trace).squareRoot() / 2
      self.init(w: w, vector: Vector3(b.z - c.y, c.x - a.z, a.y - b.x) / (4 * w))
    } else if a.x >= b.y && a.x >= c.z {
      let x = max(0, 1 + a.x - b.y - c.z).squareRoot() / 2
      self.init(w: (b.z - c.y) / (4 * x), x: x, y: (a.y + b.x) / (4 * x), z: (c.x + a.z) / (4 * x))
    } else if b.y >= c.z {
      let y = max(0, 1 + b.y - a.x - c.z).squareRoot() / 2
      self.init(w: (c.x - a.z) / (4 * y), x: (a.y + b.x) / (4 * y), y: y, z: (b.z + c.y) / (4 * y))
    } else {
      let z = max(0, 1 + c.z - a.x - b.y).squareRoot() / 2
      self.init(w: (a.y - b.x) / (4 * z), x: (c.x + a.z) / (4 * z), y: (b.z + c.y) / (4 * z), z: z)
    }
  }
}
