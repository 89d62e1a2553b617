// Lines on standard output and standard error, as a terminal or a journal shows them.

import Glibc

enum LineOutput {
  /// Writes a text and a line break.
  ///
  /// - Returns: Whether all of it was written: a terminal that is gone takes nothing any more.
  @discardableResult
  static func write(_ text: String, to descriptor: Int32) -> Bool {
    var bytes = ArraySlice(Array(text.utf8) + [UInt8(ascii: "\n")])
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      guard written > 0 || (written < 0 && errno == EINTR) else { return false }
      if written > 0 { bytes = bytes.dropFirst(written) }
    }
    return true
  }
}

// `write` by itself is the function of the same name above.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
