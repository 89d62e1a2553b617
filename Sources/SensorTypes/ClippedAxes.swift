package import LinearAlgebra

/// The axes of a sample on which a sensor stood at an end of its range: the true value lies beyond.
public struct ClippedAxes: OptionSet, Sendable, Hashable, Codable {
  /// The bits, `x` the lowest.
  public var rawValue: UInt8

  /// The sensor stood at an end of its x axis.
  public static let x = ClippedAxes(rawValue: 1)
  /// The sensor stood at an end of its y axis.
  public static let y = ClippedAxes(rawValue: 2)
  /// The sensor stood at an end of its z axis.
  public static let z = ClippedAxes(rawValue: 4)

  /// The sensor stood at an end of each of its axes.
  public static let all: ClippedAxes = [.x, .y, .z]

  /// Makes a set of its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Makes the set of one axis, 0 to 2.
  package init(axis: Int) { rawValue = 1 << UInt8(axis & 7) }

  /// Makes the set of the axes on which `value` is beyond `limit`, either way.
  package init(_ value: Vector3, beyond limit: Double) {
    rawValue = 0
    for axis in 0..<3 where abs(value[axis]) > limit { insert(ClippedAxes(axis: axis)) }
  }

  /// Whether the set has an axis, 0 to 2.
  package func contains(axis: Int) -> Bool { rawValue >> UInt8(axis & 7) & 1 == 1 }

  /// The axes of another frame that they show in: those along which more than half of one of them lies.
  ///
  /// - Parameter rotation: Into the other frame.
  package func seen(through rotation: Matrix3) -> ClippedAxes {
    guard !isEmpty else { return [] }
    var axes: ClippedAxes = []
    for (axis, column) in [rotation.columns.x, rotation.columns.y, rotation.columns.z].enumerated()
    where contains(axis: axis) {
      axes.formUnion(ClippedAxes(column, beyond: 0.5))
    }
    return axes
  }
}

/// Where a gyro and an accelerometer, sampled together, stood at an end of their ranges.
public struct InertialClipping: Sendable, Hashable, Codable {
  /// The axes on which the gyro stood at an end of its range.
  public var angularRate: ClippedAxes
  /// The axes on which the accelerometer stood at an end of its range.
  public var acceleration: ClippedAxes

  /// Makes a pair of sets, which are empty by default.
  public init(angularRate: ClippedAxes = [], acceleration: ClippedAxes = []) {
    self.angularRate = angularRate
    self.acceleration = acceleration
  }

  /// The axes of another frame that they show in.
  ///
  /// - Parameter rotation: Into the other frame.
  package func seen(through rotation: Matrix3) -> InertialClipping {
    InertialClipping(
      angularRate: angularRate.seen(through: rotation),
      acceleration: acceleration.seen(through: rotation))
  }

  /// Whether both sensors were within their ranges.
  public var isEmpty: Bool { angularRate.isEmpty && acceleration.isEmpty }
}
