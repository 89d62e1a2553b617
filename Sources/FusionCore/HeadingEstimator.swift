// Heading from whatever the board has: gyro, accelerometer and magnetometer; accelerometer and
// magnetometer; or a magnetometer alone on a board that is declared level.

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif
public import LinearAlgebra
public import SensorTypes

/// Estimates the heading of the body's y axis from magnetic north.
///
/// What it can promise depends on what arrives:
/// - gyro, accelerometer and magnetometer: heading through turns, tilts and the accelerations of walking;
/// - accelerometer and magnetometer: heading while the board is not accelerated for longer than half a
///   second; an acceleration of 1 m/s^2 tilts the horizon by 6 degrees while it lasts;
/// - magnetometer alone: heading on a level board only, and `tiltUnknown` on any other.
///
/// All input is in the body frame; nothing is read from a clock, and nothing is allocated per sample.
public struct HeadingEstimator: Sendable, Hashable {
  /// What the magnetic model says of the place, when it is known.
  public struct FieldReference: Sendable, Hashable {
    /// Total intensity, microtesla.
    public var intensity: Double
    /// Inclination, radians, down positive.
    public var inclination: Double

    /// Makes a reference.
    public init(intensity: Double, inclination: Double) {
      self.intensity = intensity
      self.inclination = inclination
    }
  }

  // A level board stays within this of the horizon (one sigma), radians: what `level: true` promises.
  private static let levelTilt = 0.5 * Double.pi / 180
  // The floor under every error bar: mounting, nonlinearity, what no covariance knows.
  private static let floor = 0.7 * Double.pi / 180
  private static let forceFilterTime = 0.5
  private static let gravity = 9.80665
  /// How long a gyro or accelerometer may be silent before heading goes on without it, seconds.
  private static let motionTimeout = 0.5

  private let isLevel: Bool
  private var filter = HeadingFilter()
  private var watch = FieldWatch()
  private var slowForce: Vector3?
  private var lastForce: Timestamp?
  private var lastGyro: Timestamp?
  /// The magnetic model's field at the place, when it is known; sharpens the check for disturbances.
  public var reference: FieldReference?
  /// One sigma of what the calibration left unresolved of the hard iron, microtesla; `nil` while the
  /// magnetometer is not calibrated: heading is then estimated and never trusted.
  public var calibrationSigma: Double?

  /// Makes an estimator that knows nothing yet.
  public init(isLevel: Bool) { self.isLevel = isLevel }

  /// Takes a gyro and accelerometer sample, rad/s and m/s^2.
  public mutating func update(angularRate: Vector3, acceleration: Vector3, at time: Timestamp) {
    filter.update(angularRate: angularRate, acceleration: acceleration, at: time)
    lastGyro = time
    update(acceleration: acceleration, at: time)
  }

  /// Takes an accelerometer sample, m/s^2.
  public mutating func update(acceleration: Vector3, at time: Timestamp) {
    guard acceleration.isFinite else { return }
    let dt = lastForce.map { time.seconds(since: $0) } ?? .infinity
    guard dt > 0 else { return }
    lastForce = time
    let gain = dt > 1 ? 1 : dt / (Self.forceFilterTime + dt)
    slowForce = slowForce.map { $0 + gain * (acceleration - $0) } ?? acceleration
  }

  /// Takes a magnetometer sample, calibrated, microtesla, and says what heading follows, or why none.
  public mutating func update(
    magneticField field: Vector3, at time: Timestamp
  ) -> Result<HeadingEstimate, NoData> {
    guard field.isFinite, field.lengthSquared > 0 else { return .failure(.notYet) }
    filter.update(magneticField: field)
    let hasGyro = lastGyro.map { time.seconds(since: $0) < Self.motionTimeout } ?? false
    let hasForce = lastForce.map { time.seconds(since: $0) < Self.motionTimeout } ?? false
    let attitude: Quaternion
    var variance: Double
    if hasGyro, filter.isAligned {
      attitude = filter.attitude
      variance = 0
    } else if hasForce || isLevel {
      // On a level board without an accelerometer the force is straight up by declaration.
      let force = hasForce ? slowForce ?? Vector3(0, 0, 1) : Vector3(0, 0, 1)
      guard let up = force.normalized, let east = field.cross(up).normalized else {
        return .failure(.tiltUnknown)
      }
      attitude = Quaternion(Matrix3(rows: east, up.cross(east), up))
      variance = tiltVariance(hasForce: hasForce, force: force, field: field, up: up)
    } else {
      return .failure(.tiltUnknown)
    }
    let forward = attitude.rotate(Vector3(0, 1, 0))
    let horizontal = forward.x * forward.x + forward.y * forward.y
    guard horizontal > 1e-9 else { return .failure(.tiltUnknown) }
    let earthField = attitude.rotate(field)
    let horizontalField = (earthField.x * earthField.x + earthField.y * earthField.y).squareRoot()
    let dip = atan2(-earthField.z, horizontalField)
    watch.update(field, dip: dip, expected: expectation, at: time)
    if hasGyro, filter.isAligned {
      // A heading's error from the attitude's: d(atan2(x, y)) of the forward axis under phi x forward.
      let gradient =
        Vector3(
          -forward.x * forward.z, -forward.y * forward.z, 0) / horizontal + Vector3(0, 0, 1)
      variance = max(0, filter.covariance.variance(of: gradient))
    }
    if let sigma = calibrationSigma {
      let fromIron = sigma / max(1, horizontalField)
      variance += fromIron * fromIron
    }
    variance += Self.floor * Self.floor
    let heading = atan2(forward.x, forward.y)
    let half = 1.96 * variance.squareRoot()
    let reason = calibrationSigma == nil ? .uncalibrated : watch.reason
    return .success(
      HeadingEstimate(
        time: time, magneticHeading: heading < 0 ? heading + 2 * Double.pi : heading,
        accuracy: reason == nil && half < Double.pi / 2 ? half : nil,
        reason: reason ?? (half < Double.pi / 2 ? nil : .tiltUnknown), field: field,
        attitude: attitude))
  }

  private var expectation: FieldWatch.Expectation? {
    reference.map {
      FieldWatch.Expectation(
        intensity: $0.intensity, tolerance: FieldWatch.intensityTolerance,
        inclination: $0.inclination)
    }
  }

  /// Heading variance from an uncertain vertical: a tilt across the heading turns the dipping field by
  /// tan(dip) times as much.
  private func tiltVariance(
    hasForce: Bool, force: Vector3, field: Vector3, up: Vector3
  ) -> Double {
    let vertical = field.dot(up)
    let horizontal = max(1, (field - vertical * up).length)
    let tilt: Double
    if hasForce {
      // What the force differs from gravity in length, it may differ in direction.
      tilt = max(1 * Double.pi / 180, abs(force.length - Self.gravity) / Self.gravity)
    } else {
      tilt = Self.levelTilt
    }
    let fromTilt = tilt * abs(vertical) / horizontal
    let noise = 0.5 / horizontal
    return fromTilt * fromTilt + noise * noise
  }
}
