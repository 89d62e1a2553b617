// Is this the earth's field? Strength and dip against what is expected, with memory.

import LinearAlgebra
import SensorTypes

/// Watches strength, dip and azimuth of the measured field.
///
/// Expected is what the model says; until there is one, what was measured in the first seconds, and
/// always what occurs on earth (20 to 70 uT at the surface). Where a gyro carries heading, the field is expected in
/// the north as well: a magnet can turn its horizontal part and leave the rest as it is. A field that stays off for half a
/// second is disturbed, one that is plainly off (four times what is accepted, or beyond the chip's range) at once;
/// it has to be right for a whole second to be trusted again. A field nobody expected that stays the same for
/// 20 s is a new place, not an intruder, unless a model says otherwise or its strength is far from the one that
/// the calibration was made in. Of azimuth no model says anything.
struct FieldMonitor: Sendable, Hashable, Codable {
  /// What is wrong with the field; what is more so where several are.
  enum Deviation: UInt8, Sendable, Hashable, Codable {
    case strength
    case dip
    case azimuth
  }

  /// How far the field is off, in shares of what is accepted of each.
  private struct Shares {
    var strength = 0.0
    var dip = 0.0
    var azimuth = 0.0

    /// What is wrong, if the field is off by more than `limit` altogether: one magnet shows a little in each.
    func deviation(beyond limit: Double) -> Deviation? {
      let square = strength * strength + dip * dip + azimuth * azimuth
      guard square > limit * limit else { return nil }
      if strength >= max(dip, azimuth) { return .strength }
      return dip >= azimuth ? .dip : .azimuth
    }
  }

  /// What the magnetic model expects; `nil` without a position.
  private(set) var expected: ReferenceField?
  /// Low-passed strength, microtesla.
  private(set) var strength: Double?
  /// Low-passed field in the earth frame; `nil` while attitude is unknown.
  private(set) var earth: Vector3?
  /// Its dip, radians.
  private(set) var dip: Double?
  /// What is wrong, while it is.
  private(set) var disturbance: Deviation?
  /// Strength and dip where they were furthest off, for the text.
  private var worstStrength = 0.0
  private var worstDip = 0.0
  private var worstAzimuth = 0.0
  /// Seconds for which nothing but azimuth has been wrong.
  private var turnedTime = 0.0
  /// Whether the newest field is so far off that it cannot be chance, whether or not that has lasted.
  private(set) var isPlain = false
  private var bareTime = 0.0
  /// Whether the field was beyond the chip's range since the disturbance began.
  private var wasSaturated = false
  private var calibrated: Double?
  private var suspectTime = 0.0
  private var undisturbedTime = 0.0
  private var learned: ReferenceField?
  private var learnedTime = 0.0
  private var candidateStrength = 0.0
  private var candidateDip = 0.0
  private var candidateTime = 0.0
  /// The azimuth that the field of a new place had when it was adopted, in radians, until it is taken.
  private var adoptedAzimuth: Double?
  /// The azimuth in shares of what is accepted of it.
  private var azimuthShare = 0.0

  /// The expectation in force.
  private func reference(_ c: AttitudeConstants) -> ReferenceField? {
    expected ?? (learnedTime >= c.fieldTest.learningStart ? learned : nil)
  }

  /// The field beside what it should be; `nil` before the first sample.
  /// - Parameters:
  ///   - calibrated: Strength of the field that the calibration was made in, microtesla: what counts where no
  ///     model says better.
  ///   - magnet: Strength of what the samples were freed of, microtesla.
  @inline(__always)  // A call would copy the whole struct.
  func check(
    calibrated: Double?, magnet: Double, _ c: AttitudeConstants
  ) -> FieldCheck? {
    guard let strength else { return nil }
    var check = FieldCheck(
      measured: FieldShape(strength: strength, dip: dip),
      isDisturbed: disturbance != nil, magnet: magnet)
    if let expected {
      check.expected = FieldShape(strength: expected.strength, dip: expected.dip)
      check.origin = .model
    } else if let calibrated {
      check.expected = FieldShape(strength: calibrated)
      check.origin = .calibration
    } else if let reference = reference(c) {
      check.expected = FieldShape(strength: reference.strength, dip: reference.dip)
      check.origin = .learned
    }
    return check
  }

