import Glibc

/// The terminal as a whole screen with single keys, and as it was again when this object goes.
package final class ScreenTerminal {
  private var before: termios?
  private var shown: [String] = []
  private var size = (columns: 0, rows: 0)

  /// Whether this process has a terminal that can be drawn on, with a keyboard.
  package static var isPossible: Bool {
    let kind = getenv("TERM").map { String(cString: $0) } ?? ""
    return isatty(STDIN_FILENO) == 1 && Terminal.isInteractive && !kind.isEmpty && kind != "dumb"
  }

  /// Takes the screen. Ctrl-C goes on to be a signal.
  package init() {
    var mode = termios()
    if tcgetattr(STDIN_FILENO, &mode) == 0 {
      before = mode
      mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
      withUnsafeMutableBytes(of: &mode.c_cc) { keys in
        keys[Int(VMIN)] = 0
        keys[Int(VTIME)] = 0
        // Stopped in the middle it would leave the terminal without echo.
        keys[Int(VSUSP)] = 0
      }
      tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    }
    // The other screen, cleared, without a cursor.
    Terminal.write("\u{1B}[?1049h\u{1B}[2J\u{1B}[?25l")
  }

  deinit { close() }

  /// Gives the screen back.
  package func close() {
    guard var mode = before else { return }
    before = nil
    Terminal.write("\u{1B}[?25h\u{1B}[?1049l")
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode)
  }

  /// Draws lines, only those that have changed. Returns false when nobody sees it any more.
  package func draw(_ lines: [String]) -> Bool {
    let size = Terminal.size
    var text = ""
    if size != self.size {
      (self.size, shown) = (size, [])
      text += "\u{1B}[2J"
    }
    // The last line stays empty: some terminals scroll when its end is reached.
    let lines = lines.prefix(max(1, size.rows)).map { Self.cut($0, to: size.columns) }
    for (row, line) in lines.enumerated() where row >= shown.count || shown[row] != line {
      text += "\u{1B}[\(row + 1);1H\(line)\u{1B}[K"
    }
    // What the picture before had below this one's end.
    for row in lines.count..<max(lines.count, shown.count) {
      text += "\u{1B}[\(row + 1);1H\u{1B}[K"
    }
    shown = Array(lines)
    return text.isEmpty || Terminal.write(text)
  }

  /// The keys that were pressed since the last call.
  package func keys() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    return count > 0 ? Array(buffer.prefix(count)) : []
  }

  /// A line of at most so many columns; colours count for none.
  static func cut(_ line: String, to columns: Int) -> String {
    var (text, width, isCode) = ("", 0, false)
    for character in line {
      if isCode {
        text.append(character)
        isCode = !character.isLetter
      } else if character == "\u{1B}" {
        text.append(character)
        isCode = true
      } else if width < columns {
        text.append(character)
        width += 1
      }
    }
    return text
  }
}
