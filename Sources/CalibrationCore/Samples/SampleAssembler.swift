public import LinearAlgebra
public import SensorTypes

/// Puts field samples together with what accelerometer and gyro said since the one before.
///
/// A value that is told everything; it allocates nothing.
public struct SampleAssembler: Sendable, Hashable {
  /// Means older than this belong to no field sample, and none goes over more, seconds.
  static let longestAge = 0.25

  private struct Mean: Sendable, Hashable {
    var sum = Vector3.zero
    var count = 0
    var oldest: Timestamp?
    var newest: Timestamp?
    /// The mean before the newest field sample, for a field that comes more often than forces.
    var last: Vector3?

    mutating func add(_ value: Vector3, at time: Timestamp) {
      guard value.isFinite else { return }
      // A gap between two field samples must not make a mean of all that was felt meanwhile.
      if let oldest, abs(time.seconds(since: oldest)) > longestAge { (sum, count) = (.zero, 0) }
      if count == 0 { oldest = time }
      sum += value
      count += 1
      newest = time
    }

    mutating func take(at time: Timestamp) -> Vector3? {
      guard let newest, abs(time.seconds(since: newest)) <= longestAge else {
        (sum, count, last) = (.zero, 0, nil)
        return nil
      }
      if count > 0 { last = sum / Double(count) }
      (sum, count) = (.zero, 0)
      return last
    }
  }

  private let magnetometer: Matrix3
  private var force = Mean()
  private var rate = Mean()

  /// - Parameter mount: How the magnetometer sits on the board.
  public init(magnetometerMount mount: Mount) { magnetometer = mount.matrix.transposed }

  /// Takes what an accelerometer says, m/s^2, in its own frame, with its own mount.
  public mutating func take(force value: Vector3, mount: Mount, at time: Timestamp) {
    force.add(magnetometer * (mount.matrix * value), at: time)
  }

  /// Takes what a gyro says, rad/s, in its own frame, with its own mount.
  public mutating func take(angularRate value: Vector3, mount: Mount, at time: Timestamp) {
    // An axial vector: a mirrored placement turns its sense as well, here and on the way back.
    let sense = mount.matrix.determinant * magnetometer.determinant
    rate.add(sense * (magnetometer * (mount.matrix * value)), at: time)
  }

  /// Takes a field sample, microtesla, in the magnetometer's own frame, and returns what belongs together;
  /// `nil` for a sample that is not finite.
  public mutating func take(field: Vector3, at time: Timestamp) -> CalibrationSample? {
    guard field.isFinite else { return nil }
    return CalibrationSample(
      time: time, field: field, force: force.take(at: time), angularRate: rate.take(at: time))
  }
}
