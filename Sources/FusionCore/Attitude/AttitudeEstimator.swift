// Attitude and heading from gyro, accelerometer and magnetometer, each optional and at its own
// rate.

public import LinearAlgebra
public import SensorTypes

/// Attitude (body to earth: ENU with y to *magnetic* north) and magnetic heading.
///
/// Samples come in the body frame (x right, y forward, z up), calibrated, each sensor at its own
/// rate and in the order of arrival. What arrives decides the mode:
/// gyro and accelerometer give a filter that carries heading through accelerations and magnetic
/// disturbance; accelerometer and magnetometer alone give a low-passed attitude; a magnetometer
/// alone gives heading on a board declared level; gyro, accelerometer and a receiver's course give that of
/// a vehicle that is declared to point the way it goes.
///
/// Hostile input: samples that are not finite or beyond any chip's range are dropped and counted,
/// as are times that repeat or step back. A pause of more than a second, or a step back by more
/// than that, starts attitude anew (the gyro bias is kept). A gyro silent for half a second ends
/// its mode. Nothing here allocates, but for the text of a reason in `heading(at:)`.
public struct AttitudeEstimator: Sendable {
  /// The thresholds and noise parameters that the estimator was created with.
  public var params: AttitudeParameters { storage.params }
  /// Everything that changes.
  public var state: AttitudeState { storage.state }
  var coefficients: AttitudeConstants { storage.coefficients }
  /// What has happened so far, where a smoother is to know it.
  var history: AttitudeHistory? { storage.history }
  // Reached through `storage` wherever something is done with them: a property that hands on so large a value, be it by `get`
  // or by `yield`, copies it at every sample, and one that yields it is read after it is freed where nothing is optimised.
  var storage: EstimatorStorage

  /// Before anything changes: copies of this value that were made go on with what is there now.
  mutating func detach() {
    if !isKnownUniquelyReferenced(&storage) {
      storage = EstimatorStorage(params, storage.state, storage.history)
    }
  }

  /// Makes an estimator, or resumes one from a saved state.
  /// - Parameter keepsHistory: Whether to keep what an `AttitudeSmoother` needs once the run is over. It is no
  ///   part of the state and changes no result; an hour at 208 Hz takes up to 190 MB.
  public init(
    _ params: AttitudeParameters = AttitudeParameters(), state: AttitudeState = AttitudeState(),
    keepsHistory: Bool = false
  ) {
    storage = EstimatorStorage(
      params, state, keepsHistory ? AttitudeHistory(params.sound.smoother) : nil)
    storage.state.filter.stopTape()
    storage.history?.note(storage.state.quality)
  }

  /// What the magnetic model expects at the board's place; `nil` while the place is unknown.
  public var expectedField: ReferenceField? {
    get { storage.state.monitor.expected }
    set {
      detach()
      storage.state.monitor.expect(newValue)
    }
  }

  /// Whether the carrier is declared to move the way its y axis points, as a car or a boat under way does.
  ///
  /// A receiver's course is then a measurement of heading, from 3 m/s on; without a magnetometer it is the
  /// only one, and the gyro carries heading between. Reversing faster than that turns heading round.
  public var followsCourse: Bool {
    get { storage.state.followsCourse }
    set {
      detach()
      storage.state.followsCourse = newValue
      if !newValue {
        storage.state.courseTime = nil
        storage.state.filter.course = nil
      }
    }
  }

  /// Body to earth, or `nil` while unknown. Before the first field sample its heading is arbitrary.
  public var attitude: Quaternion? {
    guard let attitude = unsmoothedAttitude else { return nil }
    return storage.state.transition.applied(to: attitude)
  }

  var unsmoothedAttitude: Quaternion? {
    switch storage.state.mode {
    case .none: nil
    case .starting: storage.state.start.attitude ?? storage.state.start.tilt
    case .inertial: storage.state.filter.strapdown.attitude
    case .direct: storage.state.direct.attitude
    case .level:
      storage.state.direct.field.flatMap {
        DirectAttitude.attitude(up: Vector3(0, 0, 1), field: $0)
      }
    }
  }

  /// Body to earth at `time`, carried on from the newest gyro sample at its rate, by at most 0.1
  /// s; `nil` while unknown. Without a gyro it is the newest attitude.
  public func attitude(at time: Timestamp) -> Quaternion? {
    guard storage.state.mode == .inertial, let last = storage.state.rateTime else {
      return attitude
    }
    let newest = storage.state.filter.strapdown.attitude(
      after: time.seconds(since: last), limit: storage.coefficients.limits.extrapolation
    ).normalized
    return storage.state.transition.applied(to: newest)
  }

  /// The gyro's bias in the body frame, rad/s.
  public var gyroBias: Vector3 {
    storage.state.filter.isRunning ? storage.state.filter.strapdown.bias : storage.state.bias
  }

  /// Whether the board lies still.
  public var isResting: Bool {
    storage.state.mode == .inertial
      && storage.state.rest.isStationary(storage.coefficients)
  }