  /// Changes what the model expects.
  mutating func expect(_ field: ReferenceField?) {
    guard let field else {
      expected = nil
      return
    }
    guard field.strength.isFinite, field.strength > 0, field.dip.isFinite,
      field.strengthDeviation.isFinite, field.dipDeviation.isFinite
    else { return }
    expected = field
  }

  /// Forgets what was measured, keeps what the model expects.
  mutating func reset() {
    let model = expected
    self = FieldMonitor()
    expected = model
  }

  /// From now on the samples are freed of a magnet that was not known before.
  ///
  /// What has only begun to be learned of this place was measured beside it and is forgotten; what was known
  /// for long does not change when a magnet comes.
  mutating func magnetWasFound(_ c: AttitudeConstants) {
    strength = nil
    earth = nil
    dip = nil
    // The reason is known: if all is well from here on, that need not be waited for in full.
    undisturbedTime = c.fieldTest.recoveryDuration - c.fieldTest.explainedDuration
    guard learnedTime < c.fieldTest.provenDuration else { return }
    learned = nil
    learnedTime = 0
    candidateTime = 0
    if expected == nil { disturbance = nil }
  }

  /// The low-passed field's angle from the north that it was expected in, radians; `nil` like `earth`.
  var azimuth: Double? { earth.map { atan2($0.x, $0.y) } }

  /// Angle of a field below the horizon, radians.
  static func dip(_ earth: Vector3) -> Double {
    atan2(-earth.z, (earth.x * earth.x + earth.y * earth.y).squareRoot())
  }

  /// Takes one sample, or the mean of a few.
  /// - Parameters:
  ///   - length: Strength, microtesla.
  ///   - earthField: The field in the earth frame, where attitude is known.
  ///   - dt: Seconds since the sample before; 0 for the first.
  ///   - residual: One sigma of what the calibration leaves open, microtesla.
  ///   - tilt: One sigma of the tilt that the dip is seen with, where it is not small, radians. What is seen with
  ///     too much of it teaches nothing.
  ///   - shownTilt: How much of that an acceleration shows in the force's length, radians.
  ///   - heading: One sigma of the heading of `earthField`, radians, where more than this field says where north is.
  ///   - calibrated: Strength of the field that the calibration was made in, microtesla: what differs much from
  ///     it is not taken for another place.
  ///   - teaches: Whether the tilt is sure enough to learn the dip of this place from.
  mutating func update(
    strength length: Double, earth earthField: Vector3?, _ dt: Double, residual: Double,
    tilt: Double = 0,
    shownTilt: Double = 0, heading: Double? = nil, calibrated: Double? = nil, teaches: Bool = true,
    _ c: AttitudeConstants
  ) {
    self.calibrated = calibrated
    let keep = dt / (c.fieldTest.timeConstant + dt)
    let mean = strength.map { $0 + (length - $0) * keep } ?? length
    strength = mean
    if let earthField {
      earth = earth.map { $0 + (earthField - $0) * keep } ?? earthField
    } else {
      earth = nil
    }
    dip = earth.map(Self.dip)
    let deviation: Deviation?
    if let reference = reference(c) {
      var shares = Shares()
      shares.strength =
        abs(mean - reference.strength) / Self.strengthTolerance(reference, residual: residual, c)
      if let dip {
        let most = max(c.fieldTest.leastExcusedTilt, min(c.fieldTest.largestExcusedTilt, shownTilt))
        let excused = min(tilt, most)
        shares.dip =
          abs(dip - reference.dip)
          / (Self.dipTolerance(reference, residual: residual, c) + c.fieldTest.tiltSigmas * excused)
      }
      if let azimuth, let heading {
        let tolerance = Self.azimuthTolerance(reference, residual: residual, c)
        shares.azimuth = abs(azimuth) / (tolerance + c.fieldTest.headingSigmas * heading)
      }
      azimuthShare = shares.azimuth
      isPlain = shares.strength > c.fieldTest.plainExcess
      // What is disturbed has to come back a little further than it had to leave.
      deviation = shares.deviation(beyond: disturbance == nil ? 1 : c.fieldTest.hysteresis)
      let isTurned = deviation == .azimuth && max(shares.strength, shares.dip) < 1
      turnedTime = isTurned ? turnedTime + dt : 0
    } else {
      isPlain = false
      turnedTime = 0
      deviation = c.fieldTest.isPlausible(mean) ? nil : .strength
    }
    updateDisturbance(deviation, mean, teaches ? dip : nil, dt, c)
  }

