// What a calibration learns from: one field sample and what the board felt at that moment.

public import LinearAlgebra
public import SensorTypes

/// One raw field sample, with gravity and turning where the board has chips that feel them. Everything is in
/// the *magnetometer's own* frame, before calibration and mount.
public struct CalibrationSample: Sendable, Hashable {
  /// When the field was measured.
  public var time: Timestamp
  /// The field as the chip gave it, microtesla.
  public var field: Vector3
  /// Specific force, m/s^2, at rest pointing up; `nil` without an accelerometer.
  public var force: Vector3?
  /// Angular rate, rad/s, right-handed in the body; `nil` without a gyro.
  public var angularRate: Vector3?

  /// Makes a sample.
  public init(
    time: Timestamp, field: Vector3, force: Vector3? = nil, angularRate: Vector3? = nil
  ) {
    self.time = time
    self.field = field
    self.force = force
    self.angularRate = angularRate
  }
}

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
