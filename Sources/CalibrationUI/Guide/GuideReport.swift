import BoardFile
import CalibrationCore
import FoundationEssentials
import Lodestone
import Reports
import SensorHub
import SensorTypes
import StateStore
import TerminalUI
import TextForms

/// What came of a guided calibration: saves it where it is to be, and says so.
package struct GuideReport {
  private let guide: Guide
  private let saver: RecordSaver
  private let way: Guide.GuideEnding
  /// The heading error of what was in use, degrees, judged by the new one with its own error; `nil` where no
  /// sample says a heading.
  private let before: Double?
  private let after: Double?

  package init(_ guide: Guide, saver: RecordSaver, way: Guide.GuideEnding) {
    self.guide = guide
    self.saver = saver
    self.way = way
    let coach = guide.coach
    guard let fit = coach.outcome.fit else {
      (before, after) = (nil, nil)
      return
    }
    let error = fit.quality.headingError
    after = error
    before = headingDifference(
      guide.before, fit.applied, of: coach.samples, expected: coach.expected
    ).map { min(180, ($0 * $0 + error * error).squareRoot()) }
  }

  private var coach: CalibrationCoach { guide.coach }

  /// Why what was found takes nobody's place; `nil` where it does.
  private var refusal: String? {
    switch way {
    case .quit: return "given up"
    case .interrupted: return "interrupted"
    case .asked, .ended: break
    }
    if let refusal = coach.refusal {
      return coach.end == .timeUp ? "time is up, and \(refusal)" : refusal
    }
    guard !saver.settings.force, guide.before != nil, let before, let after,
      before < 2 * max(1, after)
    else { return nil }
    // What is in use and this one agree: the surer one stays, and of two that are alike the one that has proved
    // itself longer where this one is not good.
    if let kept = errorInUse, kept < after {
      func degrees(_ value: Double) -> String { DecimalText.short(value, 2) }
      return "the calibration in use agrees with it and is the better one "
        + "(\(degrees(kept)) deg expected, \(degrees(after)) of this one); --force takes this one"
    }
    guard way == .ended, coach.score < coach.params.goodScore else { return nil }
    return "score \(coach.score), and the calibration in use agrees with it"
  }

  /// The heading error that the record in use expects of itself, degrees; `nil` where it says nothing.
  private var errorInUse: Double? {
    let key = CalibrationKey(.magnetometer, guide.sensor)
    guard case .record(.magnetometer(let record)) = saver.session.state.calibrations.current(key)
    else { return nil }
    return record.headingError
  }

  /// Saves and prints. Ends with exit code 1 where nothing was saved, 128 and its number after a signal.
  package func finish() throws {
    var file: URL?
    var isSaved = false
    var refusal = refusal
    var failure: (any Error)?
    if refusal == nil, let fit = coach.outcome.fit {
      do {
        let sensor = guide.sensor
        file = try saver.save(
          .magnetometer(
            CalibrationRecord(
              fit: fit, chip: sensor.chip, busPosition: sensor.attachment.description,
              board: guide.session.board.name, date: guide.session.date,
              temperature: guide.temperature, headingErrorBefore: before)),
          samples: CalibrationSamples(keeping: coach.samples, of: fit.applied))
        isSaved = true
      } catch {
        failure = error
        refusal = "\(error)"
      }
    }
    switch saver.settings.format {
    case .json: Terminal.say(json(refusal, savedTo: file).line)
    case .text:
      if way == .ended || way == .asked { Terminal.write(text(isKept: refusal == nil)) }
      if isSaved { RecordSaver.say(savedTo: file) }
    }
    if let failure { throw failure }
    guard let refusal else { return }
    if case .interrupted(let signal) = way { throw Interrupts.end(by: signal) }
    throw CommandError("not calibrated: \(refusal); what was stored stays")
  }

  private func text(isKept: Bool) -> String {
    func figure(_ value: Double, _ digits: Int = 1) -> String {
      DecimalText.short(value, digits)
    }
    guard let fit = coach.outcome.fit, coach.isTelling else { return "" }
    var lines = Wrap.rows(
      isKept ? "calibrated" : "not calibrated",
      "\(guide.sensor.chip), \(GuideScreen.clock(coach.age)) minutes")
    let quality = fit.quality
    lines += Wrap.rows(
      "score", "\(quality.score) of 100" + (quality.reason.isEmpty ? "" : ": \(quality.reason)"))
    lines += Wrap.rows("coverage", "\(quality.cells.filled) % of the sphere")
    // A fit that is refused cannot judge what is in use.
    if isKept, let before, let after {
      let what = guide.before == nil ? "without a calibration" : "before"
      lines += Wrap.rows(
        "heading error",
        "\(what) \(figure(before)) deg, after \(figure(after)) deg, judged by the new one")
    }
    let b = fit.hardIron
    lines += Wrap.rows("hard iron", "\(figure(b.x)), \(figure(b.y)), \(figure(b.z)) uT")
    lines += Wrap.rows(
      "field",
      "\(figure(fit.fieldStrength)) uT, residual \(figure(quality.residualPercent)) %, "
        + "\(fit.inliers) of \(fit.samples) samples")
    return lines.map { $0 + "\n" }.joined()
  }

  private func json(_ refusal: String?, savedTo file: URL?) -> JSONLine {
    let quality = coach.outcome.fit?.quality
    var line = RecordSaver.line(
      of: .magnetometer, isAccepted: coach.outcome.isAccepted && refusal == nil, savedTo: file,
      reason: refusal ?? quality?.reason ?? "")
    line.set("end", way == .ended ? coach.end?.rawValue : nil)
    line.set("seconds", coach.age, digits: 1)
    line.set("score", quality?.score ?? 0)
    line.set("coverage", coach.coverage, digits: 2)
    if let fit = coach.outcome.fit {
      line.set("headingErrorBefore", before, digits: 3)
      line.set("headingErrorAfter", after, digits: 3)
      FitText.fill(&line, fit, hasForce: coach.samples.contains { $0.force != nil })
    }
    line.set("samples", coach.samples.count)
    return line
  }
}
