import ArgumentParser
import CalibrationCore
import CalibrationUI

/// `lodestone calibrate magnetometer`: a person turns the board as the screen says, until the fit is good.
struct MagnetometerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "magnetometer",
    abstract: "Calibrate the magnetometer by turning the board as the screen says.",
    discussion: """
      Says what to do next, shows what was seen of the sphere and how good the fit is, ends by itself when \
      it is good, and saves. Without a terminal it says a line a second and needs --yes. Exit code 1 when \
      nothing was saved, 130 after Ctrl-C; what was stored stays then.
      """)

  @OptionGroup var board: BoardOptions
  @OptionGroup var field: FieldOptions

  @Option(parsing: .unconditional, help: "End after this many seconds at the latest, 10 to 3600.")
  var seconds = CoachParameters().seconds

  @OptionGroup var saving: SaveOptions

  func validate() throws {
    guard (10...3_600).contains(seconds) else {
      throw ValidationError("--seconds takes 10 to 3600")
    }
  }

  func run() throws {
    try GuideRun(
      board: board.name, settings: saving.settings, field: field.settings(), seconds: seconds
    ).run()
  }
}
