import ArgumentParser
import CalibrationUI
import TerminalUI

/// Options that the commands for boards that cannot be tumbled share.
struct ReferencedOptions: ParsableArguments {
  @OptionGroup var board: BoardOptions
  @OptionGroup var field: FieldOptions

  @OptionGroup var saving: SaveOptions

  var format: OutputFormat { saving.format }

  func bench() throws -> ReferencedBench {
    try ReferencedBench(board: board.name, field: field.settings(), saving: saving.settings)
  }
}
