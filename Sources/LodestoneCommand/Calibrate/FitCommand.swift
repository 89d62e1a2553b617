import ArgumentParser
import CalibrationCore
import CalibrationUI
import MagnetometerLogs
import Reports
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
    let file: SampleFile
    do {
      file = try SampleFile(self.file, into: table())
    } catch let error as CommandError {
      switch format {
      case .json: Terminal.say(FitReport.line(unread: error.description).line)
      case .text: Terminal.warn("Error: \(error)")
      }
      throw error.kind.exitCode
    }
    let fit = SampleFit(file.table, fieldStrength: fieldStrength, dip: dip)
    let report = FitReport(
      fit.outcome, of: file.table, isCut: file.isCut, strengthUse: fit.strengthUse,
      forceColumns: forceColumns)
    switch format {
    case .json: Terminal.say(report.line.line)
    case .text: for line in report.lines { Terminal.say(line) }
    }
    if !fit.outcome.isAccepted { throw CommandErrorKind.data.exitCode }
  }
}
