import ArgumentParser
import CalibrationUI

/// `lodestone calibrate heading DEG`: a board that is held still at a heading that is known.
struct HeadingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heading",
    abstract: "Calibrate hard iron from one heading that is known.",
    discussion: """
      The board is held still and points to DEG: true north unless --magnetic is given. One heading shows \
      hard iron only; soft iron stays as the record in force says. A record that is better and shows DEG \
      as well as it is known stays, unless --force is given. It needs the earth's field: from a fix, \
      the board file's position, --latitude and --longitude, or --field.
      """)

  @OptionGroup var options: ReferencedOptions

  @Argument(help: "Where the board points, degrees, 0 to 360.")
  var heading: Double

  @Flag(help: "DEG is from magnetic north.")
  var magnetic = false

  @Option(parsing: .unconditional, help: "How well DEG is known, degrees (one sigma).")
  var error = 2.0

  @Option(parsing: .unconditional, help: "How long to measure, seconds.")
  var seconds = 5.0

  func validate() throws {
    guard (0...360).contains(heading) else { throw ValidationError("DEG must be 0 to 360") }
    guard error >= 0.1, error <= 30 else { throw ValidationError("--error must be 0.1 to 30") }
    guard seconds >= 1, seconds <= 600 else { throw ValidationError("--seconds must be 1 to 600") }
  }

  func run() throws {
    try HeadingRun(heading: heading, isMagnetic: magnetic, error: error, seconds: seconds)
      .run(options.bench())
  }
}
