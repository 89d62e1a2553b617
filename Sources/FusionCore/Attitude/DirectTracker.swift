// Attitude without a gyro: low-passed accelerometer and magnetometer, turned into an attitude.

import LinearAlgebra

/// Follows up and field with low passes whose cutoff rises with the speed of turning.
///
/// Without a gyro nothing tells turning from noise but the magnetometer itself: a board at rest is
/// smoothed hard, one that turns is followed fast (the idea of the 1-euro filter, Casiez et al.,
/// CHI 2012). The accelerometer cannot tell tilt from acceleration, so it takes its cutoff from
/// the magnetometer's turning too.
struct DirectTracker: Sendable, Hashable, Codable {
  /// Low-passed specific force, m/s^2.
  private(set) var up: Vector3?
  /// Low-passed field, microtesla.
  private(set) var field: Vector3?
  /// Mean square of what the low pass took from the specific force, (m/s^2)^2.
  private(set) var forceVariance = 0.0
  /// The part of it that shakes: what the low pass took.
  private var shakeVariance = 0.0
  private var lastField = Vector3.zero
  private var slope = Vector3.zero
  /// How far the low-passed field trails behind, microtesla.
  private var lag = Vector3.zero
  private var doubt = AccelerationDoubt()

  /// How fast the field turns in the body frame, rad/s.
  private var turning: Double {
    guard let length = field?.length, length > 0 else { return 0 }
    return slope.length / length
  }

  private func cutoff(_ p: DirectTrackerParameters) -> Double {
    p.restCutoff + p.cutoffSlope * turning
  }

  /// How far the low-passed field trails behind a turn, as it shows in heading, radians.
  ///
  /// A low pass of the first order trails by what it has not yet taken; in heading that is seen from the
  /// horizontal field, which may be a small part of the whole.
  /// - Parameter horizontal: The field's horizontal part, microtesla.
  func trailing(horizontal: Double) -> Double { lag.length / max(horizontal, 1e-3) }

  /// One sigma of the tilt, radians: half a degree, and acceleration: what the low pass of the force has taken
  /// from it or left of its excess over gravity, or what does not show, whichever is more.
  func tiltDeviation(_ c: AttitudeConstants) -> Double {
    let gravity = c.gravity
    let unseen = doubt.deviation(
      force: up, shake: shakeVariance.squareRoot(), gravity: gravity, c.acceleration)
    let acceleration = max(forceVariance, unseen * unseen)
    return (c.direct.tiltVariance + acceleration / (gravity * gravity)).squareRoot()
  }

  /// The tilt by which the force is certainly too long for gravity alone, radians.
  func shownTilt(_ c: AttitudeConstants) -> Double {
    guard let up else { return 0 }
    let shown = doubt.shown(
      up.length, shake: shakeVariance.squareRoot(), gravity: c.gravity, c.acceleration)
    return shown / c.gravity
  }

  /// The attitude, or `nil` while one of the two is missing.
  var attitude: Quaternion? {
    guard let up, let field else { return nil }
    return DirectAttitude.attitude(up: up, field: field)
  }

  /// Moves to another calibration of the field.
  mutating func shiftField(by shift: Vector3) {
    field = field.map { $0 + shift }
    lastField += shift
    doubt.fieldWasShifted(by: shift)
  }

  /// Discards the field and what was concluded from it; the next sample starts the low pass again.
  mutating func forgetField() {
    (field, slope, lag) = (nil, .zero, .zero)
    doubt.forgetField()
  }

  /// Takes one specific force; 0 seconds starts anew.
  mutating func update(force: Vector3, _ dt: Double, _ c: AttitudeConstants) {
    let gravity = c.gravity
    guard let old = up, dt > 0 else {
      up = force
      let excess = force.length - gravity
      forceVariance = excess * excess
      shakeVariance = 0
      doubt = AccelerationDoubt()
      return
    }
    let new = old + (force - old) * Self.gain(dt, cutoff(c.direct))
    up = new
    let excess = new.length - gravity
    let shake = (force - new).lengthSquared
    let keep = dt / (c.direct.scatterTime + dt)
    forceVariance += (shake + excess * excess - forceVariance) * keep
    shakeVariance += (shake - shakeVariance) * keep
    doubt.update(force: new, field: field, dt, gravity: gravity, c.acceleration)
  }

