import Glibc
import HardwareSuite

/// Questions at the terminal, answered by a line.
struct Keyboard: Sendable {
  /// Longest answer that is kept, bytes.
  private static let limit = 200

  let interruption: Interruption

  /// Whether somebody can answer.
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Asks, and waits for a line that was begun after the question: a key that was pressed too often answers
  /// nothing. `nil` at the end of input.
  func answer(to question: String) throws(BrokenOff) -> String? {
    tcflush(STDIN_FILENO, TCIFLUSH)
    Terminal.write(question)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256)
    while true {
      try interruption.check()
      var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 50) > 0 else { continue }
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      for byte in buffer.prefix(count) {
        if byte == 10 { return String(decoding: bytes, as: UTF8.self) }
        if bytes.count < Self.limit { bytes.append(byte) }
      }
    }
  }
}
