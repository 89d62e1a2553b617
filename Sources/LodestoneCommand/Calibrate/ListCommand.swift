import ArgumentParser
import Reports
import TerminalUI

/// `lodestone calibrate list`: the records that this machine keeps.
struct ListRecordsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "The calibration records of this machine.",
    discussion: """
      Changes nothing. A damaged record is named, and the one before it is offered; what was put aside earlier, damaged \
      or replaced, is named at the end.
      """)

  @OptionGroup var board: BoardOptions

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let (store, board) = try board.records()
    let table = RecordTable(store, board: board)
    for line in format == .json ? table.jsonLines : table.textLines { Terminal.say(line) }
  }
}
