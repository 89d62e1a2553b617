import ArgumentParser
import Reports
import TerminalUI

/// `lodestone calibrate show`: one record, and what was there before it.
struct ShowRecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "One calibration record, with its history.")

  @OptionGroup var which: RecordOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let (store, _) = try which.board.records()
    let key = try which.key(in: store)
    let history = RecordHistory(key, in: store)
    for line in format == .json ? history.jsonLines : history.textLines { Terminal.say(line) }
  }
}
