// Sums over a tenth of a second: all that the filter learns of its samples.

import LinearAlgebra
import SensorTypes

/// Sums over the block being filled. Everything in the earth frame, unless it says otherwise.
struct MotionBlock: Sendable, Equatable, Codable {
  private(set) var duration = 0.0
  /// Sum of R dt.
  private(set) var rotation = Matrix3(diagonal: .zero)
  /// Sum of what it turned by, body frame, radians.
  private(set) var turning = Vector3.zero
  /// Sum of |rate| dt, radians.
  private(set) var turned = 0.0
  /// What coarse integration may have missed, rad^2.
  private(set) var coarse = 0.0
  /// Sum of the squares of the horizontal force's second differences, (m/s^2)^2.
  private var forceBends = 0.0
  private var force = Vector3.zero
  private var forceCount = 0.0
  /// Whether the gyro was beyond its range: the attitudes that everything was summed with are not those of the board.
  var isRateClipped = false
  /// Sums over the axes on which a force was beyond its range, of the products of their horizontal parts: east with east,
  /// east with north, north with north; and how many such forces there were.
  private var clippedForce = Vector3.zero
  private var clippedCount = 0.0
  /// Sums over the field's samples, freed of their lag: R, body frame, earth frame, squares.
  private var fieldRotation = Matrix3(diagonal: .zero)
  private var bodyField = Vector3.zero
  private var earthField = Vector3.zero
  private var fieldSquare = 0.0
  /// Sum of R (w x m).
  private var fieldLag = Vector3.zero
  private var fieldCount = 0.0

  /// Takes an interval of the gyro.
  /// - Parameters:
  ///   - rotation: The attitude at its end.
  ///   - turn: What it turned by, body frame, radians.
  ///   - change: How much the rate has changed meanwhile, rad/s.
  ///   - bend: How much more than in the interval before, rad/s.
  mutating func add(
    rotation r: Matrix3, turn: Vector3, change: Vector3, bend: Vector3, _ dt: Double,
    _ c: AttitudeConstants
  ) {
    rotation.add(r, times: dt)
    turning += turn
    turned += turn.length
    coarse += bend.lengthSquared * dt * dt * c.integration.missedTurn
    if dt > c.integration.coarseInterval {
      coarse += change.lengthSquared * dt * dt * c.integration.coarseTurn
    }
    duration += dt
  }

  /// Takes one specific force, and how much more it has changed by than the one before.
  mutating func add(force earth: Vector3, bend: Vector3) {
    forceBends += bend.x * bend.x + bend.y * bend.y
    force += earth
    forceCount += 1
  }

  /// Notes that a force which was taken lies beyond the accelerometer's range on some axes.
  mutating func noteClipped(_ axes: ClippedAxes, rotation r: Matrix3) {
    clippedCount += 1
    func note(_ column: Vector3) {
      clippedForce += Vector3(column.x * column.x, column.x * column.y, column.y * column.y)
    }
    if axes.contains(.x) { note(r.columns.x) }
    if axes.contains(.y) { note(r.columns.y) }
    if axes.contains(.z) { note(r.columns.z) }
  }

  /// Variance of each horizontal axis of the velocity by what the force was beyond the accelerometer's range, (m/s)^2.
  func clippedVelocity(_ c: AttitudeConstants) -> SIMD2<Double> {
    guard clippedCount > 0 else { return .zero }
    let time = duration / forceCount * c.integration.clippedForce
    return SIMD2(clippedForce.x, clippedForce.z) * (clippedCount * time * time)
  }

  /// Takes one field sample.
  /// - Parameters:
  ///   - measured: Body frame, microtesla.
  ///   - rotation: The attitude at its time.
  ///   - lag: Seconds by which it is older than that.
  ///   - rate: At which the board turns, body frame, rad/s.
  /// - Returns: The field in the earth frame, freed of its lag.
  @inline(__always)
  mutating func add(field measured: Vector3, rotation: Matrix3, lag: Double, rate: Vector3)
    -> Vector3
  {
    let turning = rate.cross(measured)
    let body = measured - lag * turning
    let earth = rotation * body
    fieldRotation.add(rotation, times: 1)
    bodyField += body
    earthField += earth
    fieldSquare += body.lengthSquared
    fieldLag += rotation * turning
    fieldCount += 1
    return earth
  }

  /// Turns the earth frame in which everything was summed.
  mutating func turn(by turn: Quaternion) {
    let matrix = turn.matrix
    rotation = matrix * rotation
    force = matrix * force
    let (c, s, p) = (matrix.columns.x.x, matrix.columns.x.y, clippedForce)
    clippedForce = Vector3(
      c * c * p.x - 2 * c * s * p.y + s * s * p.z, c * s * (p.x - p.z) + (c * c - s * s) * p.y,
      s * s * p.x + 2 * c * s * p.y + c * c * p.z)
    fieldRotation = matrix * fieldRotation
    earthField = matrix * earthField
    fieldLag = matrix * fieldLag
  }

  /// Forgets the field's samples, not what the gyro and the accelerometer have said.
  mutating func forgetField() {
    (fieldRotation, bodyField, earthField) = (Matrix3(diagonal: .zero), .zero, .zero)
    (fieldSquare, fieldLag, fieldCount) = (0, .zero, 0)
  }

  /// Mean specific force; `nil` where there was none.
  var meanForce: Vector3? { forceCount > 0 ? force / forceCount : nil }

  /// Variance of each horizontal axis of the velocity, by what the force may have done between its samples,
  /// (m/s)^2.
  func missedVelocity(_ c: AttitudeConstants) -> Double {
    guard forceCount > 0 else { return 0 }
    let interval = duration / forceCount
    return forceBends * interval * interval * c.integration.missedForce
  }

  /// What the block says of the field.
  struct Field {
    /// Mean of the attitude matrices at its samples.
    var rotation: Matrix3
    /// Means, microtesla.
    var body: Vector3
    var earth: Vector3
    var square: Double
    /// By what `earth` moves with the lag, microtesla a second.
    var lagSlope: Vector3
    /// Variance of each axis of the mean, by how the samples differ from each other.
    var noise: Double
  }

  /// Means of the field; `nil` where there was none.
  var field: Field? {
    guard fieldCount > 0 else { return nil }
    let share = 1 / fieldCount
    let earth = earthField * share
    let spread = max(0, fieldSquare * share - earth.lengthSquared)
    return Field(
      rotation: share * fieldRotation, body: bodyField * share, earth: earth,
      square: fieldSquare * share, lagSlope: fieldLag * share,
      noise: fieldCount > 1 ? spread / (3 * (fieldCount - 1)) : 0)
  }
}

extension Matrix3 {
  @inline(__always)
  fileprivate mutating func add(_ other: Matrix3, times factor: Double) {
    columns.x += other.columns.x * factor
    columns.y += other.columns.y * factor
    columns.z += other.columns.z * factor
  }
}
