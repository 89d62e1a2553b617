// Attitude against frames that know where up is and do not ask where north is.

public import LinearAlgebra
public import SensorTypes

/// Two attitudes beside that of an `AttitudeEstimator`, which differ from it by a turn about the vertical.
///
/// The estimator's heading moves whenever the magnetometer has something to say, and jumps when the filter starts anew or
/// the calibration is another one. Neither does here: the tilt is the estimator's, and the turn about the vertical is
/// what the gyro has measured, freed of the bias and scale that the estimator knows. `free` drifts by what is left of
/// these. `steadied` is led back, slowly, to the angle that it had to magnetic north when north was first to be trusted.
/// Nothing here allocates.
public struct VerticalFrames: Sendable {
  /// The parameters that the frames were made with.
  @_spi(Tuning) public let params: VerticalFramesParameters

  /// What the gyro alone has turned the body to.
  private var strapdown = Strapdown()
  private var previous = Vector3.zero
  private var time: Timestamp?
  private var hasBegun = false
  /// From the estimator's frame to the free one, counterclockwise about up, radians.
  private var turn = 0.0
  /// From the free frame to the steadied one.
  private var correction = 0.0
  /// From magnetic north to the steadied frame, as it was when north was first to be trusted.
  private var anchor: Double?
  private var steadiedTime: Timestamp?

  /// Makes frames that begin with the first sample.
  public init() { self.init(VerticalFramesParameters()) }

  /// Makes frames with other parameters than the defaults.
  @_spi(Tuning) public init(_ params: VerticalFramesParameters) { self.params = params.sound }

  /// Takes an angular rate that the estimator has just taken, rad/s, body frame.
  public mutating func update(
    angularRate rate: Vector3, at time: Timestamp, _ estimator: AttitudeEstimator
  ) {
    guard rate.isFinite else { return }
    strapdown.bias = estimator.gyroBias
    strapdown.gyroMatrix = estimator.gyroMatrix
    let dt = self.time.map { time.seconds(since: $0) } ?? 0
    if dt > 0, dt <= estimator.coefficients.limits.longestGap {
      if estimator.mendedTurn != .zero { strapdown.turn(by: estimator.mendedTurn) }
      _ = strapdown.rotate(rate, previous: previous, dt)
    }
    (self.time, previous) = (time, rate)
    guard let attitude = estimator.attitude else { return }
    if !hasBegun {
      hasBegun = true
      strapdown.attitude =
        Self.turned(attitude, by: DirectAttitude.heading(of: attitude))
    }
    // Of the turn between the two only the part about the vertical is kept: the tilt is the estimator's.
    let between = strapdown.attitude * attitude.conjugate
    turn = 2 * atan2(between.vector.z, between.w)
    strapdown.attitude = Self.turned(attitude, by: turn)
  }

  /// Leads the steadied frame on towards north.
  ///
  /// - Parameter isTrusted: Whether the estimator's heading has an accuracy.
  public mutating func steady(isTrusted: Bool, at time: Timestamp) {
    let dt = steadiedTime.map { time.seconds(since: $0) } ?? 0
    steadiedTime = time
    guard hasBegun, isTrusted else { return }
    guard let anchor else {
      self.anchor = turn + correction
      return
    }
    guard dt > 0, dt <= params.longestPause else { return }
    let error = (anchor - turn - correction).remainder(dividingBy: 2 * .pi)
    let step = error * dt / (params.timeConstant + dt)
    correction += max(-params.fastest * dt, min(params.fastest * dt, step))
  }

  /// Body to the free frame; `nil` before the first attitude.
  public var free: Quaternion? { hasBegun ? strapdown.attitude : nil }

  /// Body to the steadied frame; `nil` before the first attitude.
  public var steadied: Quaternion? {
    hasBegun ? Self.turned(strapdown.attitude, by: correction) : nil
  }

  /// Says that samples come in another body frame from now on.
  /// - Parameter turn: From the frame before to the new one, a unit quaternion.
  public mutating func bodyDidTurn(by turn: Quaternion) {
    strapdown.attitude = strapdown.attitude * turn.conjugate
    previous = turn.rotate(previous)
  }

  private static func turned(_ attitude: Quaternion, by angle: Double) -> Quaternion {
    (Quaternion(rotationVector: Vector3(0, 0, angle)) * attitude).normalized
  }
}

/// Parameters of `VerticalFrames`.
@_spi(Tuning) public struct VerticalFramesParameters: Sendable, Hashable {
  /// Time constant with which the steadied frame follows magnetic north, in s. Default 10.
  public var timeConstant = 10.0
  /// Fastest that it follows, in rad/s; chosen, as a quarter of a degree a second is not seen beside what a hand
  /// does. Default 0.25 deg/s.
  public var fastest = 0.25 * Double.pi / 180
  /// Longest interval between two updates that is made up for, in s; attitude is asked for that seldom. Default 10.
  public var longestPause = 10.0

  /// Makes the defaults.
  public init() {}

  /// The same with the default for every number that is out of its range in `numbers`.
  @_spi(Tuning) public var sound: VerticalFramesParameters {
    var sound = self
    ParameterNumber.mend(&sound, Self.numbers, usual: VerticalFramesParameters())
    return sound
  }
}

extension AttitudeEstimator {
  /// What the newest rate has mended of a swing beyond the gyro's range, body frame, radians.
  var mendedTurn: Vector3 { storage.state.filter.clipping.mended }

  /// What the gyro's scale and alignment are off by; zero while the filter does not run.
  var gyroMatrix: Matrix3 {
    storage.state.filter.isRunning
      ? storage.state.filter.strapdown.gyroMatrix : Matrix3(diagonal: .zero)
  }

  /// An angular rate, rad/s in the body frame, without the bias and the scale that are known of the gyro.
  public func corrected(angularRate rate: Vector3) -> Vector3 {
    let unbiased = rate - gyroBias
    return unbiased - gyroMatrix * unbiased
  }

  /// Whether attitude comes from a gyro.
  public var isTurnedByGyro: Bool {
    storage.state.mode == .inertial || storage.state.mode == .starting
  }
}