  /// The field is beyond what the chip can measure: that needs no second look.
  mutating func saturate(_ c: AttitudeConstants) {
    isPlain = true
    wasSaturated = true
    bareTime = 0
    undisturbedTime = 0
    suspectTime = c.fieldTest.suspectDuration
    disturbance = .strength
  }

  /// The horizontal field has turned by an angle in radians, faster than a board turns.
  mutating func step(by angle: Double, _ c: AttitudeConstants) {
    undisturbedTime = c.fieldTest.recoveryDuration - c.fieldTest.stepDuration
    guard disturbance == nil else { return }
    disturbance = .azimuth
    worstAzimuth = angle
  }

  /// Takes what the field would be without the magnet that the samples are freed of, earth frame, and says
  /// whether that magnet has gone: freed of it the field is wrong, and as it is it has been right for a
  /// while.
  mutating func magnetHasGone(
    bare: Vector3, _ dt: Double, residual: Double, _ c: AttitudeConstants
  ) -> Bool {
    guard disturbance != nil, let reference = reference(c) else {
      bareTime = 0
      return false
    }
    let isRight =
      abs(bare.length - reference.strength)
      < Self.strengthTolerance(reference, residual: residual, c)
      && abs(Self.dip(bare) - reference.dip) < Self.dipTolerance(reference, residual: residual, c)
    bareTime = isRight ? bareTime + dt : 0
    guard bareTime >= c.fieldTest.recoveryDuration else { return false }
    bareTime = 0
    return true
  }

  /// Whether the field has been right but for its azimuth for so long that it is north, whatever was taken for it
  /// before; then it is right from here on.
  mutating func northHasTurned(_ c: AttitudeConstants) -> Bool {
    guard turnedTime >= c.fieldTest.adoptionDuration else { return false }
    turnedTime = 0
    disturbance = nil
    return true
  }

  private mutating func updateDisturbance(
    _ deviation: Deviation?, _ strength: Double, _ dip: Double?, _ dt: Double,
    _ c: AttitudeConstants
  ) {
    if let deviation {
      undisturbedTime = 0
      note(strength, dip ?? 0, isNew: suspectTime == 0 && disturbance == nil, c)
      suspectTime = min(suspectTime + dt, 10)
      let limit = isPlain ? c.fieldTest.plainDuration : c.fieldTest.suspectDuration
      if disturbance != nil || suspectTime >= limit { disturbance = deviation }
    } else {
      suspectTime = 0
      undisturbedTime = min(undisturbedTime + dt, 10)
      if undisturbedTime >= c.fieldTest.recoveryDuration {
        disturbance = nil
        wasSaturated = false
      }
    }
    guard expected == nil, let dip else { return }
    if deviation == nil && disturbance == nil {
      learn(strength, dip, dt, c)
      candidateTime = 0
    } else if c.fieldTest.isPlausible(strength) {
      consider(strength, dip, dt, c)
    }
  }

  private mutating func note(
    _ strength: Double, _ dip: Double, isNew: Bool, _ c: AttitudeConstants
  ) {
    let middle = reference(c) ?? ReferenceField(strength: 45, dip: 0)
    if isNew || abs(strength - middle.strength) > abs(worstStrength - middle.strength) {
      worstStrength = strength
    }
    if isNew || abs(dip - middle.dip) > abs(worstDip - middle.dip) { worstDip = dip }
    let azimuth = abs(self.azimuth ?? 0)
    if isNew || azimuth > worstAzimuth { worstAzimuth = azimuth }
  }

