// How far a command is, in one line on standard error.

import OutputProtocols
package import TextForms

/// One line of progress a second: rewritten on a terminal, a line each elsewhere. It goes to standard error; where
/// standard output is JSON for a program, only where a person looks on, and the program has a line of its own there.
package struct ProgressLine {
  private let format: OutputFormat
  private let isShown: Bool
  private let isDrawn: Bool
  private var next = ContinuousClock.now
  private var isOpen = false

  package init(_ format: OutputFormat) {
    self.format = format
    isDrawn = Terminal.isErrorInteractive
    isShown = format == .text || isDrawn
  }

  /// Whether a line is due.
  package var isDue: Bool { ContinuousClock.now >= next }

  /// Shows a line.
  ///
  /// - Parameters:
  ///   - text: For a person.
  ///   - seconds: How long it has lasted; with them a program that reads JSON is told too, by an object of the kind
  ///     `progress`.
  ///   - fill: Adds to that.
  package mutating func show(
    _ text: String, seconds: Double? = nil, fill: (inout JSONLine) -> Void = { _ in }
  ) {
    next = ContinuousClock.now.advanced(by: .seconds(1))
    if format == .json, let seconds {
      var line = JSONLine()
      line.set("v", ObservationLines.version)
      line.set("kind", "progress")
      line.set("seconds", seconds, digits: 1)
      fill(&line)
      Terminal.say(line.line)
    }
    guard isShown else { return }
    let text = Terminal.plain(text)
    if isDrawn {
      let width = max(20, Terminal.size.columns - 1)
      Terminal.writeError("\r\(Wrap.cut(text, width: width))\u{1B}[K")
      isOpen = true
    } else {
      Terminal.writeError(text + "\n")
    }
  }

  /// Puts the cursor on a line of its own.
  package mutating func close() {
    if isOpen { Terminal.writeError("\n") }
    isOpen = false
  }
}
