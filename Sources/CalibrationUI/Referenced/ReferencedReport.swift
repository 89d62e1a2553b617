import BoardFile
package import CalibrationCore
import FoundationEssentials
import LinearAlgebra
import Lodestone
package import SensorTypes
import TerminalUI
import TextForms

/// Says what came of a calibration, and saves it where it is accepted and wanted.
package struct ReferencedReport {
  let outcome: CalibrationOutcome
  let bench: ReferencedBench
  /// What the method was given: a report draws it.
  let samples: [CalibrationSample]
  /// The heading error of what was in force, degrees, and what it was judged by; `nil` where nothing judged it.
  package var before: Double?
  /// The same of the new one, by the same judge.
  package var after: Double?
  /// How well the judge itself knows a heading, degrees (one sigma), and how many headings it judged.
  package var judge = (deviation: 0.0, count: 1)
  /// The deviation cards of both, where headings were known.
  var cards: (before: DeviationCard, after: DeviationCard)?

  /// Where the headings are from.
  var source = "that were given"

  /// What speaks against what was said of the headings; a person is asked, `--force` takes it as it is.
  package var doubt: String?

  /// Prints, asks and saves. Ends with exit code 1 where there is nothing to save.
  package func finish() throws {
    let saver = bench.saver
    if bench.saving.format == .text { Terminal.write(Terminal.plain(text)) }
    var file: URL?
    var isSaved = false
    var failure: (any Error)?
    let better = doubt ?? better
    if let fit = outcome.fit, outcome.isAccepted, try saver.isWanted(inPlaceOf: better) {
      do {
        let kept = ReferencedFitter.means(samples)
        file = try saver.save(
          .magnetometer(record(fit)), samples: CalibrationSamples(keeping: kept, of: fit.applied))
        isSaved = true
      } catch {
        failure = error
      }
    }
    switch bench.saving.format {
    case .json:
      let reason = failure.map { "\($0)" } ?? outcome.refusal ?? (isSaved ? nil : better)
      Terminal.say(json(savedTo: file, reason).line)
    case .text:
      if isSaved {
        RecordSaver.say(savedTo: file)
      } else if outcome.isAccepted, failure == nil, better == nil || !saver.settings.yes {
        Terminal.say("not saved")
      }
    }
    if let failure { throw failure }
    if !isSaved, saver.settings.yes, let better {
      throw CommandError("not saved: \(better); --force takes the new one")
    }
    guard outcome.isAccepted else {
      throw CommandError("not calibrated: \(outcome.refusal ?? ""); what was stored stays")
    }
  }

  /// A single heading that is so far from what a good record says is asked about, degrees.
  private static let doubtful = 15.0

  /// Why the record in force is better than the new one; `nil` where it is not, or nothing says so.
  ///
  /// It is where it leaves less open by its own account, and what was measured now does not speak against it: its
  /// error there is within two sigma of what the record and the judge leave open together.
  private var better: String? {
    guard let fit = outcome.fit, outcome.isAccepted, let before,
      let expected = bench.stored?.headingError, expected <= fit.quality.headingError
    else { return nil }
    let sigma = (expected * expected + judge.deviation * judge.deviation).squareRoot()
    // The scatter of a mean square of so many is the root of two over their number.
    let limit = sigma * (1 + 2 * (2 / Double(max(1, judge.count))).squareRoot()).squareRoot()
    func figure(_ value: Double) -> String { DecimalText.short(value, 1) }
    if fit.method == .knownHeading, before > max(limit, Self.doubtful) {
      // One heading against a whole calibration: a slip of the keyboard is the likelier.
      return
        "the record in force, which expects \(figure(expected)) deg, is \(figure(before)) deg off here: see to it "
        + "that the heading is right and no iron is near"
    }
    guard before <= limit else { return nil }
    return
      "the record in force is better: \(figure(expected)) deg to be expected all round, the new one "
      + "\(figure(fit.quality.headingError)), and they agree here to \(figure(before))"
  }

  private func record(_ fit: CalibrationFit) -> CalibrationRecord {
    CalibrationRecord(
      fit: fit, chip: bench.sensor.chip, busPosition: bench.sensor.attachment.description,
      board: bench.session.board.name, date: bench.session.date, temperature: bench.temperature,
      headingErrorBefore: before)
  }

  private var text: String {
    var lines: [String] = []
    func figure(_ value: Double, _ digits: Int = 1) -> String {
      DecimalText.short(value, digits)
    }
    if let cards { lines += Self.table(cards.before, cards.after) }
    if let fit = outcome.fit {
      let deviations = fit.hardIronCovariance.columns
      let b = fit.hardIron
      lines.append(
        "hard iron       \(figure(b.x)), \(figure(b.y)), \(figure(b.z)) uT  +- "
          + [deviations.x.x, deviations.y.y, deviations.z.z]
          .map { figure(max(0, $0).squareRoot()) }.joined(separator: ", "))
      lines.append(
        "field           \(figure(fit.fieldStrength)) uT, residual \(figure(fit.quality.residualPercent)) %, "
          + "\(fit.inliers) of \(fit.samples) samples")
      let errors = [
        before.map { "before \(figure($0)) deg" }, after.map { "after \(figure($0)) deg" },
      ]
      .compactMap(\.self).joined(separator: ", ")
      if !errors.isEmpty { lines += Wrap.rows("heading error", "\(errors), \(judgement)") }
      lines += Wrap.rows(
        "expected",
        "\(figure(fit.quality.headingError)) deg all round"
          + (after == nil || judge.count < 2
            ? "" : ": what the headings themselves err by averages out"))
      lines.append("score           \(fit.quality.score) of 100")
      lines += Wrap.rows("", fit.quality.reason)
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// What the errors before and after are measured against. That errs too, and they hold all of it: what is to be
  /// expected of the calibration can be far less.
  private var judgement: String {
    guard after != nil else { return "judged by the new calibration" }
    let known = "known to \(DecimalText.short(judge.deviation, 1)) deg"
    if outcome.fit?.method == .course { return "by the receiver's course (\(known))" }
    return judge.count == 1
      ? "by the heading that was given (\(known))"
      : "by the \(judge.count) headings \(source) (each \(known))"
  }

  /// The deviation card, before and after, by heading as it is printed: what is rounded up to 360 is north.
  static func table(_ before: DeviationCard, _ after: DeviationCard) -> [String] {
    func column(_ value: Double, _ width: Int = 9) -> String {
      let text = DecimalText.short(value.magnitude, 1)
      let padded = (text.contains(".") ? text : text + ".0")
      let signed = (value < -0.05 ? "-" : value > 0.05 ? "+" : " ") + padded
      return String(repeating: " ", count: max(0, width - signed.count)) + signed
    }
    func heading(_ value: Double) -> String {
      let whole = Int(value.rounded()) % 360
      return String(repeating: "0", count: 3 - String(whole).count) + String(whole)
    }
    var lines = ["deviation card (degrees, east +)", "magnetic    before     after"]
    // A heading that only one of the calibrations makes something of has no second figure.
    var left = before.points
    let rows = after.points.map { new in
      let old = left.firstIndex { $0.magnetic == new.magnetic }.map { left.remove(at: $0) }
      let figure = old.map { column($0.deviation) } ?? "        -"
      return "    \(heading(new.magnetic))  \(figure) \(column(new.deviation))"
    }
    lines += rows.sorted { $0.prefix(7) < $1.prefix(7) }
    if let old = before.coefficients, let new = after.coefficients {
      for (name, a, b) in [
        ("A", old.a, new.a), ("B", old.b, new.b), ("C", old.c, new.c), ("D", old.d, new.d),
        ("E", old.e, new.e),
      ] {
        lines.append("      \(name)  \(column(a)) \(column(b))")
      }
    } else if let new = after.coefficients {
      lines.append(
        "      coefficients before: none, the compass was off by more than they describe")
      for (name, b) in [("A", new.a), ("B", new.b), ("C", new.c), ("D", new.d), ("E", new.e)] {
        lines.append("      \(name)            \(column(b))")
      }
    }
    lines.append("     rms  \(column(before.error)) \(column(after.error))")
    return lines
  }

  private func json(savedTo file: URL?, _ reason: String?) -> JSONLine {
    var line = RecordSaver.line(
      of: .magnetometer, isAccepted: outcome.isAccepted, savedTo: file,
      reason: reason ?? outcome.fit?.quality.reason)
    if let fit = outcome.fit {
      line.set("method", fit.method.rawValue)
      line.set("score", fit.quality.score)
      line.set("headingError", fit.quality.headingError, digits: 3)
      line.set("headingErrorBefore", before, digits: 3)
      line.set("headingErrorAfter", after, digits: 3)
      line.set("hardIron", [fit.hardIron.x, fit.hardIron.y, fit.hardIron.z], digits: 3)
      line.set("fieldStrength", fit.fieldStrength, digits: 3)
      line.set("residualPercent", fit.quality.residualPercent, digits: 3)
      line.set("coverage", fit.quality.coverage, digits: 3)
      line.set("samples", fit.samples)
      line.set("inliers", fit.inliers)
    }
    if let cards {
      for (name, card) in [("before", cards.before), ("after", cards.after)] {
        var inner = JSONLine()
        for point in card.points {
          inner.set(DecimalText.short(point.magnetic, 1), point.deviation, digits: 2)
        }
        if let c = card.coefficients {
          for (key, value) in [("A", c.a), ("B", c.b), ("C", c.c), ("D", c.d), ("E", c.e)] {
            inner.set(key, value, digits: 2)
          }
        }
        inner.set("rms", card.error, digits: 2)
        line.set("card" + name.capitalized, inner)
      }
    }
    return line
  }

  package init(
    outcome: CalibrationOutcome, bench: ReferencedBench, samples: [CalibrationSample],
    before: Double? = nil, after: Double? = nil,
    judge: (deviation: Double, count: Int) = (deviation: 0.0, count: 1),
    cards: (before: DeviationCard, after: DeviationCard)? = nil, source: String = "that were given",
    doubt: String? = nil
  ) {
    self.outcome = outcome; self.bench = bench; self.samples = samples; self.before = before;
    self.after = after; self.judge = judge; self.cards = cards; self.source = source;
    self.doubt = doubt
  }
}

extension JSONLine {
  /// How good what was gathered so far is.
  package mutating func set(_ outcome: CalibrationOutcome) {
    set("score", outcome.fit?.quality.score ?? 0)
    set("headingError", outcome.fit?.quality.headingError, digits: 3)
    set("hint", outcome.refusal)
  }
}
