// The command's output; the one place that writes to standard output and error.

import Glibc
import SensorHub

/// Standard output and error by plain system calls: whole lines, no hidden buffer, no global state.
enum Terminal {
  /// Whether standard output is a terminal and may be drawn on.
  static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether standard error is a terminal and may be drawn on.
  static var isErrorInteractive: Bool { isatty(STDERR_FILENO) == 1 }

  /// Columns and rows of the terminal; what terminals had for long where it does not say.
  static var size: (columns: Int, rows: Int) {
    for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
      var size = winsize()
      guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
      else { continue }
      return (Int(size.ws_col), Int(size.ws_row))
    }
    return (80, 24)
  }

  /// Text for standard error with its lines broken between words where a person's terminal would break them
  /// within; as it is for a file or a program.
  static func fitting(_ text: String) -> String {
    isErrorInteractive ? Wrap.fitting(text, width: size.columns) : text
  }

  /// Text that steers no terminal: control characters but line feed and tab are spelt out, as JSON spells them (in
  /// a JSON text they mean the same then). For whatever a file or a chip says.
  static func plain(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isControl(scalar) {
        result += escape(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A control character as JSON spells it.
  static func escape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10: false
    case 0..<0x20, 0x7F..<0xA0: true
    default: false
    }
  }

  /// Writes a line of plain text to standard output. Returns false once nobody reads it any more.
  @discardableResult
  static func say(_ text: String) -> Bool { write(plain(text) + "\n") }

  /// Writes text to standard output as it is, escape sequences too. Returns false once nobody reads it any
  /// more.
  @discardableResult
  static func write(_ text: String) -> Bool { write(text, to: STDOUT_FILENO) }

  /// Writes bytes to standard output as they are. Returns false once nobody reads it any more, and throws where they
  /// could not be written for another reason.
  static func emit(_ bytes: [UInt8]) throws -> Bool {
    guard !bytes.withUnsafeBytes({ write($0, to: STDOUT_FILENO) }) else { return true }
    guard errno == EPIPE else { throw FileProblem("standard output", errno: errno) }
    return false
  }

  /// Writes all of a text that is of use only as a whole to standard output. Throws when it could not, but for a
  /// reader who has had enough.
  static func emit(_ text: String) throws {
    guard !write(text), errno != EPIPE else { return }
    throw FileProblem("standard output", errno: errno)
  }

  /// Writes a line of plain text to standard error.
  static func warn(_ text: String) { writeError(plain(text) + "\n") }

  /// Writes text to standard error as it is.
  static func writeError(_ text: String) { _ = write(text, to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) -> Bool {
    var text = text
    return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = Glibc.write(descriptor, start, rest.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }
}
