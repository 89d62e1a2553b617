import ArgumentParser
import CalibrationCore
import Foundation
import LinearAlgebra

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
      the same axes, 'alignment' is the rotation that comes after softIron. The file's lines are taken \
      to be evenly spaced in time.

      The field's columns are those that a header names (mag_x mag_y mag_z, mx my mz, x y z and the like, in \
      any case, a unit in brackets behind them), else the first three; --columns comes before both. \
      'assumed' says which were taken.

      The samples that a calibration has left (calibrations/samples/CHIP@PLACE.csv) are known by their header: \
      microtesla, with time and the accelerometer's columns.

      One object in every case: 'accepted' says whether the fit is to be used, 'reason' why not or what \
      keeps its score (0 to 100) low; what was not found is left out. Exit code 0 for a fit that is \
      accepted, 1 for one that is not, and where the file cannot be read.
      """)

  @Argument(help: "A file, or - for standard input.", completion: .file())
  var file: String

  @Option(
    help: ArgumentHelp(
      "Where x, y and z are, from 1: 2-4 or 2,3,4. (default: where the header says, else 1-3)",
      valueName: "columns"))
  var columns: String?

  @Option(
    help: ArgumentHelp("Where an accelerometer's x, y and z are.", valueName: "columns"))
  var forceColumns: String?

  @Option(
    parsing: .unconditional,
    help: "The field's strength at the place, in the file's unit, within 5 percent.")
  var fieldStrength: Double?

  @Option(
    parsing: .unconditional,
    help: "The field's dip at the place, degrees below the horizon ('lodestone declination').")
  var dip: Double?

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

  func run() throws {
    var table = try table()
    let isCut = try read(into: &table)
    let expected = ExpectedField(strength: fieldStrength, dip: dip.map { $0 * .pi / 180 })
    let outcome = MagnetometerFitter().fit(table.samples, expected: expected)
    Terminal.say(json(outcome, table, isCut: isCut).line)
    if !outcome.isAccepted { throw ExitCode.failure }
  }

  /// Reads the file, line by line. Returns whether there was more than is read.
  private func read(into table: inout SampleTable) throws -> Bool {
    var input = try InputFile(file)
    var rest: [UInt8] = []
    var size = 0
    while !table.isFull, size < Self.mostBytes {
      guard let data = try input.read(1 << 16) else {
        if !rest.isEmpty { table.take(String(decoding: rest, as: UTF8.self)) }
        return false
      }
      size += data.count
      let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        if index > 0 {
          table.take(String(decoding: rest, as: UTF8.self))
          rest.removeAll(keepingCapacity: true)
        }
        // Of a line without end only so much that it is seen to be too long.
        if rest.count < 1 << 16 { rest += line }
      }
    }
    return true
  }

  private func json(_ outcome: CalibrationOutcome, _ table: SampleTable, isCut: Bool) -> JSONLine {
    var line = JSONLine()
    line.set("v", ObservationLines.version)
    line.set("kind", "fit")
    line.set("accepted", outcome.isAccepted)
    let quality = outcome.fit?.quality
    line.set("reason", reason(outcome, table, isCut: isCut))
    line.set("score", quality?.score ?? 0)
    line.set("coverage", quality?.coverage ?? 0, digits: 2)
    if let fit = outcome.fit { Self.fill(&line, fit, hasForce: hasForce(table)) }
    line.set("samples", table.samples.count)
    line.set("skippedLines", table.skipped)
    line.set("firstSkippedLine", table.firstSkipped)
    if isCut { line.set("truncated", true) }
    line.set("assumed", assumptions(table))
    return line
  }

  /// What a fit found, for every command that makes one.
  static func fill(_ line: inout JSONLine, _ fit: CalibrationFit, hasForce: Bool) {
    let quality = fit.quality
    // Six figures of the field, whatever its unit.
    let size = max(fit.fieldStrength.magnitude, 1e-12)
    let digits = min(15, max(0, 6 - Int(log10(size).rounded(.up))))
    line.set("residualPercent", quality.residualPercent, digits: 3)
    line.set("headingError", quality.headingError, digits: 3)
    line.set("method", fit.method.rawValue)
    line.set("hardIron", list(fit.hardIron), digits: digits)
    line.set("softIron", rows: rows(fit.softIron), digits: 6)
    if hasForce { line.set("alignment", rows: rows(fit.alignment), digits: 6) }
    line.set("fieldStrength", fit.fieldStrength, digits: digits)
    line.set("residual", quality.residual, digits: digits)
    line.set("condition", quality.condition, digits: 2)
    line.set("inliers", fit.inliers)
  }

  private func hasForce(_ table: SampleTable) -> Bool {
    forceColumns != nil || table.samples.contains { $0.force != nil }
  }

  private func assumptions(_ table: SampleTable) -> String {
    let scale =
      fieldStrength == nil
      ? "strength unknown: softIron's diagonal has the mean 1"
      : "strength given: softIron brings the field to it"
    let axes =
      !hasForce(table)
      ? "no accelerometer: heading is of the magnetometer's own axes"
      : "force in the magnetometer's axes"
    let unit = table.isOwn ? "kept samples: microtesla" : "unit of the file"
    return "\(unit)\(place(table)); z up; \(scale); \(axes)"
  }

  private func place(_ table: SampleTable) -> String {
    switch table.origin {
    case .given: ""
    case .header: "; field in columns \(table.columns), as the header says"
    case .assumed: table.isOwn ? "" : "; field in columns \(table.columns): no header names them"
    }
  }

  private func reason(_ outcome: CalibrationOutcome, _ table: SampleTable, isCut: Bool) -> String {
    if table.samples.isEmpty {
      if table.isOwn { return "no sample stands behind the header" }
      let place = (columns ?? table.columns.description) + (forceColumns.map { " and \($0)" } ?? "")
      return table.lines == 0 && !isCut
        ? "the file is empty" : "no line holds numbers in columns \(place)"
    }
    return outcome.refusal ?? outcome.fit?.quality.reason ?? ""
  }

  private static func list(_ v: Vector3) -> [Double] { [v.x, v.y, v.z] }

  private static func rows(_ m: Matrix3) -> [[Double]] {
    let t = m.transposed.columns
    return [list(t.x), list(t.y), list(t.z)]
  }
}
