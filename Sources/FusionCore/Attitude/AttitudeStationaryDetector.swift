// Rest: the board lies still, so whatever the gyro says is its bias.

import LinearAlgebra

/// Notices that the board lies still.
///
/// Rest is 1.5 s during which both sensors stay near their own half-second means and the mean rate
/// is one that can be bias. A vehicle that gently sets off turns nothing and shakes nothing: the force is all that
/// tells, and one that stays close to what it was when stillness began is gravity.
struct AttitudeStationaryDetector: Sendable, Hashable, Codable {
  /// Low-passed angular rate, rad/s, body frame.
  private(set) var rate: Vector3?
  private var force: Vector3?
  /// The mean rate of the last seconds of stillness.
  private var settled = Vector3.zero
  /// Seconds of stillness so far.
  private var stationaryTime = 0.0

  /// Seconds for which nothing has changed, whatever the rate.
  private var constantRateTime = 0.0

  private var anchor: Vector3?

  /// What the field says of the same stillness: its half-second mean, how its samples scatter about that (square),
  /// what the mean was when the watch began, and for how long it has been watched since.
  private var field: Vector3?
  private var fieldScatter = 0.0
  /// Seconds since the first sample of that mean.
  private var fieldTime = 0.0
  private var fieldAnchor: Vector3?
  private var observedTime = 0.0
  /// The mean rate when it began.
  private var initialRate = Vector3.zero
  /// The mean field half a second to a second ago, the one that follows it, and seconds since that.
  private var fieldBefore: Vector3?
  private var fieldNext: Vector3?
  private var sinceNext = 0.0
  /// For how long rest is not believed yet, seconds.
  private var doubt = 0.0
  /// Seconds of rest since the last sample of the field.
  private var unobserved = 0.0

  /// Whether the board lies still.
  func isStationary(_ c: AttitudeConstants) -> Bool {
    stationaryTime >= c.stationary.duration && doubt == 0
  }

  /// Whether neither rate nor force has changed for a while: at rest, whatever the bias is thought to be.
  func hasConstantRate(_ c: AttitudeConstants) -> Bool { constantRateTime >= c.stationary.duration }

  /// Whether it has lain still for a moment: enough to lean on, not to be sure of.
  func isCandidate(_ c: AttitudeConstants) -> Bool {
    stationaryTime >= c.stationary.candidateDuration && doubt == 0
  }

  /// Whether it lies still or rolls on without being accelerated.
  func isUnaccelerated(_ c: AttitudeConstants) -> Bool { isStationary(c) && anchor != nil }

  /// A turn so slow that it passed for rest.
  struct SlowTurn {
    /// Radians about up since the watch began, right-handed.
    var angle: Double
    /// The same, radians a second.
    var rate: Double
    var up: Vector3
    /// What the gyro says meanwhile, its bias included, rad/s.
    var felt: Vector3
  }

  /// Forgets everything, after a gap.
  mutating func reset() { self = AttitudeStationaryDetector() }

  /// Takes one angular rate.
  /// - Parameters:
  ///   - bias: The bias known so far.
  ///   - limit: How far from it a mean rate may be and still be bias, rad/s.
  mutating func update(
    rate new: Vector3, _ dt: Double, bias: Vector3, limit: Double, _ c: AttitudeConstants
  ) {
    guard let old = rate else {
      rate = new
      return
    }
    let mean = old + (new - old) * (dt / (c.stationary.timeConstant + dt))
    rate = mean
    let isEven =
      (new - mean).lengthSquared < c.stationary.rateThreshold * c.stationary.rateThreshold
    constantRateTime = isEven ? min(constantRateTime + dt, 10) : 0
    if stationaryTime == 0 { settled = mean }
    settled += (mean - settled) * (dt / (c.stationary.settlingTime + dt))
    let drift = (mean - settled).lengthSquared
    let isStill =
      isEven && (mean - bias).lengthSquared < limit * limit
      && drift < c.stationary.driftThreshold * c.stationary.driftThreshold
    if doubt > 0 {
      doubt = max(0, doubt - dt)
      // What was doubted all along needs no correction: the watch begins anew with belief.
      if doubt == 0 { fieldAnchor = nil }
    }
    stationaryTime = isStill ? min(stationaryTime + dt, 10) : 0
    if isStationary(c) { unobserved += dt }
  }

  /// Discards the field, which later samples cannot be compared with: it is not the earth's, or is corrected otherwise.
  mutating func forgetField() { (field, fieldAnchor) = (nil, nil) }

  /// Notes a sample of a field that is not the earth's: samples come, and after a short silence that is enough.
  mutating func noteDisturbedField(_ c: AttitudeConstants) {
    forgetField()
    if unobserved <= c.limits.lossTimeout { unobserved = 0 }
  }

