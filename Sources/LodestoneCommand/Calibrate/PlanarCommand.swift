import ArgumentParser
import CalibrationUI

/// `lodestone calibrate planar`: a whole turn of something that stays level.
struct PlanarCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "planar",
    abstract: "Calibrate a boat or a vehicle by turning it through a whole circle.",
    discussion: """
      Turn slowly and level, a minute for a circle, and no faster than at a walk unless the board has a \
      receiver (a bend's force is taken for tilt). It ends by itself when all the compass was seen, and at \
      a terminal by Return (or s and Return) with what was gathered so far. How the chip is turned about \
      the vertical a turn cannot show: 'calibrate heading' or 'calibrate deviation' can. Exit code 1 when \
      there is nothing to save; what was stored stays then.
      """)

  @OptionGroup var options: ReferencedOptions

  @Option(parsing: .unconditional, help: "Stop after this many seconds.")
  var seconds = 180.0

  func validate() throws {
    guard seconds > 0, seconds.isFinite else {
      throw ValidationError("--seconds takes a number above zero")
    }
  }

  func run() throws { try PlanarRun(seconds: seconds).run(options.bench()) }
}
