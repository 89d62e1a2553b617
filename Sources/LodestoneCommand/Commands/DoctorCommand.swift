import ArgumentParser
import BoardFile
import Diagnosis
import FoundationEssentials
import Lodestone
import TerminalUI

/// `lodestone doctor`: what is wrong, and the line that mends it.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "What is wrong with wiring and system, each finding with the line that mends it.",
    discussion: """
      Changes nothing. A board that a daemon owns is looked at through the daemon. Exit code 1 when there is something to mend.
      """)

  @OptionGroup var board: BoardOptions

  func run() throws {
    var report = DoctorReport { Hints.complete($0) }
    if board.name == nil, let path = DaemonLocator.socket() {
      do {
        let daemon = try DaemonBoard(path: path, asks: false)
        say(report.take(daemon.board, ofDaemon: path))
        for finding in Doctor().examine(daemon) { say(report.take(finding)) }
        return try end(report)
      } catch let error as DaemonUnreachable {
        say(report.take(unreachable: error, at: path))
        // What keeps the daemon from its board may well be found; the buses of one that has its board may not be touched.
        let isBusy = !error.hasNoBoard && DaemonLocator.isListening(at: path)
        guard !isBusy else { return try end(report) }
      }
    }
    let located: LocatedBoard?
    do {
      located = try BoardLocator.locate(board.name)
    } catch {
      say(report.take(unusable: error))
      throw ExitCode.failure
    }
    say(report.take(located?.board, file: located?.file.path))
    for finding in Doctor().examine(located?.board) { say(report.take(finding)) }
    try end(report)
  }

  private func end(_ report: DoctorReport) throws {
    if report.hasProblems { throw ExitCode.failure }
    Terminal.say(report.conclusion)
  }

  private func say(_ lines: [String]) {
    for line in lines { Terminal.say(line) }
  }
}
