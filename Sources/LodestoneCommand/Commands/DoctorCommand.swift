import ArgumentParser
import BoardFile
import Diagnosis
import Foundation
import Lodestone
import TerminalUI

/// `lodestone doctor`: what is wrong, and the line that mends it.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "What is wrong with wiring and system, each finding with the line that mends it.",
    discussion: "Changes nothing. Exit code 1 when there is something to mend.")

  @OptionGroup var board: BoardOptions

  func run() throws {
    let located: LocatedBoard?
    do {
      located = try BoardLocator.locate(board.name)
    } catch {
      report("problem", "\(error)", mend: "edit the board file, or name another with --board")
      throw ExitCode.failure
    }
    if let located {
      let count = located.board.sensors.count
      report("ok", "board file \(located.file.path): \(count) chip\(count == 1 ? "" : "s")")
    } else {
      report("ok", "no board file: the buses are probed")
    }
    let findings = Doctor().examine(located?.board)
    for finding in findings {
      report(finding.level.rawValue, finding.text, mend: finding.mend)
    }
    if findings.contains(where: { $0.level == .problem }) { throw ExitCode.failure }
    Terminal.say("nothing to mend")
  }

  private func report(_ level: String, _ text: String, mend: String? = nil) {
    Terminal.say(level.padding(toLength: 9, withPad: " ", startingAt: 0) + text)
    if let mend { Terminal.say("         mend: \(Hints.complete(mend))") }
  }
}
