// What the attitude filter learns of tilt and heading from how the board moves: force, velocity, course.

import LinearAlgebra

extension ErrorStateFilter {
  /// A velocity that was measured by somebody else.
  struct Aiding: Sendable, Hashable, Codable {
    var velocity: SIMD2<Double>
    var variance: Double
    /// Seconds since it was true.
    var age: Double
    var isNew = true
  }

  /// A carrier's direction as somebody else has measured it.
  struct Course: Sendable, Hashable, Codable {
    /// Heading, clockwise, less the course, radians.
    var error: Double
    /// rad^2.
    var variance: Double
    /// What of it comes from a turn since it was measured, rad^2.
    var turnVariance: Double?
  }

  /// The mean of the squares of what measured headings differed by.
  struct HeadingScatter: Sendable, Hashable, Codable {
    /// rad^2. The variance that the first heading claims counts as one heading.
    var mean: Double
    /// The number of headings behind it, up to the memory.
    var count = 1.0

    mutating func add(_ square: Double, memory: Double) {
      count = min(count + 1, max(1, memory))
      mean += (square - mean) / count
    }
  }

  /// Takes the direction in which the carrier moves as that of its y axis, once the block is full: its gyro samples are
  /// integrated, and taped, as those of one attitude. A newer course in the same block replaces it.
  /// - Parameters:
  ///   - course: Clockwise from magnetic north, radians, at the newest gyro sample.
  ///   - variance: rad^2, what the carrier slips sideways and how it is mounted included.
  mutating func add(course: Double, variance: Double) {
    // Heading and course turn alike until then; their difference stays.
    let heading = DirectAttitude.heading(of: strapdown.attitude)
    let error = (heading - course).remainder(dividingBy: 2 * .pi)
    self.course = Course(error: error, variance: variance)
  }

  /// Takes a heading that somebody else has measured, in the same way.
  ///
  /// - Parameters:
  ///   - heading: Clockwise from magnetic north, radians, at the newest gyro sample.
  ///   - variance: rad^2, without the part of a turn.
  ///   - turnVariance: What a turn since it was measured adds to it, rad^2.
  mutating func add(measuredHeading heading: Double, variance: Double, turnVariance: Double) {
    let own = DirectAttitude.heading(of: strapdown.attitude)
    measuredHeading = Course(
      error: (own - heading).remainder(dividingBy: 2 * .pi), variance: variance + turnVariance,
      turnVariance: turnVariance)
  }

  /// Takes the measured heading that has waited. One that contradicts is rejected, until all have done so for long.
  ///
  /// Most of the variance is an error that lasts, which the attitude shares once it follows the headings: what a
  /// heading contradicts by is judged by how much the ones before it have differed from the attitude.
  mutating func take(measuredHeading measured: Course, _ c: AttitudeConstants) {
    let (z, variance) = (measured.error, measured.variance)
    let interval = min(headingAge, c.measuredHeading.longestInterval)
    headingAge = 0
    guard hasNorth else {
      hasMeasuredNorth = true
      return findNorth(turnedBy: z, variance: variance, c)
    }
    let turnVariance = measured.turnVariance ?? 0
    var scatter = headingScatter ?? HeadingScatter(mean: variance)
    let usual = min(variance, scatter.mean + c.measuredHeading.leastScatter + turnVariance)
    if z * z > c.measuredHeading.gate * (covariance[2, 2] + usual) {
      // Of both headings the true one has its own error.
      headingContradiction = abs(z) + 2 * variance.squareRoot()
      rejectedTime += interval
      // A north that the field alone has given is the worse one.
      guard rejectedTime > c.measuredHeading.patience || !hasMeasuredNorth else { return }
      doubtHeading(by: z, c)
      headingScatter = nil
    } else {
      scatter.add(max(0, z * z - turnVariance), memory: c.measuredHeading.scatterMemory)
      headingScatter = scatter
    }
    (headingContradiction, rejectedTime, hasMeasuredNorth) = (0, 0, true)
    // A delay that is not known turns every heading of a turn the same way: their mean is no better than one of them.
    let count = max(1, c.measuredHeading.turnTime / max(interval, c.measuredHeading.leastInterval))
    correctHeading(by: z, variance: variance + turnVariance * (count - 1), c)
  }

  /// Takes north from a course or a heading, where it was not known.
  private mutating func findNorth(turnedBy z: Double, variance: Double, _ c: AttitudeConstants) {
    covariance.tape?.doubtHeading()
    turnEarth(by: z)
    block.turn(by: Quaternion(rotationVector: Vector3(0, 0, z)))
    covariance.decouple(2, variance: variance)
    forgetAnomaly(c)
    hasNorth = true
    northAge = 0
    placeTurn = 0
    (headingContradiction, rejectedTime, headingScatter) = (0, 0, nil)
  }

  /// Gives heading the variance of an error that others have shown: iron on the carrier has turned north.
  private mutating func doubtHeading(by z: Double, _ c: AttitudeConstants) {
    covariance.tape?.doubtHeading()
    let size = z * z * field.x * field.x
    for axis in 0..<3 { covariance.add(size, to: ErrorVector.iron + axis) }
    covariance.add(z * z, to: 2)
    restartResidual(c)
  }

