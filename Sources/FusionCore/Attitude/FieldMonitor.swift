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
  private var calmTime = 0.0
  private var learned: ReferenceField?
  private var learnedTime = 0.0
  private var candidateStrength = 0.0
  private var candidateDip = 0.0
  private var candidateTime = 0.0

  static let timeConstant = 0.25
  static let suspectDuration = 0.5
  /// A field that is off by so many times what is accepted needs no second look: a tenth of a second.
  static let plainExcess = 4.0
  static let plainDuration = 0.1
  /// Sigmas of the tilt that a dip is allowed besides, and the tilt beyond which no more is allowed, radians: where
  /// nothing shows that the board is accelerated, and where the force's length does. A magnet that comes while the board
  /// tilts looks like an acceleration, but does not make the force longer.
  static let tiltWeight = 2.0
  static let excusedTilt = 0.1...0.15
  /// What the field's azimuth is allowed to be off besides, in sigmas of the heading.
  static let headingWeight = 3.0
  static let calmDuration = 1.0
  static let adoptionDuration = 20.0
  static let explainedDuration = 0.3
  static let provenDuration = 15.0
  static let plausible = 20.0...70.0

  /// Half the width of what is accepted, microtesla: 8 % or 4 uT, whichever is more, and what
  /// model and calibration leave open.
  static func strengthTolerance(_ expected: ReferenceField, residual: Double) -> Double {
    let slack = (expected.strengthDeviation * expected.strengthDeviation + residual * residual)
      .squareRoot()
    return max(4, 0.08 * expected.strength) + 2 * slack
  }

  /// The same for the dip, radians: 5 deg and what model and calibration leave open.
  static func dipTolerance(_ expected: ReferenceField, residual: Double) -> Double {
    let residualAngle = residual / max(expected.strength, 1)
    let slack = (expected.dipDeviation * expected.dipDeviation + residualAngle * residualAngle)
      .squareRoot()
    return 5 * .pi / 180 + 2 * slack
  }

  /// The same for the field's azimuth, radians: 5 deg and what the calibration leaves open.
  static func azimuthTolerance(_ expected: ReferenceField, residual: Double) -> Double {
    5 * .pi / 180 + 2 * residual / max(expected.strength * cos(expected.dip), 1)
  }

  /// The expectation in force.
  var reference: ReferenceField? { expected ?? (learnedTime >= 1 ? learned : nil) }

  /// The field beside what it should be; `nil` before the first sample.
  /// - Parameters:
  ///   - calibrated: Strength of the field that the calibration was made in, microtesla: what counts where no
  ///     model says better.
  ///   - magnet: Strength of what the samples were freed of, microtesla.
  func check(calibrated: Double?, magnet: Double) -> FieldCheck? {
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
    } else if let reference {
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
  mutating func magnetWasFound() {
    strength = nil
    earth = nil
    dip = nil
    // The reason is known: if all is well from here on, that need not be waited for in full.
    calmTime = Self.calmDuration - Self.explainedDuration
    guard learnedTime < Self.provenDuration else { return }
    learned = nil
    learnedTime = 0
    candidateTime = 0
    if expected == nil { disturbance = nil }
  }

  /// The low-passed field's angle from the north that it was expected in, radians; `nil` like `earth`.
  private var azimuth: Double? { earth.map { atan2($0.x, $0.y) } }

  /// Angle of a field below the horizon, radians.
  static func dip(_ earth: Vector3) -> Double {
    atan2(-earth.z, (earth.x * earth.x + earth.y * earth.y).squareRoot())
  }

  /// Takes one sample.
  /// - Parameters:
  ///   - field: Body frame, microtesla.
  ///   - earthField: The same in the earth frame, where attitude is known.
  ///   - dt: Seconds since the sample before; 0 for the first.
  ///   - residual: One sigma of what the calibration leaves open, microtesla.
  ///   - tilt: One sigma of the tilt that the dip is seen with, where it is not small, radians. What is seen with
  ///     too much of it teaches nothing.
  ///   - shownTilt: How much of that an acceleration shows in the force's length, radians.
  ///   - heading: One sigma of the heading of `earthField`, radians, where more than this field says where north is.
  ///   - calibrated: Strength of the field that the calibration was made in, microtesla: what differs much from
  ///     it is not taken for another place.
  mutating func update(
    _ field: Vector3, earth earthField: Vector3?, _ dt: Double, residual: Double, tilt: Double = 0,
    shownTilt: Double = 0, heading: Double? = nil, calibrated: Double? = nil
  ) {
    self.calibrated = calibrated
    let keep = dt / (Self.timeConstant + dt)
    let length = field.length
    let mean = strength.map { $0 + (length - $0) * keep } ?? length
    strength = mean
    if let earthField {
      earth = earth.map { $0 + (earthField - $0) * keep } ?? earthField
    } else {
      earth = nil
    }
    dip = earth.map(Self.dip)
    let deviation: Deviation?
    if let reference {
      var shares = Shares()
      shares.strength =
        abs(mean - reference.strength) / Self.strengthTolerance(reference, residual: residual)
      if let dip {
        let bounds = Self.excusedTilt
        let excused = min(tilt, max(bounds.lowerBound, min(bounds.upperBound, shownTilt)))
        shares.dip =
          abs(dip - reference.dip)
          / (Self.dipTolerance(reference, residual: residual) + Self.tiltWeight * excused)
      }
      if let azimuth, let heading {
        shares.azimuth =
          abs(azimuth)
          / (Self.azimuthTolerance(reference, residual: residual) + Self.headingWeight * heading)
      }
      isPlain = shares.strength > Self.plainExcess
      // What is disturbed has to come back a little further than it had to leave.
      deviation = shares.deviation(beyond: disturbance == nil ? 1 : 0.8)
      let isTurned = deviation == .azimuth && max(shares.strength, shares.dip) < 1
      turnedTime = isTurned ? turnedTime + dt : 0
    } else {
      isPlain = false
      turnedTime = 0
      deviation = Self.plausible.contains(mean) ? nil : .strength
    }
    judge(deviation, mean, tilt < DirectTracker.judgingTilt ? dip : nil, dt)
  }

  /// The field is beyond what the chip can measure: that needs no second look.
  mutating func saturate() {
    isPlain = true
    wasSaturated = true
    bareTime = 0
    calmTime = 0
    suspectTime = Self.suspectDuration
    disturbance = .strength
  }

  /// Takes what the field would be without the magnet that the samples are freed of, earth frame, and says
  /// whether that magnet has gone: freed of it the field is wrong, and as it is it has been right for a
  /// while.
  mutating func magnetHasGone(bare: Vector3, _ dt: Double, residual: Double) -> Bool {
    guard disturbance != nil, let reference else {
      bareTime = 0
      return false
    }
    let isRight =
      abs(bare.length - reference.strength) < Self.strengthTolerance(reference, residual: residual)
      && abs(Self.dip(bare) - reference.dip) < Self.dipTolerance(reference, residual: residual)
    bareTime = isRight ? bareTime + dt : 0
    guard bareTime >= Self.calmDuration else { return false }
    bareTime = 0
    return true
  }

  /// Whether the field has been right but for its azimuth for so long that it is north, whatever was taken for it
  /// before; then it is right from here on.
  mutating func northHasTurned() -> Bool {
    guard turnedTime >= Self.adoptionDuration else { return false }
    turnedTime = 0
    disturbance = nil
    return true
  }

  private mutating func judge(
    _ deviation: Deviation?, _ strength: Double, _ dip: Double?, _ dt: Double
  ) {
    if let deviation {
      calmTime = 0
      note(strength, dip ?? 0, isNew: suspectTime == 0 && disturbance == nil)
      suspectTime = min(suspectTime + dt, 10)
      let limit = isPlain ? Self.plainDuration : Self.suspectDuration
      if disturbance != nil || suspectTime >= limit { disturbance = deviation }
    } else {
      suspectTime = 0
      calmTime = min(calmTime + dt, 10)
      if calmTime >= Self.calmDuration {
        disturbance = nil
        wasSaturated = false
      }
    }
    guard expected == nil, let dip else { return }
    if deviation == nil && disturbance == nil {
      learn(strength, dip, dt)
      candidateTime = 0
    } else if Self.plausible.contains(strength) {
      consider(strength, dip, dt)
    }
  }

  private mutating func note(_ strength: Double, _ dip: Double, isNew: Bool) {
    let middle = reference ?? ReferenceField(strength: 45, dip: 0)
    if isNew || abs(strength - middle.strength) > abs(worstStrength - middle.strength) {
      worstStrength = strength
    }
    if isNew || abs(dip - middle.dip) > abs(worstDip - middle.dip) { worstDip = dip }
    let azimuth = abs(self.azimuth ?? 0)
    if isNew || azimuth > worstAzimuth { worstAzimuth = azimuth }
  }

  /// A running mean over the first two seconds, then one with a minute's memory.
  private mutating func learn(_ strength: Double, _ dip: Double, _ dt: Double) {
    guard let old = learned else {
      learned = ReferenceField(strength: strength, dip: dip)
      return
    }
    learnedTime = min(learnedTime + dt, 60)
    let gain = learnedTime > 0 ? min(1, dt / max(dt, learnedTime < 2 ? learnedTime : 60)) : 0
    learned = ReferenceField(
      strength: old.strength + (strength - old.strength) * gain,
      dip: old.dip + (dip - old.dip) * gain)
  }

  /// Whether a place with such a field is likely, for all that the calibration record says.
  private func isLikely(_ strength: Double) -> Bool {
    guard let calibrated else { return true }
    return abs(strength - calibrated) <= max(10, 0.25 * calibrated)
  }

  private mutating func consider(_ strength: Double, _ dip: Double, _ dt: Double) {
    if candidateTime > 0, abs(strength - candidateStrength) < 2, abs(dip - candidateDip) < 0.05 {
      candidateTime += dt
      let gain = dt / (5 + dt)
      candidateStrength += (strength - candidateStrength) * gain
      candidateDip += (dip - candidateDip) * gain
    } else {
      (candidateStrength, candidateDip, candidateTime) = (strength, dip, max(dt, 1e-9))
    }
    guard candidateTime >= Self.adoptionDuration, isLikely(candidateStrength) else { return }
    learned = ReferenceField(strength: candidateStrength, dip: candidateDip)
    learnedTime = 2
    candidateTime = 0
    disturbance = nil
  }

  /// The disturbance in words, or `nil`. Makes a string: asked for only when heading is given
  /// without accuracy.
  func reason(residual: Double) -> NoData? {
    guard let disturbance else { return nil }
    let degree = 180 / Double.pi
    if wasSaturated {
      return .magneticInterference("field beyond the magnetometer's range: a magnet is near")
    }
    guard let reference else {
      return .magneticInterference(
        "field \(Self.text(worstStrength)) uT, on earth it is 20 to 70: iron nearby")
    }
    switch disturbance {
    case .strength:
      let tolerance = Self.text(Self.strengthTolerance(reference, residual: residual))
      let expected = Self.text(reference.strength)
      return .magneticInterference(
        "field \(Self.text(worstStrength)) uT, expected \(expected) +- \(tolerance): iron nearby")
    case .dip:
      let tolerance = Self.text(Self.dipTolerance(reference, residual: residual) * degree)
      let expected = Self.text(reference.dip * degree)
      let dip = Self.text(worstDip * degree)
      return .magneticInterference(
        "field dips \(dip) deg, expected \(expected) +- \(tolerance): iron nearby")
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
