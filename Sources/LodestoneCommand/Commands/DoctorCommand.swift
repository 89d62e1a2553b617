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
    var report = DoctorReport { Hints.complete($0) }
    let located: LocatedBoard?
    do {
      located = try BoardLocator.locate(board.name)
    } catch {
      say(report.take(unusable: error))
      throw ExitCode.failure
    }
    say(report.take(located?.board, file: located?.file.path))
    for finding in Doctor().examine(located?.board) { say(report.take(finding)) }
    if report.hasProblems { throw ExitCode.failure }
    Terminal.say("nothing to mend")
  }

  private func say(_ lines: [String]) {
    for line in lines { Terminal.say(line) }
  }
}