  private mutating func correctHeading(by z: Double, variance: Double, _ c: AttitudeConstants) {
    var x = ErrorVector.zero
    covariance.update(&x, error: ErrorVector.attitude + 2, value: z, variance: variance)
    apply(x, c)
    block.turn(by: Quaternion(rotationVector: x[vector: ErrorVector.attitude]))
    summarise(c)
  }

  /// Takes the course that has waited, before all else: velocity and field are compared in the axes that it gives.
  mutating func takeCourse(_ course: Course, _ c: AttitudeConstants) {
    let (z, variance) = (course.error, course.variance)
    guard hasNorth else { return findNorth(turnedBy: z, variance: variance, c) }
    // Somebody who goes backwards, or slides, is not followed at once. A course that contradicts for
    // longer is right: iron on the carrier has turned north.
    let nis = z * z / (covariance[2, 2] + variance)
    contradictions = nis > c.course.gate ? contradictions + 1 : 0
    if contradictions >= c.course.contradictions {
      contradictions = 0
      doubtHeading(by: z, c)
    }
    let doubt = max(1, z * z / (covariance[2, 2] + variance) / c.course.gate)
    correctHeading(by: z, variance: variance * doubt, c)
  }

  /// Whether somebody else measures the velocity.
  private func isAided(_ c: AttitudeConstants) -> Bool {
    aiding.map { $0.age < c.velocity.pause } ?? false
  }

  /// Nothing on earth is accelerated one way for long: a force that would have made it fast belongs to a
  /// wrong attitude. Upside down the filter is at peace with itself and would stay; and one that began amid
  /// accelerations of several g may have begun far off.
  mutating func detectDivergence(
    _ now: Circumstances, _ duration: Double, _ c: AttitudeConstants
  ) -> Bool {
    uncertainTime = max(0, uncertainTime - duration)
    guard let force = lastForce else { return false }
    let up = Vector3(0, 0, c.gravity)
    let old = meanForce ?? force
    meanForce = old + (force - old) * (duration / (c.divergence.forceTime + duration))
    gait.update(lift: force.z - old.z, duration, c.velocity)
    // Where the velocity is measured the force has its say there.
    reckonedVelocity =
      isAided(c)
      ? .zero
      : (reckonedVelocity + (force - up) * duration)
        * (c.divergence.memory / (c.divergence.memory + duration))
    doubtTilt(c)
    let limit =
      uncertainTime > 0 || now.hasConstantRate ? c.divergence.uncertainLimit : c.divergence.limit
    return reckonedVelocity.lengthSquared > limit * limit
  }

  /// Adds variance to the tilt when the horizontal force adds up to a speed that legs cannot reach. The excess is a share of
  /// gravity, so the tilt is wrong by at least this angle, and the covariance does not show it.
  private mutating func doubtTilt(_ c: AttitudeConstants) {
    let gained = SIMD2(reckonedVelocity.x, reckonedVelocity.y)
    // A force beyond the accelerometer's range has no direction.
    guard aiding == nil, block.clippedVelocity(c) == .zero,
      gait.contradicts(gained: gained, c.velocity, c.divergence)
    else { return }
    let turn = gained / (c.divergence.memory * c.gravity)
    var common = ErrorVector.zero
    common[ErrorVector.attitude] = turn.y
    common[ErrorVector.attitude + 1] = -turn.x
    covariance.add(common: common)
  }

  /// Turns the attitude by the shortest way so that the mean force is up, and lets all that followed from
  /// the wrong one be found anew.
  mutating func level(
    _ expected: ReferenceField?, _ c: AttitudeConstants
  ) {
    reckonedVelocity = .zero
    guard let mean = meanForce, let turn = DirectAttitude.attitude(up: mean) else { return }
    // In free fall nothing says where up is; and a chip whose g is not quite one is no wrong attitude.
    let excess = (mean.length - c.gravity) / c.gravity
    let turned = turn.rotationVector.length
    guard abs(excess) < c.divergence.largestExcess, turned > c.divergence.leastAngle else { return }
    if isTaped {
      let mark = self.mark
      covariance.tape?.cut(mark, wasWrong: uncertainTime > 0)
    }
    strapdown.attitude = (turn * strapdown.attitude).normalized
    meanForce = turn.rotate(mean)
    velocity = .zero
    velocityScatter = 0
    assumesStandstill = true
    gait.restart()
    pull = .zero
    let share = turned * c.divergence.levelledShare
    let variance = c.divergence.levelledVariance + share * share + excess * excess
    for axis in 0..<2 {
      covariance.decouple(ErrorVector.attitude + axis, variance: variance)
      covariance.decouple(ErrorVector.velocity + axis, variance: c.startVelocity)
    }
    restartResidual(c)
    let hadNorth = hasNorth
    hasNorth = false
    if hadNorth, let field = block.field {
      alignNorth(turn.rotate(field.earth - field.rotation * summary.iron), expected, c)
    }
  }

