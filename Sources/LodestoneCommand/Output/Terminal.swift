import Glibc

/// Standard output and error by plain system calls: whole lines, no hidden buffer, no global state.
enum Terminal {
  /// Whether standard output is a terminal and may be drawn on.
  static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Columns and rows of the terminal; what terminals had for long where it does not say.
  static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Writes text to standard output. Returns false once nobody reads it any more.
  @discardableResult
  static func write(_ text: String) -> Bool { write(text, to: STDOUT_FILENO) }

  /// Writes a line to standard error.
  static func warn(_ text: String) { _ = write(text + "\n", to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while let start = rest.baseAddress, !rest.isEmpty {
        let count = Glibc.write(descriptor, start, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
      return true
    }
  }
}
