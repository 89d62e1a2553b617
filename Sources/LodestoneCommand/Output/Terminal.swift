import Glibc

/// Standard output and error by plain system calls: whole lines, no hidden buffer, no global state.
enum Terminal {
  /// Whether standard output is a terminal and may be drawn on.
  static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

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
