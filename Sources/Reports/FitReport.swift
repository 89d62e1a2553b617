// A fit to a file of samples, in words and as JSON.

package import CalibrationCore
import LinearAlgebra
package import MagnetometerLogs
import OutputProtocols
import SensorTypes
import TerminalUI
package import TextForms

/// What came of a fit to a file of samples: what `lodestone calibrate fit` prints.
package struct FitReport {
  private let outcome: CalibrationOutcome
  private let table: SampleTable
  private let isCut: Bool
  private let strengthUse: KnownStrength.Use?
  private let forceColumns: String?

  /// - Parameters:
  ///   - outcome: The fit.
  ///   - table: The samples that it was made of.
  ///   - isCut: Whether the file has more of them.
  ///   - strengthUse: What became of the field strength that was given; `nil` where none was.
  ///   - forceColumns: The accelerometer's columns as they were given; `nil` where they were not.
  package init(
    _ outcome: CalibrationOutcome, of table: SampleTable, isCut: Bool = false,
    strengthUse: KnownStrength.Use? = nil, forceColumns: String? = nil
  ) {
    self.outcome = outcome
    self.table = table
    self.isCut = isCut
    self.strengthUse = strengthUse
    self.forceColumns = forceColumns
  }

  /// The object for a file that could not be read.
  package static func line(unread reason: String) -> JSONLine {
    line(CalibrationOutcome(fit: nil, refusal: reason), reason: reason)
  }

  /// The fit as one JSON object, accepted or not.
  package var line: JSONLine {
    var line = Self.line(outcome, reason: reason, hasForce: hasForce)
    line.set("samples", table.samples.count)
    line.set("skippedLines", table.skipped)
    line.set("firstSkippedLine", table.firstSkipped)
    if isCut { line.set("truncated", true) }
    line.set("assumed", assumptions.joined(separator: "; "))
    return line
  }

  private static func line(
    _ outcome: CalibrationOutcome, reason: String, hasForce: Bool = false
  ) -> JSONLine {
    var line = JSONLine()
    line.set("v", ObservationLines.version)
    line.set("kind", "fit")
    line.set("accepted", outcome.isAccepted)
    line.set("reason", reason)
    line.set("score", outcome.fit?.quality.score ?? 0)
    line.set("coverage", outcome.fit?.quality.coverage ?? 0, digits: 2)
    if let fit = outcome.fit {
      FitText.fill(&line, fit, hasForce: hasForce)
      if let change = outcome.change {
        let digits = FitText.digits(fit.fieldStrength)
        line.set("ironChange", name(of: change.kind))
        line.set("hardIronFirst", FitText.list(change.first), digits: digits)
        line.set("hardIronSecond", FitText.list(change.second), digits: digits)
      }
    } else {
      for key in ["residualPercent", "hardIron", "softIron", "fieldStrength"] { line.setNull(key) }
    }
    return line
  }

  /// The same for people, in rows of at most 79 columns.
  package var lines: [String] {
    let reason = reason
    let verdict = outcome.isAccepted ? "accepted" : "refused"
    var lines = Wrap.rows("verdict", reason.isEmpty ? verdict : "\(verdict): \(reason)")
    let rest = isCut ? "; the file is longer, and the rest was not read" : ""
    lines += Wrap.rows(
      "samples", "\(table.samples.count), \(table.skipped) lines left out\(rest)")
    if let fit = outcome.fit {
      let quality = fit.quality
      let digits = FitText.digits(fit.fieldStrength)
      func row(_ name: String, _ v: Vector3, _ digits: Int) {
        let numbers = FitText.list(v).map { DecimalText.short($0, digits) }
        lines += Wrap.rows(name, numbers.joined(separator: "  "))
      }
      lines += Wrap.rows("score", "\(quality.score) of 100")
      lines += Wrap.rows(
        "coverage", DecimalText.short(quality.coverage * 100, 0) + " % of the sphere")
      lines += Wrap.rows(
        "residual", DecimalText.short(quality.residualPercent, 2) + " % of the field")
      lines += Wrap.rows("field", DecimalText.short(fit.fieldStrength, digits))
      row("hard iron", fit.hardIron, digits)
      let soft = fit.softIron.transposed.columns
      let softDigits = FitText.digits(of: fit.softIron)
      row("soft iron", soft.x, softDigits)
      row("", soft.y, softDigits)
      row("", soft.z, softDigits)
    }
    return lines + Wrap.rows("assumed", assumptions.joined(separator: "; "))
  }

  private var hasForce: Bool {
    forceColumns != nil || table.samples.contains { $0.force != nil }
  }

  /// What the fit took for what, because the file or the options do not say it.
  var assumptions: [String] {
    var words = [
      table.isOwn
        ? "kept samples: microtesla"
        : "unit of the file" + (table.unit.map { ": \($0.rawValue)" } ?? "")
    ]
    switch table.origin {
    case .header: words.append("field in columns \(table.columns), as the header says")
    case .assumed where !table.isOwn && table.problem == nil:
      words.append("field in columns \(table.columns): no header names them")
    case .found:
      words.append("field in columns \(table.columns): their numbers alone are a magnetometer's")
    case .given, .assumed: break
    }
    if table.isLabelled { words.append("columns are a line's numbers by their names") }
    if table.passed > 0 {
      words.append(
        "what stands before them rises as times and counts do, or holds no numbers")
    }
    switch (table.timeColumn, table.timeUnit) {
    case (let column?, let unit?):
      let names = [1: "s", 1e-3: "ms", 1e-6: "us", 1e-9: "ns"]
      words.append("times in column \(column), \(names[unit] ?? "s")")
    default: words.append("lines \(SampleTable.interval) s apart")
    }
    let scale =
      switch strengthUse {
      case nil: "strength unknown: softIron's diagonal has the mean 1"
      case .constraint: "strength given: softIron brings the field to it"
      case .scale(let gain):
        "strength given, samples in counts of "
          + DecimalText.short(gain, max(6, FitText.digits(gain)))
          + ": softIron brings the field to it"
      case .contradicted: "strength given does not fit: softIron's diagonal has the mean 1"
      }
    words += ["z up", scale]
    words.append(
      hasForce
        ? "force in the magnetometer's axes"
        : "no accelerometer: heading is of the magnetometer's own axes")
    if forceColumns == nil, let unused = table.unusedForce {
      words.append(
        "columns \(unused) are an accelerometer's, whose axes nothing tells: --force-columns")
    }
    return words
  }

  /// Why the fit is refused, or what keeps its score low; empty where nothing does.
  var reason: String {
    if let problem = table.problem { return problem }
    let beyond =
      table.beyond == 0
      ? nil
      : "\(table.beyond) lines hold a field beyond 1e12, which none is in any unit: "
        + "is a time in columns \(table.columns)?"
    if table.samples.isEmpty {
      if table.isOwn { return "no sample stands behind the header" }
      let place = table.columns.description + (forceColumns.map { " and \($0)" } ?? "")
      return table.lines == 0 && !isCut
        ? "the file is empty" : beyond ?? "no line holds numbers in columns \(place)"
    }
    guard let refusal = outcome.refusal.map({ change(isRefused: true) ?? $0 }) else {
      let parts = [outcome.fit?.quality.reason, change(isRefused: false)].compactMap { $0 }
      return parts.filter { !$0.isEmpty }.joined(separator: "; ")
    }
    return beyond.map { "\(refusal); \($0)" } ?? refusal
  }

  private static func name(of kind: HardIronChangeKind) -> String {
    switch kind {
    case .step: "step"
    case .drift: "drift"
    case .states: "states"
    }
  }

  /// A change of the hard iron in words, and what to do where it is why the fit is refused; `nil` without one.
  private func change(isRefused: Bool) -> String? {
    guard let change = outcome.change, let fit = outcome.fit else { return nil }
    func place(_ v: Vector3) -> String {
      let digits = max(0, FitText.digits(fit.fieldStrength) - 3)
      return "("
        + FitText.list(v).map { DecimalText.short($0, digits) }.joined(separator: ", ") + ")"
    }
    let (first, second) = (place(change.first), place(change.second))
    let apart = "\(DecimalText.short(change.degrees, 1)) degrees of heading apart"
    let share = "\(DecimalText.short(100 * change.share, 0)) %"
    let (seen, remedy) =
      switch change.kind {
      case .step:
        (
          "the hard iron changed during the recording: \(first) in the first \(share) of it, "
            + "\(second) in the rest, \(apart)",
          "Record again in one go, without moving iron or magnets on the board"
        )
      case .drift:
        (
          "the hard iron drifted during the recording, from \(first) to \(second), \(apart)",
          "Let the board warm up, then record again within a minute or two"
        )
      case .states:
        (
          "the hard iron alternated during the recording: \(first) in \(share) of the samples, "
            + "\(second) in the others, \(apart)",
          "Record again with motors, lamps and chargers on the board in one state"
        )
      }
    return isRefused ? "\(seen). \(remedy)" : seen
  }
}
