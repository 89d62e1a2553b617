import ArgumentParser
import BoardFile
import CalibrationCore
import CalibrationUI
import Foundation
import Lodestone
import SensorDrivers
import TerminalUI

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
    let format = saving.format
    let isDrawn = format == .text && ScreenTerminal.isPossible
    // A board that is not there is the first thing to say.
    let session = try Session(board: board.name)
    guard saving.yes || isDrawn else {
      throw CommandError(
        "no terminal to show the way on: --yes does without, for somebody who turns the board anyhow",
        kind: .usage)
    }
    guard let found = session.sensor(of: .magnetometer) else {
      try saving.settings.refuse("this board has no magnetometer (\(session.chips))")
    }
    let saver = RecordSaver(session: session, settings: saving.settings)
    try saver.begin(.magnetometer, found.sensor)
    var guide = Guide(
      session: session, magnetometer: found, field: try field.settings(), seconds: seconds)
    let name = "\(found.sensor.chip) at \(found.sensor.attachment)"
    let way: Guide.GuideEnding
    if isDrawn {
      let look = TerminalCapabilities(environment: ProcessInfo.processInfo.environment)
      let title = name + (saver.isKept ? "" : ", nothing is kept")
      way = try guide.run(DrawnGuide(screen: GuideScreen(look: look, title: title)))
    } else {
      way = try guide.run(SpokenGuide(format: format))
    }
    try GuideReport(guide, saver: saver, way: way).finish()
  }
}