  /// Takes one field; 0 seconds starts anew.
  mutating func update(field measured: Vector3, _ dt: Double, _ p: DirectTrackerParameters) {
    defer { lastField = measured }
    guard let old = field, dt > 0 else {
      field = measured
      slope = .zero
      lag = .zero
      return
    }
    let keep = dt / (p.slopeTime + dt)
    slope += ((measured - lastField) / dt - slope) * keep
    let new = old + (measured - old) * Self.gain(dt, cutoff(p))
    field = new
    lag += (measured - new - lag) * keep
  }

  private static func gain(_ dt: Double, _ cutoff: Double) -> Double {
    let x = 2 * .pi * cutoff * dt
    return x / (1 + x)
  }
}

/// How much of the specific force may be acceleration that nothing shows.
///
/// A horizontal acceleration of 1 m/s^2 makes the force longer by half a percent, less than a chip's own
/// error: all that tells a rover that sets off from one that tilts is what is likely. Two things are. Nothing
/// is accelerated one way for long: the longer force and field have stayed where they are, the less of the
/// force is acceleration. And a force that has moved of late has moved by an acceleration as likely as by a
/// tilt, unless by more than its length allows, or as the field has turned.
struct AccelerationDoubt: Sendable, Hashable, Codable {
  /// The low-passed force as it was of late, m/s^2: in a body that has not tilted, and in one that has tilted as
  /// the field did. Both follow within `memory`.
  private var recent: Vector3?
  private var turned = Vector3.zero
  private var lastField: Vector3?
  /// Force and field when stillness began, m/s^2 and microtesla.
  private var stillForce = Vector3.zero
  private var stillField: Vector3?
  /// Seconds for which both have stayed there.
  private var still = 0.0
  /// Whether it has been still for long enough to know what length gravity has to this chip.
  private var hasRested = false

  private func slack(_ p: UnseenAccelerationParameters) -> Double {
    hasRested ? p.knownLength : p.unknownLength
  }

  /// The horizontal acceleration that makes the force longer by so much.
  private static func acceleration(excess: Double, gravity: Double) -> Double {
    (2 * gravity * max(0, excess)).squareRoot()
  }

  /// The horizontal acceleration that a force is certainly too long for gravity by, m/s^2.
  ///
  /// What is shaken is longer and shorter by vertical accelerations too: as much as it is shaken says nothing.
  func shown(
    _ length: Double, shake: Double, gravity: Double, _ p: UnseenAccelerationParameters
  ) -> Double {
    let rest = hasRested ? (recent?.length ?? gravity) : gravity
    let excess = min(abs(length - rest), abs(length - gravity))
    return Self.acceleration(excess: excess - slack(p) - shake, gravity: gravity)
  }

  /// One sigma of the horizontal acceleration that the force may hold, m/s^2.
  /// - Parameter shake: One sigma of what shakes about the low-passed force, m/s^2.
  func deviation(
    force: Vector3?, shake: Double, gravity: Double, _ p: UnseenAccelerationParameters
  ) -> Double {
    guard let force, let recent else { return p.moving }
    let prior = min(p.moving, max(p.still, p.speed / max(still, 1e-3)))
    let shown = shown(force.length, shake: shake, gravity: gravity, p)
    let moved = min((force - recent).lengthSquared, (force - turned).lengthSquared)
    return (prior * prior + max(moved, shown * shown)).squareRoot()
  }

  /// The field is corrected by another calibration from now on.
  mutating func fieldWasShifted(by shift: Vector3) {
    stillField = stillField.map { $0 + shift }
    lastField = lastField.map { $0 + shift }
  }

  /// Discards the field, which later samples cannot be compared with.
  mutating func forgetField() { (stillField, lastField) = (nil, nil) }

