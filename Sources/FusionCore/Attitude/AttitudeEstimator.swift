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
/// than that, restarts attitude (the gyro bias is kept). A gyro silent for half a second ends
/// its mode. Nothing here allocates, but for the text of a reason in `heading(at:)`.
public struct AttitudeEstimator: Sendable {
  /// The thresholds and noise parameters that the estimator was created with.
  public var params: AttitudeParameters { storage.params }
  /// Everything that changes.
  public var state: AttitudeState { storage.state }
  var coefficients: AttitudeConstants { storage.coefficients }
  /// What has happened so far, where a smoother is to know it.
  var history: AttitudeHistory? { storage.history }
  var storage: EstimatorStorage

  /// Before anything changes: copies of this value that were made go on with what is there now.
  mutating func detach() {
    if !isKnownUniquelyReferenced(&storage) {
      storage = EstimatorStorage(params, storage.state, storage.history)
    }
  }

  /// Makes an estimator, or resumes one from a saved state.
  /// - Parameter keepsHistory: Whether to keep what an `AttitudeSmoother` needs once the run is over. It is no
  ///   part of the state; an hour at 208 Hz takes up to 190 MB. What can be smoothed corrects every error by all that the
  ///   gain says, as `AttitudeParameters.offline` does: these are the parameters for it.
  public init(
    _ params: AttitudeParameters = AttitudeParameters(), state: AttitudeState = AttitudeState(),
    keepsHistory: Bool = false
  ) {
    var params = params
    if keepsHistory { params.magnetometer.takeWholeGains() }
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
        if !storage.state.hasMeasuredHeading { storage.state.courseTime = nil }
        storage.state.filter.course = nil
      }
    }
  }

  /// Body to earth, or `nil` while unknown. Before the first field sample its heading is arbitrary.
  public var attitude: Quaternion? { storage.attitude }

  /// Body to earth at `time`, carried on from the newest gyro sample at its rate, by at most 0.1
  /// s; `nil` while unknown. Without a gyro it is the newest attitude.
  public func attitude(at time: Timestamp) -> Quaternion? { storage.attitude(at: time) }

  /// Heading of the body's y axis at the newest sample, or the reason why it is missing.
  ///
  /// - Parameter now: The present moment; what is older than `limits.lossTimeout` by then is lost.
  /// - Returns: A heading. With `accuracy` it is to be trusted, also where a `reason` says that the field is not the
  ///   earth's (`magneticInterference`): it is the gyro's then, for the most part. Without, `reason` says why not (`uncalibrated`,
  ///   `magneticInterference`) and the value is what it would be.
  ///   A failure where even a doubtful heading is missing: `notYet`, `tiltUnknown`, `sensorLost`.
  public func heading(at now: Timestamp) -> Result<HeadingEstimate, NoData> {
    storage.heading(at: now)
  }

  /// The same without what is said about it, for who reads at every sample; `nil` where `heading(at:)` fails.
  public func compass(at now: Timestamp) -> CompassHeading? { storage.compass(at: now) }

  /// The angle, in radians, within which the vertical of `attitude` is from the true one with a probability of 95 %; `nil` while
  /// attitude does not come from the filter.
  ///
  /// The errors about the two horizontal axes are alike in size, each with a standard deviation of this angle divided by 2.448.
  public var tiltAccuracy: Double? { storage.tiltAccuracy }

  /// The gyro's bias in the body frame, rad/s.
  public var gyroBias: Vector3 { storage.gyroBias }

  /// Whether the board lies still.
  public var isResting: Bool { storage.isResting }

  /// Whether the field is known not to be the earth's.
  public var isMagneticallyDisturbed: Bool { storage.state.monitor.disturbance != nil }

  /// Whether heading comes from an attitude that an accelerometer has levelled and ends without it. A body that is declared level
  /// goes on without.
  package var needsGravity: Bool { !storage.params.level && storage.state.forceTime != nil }

  /// Vertical acceleration of the newest accelerometer sample: earth frame, up positive, gravity
  /// removed, m/s^2; `nil` while attitude does not come from the filter.
  public var verticalAcceleration: Double? { storage.verticalAcceleration }

  // MARK: Samples

  /// Takes angular rate (rad/s) and specific force (m/s^2) of one moment, body frame.
  ///
  /// - Parameter clipped: Where they lie beyond the chip's ranges.
  public mutating func update(
    angularRate: Vector3, acceleration: Vector3, clipped: InertialClipping = InertialClipping(),
    at time: Timestamp
  ) {
    update(angularRate: angularRate, clipped: clipped.angularRate, at: time)
    update(acceleration: acceleration, clipped: clipped.acceleration, at: time)
  }

  /// Takes one angular rate, rad/s, body frame, right-handed; at most 100 rad/s on each axis.
  ///
  /// What a gyro misses while it is clipped is estimated from how the rate came there, and makes attitude less sure.
  ///
  /// - Parameter clipped: Where it lies beyond the gyro's range.
  public mutating func update(
    angularRate rate: Vector3, clipped: ClippedAxes = [], at time: Timestamp
  ) {
    detach()
    storage.update(angularRate: rate, clipped: clipped, at: time)
  }

  /// Takes one specific force, m/s^2, body frame: at rest it points up; at most 1000 on each axis.
  ///
  /// - Parameter clipped: Where it lies beyond the accelerometer's range: what was missed makes velocity less sure.
  public mutating func update(
    acceleration force: Vector3, clipped: ClippedAxes = [], at time: Timestamp
  ) {
    detach()
    storage.update(acceleration: force, clipped: clipped, at: time)
  }

  /// Takes one field sample, microtesla, body frame, with the quality of its calibration; at most
  /// 10 000 uT on each axis.
  public mutating func update(
    magneticField field: Vector3, at time: Timestamp, quality: MagnetometerQuality
  ) {
    detach()
    storage.update(magneticField: field, at: time, quality: quality)
  }

  /// Says that the magnetometer has measured a field beyond its range: there is no sample, and the field is not
  /// the earth's.
  ///
  /// - Returns: Whether that was news: `false` before the first field sample, for a time that is not later than
  ///   the newest one's, and after a pause, when there is nothing that it could be the continuation of.
  public mutating func fieldIsBeyondRange(at time: Timestamp) -> Bool {
    detach()
    return storage.fieldIsBeyondRange(at: time)
  }

  /// Takes a velocity over ground that a receiver has measured: it keeps acceleration from passing for
  /// tilt, and is a vehicle's heading where it `followsCourse`. Used while a gyro runs; older ones than the newest
  /// are dropped and counted.
  ///
  /// - Parameters:
  ///   - velocity: East and north, m/s, north being *magnetic* north; at most 1000 m/s.
  ///   - deviation: One sigma of each, m/s; at most 1000 m/s.
  ///   - time: When it was true.
  public mutating func update(velocity: SIMD2<Double>, deviation: Double, at time: Timestamp) {
    detach()
    storage.update(velocity: velocity, deviation: deviation, at: time)
  }

  /// Takes a heading that two antennas, or another instrument, have measured: with it heading needs no magnetometer. Used
  /// while a gyro runs, which carries heading between two of them; older ones than the newest are dropped and counted.
  ///
  /// One that contradicts is rejected, and the error bar then holds both: antennas may have fixed their carrier phases to wrong
  /// ambiguities. Headings that contradict for half a minute are believed.
  ///
  /// - Parameters:
  ///   - heading: The body's y axis clockwise from *magnetic* north, radians.
  ///   - deviation: One sigma, radians, above zero.
  ///   - time: When it was true.
  public mutating func update(heading: Double, deviation: Double, at time: Timestamp) {
    detach()
    storage.update(heading: heading, deviation: deviation, at: time)
  }

  // MARK: What is known from elsewhere

  /// Takes a gyro bias that was measured before this run, body frame: attitude starts with it.
  ///
  /// A filter that runs has learned the bias of this run and keeps that.
  /// - Parameters:
  ///   - bias: rad/s, at most 1 long.
  ///   - deviation: One sigma of each axis, rad/s, above zero: with what it may have wandered since.
  public mutating func expectGyroBias(_ bias: Vector3, deviation: Double) {
    detach()
    storage.expectGyroBias(bias, deviation: deviation)
  }

  /// Changes the body frame of all samples to come. Attitude restarts; the gyro bias is kept.
  /// - Parameter turn: From the frame before to the new one, a unit quaternion.
  public mutating func bodyDidTurn(by turn: Quaternion) {
    detach()
    storage.bodyDidTurn(by: turn)
  }

  /// Changes the calibration by which all field samples to come are corrected.
  ///
  /// The filter searches for north at once; the published heading follows within seconds, without a jump.
  /// - Parameters:
  ///   - shift: What the newest sample would have been corrected by besides, body frame, microtesla.
  ///   - quality: The new calibration's. Where the samples before it or after it are not calibrated, the filter forgets
  ///     the field instead.
  public mutating func calibrationDidChange(shift: Vector3, quality: MagnetometerQuality) {
    detach()
    storage.calibrationDidChange(shift: shift, quality: quality)
  }
}