  mutating func takeVelocity(
    _ x: inout ErrorVector, _ force: Vector3, _ duration: Double,
    _ c: AttitudeConstants
  ) {
    let square = (velocity * velocity).sum() / 2
    velocityScatter += (square - velocityScatter) * (duration / (c.velocity.scatterTime + duration))
    guard var aid = aiding else { return takeStandstill(&x, duration, c) }
    if aid.isNew {
      // What it has become since, by the force.
      let acceleration = SIMD2(force.x, force.y)
      let slip = c.velocity.slip * c.velocity.slip * (acceleration * acceleration).sum()
      let now = aid.velocity + acceleration * aid.age
      if assumesStandstill, contradictsStandstill(aid, c) {
        leaveStandstill(&x, velocity: now, variance: aid.variance + slip)
      } else {
        measure(&x, velocity: now, variance: aid.variance + slip)
      }
      aid.isNew = false
      gait.update(velocity: aid.velocity, c.divergence)
    } else if aid.age > c.velocity.pause {
      // A carrier that was moving when the receiver lost it goes on moving, ever less surely like that.
      let deviation = c.velocity.heldDeviation + c.velocity.heldGrowth * aid.age
      measure(&x, velocity: aid.velocity, variance: deviation * deviation / duration)
    }
    aid.age += duration
    aiding = aid.age < c.velocity.memory ? aid : nil
  }

  /// Whether a measured velocity is surer than the one at a start, or surely that of a carrier that moves.
  private func contradictsStandstill(_ measured: Aiding, _ c: AttitudeConstants) -> Bool {
    let square = (measured.velocity * measured.velocity).sum()
    return measured.variance < c.startVelocity
      || square > c.course.speedSigmas * c.course.speedSigmas * measured.variance
  }

  /// Replaces the velocity that was assumed by the first one that is measured. Standstill, which a carrier that moves contradicts
  /// by its whole speed, has made the assumed one look sure: the difference would be put down to the tilt.
  private mutating func leaveStandstill(
    _ x: inout ErrorVector, velocity measured: SIMD2<Double>, variance: Double
  ) {
    assumesStandstill = false
    velocity = measured
    velocityScatter = 0
    for axis in 0..<2 {
      x[ErrorVector.velocity + axis] = 0
      covariance.decouple(ErrorVector.velocity + axis, variance: variance)
    }
  }

  /// Nothing says how fast it goes: on the whole not at all. Somebody who walks keeps his velocity for
  /// seconds, so that each block says little about tilt; the weight falls with the velocity itself, as in
  /// a fit that is robust against outliers. On legs it does so up to a limit: a large velocity there is a wrong tilt, which
  /// would keep itself alive.
  private mutating func takeStandstill(
    _ x: inout ErrorVector, _ duration: Double, _ c: AttitudeConstants
  ) {
    assumesStandstill = true
    let before = SIMD2(x[0], x[1])
    let scatter = min(velocityScatter, gait.largestScatter(c.velocity))
    let variance = c.velocityVariance + c.velocityWeight * scatter
    measure(&x, velocity: .zero, variance: variance / duration)
    pull += SIMD2(x[0], x[1]) - before
  }

  private mutating func measure(
    _ x: inout ErrorVector, velocity measured: SIMD2<Double>, variance: Double
  ) {
    for axis in 0..<2 {
      covariance.update(
        &x, error: ErrorVector.velocity + axis, value: measured[axis] - velocity[axis],
        variance: variance)
    }
  }

  /// How many times faster than on legs the board seems to go; 1 where it is not faster. Either it goes so fast, and nothing
  /// says much of its tilt, or the tilt is wrong.
  func haste(_ c: AttitudeConstants) -> Double {
    max(1, velocityScatter / c.velocity.largestScatter).squareRoot()
  }

  /// What standstill has turned the attitude by fades as gravity gets the last word again; the faster the board seems to
  /// go the longer that takes.
  mutating func fadeDoubt(_ now: Circumstances, _ duration: Double, _ c: AttitudeConstants) {
    // While a bias of tens of degrees a second is being found it mends what that has turned.
    if now.isFindingBias { return pull = .zero }
    let time =
      isAided(c) || now.isUnaccelerated
      ? c.velocity.tiltFading : c.velocity.tiltMemory * haste(c)
    pull *= time / (time + duration)
  }

  /// Standing or rolling steadily, the force is gravity: its horizontal part is the tilt's error. That
  /// says nothing of velocity, which a smooth ride has as well.
  mutating func takeGravity(
    _ force: Vector3, _ x: inout ErrorVector, _ duration: Double,
    _ c: AttitudeConstants
  ) {
    let variance = c.unacceleratedVariance / duration
    var h = ErrorVector.zero
    h[ErrorVector.attitude + 1] = force.z
    covariance.update(&x, h: h, value: -force.x, variance: variance)
    h = ErrorVector.zero
    h[ErrorVector.attitude] = -force.z
    covariance.update(&x, h: h, value: -force.y, variance: variance)
  }
}