  /// Whether the field is known not to be the earth's.
  public var isMagneticallyDisturbed: Bool { storage.state.monitor.disturbance != nil }

  /// Vertical acceleration of the newest accelerometer sample: earth frame, up positive, gravity
  /// removed, m/s^2; `nil` while attitude does not come from the filter.
  public var verticalAcceleration: Double? {
    storage.state.mode == .inertial ? storage.state.verticalAcceleration : nil
  }

  /// Takes angular rate (rad/s) and specific force (m/s^2) of one moment, body frame.
  public mutating func update(angularRate: Vector3, acceleration: Vector3, at time: Timestamp) {
    update(angularRate: angularRate, at: time)
    update(acceleration: acceleration, at: time)
  }

  /// Takes one angular rate, rad/s, body frame, right-handed; at most 100 rad/s on each axis.
  public mutating func update(angularRate rate: Vector3, at time: Timestamp) {
    detach()
    let c = storage.coefficients
    let dt: Double
    switch admit(
      rate, limit: c.limits.angularRate, at: time, after: storage.state.rateTime)
    {
    case .rejected: return
    case .first: dt = 0
    case .after(let seconds): dt = seconds
    }
    storage.state.rateTime = time
    defer { storage.state.rate = rate }
    guard dt > 0 else {
      restart()
      storage.history?.add(starting: storage.state.start.frame, at: time)
      return
    }
    let isRunning = storage.state.filter.isRunning
    let deviation =
      isRunning
      ? storage.state.filter.summary.biasVariance.squareRoot() : c.biasDeviation
    // A gyro that may say anything at rest may say it in a steady turn: gravity and field have to tell first.
    let known = c.gyroBias
    storage.state.rest.update(
      rate: rate, dt, bias: gyroBias,
      limit: known.stationaryFloor + known.stationarySigmas * min(deviation, known.widestDeviation),
      c)
    if isRunning {
      rotateFilter(rate, dt, time, c)
    } else {
      storage.state.mode = .starting
      let mean = 0.5 * (rate + storage.state.rate) - storage.state.bias
      storage.state.start.frame =
        (storage.state.start.frame * Quaternion(rotationVector: mean * dt)).normalized
      storage.state.start.duration += dt
      // A field that waits for an accelerometer would be smeared by the gyro's bias.
      if storage.state.start.forceCount == 0,
        storage.state.start.duration > c.movingStartDuration
      {
        storage.state.start = StartAverage()
      }
      storage.history?.add(starting: storage.state.start.frame, at: time)
      if storage.state.start.duration >= startDuration { beginFilter() }
    }
  }

  private mutating func rotateFilter(
    _ rate: Vector3, _ dt: Double, _ time: Timestamp, _ c: AttitudeConstants
  ) {
    storage.state.mode = .inertial
    storage.state.filter.rotate(
      rate, previous: storage.state.rate, dt, c)
    storage.state.transition.decay(dt, c.transition)
    if storage.history != nil {
      storage.history?.add(storage.state.filter.strapdown.attitude, at: time)
      if !storage.state.filter.isTaped { storage.history?.begin(&storage.state.filter) }
    }
    guard storage.state.filter.isBlockFull(c) else { return }
    let isStationary = storage.state.rest.isStationary(c)
    let now = ErrorStateFilter.Circumstances(
      stationaryRate: storage.state.rest.isCandidate(c) ? storage.state.rest.rate : nil,
      isStationary: isStationary,
      hasConstantRate: storage.state.rest.hasConstantRate(c),
      isUnaccelerated: storage.state.rest.isUnaccelerated(c),
      isDisturbed: storage.state.monitor.isPlain
        || storage.state.monitor.disturbance.map { $0 != .azimuth || isStationary } ?? false,
      isBesideMagnet: storage.state.monitor.isPlain
        && storage.state.northTrustedTime >= c.north.trustDuration,
      expected: calibratedExpectation)
    if storage.state.filter.course != nil {
      storage.state.courseTime = time
      storage.history?.noteCourse()
    }
    storage.state.filter.closeBlock(now, c)
    storage.history?.close(&storage.state.filter)
    guard storage.state.filter.isSound else {
      // Numbers that no longer are: nothing of them may survive.
      storage.state.filter.stop()
      storage.state.bias = .zero
      storage.state.biasDeviation = nil
      return restart()
    }
    if storage.state.isFindingBias, now.hasConstantRate,
      storage.state.filter.summary.biasVariance < c.gyroBias.foundVariance
    {
      storage.state.isFindingBias = false
      return restart()
    }
    storage.state.transition.absorb(correction: storage.state.filter.takeHeadingCorrection())
    if storage.state.filter.takeIronMove(c.magnet) {
      storage.state.monitor.magnetWasFound(c)
    }
  }

  /// What a calibrated magnetometer should measure; without a record its strength means nothing.
  private var calibratedExpectation: ReferenceField? {
    storage.state.quality.isCalibrated ? storage.state.monitor.expected : nil
  }