/// Heading and attitude of one moment, in numbers alone.
public struct CompassHeading: Sendable, Hashable {
  /// The body's y axis clockwise from magnetic north, radians, 0 up to 2 pi. It is computed when it is read.
  public var magneticHeading: Double {
    DirectAttitude.heading(forward: attitude.matrix.columns.y)
  }
  /// Half the width of the 95 % interval, radians; `nil` where heading is not to be trusted, which `heading(at:)` gives
  /// the reason of.
  public let accuracy: Double?
  /// The radius of the 95 % circle of the tilt, radians; `nil` while attitude does not come from the filter.
  public let tiltAccuracy: Double?
  /// The attitude, body to earth (ENU with y to *magnetic* north).
  public let attitude: Quaternion
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
  /// of tilt, iron and scale, is worth little: once the bias is known it restarts, in a calm moment.
  var isFindingBias = false
  var quality = MagnetometerQuality.uncalibrated
  var verticalAcceleration: Double?
  var start = StartAverage()
  var filter = ErrorStateFilter()
  var direct = DirectTracker()
  var step = FieldStep()
  var rest = AttitudeStationaryDetector()
  var monitor = FieldMonitor()
  var gathering = FieldGathering()
  /// Whether heading is given in a field that is not the earth's: it was sure enough before, and still is.
  var isCarried = false
  var transition = HeadingTransition()
  /// Whether the carrier is declared to move the way its y axis points.
  var followsCourse = false
  /// When a receiver's course, or a measured heading, last said where north is.
  var courseTime: Timestamp?
  /// Whether that was a measured heading, and when the newest was measured.
  var hasMeasuredHeading = false
  var measuredHeadingTime: Timestamp?
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