  /// Returns once for how many seconds the board has been at rest without a field that could have shown a slow turn, or
  /// `nil` after a short silence.
  mutating func takeUnobserved(_ c: AttitudeConstants) -> Double? {
    defer { unobserved = 0 }
    return unobserved > c.limits.lossTimeout ? unobserved : nil
  }

  /// Takes one field sample, body frame, uT, of a field that is the earth's. A ship that swings at her anchor, or
  /// begins a turn, is as still to gyro and accelerometer as one that lies in a dock, and her turning would be
  /// learned as the gyro's bias; the field turns with her.
  ///
  /// - Parameters:
  ///   - dt: Seconds since the sample before.
  /// - Returns: The turn that was taken for rest, where there was one: it is none any more.
  mutating func update(
    field new: Vector3, _ dt: Double, _ c: AttitudeConstants
  ) -> SlowTurn? {
    guard let old = field, dt < 1 else {
      (field, fieldAnchor, fieldTime) = (new, nil, 0)
      return nil
    }
    let mean = old + (new - old) * (dt / (c.stationary.timeConstant + dt))
    field = mean
    let memory = c.slowTurn.settling * c.stationary.timeConstant
    fieldTime = min(fieldTime + dt, 2 * memory)
    fieldScatter += ((new - mean).lengthSquared - fieldScatter) * (dt / (memory + dt))
    // A mean that has just begun is still its first sample's noise.
    let isObserved = fieldTime >= memory && (stationaryTime >= c.stationary.duration || doubt > 0)
    guard isObserved, let held = fieldAnchor, observedTime < c.slowTurn.longestObservation else {
      observedTime = 0
      fieldAnchor = isObserved ? mean : nil
      (fieldBefore, fieldNext, sinceNext) = (nil, fieldAnchor, 0)
      initialRate = rate ?? .zero
      return nil
    }
    observedTime += dt
    sinceNext += dt
    if sinceNext >= c.slowTurn.step {
      (fieldBefore, fieldNext, sinceNext) = (fieldNext, mean, 0)
    }
    let moved = (mean - held).lengthSquared
    let noise = c.slowTurn.noiseFactor * fieldScatter * dt / c.stationary.timeConstant
    guard moved > c.slowTurn.fieldThreshold * c.slowTurn.fieldThreshold + noise else { return nil }
    // A turn at full speed shows before its way is known: where the field was a step or two ago.
    if doubt == 0, observedTime < 2 * c.slowTurn.step + dt { return nil }
    let time = observedTime
    fieldAnchor = nil
    let suspension = min(
      max(c.slowTurn.suspension * time, c.slowTurn.leastSuspension), c.slowTurn.longestSuspension)
    // Whatever moves the field now, this is not the time to begin to believe.
    guard doubt == 0 else {
      doubt = max(doubt, suspension)
      return nil
    }
    guard let up = force?.normalized, let felt = rate, let before = fieldBefore else { return nil }
    // In the body the field turns the other way.
    let (a, b) = (mean - up.dot(mean) * up, held - up.dot(held) * up)
    let angle = atan2(up.dot(a.cross(b)), a.dot(b))
    // A turn about the vertical changes neither how strong the field is nor how steep, and a slow one was well on its
    // way a moment ago. The rest is iron that moves.
    let way = (mean - held).dot(before - held)
    let stretch = mean.length - held.length
    let rise = up.dot(mean - held)
    guard abs(angle) < c.slowTurn.fastest * time, abs(angle) > c.slowTurn.slowest * time,
      stretch * stretch + rise * rise < c.slowTurn.otherShare * moved,
      way > c.slowTurn.progress * moved
    else { return nil }
    doubt = suspension
    stationaryTime = 0
    return SlowTurn(angle: angle, rate: angle / time, up: up, felt: 0.5 * (initialRate + felt))
  }

  /// Takes one specific force, m/s^2.
  mutating func update(force new: Vector3, _ dt: Double, _ c: AttitudeConstants) {
    guard let old = force else {
      force = new
      return
    }
    let mean = old + (new - old) * (dt / (c.stationary.timeConstant + dt))
    force = mean
    if (new - mean).lengthSquared >= c.stationary.forceThreshold * c.stationary.forceThreshold {
      stationaryTime = 0
      constantRateTime = 0
    }
    // The anchor is dropped when the force wanders off, and cast again with the next stillness.
    if stationaryTime < c.stationary.duration {
      anchor = mean
    } else if let held = anchor,
      (mean - held).lengthSquared > c.stationary.unacceleratedThreshold
        * c.stationary.unacceleratedThreshold
    {
      anchor = nil
    }
  }
}
