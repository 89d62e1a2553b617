import ArgumentParser
import CalibrationCore
import CalibrationUI

/// `lodestone calibrate gyro`: what the gyro says at rest.
struct GyroCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gyro",
    abstract: "Measures what the gyro says while the board lies still.",
    discussion: """
      A program then starts with it instead of learning it from its own first rest, which a board that is \
      switched on in the hand or under way does not have. Refused when the board moves.
      """)

  @OptionGroup var options: StillOptions

  @Option(help: "How long to listen, seconds, 3 to 600.")
  var seconds = 10.0

  func validate() throws {
    guard (GyroAtRest.shortest...600).contains(seconds) else {
      throw ValidationError("--seconds takes 3 to 600")
    }
  }

  func run() throws {
    try GyroRun(board: options.board.name, settings: options.saving.settings, seconds: seconds)
      .run()
  }
}
