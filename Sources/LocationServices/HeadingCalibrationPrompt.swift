// When a person is to be asked for a calibration, and how long the prompt stands. Pure: time is in the estimates.

import SensorTypes

/// Decides when clients are asked whether the calibration prompt may be shown, and keeps the one prompt.
///
/// A question is opened at once where the magnetometer has no calibration record and headings are not to be
/// trusted for that (they are while a receiver's course says where north is), and when the field has been
/// wrong for `persistence` seconds: against the magnetic model where the position is known, else against the
/// strength that the calibration was made in, else against what was learned of late. Moments count together, so
/// that a magnet on a board that turns, whose field is wrong in some directions only, is noticed as well.
///
/// Any `true` shows the prompt, for as long as the question is open. It stays until another calibration record is
/// applied or a client takes it down. A question that was answered is not asked again while its cause lasts; the
/// field must have been right for a while, and `holdOff` seconds must have passed, before it may be wrong again.
struct HeadingCalibrationPrompt: Sendable, Hashable {
  private enum Phase: Sendable, Hashable {
    case quiet
    /// Asked, or to be asked: any `true` shows the prompt.
    case open(CalibrationQuestion)
    case shown(CalibrationQuestion)
    /// It was taken down, and its cause lasts.
    case done(isUncalibrated: Bool)
  }

  let params: PromptParameters
  private var phase = Phase.quiet
  private var lastNumber: UInt64 = 0
  private var lastTime: Timestamp?
  /// Seconds that the field has been wrong, less what is forgiven; at most `persistence`.
  private var wrongTime = 0.0
  private var isWrong = false
  private var wrongSince: Timestamp?
  /// Before this no question is opened.
  private var restUntil: Timestamp?
  /// The record in force when the question was opened.
  private var record: UInt32?

  init(_ params: PromptParameters = PromptParameters()) { self.params = params }

  /// The question that is open, if one is.
  var question: CalibrationQuestion? {
    if case .open(let question) = phase { question } else { nil }
  }

  /// The number of the question that is open or whose prompt stands: all are asked, also after the first `true`.
  var number: UInt64? {
    switch phase {
    case .open(let question), .shown(let question): question.number
    case .quiet, .done: nil
    }
  }

  /// Whether the prompt stands.
  var isShown: Bool { if case .shown = phase { true } else { false } }

  /// Forgets everything: another board speaks now. Returns whether the prompt stood.
  mutating func reset() -> Bool {
    let wasShown = isShown
    let number = lastNumber
    self = HeadingCalibrationPrompt(params)
    lastNumber = number
    return wasShown
  }

  /// Takes one heading. Returns whether the prompt that stood is done with: the calibration is complete.
  ///
  /// - Parameter mayAsk: Whether the application is in the foreground; elsewhere nothing is opened.
  mutating func take(_ estimate: HeadingEstimate, mayAsk: Bool) -> Bool {
    let now = estimate.time
    // While a receiver's course says where north is, the reason is away, with and without a record: nothing is
    // asked then, and nothing that was asked is over. Only the field's own check tells whether there is a record.
    let newest = estimate.fieldCheck?.calibration
    let isInvalid = estimate.reason == .uncalibrated
    let isCalibrated = !isInvalid && newest != nil
    judge(estimate.fieldCheck, isCalibrated: isCalibrated, at: now)
    let isCalibratedAnew = isCalibrated && newest != record
    switch phase {
    case .quiet:
      guard mayAsk, now >= restUntil ?? now else { return false }
      if isInvalid {
        open(.uncalibrated, since: now, record: newest)
      } else if wrongTime >= params.persistence, let check = estimate.fieldCheck {
        let cause = CalibrationReason.fieldChanged(
          measured: check.measured, expected: check.expected)
        open(cause, since: wrongSince ?? now, record: newest)
      }
    case .open(let question):
      if isCalibratedAnew || isOver(question.isUncalibrated, isCalibrated) { rest(from: now) }
    case .shown:
      guard isCalibratedAnew else { return false }
      rest(from: now)
      return true
    case .done(let wasUncalibrated):
      if isCalibratedAnew || isOver(wasUncalibrated, isCalibrated) { rest(from: now) }
    }
    return false
  }

