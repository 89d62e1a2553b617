// The attitude filter proper: gyro integration sample by sample, an error-state Kalman filter over
// blocks.

import LinearAlgebra
import SensorTypes

/// Attitude with gyro bias and scale, velocity, the earth's field, the magnetometer's lag and what its
/// calibration has left as states.
///
/// Every gyro sample turns the attitude; the 24 x 24 covariance moves only once a block (0.1 s), from
/// sums taken over the block. What makes it robust against acceleration is that gravity is not measured
/// at all: specific force is integrated to a horizontal velocity, and that *velocity* stays near zero,
/// which steps and shakes fulfil and a wrong tilt does not.
///
/// `ErrorStateFilter+Motion` is what it learns of how the board moves, `+Field` what of the magnetometer;
/// here are the state, the samples, and the step from one block to the next.
struct ErrorStateFilter: Sendable, Equatable, Codable {
  /// Whether there is an attitude; before the start everything else means nothing.
  private(set) var isRunning = false
  var strapdown = Strapdown()
  var velocity = SIMD2<Double>.zero
  /// The earth's field: horizontal and up, microtesla.
  var field = PlaceFieldParameters().initial
  /// Seconds by which the magnetometer's samples are older than their times say.
  var lag = 0.0
  /// The magnets that have come since the calibration, body frame, microtesla.
  var attached = Vector3.zero
  var residual = ResidualOffset()
  var magnetDetector = MagnetDetector()
  var covariance = ErrorCovariance()
  /// What others ask for at every sample.
  var summary = Summary()
  /// Whether the earth frame's y axis is magnetic north, or still arbitrary.
  var hasNorth = false
  /// Whether what the magnetic model expects is known, and was taken.
  var knowsExpectation = false
  /// Whether `field` has been measured.
  var knowsField = false
  /// Whether the field has been measured since the start: until then the covariance knows nothing of
  /// heading, which is as good as the means that it started from.
  var hasTakenField = false
  /// Mean square of what the field's strength deviates by beyond the sensor's noise, uT^2.
  var fieldScatter = 0.0
  /// The same over a longer time: how uneven the field of this place is.
  var unevenness = 0.0
  /// What points the field of this place elsewhere than north, eastwards, microtesla.
  var anomaly = 0.0
  /// Slow mean of the field's east part, and mean square about it beyond the sensor's noise, microtesla.
  var eastMean = 0.0
  var eastScatter = 0.0
  /// Slow mean of the error of dip, radians.
  var dipMean = 0.0
  var contradiction = FieldContradiction()
  /// The angle by which the field has turned north while the board was at rest, counterclockwise, in radians. Either the
  /// heading was wrong before or iron has come, and a board at rest cannot tell. It fades as the board turns.
  var placeTurn = 0.0
  /// Mean square of horizontal velocity, (m/s)^2.
  var velocityScatter = 0.0
  var gait = Gait()
  /// What corrections have turned heading by and nobody has asked for yet, radians counterclockwise.
  var headingCorrection = 0.0
  /// Running mean of the magnetometer's normalised innovation.
  var meanNIS = 0.0
  var block = MotionBlock()
  /// Specific force of the newest block that had one, for accelerometers slower than a block.
  var lastForce: Vector3?
  private var forceAge = 0.0
  /// The newest force, earth frame, and how much rate and force changed between the newest two samples.
  private var forceSample: Vector3?
  private var forceChange = Vector3.zero
  var rateChange = Vector3.zero
  /// What a clipped gyro has missed so far.
  var clipping = ClippedRotation()
  /// Low-passed specific force, and the velocity that it would have given of late; earth frame.
  var meanForce: Vector3?
  var reckonedVelocity = Vector3.zero
  /// Seconds for which the attitude is not trusted: it began in motion.
  var uncertainTime = 0.0
  /// Seconds since north was found.
  var northAge = 0.0
  /// What was known of iron when `takeIronMove` was last true.
  var toldIron = Vector3.zero
  var aiding: Aiding?
  /// Whether the velocity rests on the assumption of standstill: there is no measured velocity, or it is too old.
  var assumesStandstill = true
  /// A course that waits for the block to be closed.
  var course: Course?
  /// Courses in a row that did not agree with heading.
  var contradictions = 0
  /// A measured heading that waits for the block to be closed.
  var measuredHeading: Course?
  /// Seconds since the last one was taken or rejected, and for how long they have been rejected.
  var headingAge = 0.0
  var rejectedTime = 0.0
  /// What the newest rejected heading differs by, with twice its deviation, radians; zero while headings agree.
  var headingContradiction = 0.0
  /// What measured headings differed by of late; `nil` before the first one.
  var headingScatter: HeadingScatter?
  /// Whether a measured heading has had its say on north.
  var hasMeasuredNorth = false
  /// What the assumption of standstill has turned the attitude by of late, radians about the earth's horizontal axes:
  /// corrections that agree for seconds may be an acceleration taken for tilt.
  var pull = SIMD2<Double>.zero

