import ArgumentParser
import CalibrationCore
import CalibrationUI

/// `lodestone calibrate level`: how the board sits in what carries it.
struct LevelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "level",
    abstract: "Measures how the board sits in its carrier, from gravity.",
    discussion: """
      Hold the board, or what carries it, as it is level in use. The small rotation that is found is applied \
      to all its chips, after their mounts. In one position the tilt of what it lies on is part of it; with \
      --two-positions it is turned by half a turn in between, and that tilt falls out. Needs an \
      accelerometer; refused when the board moves, or where its magnetometer has seen no turn in between.
      """)

  @OptionGroup var options: StillOptions

  @Option(help: "How long to listen in each position, seconds, 2 to 600.")
  var seconds = 5.0

  @Flag(help: "A second time after half a turn on the same place.")
  var twoPositions = false

  func validate() throws {
    guard (LevelAtRest.shortest...600).contains(seconds) else {
      throw ValidationError("--seconds takes 2 to 600")
    }
    if twoPositions, options.saving.yes {
      throw ValidationError("--two-positions needs somebody who turns the board: not with --yes")
    }
  }

  func run() throws {
    try LevelRun(
      board: options.board.name, settings: options.saving.settings, seconds: seconds,
      hasTwoPositions: twoPositions
    ).run()
  }
}