  /// Takes one low-passed force and the low-passed field of that time.
  mutating func update(
    force: Vector3, field: Vector3?, _ dt: Double, gravity: Double,
    _ p: UnseenAccelerationParameters
  ) {
    let old = recent ?? force
    if recent == nil { turned = force }
    if let field, let last = lastField {
      // The shortest turn that takes the field where it is now.
      turned += last.cross(field).cross(turned) / max(field.lengthSquared, 1)
    }
    lastField = field
    let hidden = Self.acceleration(excess: slack(p), gravity: gravity)
    let most = p.tiltFactor * (shown(force.length, shake: 0, gravity: gravity, p) + hidden)
    // Further than any acceleration of that length can move it, it has tilted.
    func follow(_ old: Vector3) -> Vector3? {
      guard (force - old).lengthSquared <= most * most else { return nil }
      return old + (force - old) * (dt / (p.memory + dt))
    }
    turned = follow(turned) ?? force
    let new = follow(old)
    recent = new ?? force
    let limit = p.forceLimit * p.forceLimit
    guard new != nil, !hasTurned(field, p), (force - stillForce).lengthSquared < limit else {
      stillForce = force
      stillField = field
      still = 0
      return
    }
    still = min(still + dt, 1_000)
    if still > p.stillDuration { hasRested = true }
  }

  private func hasTurned(_ field: Vector3?, _ p: UnseenAccelerationParameters) -> Bool {
    guard let field, let held = stillField else { return field != nil }
    let limit = p.angleLimit * p.angleLimit * held.lengthSquared
    return (field - held).lengthSquared > limit
  }
}

/// Means over the first fraction of a second, carried along by the gyro, so that one noisy sample
/// does not start the filter.
struct StartAverage: Sendable, Hashable, Codable {
  /// Body to the frame the body had at the first sample.
  var frame = Quaternion.identity
  var force = Vector3.zero
  var forceCount = 0.0
  var forceSquares = 0.0
  var field = Vector3.zero
  var fieldCount = 0.0
  var duration = 0.0

  mutating func add(force sample: Vector3) {
    force += frame.rotate(sample)
    forceSquares += sample.lengthSquared
    forceCount += 1
  }

  mutating func add(field sample: Vector3) {
    field += frame.rotate(sample)
    fieldCount += 1
  }

  /// Discards the field samples.
  mutating func forgetField() { (field, fieldCount) = (.zero, 0) }

  /// Body to earth, north known; `nil` while a vector is missing.
  var attitude: Quaternion? {
    guard forceCount > 0, fieldCount > 0 else { return nil }
    return DirectAttitude.attitude(up: force, field: field).map { ($0 * frame).normalized }
  }

  /// Body to earth with an arbitrary heading; `nil` while up is unknown.
  var tilt: Quaternion? {
    guard forceCount > 0 else { return nil }
    return DirectAttitude.attitude(up: force).map { ($0 * frame).normalized }
  }

  /// One sigma of the tilt, radians: a floor, and what says that the board accelerates.
  func tiltDeviation(_ c: AttitudeConstants) -> Double {
    let (gravity, p) = (c.gravity, c.alignment)
    guard forceCount > 0 else { return .pi }
    let mean = force / forceCount
    let spread = max(0, forceSquares / forceCount - mean.lengthSquared)
    // Steps and shakes cancel over their own duration.
    let scatter = (spread * min(1, p.shakeTime / max(duration, 1e-3))).squareRoot()
    let excess = (scatter + abs(mean.length - gravity)) / gravity
    let base = p.tiltFloor
    return min((base * base + excess * excess).squareRoot(), p.tiltCeiling)
  }

  /// One sigma of what a gyro whose bias (rad/s) nobody knew has turned the means by, radians: half of what it has turned
  /// the body by meanwhile.
  func smear(biasDeviation: Double, _ p: AlignmentParameters) -> Double {
    p.smearShare * biasDeviation * duration
  }
}