  /// What corrections have turned the attitude by since the last time, radians counterclockwise.
  mutating func takeHeadingCorrection() -> Double {
    defer { headingCorrection = 0 }
    return headingCorrection
  }

  /// What followed from the newest block. Small, because a copy of the whole filter is not.
  struct Summary: Sendable, Equatable, Codable {
    /// Covariance of the attitude, rad^2, earth frame.
    var attitude = Matrix3(diagonal: .zero)
    /// The largest variance of the gyro's bias, (rad/s)^2, and its root, rad/s.
    var biasVariance = 0.0
    var biasDeviation = 0.0
    /// The radius of the 95 % circle of the tilt, in radians.
    var tiltAccuracy = 0.0
    /// What is known to be wrong of the calibrated field, body frame, microtesla.
    var iron = Vector3.zero
    /// What the turns so far do not show of an offset: the share of its variance along `e` is `e' H e`.
    var hiddenIron = Matrix3.identity
    /// What is known of heading's error besides.
    var doubt = HeadingDoubt()
  }

  /// Begins the search for iron anew; what was found so far is kept.
  mutating func restartResidual(_ c: AttitudeConstants) {
    attached += residual.found
    residual.restart(c.residual)
  }

  /// Starts from means over the first fraction of a second; stays stopped while up is unknown.
  mutating func start(
    _ start: StartAverage, bias: Vector3, biasDeviation: Double, expected: ReferenceField?,
    _ c: AttitudeConstants
  ) {
    let north = start.attitude
    guard let attitude = north ?? start.tilt else { return }
    stop()
    isRunning = true
    strapdown.attitude = attitude
    strapdown.bias = bias
    field = c.place.initial
    hasNorth = north != nil
    let tilt = start.tiltDeviation(c)
    uncertainTime = tilt > c.alignment.movingTilt ? c.alignment.uncertainDuration : 0
    let smear = start.smear(biasDeviation: biasDeviation, c.alignment)
    covariance.decouple(0, variance: tilt * tilt + smear * smear)
    covariance.decouple(1, variance: tilt * tilt + smear * smear)
    let heading = c.alignment.headingDeviation
    covariance.decouple(2, variance: heading * heading)
    for axis in 0..<3 {
      covariance.decouple(ErrorVector.bias + axis, variance: biasDeviation * biasDeviation)
      covariance.decouple(ErrorVector.iron + axis, variance: c.ironVariance)
    }
    covariance.decouple(6, variance: c.startVelocity)
    covariance.decouple(7, variance: c.startVelocity)
    covariance.decouple(ErrorVector.lag, variance: c.lagVariance)
    covariance.decouple(ErrorVector.anomaly, variance: anomalyVariance(c))
    for entry in 0..<9 {
      let variance = entry % 4 == 0 ? c.gyroScaleVariance : c.gyroMisalignmentVariance
      covariance.decouple(ErrorVector.gyroMatrix + entry, variance: variance)
    }
    if hasNorth {
      let mean = attitude.rotate(start.frame.conjugate.rotate(start.field / start.fieldCount))
      setField(mean, expected, c)
    }
    summarise(c)
  }

  var mark: SmootherCheckpoint {
    SmootherCheckpoint(
      attitude: strapdown.attitude, bias: strapdown.bias,
      rows: (
        covariance.row(0), covariance.row(1), covariance.row(2), covariance.row(3),
        covariance.row(4), covariance.row(5)
      ), hiddenIron: summary.hiddenIron, doubt: summary.doubt)
  }

  /// From now on what is done is taped.
  mutating func startTape() { covariance.tape = ErrorTape() }

  /// What is done is no longer taped.
  mutating func stopTape() { covariance.tape = nil }

  /// Whether what is done is taped.
  var isTaped: Bool { covariance.tape != nil }

