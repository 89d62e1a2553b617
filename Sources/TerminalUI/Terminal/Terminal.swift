// The command's output; the one place that writes to standard output and error.

import Glibc
import TextForms

/// Standard output and error by plain system calls: whole lines, no hidden buffer.
package enum Terminal {
  /// Whether standard output is a terminal and may be drawn on.
  package static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Whether standard error is a terminal and may be drawn on.
  static var isErrorInteractive: Bool { isatty(STDERR_FILENO) == 1 }

  /// Whether the process has a controlling terminal. It loses it when the terminal hangs up.
  package static var isControlling: Bool {
    let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return true
  }

  /// Columns and rows of the terminal; what terminals had for long where it does not say.
  package static var size: (columns: Int, rows: Int) {
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
  package static func fitting(_ text: String) -> String {
    isErrorInteractive ? Wrap.fitting(text, width: size.columns) : text
  }

  /// Text that steers no terminal: control characters but line feed and tab are spelt out, as JSON spells them (in
  /// a JSON text they mean the same then). For whatever a file or a chip says.
  package static func plain(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isControl(scalar) {
        result += JSONLine.escape(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10: false
    case 0..<0x20, 0x7F..<0xA0: true
    default: false
    }
  }

  /// Standard output. A write error is reported on standard error at once and ends the command with exit code 1. A reader
  /// that closes its end of a pipe ends it without a message.
  package static let output = OutputDescriptor(STDOUT_FILENO, name: "standard output") {
    writeError($0 + "\n")
  }

  /// Writes a line of plain text to standard output. Returns false if this or an earlier write failed.
  @discardableResult
  package static func say(_ text: String) -> Bool { write(plain(text) + "\n") }

  /// Writes text to standard output as it is, escape sequences too. Returns false if this or an earlier write
  /// failed.
  @discardableResult
  package static func write(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { output.write(UnsafeRawBufferPointer($0)) }
  }

  /// Writes bytes to standard output as they are. Returns false if this or an earlier write failed.
  @discardableResult
  package static func write(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { output.write($0) } }

  /// Writes a line of plain text to standard error.
  package static func warn(_ text: String) { writeError(plain(text) + "\n") }

  /// Writes text to standard error as it is. A write error there cannot be reported anywhere.
  static func writeError(_ text: String) {
    var text = text
    _ = text.withUTF8 {
      OutputDescriptor.write(UnsafeRawBufferPointer($0), to: STDERR_FILENO)
    }
  }
}