  /// Takes a client's answer; whether the prompt is to be shown now. Answers to what is no longer asked change
  /// nothing, nor does a `false`: another may still say `true`.
  mutating func answer(_ number: UInt64, display: Bool) -> CalibrationPrompt? {
    guard display, case .open(let question) = phase, question.number == number else { return nil }
    phase = .shown(question)
    return question.prompt
  }

  /// Takes the prompt down, or closes the question, as a client wishes. Returns whether the prompt stood.
  mutating func dismiss() -> Bool {
    guard case .shown(let question) = phase else { return false }
    phase = .done(isUncalibrated: question.isUncalibrated)
    return true
  }

  private func isOver(_ wasUncalibrated: Bool, _ isCalibrated: Bool) -> Bool {
    wasUncalibrated ? isCalibrated : wrongTime == 0
  }

  private mutating func open(
    _ cause: CalibrationReason, since: Timestamp, record: UInt32?
  ) {
    lastNumber += 1
    self.record = record
    phase = .open(
      CalibrationQuestion(
        number: lastNumber, prompt: CalibrationPrompt(cause: cause, since: since)))
  }

  private mutating func rest(from now: Timestamp) {
    phase = .quiet
    wrongTime = 0
    wrongSince = nil
    restUntil = now.advanced(bySeconds: params.holdOff)
  }

  private mutating func judge(_ check: FieldCheck?, isCalibrated: Bool, at now: Timestamp) {
    let passed = lastTime.map { now.seconds(since: $0) } ?? 0
    lastTime = now
    guard let check, isCalibrated else {
      (wrongTime, isWrong, wrongSince) = (0, false, nil)
      return
    }
    isWrong = check.isDisturbed || exceeds(check, share: isWrong ? params.hysteresis : 1)
    guard passed > 0, passed <= params.longestStep else { return }
    if isWrong {
      if wrongTime == 0 { wrongSince = now }
      wrongTime = min(wrongTime + passed, params.persistence)
    } else {
      wrongTime = max(0, wrongTime - passed * params.forgiving)
    }
  }

  private func exceeds(_ check: FieldCheck, share: Double) -> Bool {
    guard let expected = check.expected else { return false }
    if check.magnet > share * params.magnetShare * expected.strength { return true }
    let isRecord = check.origin == .calibration
    let limit = max(
      isRecord ? params.recordLeast : params.strengthLeast,
      (isRecord ? params.recordShare : params.strengthShare) * expected.strength)
    if abs(check.measured.strength - expected.strength) > share * limit { return true }
    guard let measured = check.measured.dip, let dip = expected.dip else { return false }
    return abs(measured - dip) > share * params.dip
  }
}

struct PromptParameters: Sendable, Hashable {
  /// The field's strength is significantly wrong beyond this share of what is expected, and this much,
  /// microtesla: what headings bear and buildings do not exceed.
  var strengthShare = 0.15
  var strengthLeast = 6.0
  /// The same against the record's own strength, which was another place's perhaps.
  var recordShare = 0.25
  var recordLeast = 10.0
  /// The dip is significantly wrong beyond this, radians (8 deg).
  var dip = 0.14
  /// A magnet on the board from this share of the field on is one to calibrate away, though the filter knows it.
  var magnetShare = 0.2
  /// What is wrong has to come back to this share of its limit to be right.
  var hysteresis = 0.7
  /// How long the field has to be wrong, seconds: a car that passes asks for nothing.
  var persistence = 10.0
  /// How much faster it counts as wrong than it is forgiven.
  var forgiving = 0.5
  /// The least time from the end of one question to the next, seconds.
  var holdOff = 120.0
  /// A pause of the headings beyond this is not counted, seconds.
  var longestStep = 1.0
}

extension CalibrationQuestion {
  fileprivate var isUncalibrated: Bool { prompt.cause == .uncalibrated }
}
