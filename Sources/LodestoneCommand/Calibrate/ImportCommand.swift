import ArgumentParser
import CalibrationCore
import CalibrationUI
import Reports
import StateStore
import TerminalUI
import TextForms

/// `lodestone calibrate import`: takes records from a file for the chips they belong to.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Takes records from a file, each for the chip it belongs to.",
    discussion: """
      A record of a chip that this board has not got, or has elsewhere, is refused: with --as-chip it is \
      given to another one all the same. Nothing is taken where one record of the file is refused; where \
      writing fails later, it is said which were taken.
      """)

  @OptionGroup var board: BoardOptions

  @Argument(help: "A file of 'lodestone calibrate export', or one record.")
  var file: String

  @Option(help: "Give the file's one record to this chip: LIS3MDL@/dev/i2c-1:0x1c.")
  var asChip: String?

  @Flag(help: "In place of a locked record too.")
  var force = false

  @Option(help: "How to print: text or json.")
  var format = OutputFormat.text

  func run() throws {
    let (store, board) = try board.recordsOfBoard()
    try RecordImport(from: file, to: board, in: store, overridingLock: force)
      .run(asChip: asChip) { record in
        switch format {
        case .json: Terminal.say(RecordText.line(record).line)
        case .text:
          Terminal.say(
            "\(CalibrationKey(record)): \(RecordText.short(record))"
              + (record.isLocked ? ", locked as it was in the file" : ""))
        }
      }
  }
}
