import ArgumentParser
import CalibrationCore
import CalibrationUI
import TerminalUI

/// `lodestone calibrate mount`: how the chips sit, and the lines for the board file.
struct MountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mount",
    abstract: "Find out how the chips sit on the board, and print the board file's lines.",
    discussion: """
      Asks for four gestures (level, nose up, right side down, a clockwise turn) and for free motion, looks \
      whether they were done, and ends by itself when each chip's placement is sure. With --vehicle a \
      drive with bends takes the gestures' place. Nothing is written. Exit code 1 where a placement is \
      not sure.

      --format json prints lines of kind progress each second, and one of kind mount a chip at the end.
      """)

  @OptionGroup var board: BoardOptions

  @Option(
    parsing: .unconditional,
    help: "Stop after this many seconds at the latest. (default: 100; 300 with --vehicle)")
  var seconds: Double?

  @Flag(help: "The board is fixed on a vehicle that drives, its nose forward.")
  var vehicle = false

  @Flag(name: .shortAndLong, help: "Ask nothing: begin at once.")
  var yes = false

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func validate() throws {
    if let seconds, !(seconds >= 5 && seconds <= MountDetector.longest) {
      throw ValidationError("--seconds takes a number from 5 to \(Int(MountDetector.longest))")
    }
  }

  func run() throws {
    try MountRun(
      board: board.name, seconds: seconds, isDriving: vehicle, asksNothing: yes, format: format
    ).run()
  }
}