  private var startDuration: Double {
    let tilt = storage.state.start.tiltDeviation(storage.coefficients)
    return tilt > storage.coefficients.alignment.movingTilt
      ? storage.coefficients.movingStartDuration : storage.coefficients.startDuration
  }

  /// One sigma of the bias that attitude starts with, rad/s.
  var startBiasDeviation: Double {
    storage.state.biasDeviation ?? storage.coefficients.biasDeviation
  }

  private mutating func beginFilter() {
    let c = storage.coefficients
    storage.state.filter.start(
      storage.state.start, bias: storage.state.bias, biasDeviation: startBiasDeviation,
      expected: calibratedExpectation, c)
    guard storage.state.filter.isRunning else { return }
    storage.state.isFindingBias = startBiasDeviation > c.gyroBias.widestDeviation
    storage.history?.begin(&storage.state.filter)
    storage.state.counters.starts &+= 1
    storage.state.mode = .inertial
    storage.state.northTrustedTime = 0
  }

  /// Starts attitude anew; the bias is kept, less surely.
  mutating func restart() {
    let c = storage.coefficients
    storage.history?.finish()
    if storage.state.filter.isRunning {
      storage.state.bias = storage.state.filter.strapdown.bias
      let loose = (storage.state.filter.summary.biasVariance + c.biasLoosening)
        .squareRoot()
      storage.state.biasDeviation = min(loose, c.biasDeviation)
      storage.state.filter.stop()
    }
    storage.state.start = StartAverage()
    storage.state.transition = HeadingTransition()
    storage.state.courseTime = nil
    storage.state.rest.reset()
    storage.state.verticalAcceleration = nil
    storage.state.mode = .starting
  }

  enum Admission {
    case rejected
    case first
    case after(seconds: Double)
  }

  mutating func admit(
    _ value: Vector3, limit: Double, at time: Timestamp, after last: Timestamp?
  ) -> Admission {
    let c = storage.coefficients
    guard value.isFinite, max(abs(value.x), max(abs(value.y), abs(value.z))) <= limit else {
      storage.state.counters.rejected &+= 1
      return .rejected
    }
    guard let last else { return .first }
    let dt = time.seconds(since: last)
    if dt <= 0 && dt > -c.limits.longestGap {
      storage.state.counters.outOfOrder &+= 1
      return .rejected
    }
    guard dt > 0, dt <= c.limits.longestGap else {
      storage.state.counters.gaps &+= 1
      return .first
    }
    return .after(seconds: dt)
  }
}

/// Everything that changes. Save it, and a run resumes bit for bit.
public struct AttitudeState: Sendable, Equatable, Codable {
  /// Where attitude comes from.
  public internal(set) var mode = AttitudeSource.none
  /// What was not used.
  public internal(set) var counters = AttitudeCounters()
  var rateTime: Timestamp?
  var forceTime: Timestamp?
  var fieldTime: Timestamp?
  var rate = Vector3.zero
  var field = Vector3.zero
  var bias = Vector3.zero
  var biasDeviation: Double?
  /// Whether attitude has begun with a gyro that may say anything at rest. What the filter learns on the way to its bias,
  /// of tilt, iron and scale, is worth little: with the bias it begins anew, in a calm moment.
  var isFindingBias = false
  var quality = MagnetometerQuality.uncalibrated
  var verticalAcceleration: Double?
  var start = StartAverage()
  var filter = ErrorStateFilter()
  var direct = DirectTracker()
  var rest = AttitudeStationaryDetector()
  var monitor = FieldMonitor()
  var transition = HeadingTransition()
  /// Whether the carrier is declared to move the way its y axis points.
  var followsCourse = false
  /// When a receiver's course last said where north is.
  var courseTime: Timestamp?
  var velocityTime: Timestamp?
  /// For how long the field was undisturbed since north was found, seconds.
  var northTrustedTime = 0.0

  /// Makes the state before the first sample.
  public init() {}
}

/// Where attitude comes from.
public enum AttitudeSource: UInt8, Sendable, Hashable, Codable {
  /// Nothing has arrived yet.
  case none
  /// Gyro and accelerometer: the first fraction of a second, means only.
  case starting
  /// Gyro, accelerometer, and magnetometer where there is one: the filter.
  case inertial
  /// Accelerometer and magnetometer.
  case direct
  /// Magnetometer alone on a level board.
  case level
}

/// What was not used, and why; the counters only grow.
public struct AttitudeCounters: Sendable, Hashable, Codable {
  /// Samples that were not finite, or beyond any chip's range.
  public internal(set) var rejected: UInt64 = 0
  /// Samples that were not later than the one before of the same sensor.
  public internal(set) var outOfOrder: UInt64 = 0
  /// Pauses of more than a second, and steps back by more than that.
  public internal(set) var gaps: UInt64 = 0
  /// Times the filter was started.
  public internal(set) var starts: UInt64 = 0
}
