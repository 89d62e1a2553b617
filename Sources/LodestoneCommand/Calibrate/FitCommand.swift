import ArgumentParser
import CalibrationCore
import Foundation
import LinearAlgebra
import LogConversion
import MagnetometerLogs
import Reports
import SensorTypes
import TerminalUI
import TextForms

/// `lodestone calibrate fit FILE.csv`: a calibration from recorded samples, without a board.
struct FitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fit",
    abstract: "A magnetometer's iron from a file of samples, as JSON.",
    discussion: """
      One sample a line, separated by commas, semicolons, tabs or spaces, with or without a header, in \
      any unit: hardIron, fieldStrength and residual are in the file's. The field is corrected by \
      softIron (3 rows) * (sample - hardIron); softIron's diagonal has the mean 1, or what gives the \
      field its strength where --field-strength is given. With --force-columns, an accelerometer's in \
      the same axes, 'alignment' is the rotation that comes after softIron.

      The field's columns are those that a header names (mag_x mag_y mag_z, mx my mz, x y z and the like, in \
      any case, with units), also one in a remark (#, % or //). Without a header they are the three whose numbers \
      lie on a sphere or an ellipsoid, as a magnetometer's do; a sphere of 9.81 (m/s2) or 1 (g) is gravity. Where \
      that leaves none or several, or a header names other sensors alone, --columns is asked for; it comes before \
      everything. Lines may also name their numbers: x=1.0 y=2.0 z=3.0, JSON objects, MotionCal's Raw: and Uni:. \
      Moments come from a column of times; without one lines are taken to \
      be 0.05 s apart. 'assumed' says what was taken for what. A comma is a decimal point where semicolons, tabs \
      or spaces separate.

      A strength that differs from the samples' own by more than a quarter is refused where it looks like \
      another unit's (50000 for a file in microtesla) or wrong. Where the samples are raw counts, by their header or \
      because their strength fits no unit, the strength given scales the answer.

      The samples that a calibration has left (calibrations/samples/CHIP@PLACE.csv) are known by their first lines: \
      microtesla, with time and the accelerometer's columns.

      Hard iron that changed during the recording (two recordings joined, a motor's current, warming up) is \
      looked for. A change that alters the heading by more than 3 degrees is refused, a smaller one widens headingError; \
      'ironChange' is 'step', 'drift' or 'states', hardIronFirst and hardIronSecond are the hard iron before and \
      after, or in either state.

      One object in every case: 'accepted' says whether the fit is to be used, 'reason' why not or what \
      keeps its score (0 to 100) low. hardIron, softIron, fieldStrength and residualPercent are null where \
      nothing was found. Exit code 0 for a fit that is accepted, 65 for one that is not, 66 for a file that \
      does not exist.

      Nothing is stored: a fit knows neither chip nor place. 'lodestone calibrate magnetometer' makes a record, and \
      'lodestone calibrate import' takes records alone.
      """)

  @Argument(help: "A file, or - for standard input.", completion: .file())
  var file: String

  @Option(
    help: ArgumentHelp(
      "Where x, y and z are, from 1: 2-4 or 2,3,4. (default: where the header says, else where the numbers are a magnetometer's)",
      valueName: "columns"))
  var columns: String?

  @Option(
    help: ArgumentHelp("Where an accelerometer's x, y and z are.", valueName: "columns"))
  var forceColumns: String?

  @Option(
    parsing: .unconditional,
    help:
      "The field's strength at the place, in the file's unit (of raw counts in any), within 5 percent."
  )
  var fieldStrength: Double?

  @Option(
    parsing: .unconditional,
    help: "The field's dip at the place, degrees below the horizon ('lodestone declination').")
  var dip: Double?

  @Option(help: "How to print: json or text.")
  var format = OutputFormat.json

  @Flag(help: "Ask nothing, as everywhere; a fit never does.")
  var yes = false

  /// More than this is read of no file.
  static let mostBytes = 128 << 20

  func validate() throws {
    _ = try table()
    if let fieldStrength, !(fieldStrength > 0 && fieldStrength.isFinite) {
      throw ValidationError("--field-strength takes a number above zero")
    }
    if let dip, !(-90...90).contains(dip) {
      throw ValidationError("--dip takes degrees from -90 to 90")
    }
  }

  private func table() throws -> SampleTable {
    var field: SampleTable.Columns?
    if let columns {
      field = SampleTable.Columns(columns)
      if field == nil { throw ValidationError("--columns takes three columns like 2-4 or 2,3,4") }
    }
    var force: SampleTable.Columns?
    if let forceColumns {
      force = SampleTable.Columns(forceColumns)
      if force == nil {
        throw ValidationError("--force-columns takes three columns like 5-7 or 5,6,7")
      }
    }
    return SampleTable(columns: field, force: force)
  }

  private static var fitter: MagnetometerFitter {
    var params = FitParameters()
    params.demandsSteadyIron = true
    return MagnetometerFitter(params: params)
  }

  func run() throws {
    var table = try table()
    let isCut: Bool
    do {
      isCut = try read(into: &table)
    } catch let error as CommandError {
      let none = CalibrationOutcome(fit: nil, refusal: error.description)
      switch format {
      case .json: Terminal.say(json(none, reason: error.description).line)
      case .text: Terminal.warn("Error: \(error)")
      }
      throw error.kind.exitCode
    }
    let expected = CalibrationField(dip: dip.map { $0 * .pi / 180 })
    var outcome: CalibrationOutcome
    var use: KnownStrength.Use?
    if let fieldStrength {
      let known = KnownStrength(fieldStrength, unit: table.unit)
      let found = known.fit(table.samples, expected: expected, by: Self.fitter)
      outcome = found.outcome
      use = found.use
    } else {
      outcome = Self.fitter.fit(table.samples, expected: expected)
    }
    if let refusal = table.gravity(of: outcome) {
      outcome = CalibrationOutcome(fit: outcome.fit, refusal: refusal)
    }
    let reason = reason(outcome, table, isCut: isCut)
    let assumed = assumptions(table, use).joined(separator: "; ")
    switch format {
    case .json:
      var line = json(outcome, reason: reason, hasForce: hasForce(table))
      line.set("samples", table.samples.count)
      line.set("skippedLines", table.skipped)
      line.set("firstSkippedLine", table.firstSkipped)
      if isCut { line.set("truncated", true) }
      line.set("assumed", assumed)
      Terminal.say(line.line)
    case .text:
      for line in text(outcome, reason: reason, table, assumed: assumed, isCut: isCut) {
        Terminal.say(line)
      }
    }
    if !outcome.isAccepted { throw CommandErrorKind.data.exitCode }
  }

  /// Reads the file. Returns whether there was more than is read.
  private func read(into table: inout SampleTable) throws -> Bool {
    var input = try InputFile(file)
    // JSON's: it is shown to a person alone.
    var progress = ProgressLine(.json)
    defer { progress.close() }
    let patience = ContinuousClock.now.advanced(by: .seconds(1))
    var size = 0
    while !table.isFull, size < Self.mostBytes {
      guard let data = try input.read(1 << 16) else {
        table.finish()
        return false
      }
      size += data.count
      table.take(data)
      if progress.isDue, ContinuousClock.now > patience {
        progress.show("reading \(input.name): \(table.lines) lines")
      }
    }
    table.finish()
    return true
  }

  private func json(
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
        line.set("ironChange", Self.name(of: change.kind))
        line.set("hardIronFirst", FitText.list(change.first), digits: digits)
        line.set("hardIronSecond", FitText.list(change.second), digits: digits)
      }
    } else {
      for key in ["residualPercent", "hardIron", "softIron", "fieldStrength"] { line.setNull(key) }
    }
    return line
  }

  /// The same for people.
  private func text(
    _ outcome: CalibrationOutcome, reason: String, _ table: SampleTable, assumed: String,
    isCut: Bool
  ) -> [String] {
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
    return lines + Wrap.rows("assumed", assumed)
  }

  private func hasForce(_ table: SampleTable) -> Bool {
    forceColumns != nil || table.samples.contains { $0.force != nil }
  }

  private func assumptions(_ table: SampleTable, _ use: KnownStrength.Use?) -> [String] {
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
      switch use {
      case nil: "strength unknown: softIron's diagonal has the mean 1"
      case .constraint: "strength given: softIron brings the field to it"
      case .scale(let gain):
        "strength given, samples in counts of \(DecimalText.short(gain, max(6, FitText.digits(gain)))): "
          + "softIron brings the field to it"
      case .contradicted: "strength given does not fit: softIron's diagonal has the mean 1"
      }
    words += ["z up", scale]
    words.append(
      hasForce(table)
        ? "force in the magnetometer's axes"
        : "no accelerometer: heading is of the magnetometer's own axes")
    if forceColumns == nil, let unused = table.unusedForce {
      words.append(
        "columns \(unused) are an accelerometer's, whose axes nothing tells: --force-columns")
    }
    return words
  }

  private func reason(_ outcome: CalibrationOutcome, _ table: SampleTable, isCut: Bool) -> String {
    if let problem = table.problem { return problem }
    let beyond =
      table.beyond == 0
      ? nil
      : "\(table.beyond) lines hold a field beyond 1e12, which none is in any unit: is a time in columns "
        + "\(table.columns)?"
    if table.samples.isEmpty {
      if table.isOwn { return "no sample stands behind the header" }
      let place = table.columns.description + (forceColumns.map { " and \($0)" } ?? "")
      return table.lines == 0 && !isCut
        ? "the file is empty" : beyond ?? "no line holds numbers in columns \(place)"
    }
    guard let refusal = outcome.refusal.map({ change(outcome, isRefused: true) ?? $0 }) else {
      let parts = [outcome.fit?.quality.reason, change(outcome, isRefused: false)].compactMap { $0 }
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
  private func change(_ outcome: CalibrationOutcome, isRefused: Bool) -> String? {
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
