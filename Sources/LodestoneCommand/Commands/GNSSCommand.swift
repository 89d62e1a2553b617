import ArgumentParser
import BoardFile
import Lodestone
import SensorTypes
import TerminalUI

/// `lodestone gnss`: the receiver itself, and the satellites that it hears.
struct GNSSCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gnss",
    abstract: "The receiver: who it is, how it is set, its fix, and the satellites in view.",
    discussion: """
      A table and a sky plot on a terminal (north up, east on the right; capitals are used), a page for each round of \
      satellites in a pipe; one JSON object a line with --format json. Elevation and azimuth in degrees, C/N0 in dB-Hz; \
      what the receiver does not say is a dash. Satellites have RINEX names: G GPS, R GLONASS, E Galileo, C BeiDou, \
      J QZSS, I NavIC, S SBAS less 100. Needs authorization for the board's exact position (exit code 77 without). Exit \
      code 1 when no receiver delivered anything.
      """)

  @OptionGroup var board: BoardOptions

  @OptionGroup var duration: DurationOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let board = try BoardViews.open(board: board.name)
    guard !board.receivers.isEmpty else {
      throw CommandError("\(board.summary.name): there is no receiver on this board")
    }
    try board.demandExactPosition("gnss shows the receiver's fix and its satellites")
    let watch = ObservationRun(board: board, receiversFor: duration.seconds)
    switch format {
    case .json: try watch.run(printer: GNSSJSONPrinter(board))
    case .text where Terminal.isInteractive: try watch.run(printer: GNSSLivePrinter(board))
    case .text: try watch.run(printer: GNSSPagePrinter(board))
    }
  }
}
