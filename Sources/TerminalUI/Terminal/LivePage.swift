// A page that is drawn in place, for `monitor` and `gnss`; writes through `Terminal`.

/// Lines that are drawn over themselves on a terminal, five times a second at most.
package struct LivePage {
  /// Seconds between two drawings.
  package static let interval = 0.2

  private var drawn = 0
  private var next = ContinuousClock.now

  /// Whether it is time to draw; once each time.
  package mutating func isDue() -> Bool {
    let now = ContinuousClock.now
    guard now >= next else { return false }
    next = now.advanced(by: .seconds(Self.interval))
    return true
  }

  /// Draws what the terminal has room for. Returns false when nobody reads the output any more.
  package mutating func draw(_ lines: [String]) -> Bool {
    // A line that wraps, or a page that scrolls, would break the way back up.
    let size = Terminal.size
    let lines = lines.prefix(size.rows - 1).map(Terminal.plain).map { line in
      line.count <= size.columns ? line : line.prefix(size.columns - 1) + "…"
    }
    // Hide the cursor, go up to the first line, draw each line and clear what was longer.
    var text = "\u{1B}[?25l" + (drawn > 0 ? "\u{1B}[\(drawn)A" : "")
    for line in lines { text += "\r\(line)\u{1B}[K\n" }
    text += "\u{1B}[J"
    drawn = lines.count
    return Terminal.write(text)
  }

  /// Leaves the terminal as it was.
  package func finish() { Terminal.write("\u{1B}[?25h") }

  package init() {}
}
