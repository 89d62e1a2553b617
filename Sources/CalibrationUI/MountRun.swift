import BoardFile
import CalibrationCore
import Lodestone
import OutputProtocols
import SensorDrivers
import SensorHub
import SensorTypes
package import TerminalUI
import TextForms

/// Finds out how the chips of a board sit, and prints the lines for its file: `lodestone calibrate mount`.
package struct MountRun {
  private let board: String?
  private let seconds: Double?
  private let isDriving: Bool
  private let asksNothing: Bool
  private let format: OutputFormat

  /// - Parameters:
  ///   - board: The board's name; `nil` for the machine's own.
  ///   - seconds: How long to listen at most, in seconds; `nil` for the default.
  ///   - isDriving: Whether a drive takes the place of gestures.
  ///   - asksNothing: Whether it begins at once.
  ///   - format: How to print.
  package init(
    board: String?, seconds: Double?, isDriving: Bool, asksNothing: Bool, format: OutputFormat
  ) {
    self.board = board
    self.seconds = seconds
    self.isDriving = isDriving
    self.asksNothing = asksNothing
    self.format = format
  }

  /// Shows the way, listens, and prints what was found. Throws where a placement is not sure.
  package func run() throws {
    try Keyboard.check(asksNothing)
    let session = try BoardViews.openForCalibration(board: board)
    let chips = MountedChips(session.board)
    do {
      try chips.check()
      if isDriving, session.sensor(of: .receiver) == nil {
        throw CommandError("--vehicle goes by a receiver's course, and this board has no receiver")
      }
    } catch let error as CommandError where format == .json {
      var line = JSONLine()
      line.set("v", ObservationLines.version)
      line.set("kind", "mount")
      line.set("sure", false)
      line.set("reason", Hints.complete(error.description))
      Terminal.say(line.line)
      throw CommandExit.finding
    }
    if isDriving { try session.demandExactPosition("--vehicle goes by a receiver's course") }
    if format == .text {
      Terminal.write(Terminal.plain(Self.introduction(session.board.name, isDriving: isDriving)))
    }
    if !asksNothing { try Keyboard.waitForReturn("Return begins, Ctrl-C ends: ") }
    var guide = MountGuide(
      MountDetector(chips: chips.senses),
      seconds: seconds ?? (isDriving ? MountDetector.longest : 100), isDriving: isDriving)
    var place = FieldPlace(session)
    guide.take(downwardField: place.downward)
    var progress = MountProgress(format: format)
    let start = session.now()
    var nextUpdate = start
    let end = try Gathering(session: session).run(patience: 0.2) { batch in
      for arrival in batch {
        switch arrival {
        case .reading(let reading):
          guide.take(reading.sample.value, of: reading.sensor, at: reading.sample.time)
        case .observation(.location(let location)):
          if place.take(location.fix) { guide.take(downwardField: place.downward) }
          if let speed = location.fix.speed, let course = location.fix.course {
            guide.take(speed: speed, course: course * .pi / 180, at: location.fix.received)
          }
        case .observation: break
        }
      }
      let now = session.now()
      // An update evaluates everything gathered so far: too expensive for every batch of samples.
      if now >= nextUpdate {
        nextUpdate = now.advanced(bySeconds: 0.2)
        guide.update(at: now)
      }
      return progress.show(guide, seconds: now.seconds(since: start)) && guide.step != .done
    }
    progress.finish()
    try end.check()
    let report = MountReport(board: session.board, findings: guide.findings, guide.detective)
    switch format {
    case .text: Terminal.write(Terminal.plain(report.text))
    case .json: Terminal.write(report.lines)
    }
    if !report.isSure { throw CommandExit.finding }
  }

  /// What a person has to do.
  static func introduction(_ board: String, isDriving: Bool) -> String {
    let task =
      isDriving
      ? "The board is fixed on the vehicle. Drive a few minutes with bends and braking."
      : "Take the board in your hand as a whole; keep magnets, tools and the desk's iron\n"
        + "a forearm away. Forward is where its arrow, or its bow, is to point."
    return "How the chips of '\(board)' sit\n\(task)\n\n"
  }
}