  /// Gives what was taped since the last time, a cut in it, and whether heading was doubted.
  mutating func takeTape(into tape: inout ErrorTape) -> (cut: ErrorTape.Cut?, doubtsHeading: Bool) {
    guard let own = covariance.tape else { return (nil, false) }
    let news = (own.cuts.first, own.doubtsHeading)
    covariance.tape?.appendTo(&tape)
    return news
  }

  /// Forgets everything but what no new start can answer: whether iron has turned north.
  mutating func stop() {
    let turn = placeTurn
    self = ErrorStateFilter()
    placeTurn = turn
  }

  /// Turns the attitude by one interval.
  mutating func rotate(
    _ rate: Vector3, previous: Vector3, clipped: ClippedAxes, _ dt: Double, _ c: AttitudeConstants
  ) {
    clipping.mended = .zero
    if !clipped.isEmpty || clipping.isOpen {
      integrateClipped(rate, previous: previous, clipped, dt, c)
    }
    let turn = strapdown.rotate(rate, previous: previous, dt)
    let change = rate - previous
    block.add(
      rotation: strapdown.attitude.matrix, turn: turn, change: change, bend: change - rateChange,
      dt, c)
    rateChange = change
  }

  /// Takes one specific force; gives it in the earth frame.
  mutating func add(
    force: Vector3, clipped: ClippedAxes, offset: Double, _ c: AttitudeConstants
  ) -> Vector3 {
    let attitude = strapdown.carry(by: offset, limit: c.limits.extrapolation)
    let earth = attitude.rotate(force)
    if !clipped.isEmpty { block.noteClipped(clipped, rotation: attitude.matrix) }
    let change = earth - (forceSample ?? earth)
    block.add(force: earth, bend: change - forceChange)
    (forceSample, forceChange) = (earth, change)
    return earth
  }

  /// Takes one field sample; gives it in the earth frame, freed of its lag and of known iron.
  mutating func add(
    field measured: Vector3, offset: Double, _ c: AttitudeConstants
  ) -> Vector3 {
    let rotation = strapdown.attitude(after: offset, limit: c.limits.extrapolation).matrix
    let earth = block.add(field: measured, rotation: rotation, lag: lag, rate: strapdown.rate)
    return earth - rotation * summary.iron
  }

  /// Takes the horizontal velocity, earth frame, as it was `age` seconds before the newest gyro sample.
  mutating func add(velocity: SIMD2<Double>, variance: Double, age: Double) {
    aiding = Aiding(velocity: velocity, variance: variance, age: age)
  }

  /// Rate about the vertical, clockwise, rad/s.
  var turnRate: Double { -strapdown.attitude.rotate(strapdown.rate).z }

  /// Whether the block is long enough to be closed.
  func isBlockFull(_ c: AttitudeConstants) -> Bool {
    block.duration >= c.blockDuration
  }

  /// What is known besides when a block is closed.
  struct Circumstances {
    /// The low-passed gyro, while the board has lain still for a moment.
    var stationaryRate: Vector3?
    /// Whether it has done so for long enough to be sure of it.
    var isStationary: Bool
    /// Whether neither rate nor force changes.
    var hasConstantRate: Bool
    /// Whether it is not accelerated either.
    var isUnaccelerated: Bool
    /// Whether the bias is being found: the attitude may be too far off for what is linear.
    var isFindingBias: Bool
    /// Whether the field is known not to be the earth's.
    var isDisturbed: Bool
    /// Whether the board is at rest and the field deviates most in its azimuth.
    var isTurned = false
    /// Whether it is so plainly not the earth's, after it was, that a magnet has come near.
    var isBesideMagnet: Bool
    /// Whether the magnetometer is calibrated.
    var isCalibrated: Bool
    /// What the magnetic model expects of a calibrated magnetometer at this place.
    var expected: ReferenceField?
  }

