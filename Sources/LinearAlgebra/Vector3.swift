/// A 3-vector of doubles; the frame and the unit stand at each use.
public typealias Vector3 = SIMD3<Double>

extension SIMD3<Double> {
  /// The scalar product with `other`.
  @inlinable public func dot(_ other: Self) -> Double {
    (self * other).sum()
  }

  /// The right-handed vector product `self x other`.
  @inlinable public func cross(_ other: Self) -> Self {
    Self(
      y * other.z - z * other.y,
      z * other.x - x * other.z,
      x * other.y - y * other.x)
  }

  /// The sum of the squared components.
  @inlinable public var lengthSquared: Double { dot(self) }

  /// The Euclidean norm.
  @inlinable public var length: Double { lengthSquared.squareRoot() }

  /// The vector of length one in the same direction, or `nil` where there is no direction to keep:
  /// a length of zero, or one that is not finite.
  @inlinable public var normalized: Self? {
    let length = self.length
    guard length > 0, length.isFinite else { return nil }
    return self / length
  }

  /// Whether no component is infinite or NaN.
  @inlinable public var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}
