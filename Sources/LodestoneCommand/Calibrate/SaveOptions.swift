import ArgumentParser
import CalibrationUI
import TerminalUI

/// Options of every command that saves a record.
struct SaveOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Ask nothing: begin at once, and save what is accepted.")
  var yes = false

  @Flag(help: "In place of a locked record too, or of one that is better.")
  var force = false

  @Option(
    help:
      "How to print: text or json (an object of kind progress a second, of kind calibration at the end)."
  )
  var format = OutputFormat.text

  var settings: SaveSettings { SaveSettings(yes: yes, force: force, format: format) }
}