  /// Predicts over the block and takes its measurements.
  mutating func closeBlock(_ now: Circumstances, _ c: AttitudeConstants) {
    let duration = block.duration
    headingAge += duration
    if block.isRateClipped {
      doubtClipped(c)
      block.forgetField()
      // They were compared with a heading that has been mended since.
      (course, measuredHeading) = (nil, nil)
    }
    if let measuredHeading { take(measuredHeading: measuredHeading, c) }
    if let course { takeCourse(course, c) }
    (course, measuredHeading) = (nil, nil)
    if let force = block.meanForce {
      lastForce = force
      forceAge = 0
    } else {
      forceAge += duration
      if forceAge > c.integration.forceReuse { lastForce = nil }
    }
    let isAstray = detectDivergence(now, duration, c)
    let force = lastForce
    predict(force, duration, c)
    var x = ErrorVector.zero
    if let force {
      takeVelocity(&x, force, duration, c)
      if now.isUnaccelerated { takeGravity(force, &x, duration, c) }
      fadeDoubt(now, duration, c)
    }
    if let rate = now.stationaryRate {
      let variance = (now.isStationary ? c.restVariance : c.candidateVariance) / duration
      for axis in 0..<3 {
        covariance.update(
          &x, error: ErrorVector.bias + axis, value: rate[axis] - strapdown.bias[axis],
          variance: variance)
      }
    }
    if let expected = now.expected, hasNorth, !knowsExpectation { take(expected, &x, c) }
    knowsExpectation = now.expected != nil
    if let field = block.field {
      if hasNorth {
        // North may be known from the course before the first field.
        if !knowsField {
          setField(field.earth - field.rotation * summary.iron, now.expected, c)
        }
        takeField(field, &x, now, duration, c)
      } else {
        apply(x, c)
        x = .zero
        alignNorth(field.earth - field.rotation * summary.iron, now.expected, c)
      }
    }
    apply(x, c)
    if isAstray { level(now.expected, c) }
    if now.isStationary {
      gait.stand()
    } else {
      placeTurn *= c.place.doubtAngle / (c.place.doubtAngle + block.turned)
    }
    summarise(c)
    block = MotionBlock()
  }

  private mutating func predict(
    _ force: Vector3?, _ duration: Double, _ c: AttitudeConstants
  ) {
    if let force { velocity += SIMD2(force.x, force.y) * duration }
    let turning = block.turned * block.turned / duration
    let attitudeNoise = c.attitudeNoise * duration + c.turningNoise * turning + block.coarse
    var noise = ErrorVector.zero
    noise[0] = attitudeNoise
    noise[1] = attitudeNoise
    noise[2] = attitudeNoise + c.headingNoise * duration
    for axis in 3..<6 where covariance[axis, axis] < c.biasVariance {
      noise[axis] = c.biasNoise * duration
    }
    noise[6] = c.velocityNoise * duration + block.missedVelocity(c)
    noise[7] = noise[6]
    let beyond = block.clippedVelocity(c)
    noise[6] += beyond.x
    noise[7] += beyond.y
    for axis in ErrorVector.field..<ErrorVector.field + 2
    where covariance[axis, axis] < c.fieldLimit {
      noise[axis] = c.place.noise * duration
    }
    for axis in ErrorVector.iron..<ErrorVector.iron + 3
    where covariance[axis, axis] < c.ironVariance {
      noise[axis] = c.residual.noise * duration
    }
    let kept = exp(-duration / c.azimuth.time)
    covariance.fade(ErrorVector.anomaly, by: kept)
    anomaly *= kept
    noise[ErrorVector.anomaly] = anomalyVariance(c) * (1 - kept * kept)
    covariance.propagate(transition(verticalForce: (force?.z ?? 0) * duration))
    covariance.add(noise)
  }

  /// What the errors become over the block: `phi -= A b + W g`, with `A` the sum of R dt and `W` the mean of R beside
  /// what the block turned by; and what tilt does to velocity.
  private func transition(verticalForce force: Double) -> ErrorCovariance.Transition {
    let a = block.rotation.transposed.columns
    let turned = block.turning / block.duration
    let (x, y, z) = (
      (x: a.x * turned.x, y: a.y * turned.x, z: a.z * turned.x),
      (x: a.x * turned.y, y: a.y * turned.y, z: a.z * turned.y),
      (x: a.x * turned.z, y: a.y * turned.z, z: a.z * turned.z)
    )
    func row(_ axis: Int, _ a: Vector3, _ x: Vector3, _ y: Vector3, _ z: Vector3) -> ErrorVector {
      ErrorVector(
        motion: SIMD8(
          axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0, -a.x, -a.y, -a.z, 0, 0),
        magnetic: SIMD8(0, 0, 0, 0, 0, 0, -x.x, -y.x),
        scale: SIMD8(-z.x, -x.y, -y.y, -z.y, -x.z, -y.z, -z.z, 0))
    }
    let attitude = (
      row(0, a.x, x.x, y.x, z.x), row(1, a.y, x.y, y.y, z.y), row(2, a.z, x.z, y.z, z.z)
    )
    return ErrorCovariance.Transition(attitude: attitude, lift: force / 2, turned: turned)
  }
}
