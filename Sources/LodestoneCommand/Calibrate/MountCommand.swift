import ArgumentParser
import BoardFile
import CalibrationCore
import CalibrationUI
import Foundation
import Lodestone
import SensorDrivers
import SensorHub
import SensorTypes
import TerminalUI
import TextForms

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
    try Keyboard.check(yes)
    let session = try Session(board: board.name)
    let chips = MountedChips(session.board)
    do {
      try chips.check()
      if vehicle, session.sensor(of: .receiver) == nil {
        throw CommandError("--vehicle goes by a receiver's course, and this board has no receiver")
      }
    } catch let error as CommandError where format == .json {
      var line = JSONLine()
      line.set("v", ObservationLines.version)
      line.set("kind", "mount")
      line.set("sure", false)
      line.set("reason", Hints.complete(error.description))
      Terminal.say(line.line)
      throw ExitCode.failure
    }
    if vehicle { try session.demandExactPosition("--vehicle goes by a receiver's course") }
    if format == .text {
      Terminal.write(Terminal.plain(introduction(session.board)))
    }
    if !yes { try Keyboard.waitForReturn("Return begins, Ctrl-C ends: ") }
    var guide = MountGuide(
      MountDetector(chips: chips.senses),
      seconds: seconds ?? (vehicle ? MountDetector.longest : 100), isDriving: vehicle)
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
      // A look at all that was seen is dear, and batches come as often as samples do.
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
    if !report.isSure { throw ExitCode.failure }
  }

  private func introduction(_ board: Board) -> String {
    let task =
      vehicle
      ? "The board is fixed on the vehicle. Drive a few minutes with bends and braking."
      : "Take the board in your hand as a whole; keep magnets, tools and the desk's iron\n"
        + "a forearm away. Forward is where its arrow, or its bow, is to point."
    return "How the chips of '\(board.name)' sit\n\(task)\n\n"
  }
}