  /// A running mean at first, then one with a memory.
  private mutating func learn(
    _ strength: Double, _ dip: Double, _ dt: Double, _ c: AttitudeConstants
  ) {
    guard let old = learned else {
      learned = ReferenceField(strength: strength, dip: dip)
      return
    }
    learnedTime = min(learnedTime + dt, c.fieldTest.learningMemory)
    let memory = learnedTime < c.fieldTest.learningMean ? learnedTime : c.fieldTest.learningMemory
    let gain = learnedTime > 0 ? min(1, dt / max(dt, memory)) : 0
    learned = ReferenceField(
      strength: old.strength + (strength - old.strength) * gain,
      dip: old.dip + (dip - old.dip) * gain)
  }

  /// Whether a place with such a field is likely, for all that the calibration record says.
  private func isLikely(_ strength: Double, _ c: AttitudeConstants) -> Bool {
    guard let calibrated else { return true }
    return abs(strength - calibrated)
      <= max(c.fieldTest.placeDistance, c.fieldTest.placeShare * calibrated)
  }

  private mutating func consider(
    _ strength: Double, _ dip: Double, _ dt: Double, _ c: AttitudeConstants
  ) {
    if candidateTime > 0, abs(strength - candidateStrength) < c.fieldTest.placeStrength,
      abs(dip - candidateDip) < c.fieldTest.placeInclination
    {
      candidateTime += dt
      let gain = dt / (c.fieldTest.placeTime + dt)
      candidateStrength += (strength - candidateStrength) * gain
      candidateDip += (dip - candidateDip) * gain
    } else {
      (candidateStrength, candidateDip, candidateTime) = (strength, dip, max(dt, 1e-9))
    }
    guard candidateTime >= c.fieldTest.adoptionDuration, isLikely(candidateStrength, c)
    else { return }
    // With a larger azimuth the field stays disturbed, until north has turned.
    if azimuthShare < 1 { adoptedAzimuth = azimuth }
    learned = ReferenceField(strength: candidateStrength, dip: candidateDip)
    learnedTime = c.fieldTest.learningMean
    candidateTime = 0
    disturbance = nil
  }

  /// Returns once the azimuth, in radians, of the field of a new place that is taken for the earth's from now on.
  mutating func takeAdoption() -> Double? {
    defer { adoptedAzimuth = nil }
    return adoptedAzimuth
  }

  /// The disturbance in words, or `nil`. Makes a string: not for who reads heading at every sample, which has
  /// `compass(at:)`.
  func reason(residual: Double, _ c: AttitudeConstants) -> NoData? {
    guard let disturbance else { return nil }
    let degree = 180 / Double.pi
    if wasSaturated {
      return .magneticInterference("field beyond the magnetometer's range: a magnet is near")
    }
    guard let reference = reference(c) else {
      let (least, most) = (Self.text(c.fieldTest.weakest), Self.text(c.fieldTest.strongest))
      return .magneticInterference(
        "field \(Self.text(worstStrength)) uT, on earth it is \(least) to \(most): iron nearby")
    }
    switch disturbance {
    case .strength:
      let tolerance = Self.text(Self.strengthTolerance(reference, residual: residual, c))
      let expected = Self.text(reference.strength)
      let field = "field \(Self.text(worstStrength)) uT"
      return .magneticInterference(
        "\(field): iron nearby",
        compared: "\(field), expected \(expected) +- \(tolerance): iron nearby")
    case .dip:
      let tolerance = Self.text(Self.dipTolerance(reference, residual: residual, c) * degree)
      let expected = Self.text(reference.dip * degree)
      let field = "field dips \(Self.text(worstDip * degree)) deg"
      return .magneticInterference(
        "\(field): iron nearby",
        compared: "\(field), expected \(expected) +- \(tolerance): iron nearby")
    case .azimuth:
      let azimuth = Self.text(worstAzimuth * degree)
      return .magneticInterference(
        "field turned by \(azimuth) deg and the board did not: iron nearby")
    }
  }

  /// A rounded number; the values are bounded by what `AttitudeEstimator` admits.
  private static func text(_ value: Double) -> String {
    String(Int(max(-1e6, min(1e6, value)).rounded()))
  }
}

extension FieldTestParameters {
  /// Whether a field of this strength occurs at the surface of the earth, microtesla.
  fileprivate func isPlausible(_ strength: Double) -> Bool {
    strength >= weakest && strength <= strongest
  }
}
