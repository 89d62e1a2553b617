import BoardFile
import CalibrationCore
import FoundationEssentials
import Lodestone
import SensorDrivers
import TerminalUI

/// Guides a person who turns the board until the fit is good, and saves it: `lodestone calibrate magnetometer`.
package struct GuideRun {
  private let board: String?
  private let settings: SaveSettings
  private let field: FieldSettings
  private let seconds: Double

  /// - Parameters:
  ///   - board: The board's name; `nil` for the machine's own.
  ///   - settings: Who is asked, and how the result is printed.
  ///   - field: Where the earth's field comes from.
  ///   - seconds: How long to gather at most, in seconds.
  package init(board: String?, settings: SaveSettings, field: FieldSettings, seconds: Double) {
    self.board = board
    self.settings = settings
    self.field = field
    self.seconds = seconds
  }

  /// Shows the way, prints what came of it and saves it.
  package func run() throws {
    let isDrawn = settings.format == .text && ScreenTerminal.isPossible
    // A board that is not there is the first thing to say.
    let session = try BoardViews.openForCalibration(board: board)
    guard settings.yes || isDrawn else {
      throw CommandError(
        "Not a terminal, so no guidance can be shown. Add --yes to calibrate without it.",
        kind: .usage)
    }
    guard let found = session.sensor(of: .magnetometer) else {
      try settings.refuse("this board has no magnetometer (\(session.chips))")
    }
    let saver = RecordSaver(session: session, settings: settings)
    try saver.begin(.magnetometer, found.sensor)
    var guide = Guide(
      session: session, magnetometer: found, field: field, seconds: seconds)
    let name = "\(found.sensor.chip) at \(found.sensor.attachment)"
    let way: Guide.GuideEnding
    if isDrawn {
      let look = TerminalCapabilities(environment: ProcessInfo.processInfo.environment)
      let title = name + (saver.isKept ? "" : ", nothing is kept")
      way = try guide.run(DrawnGuide(screen: GuideScreen(look: look, title: title)))
    } else {
      way = try guide.run(SpokenGuide(format: settings.format))
    }
    try GuideReport(guide, saver: saver, way: way).finish()
  }
}
