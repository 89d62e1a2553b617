// How far a command is, in one line on standard error.

/// One line of progress a second: rewritten on a terminal, a line each elsewhere. It goes to standard error; where
/// standard output is JSON for a program, only where a person looks on.
struct ProgressLine {
  private let isShown: Bool
  private let isDrawn: Bool
  private var next = ContinuousClock.now
  private var isOpen = false

  init(_ format: OutputFormat) {
    isDrawn = Terminal.isErrorInteractive
    isShown = format == .text || isDrawn
  }

  /// Whether a line is due.
  var isDue: Bool { ContinuousClock.now >= next }

  /// Shows a line.
  mutating func show(_ text: String) {
    next = ContinuousClock.now.advanced(by: .seconds(1))
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
  mutating func close() {
    if isOpen { Terminal.writeError("\n") }
    isOpen = false
  }
}
