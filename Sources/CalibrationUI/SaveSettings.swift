import OutputProtocols
package import TerminalUI
import TextForms

/// The options of every command that saves a calibration record.
package struct SaveSettings: Sendable {
  /// Whether to begin and to save an accepted result without asking.
  package var yes: Bool
  /// Whether a locked or better record may be replaced.
  package var force: Bool
  package var format: OutputFormat

  package init(yes: Bool = false, force: Bool = false, format: OutputFormat = .text) {
    (self.yes, self.force, self.format) = (yes, force, format)
  }

  /// Refuses, with exit code 1: as an object on standard output where JSON is wanted.
  package func refuse(_ reason: String) throws -> Never {
    guard format == .json else { throw CommandError("refused: \(reason)") }
    var line = JSONLine()
    line.set("v", ObservationLines.version)
    line.set("kind", "calibration")
    line.set("accepted", false)
    line.set("saved", false)
    line.set("reason", Hints.complete(reason))
    Terminal.say(line.line)
    throw CommandExit.finding
  }
}
