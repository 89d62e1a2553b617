// Lines from the keyboard, without waiting for them.

import Glibc
import TextForms

/// Lines that a person types while samples go on coming in.
package struct TypedLines {
  private var bytes: [UInt8] = []
  package private(set) var hasEnded = false

  /// A line that is complete by now; `nil` for none yet.
  package mutating func next() -> String? {
    while true {
      if let end = bytes.firstIndex(of: 10) {
        defer { bytes.removeFirst(end + 1) }
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
      guard !hasEnded else { return nil }
      var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 0) > 0 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 256)
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        hasEnded = true
        return nil
      }
      bytes += buffer.prefix(count)
      // Nobody means a line this long.
      if bytes.count > 4_096 { bytes.removeAll() }
    }
  }

  package init() {}
}

/// The key by which a person ends a gathering and keeps what came: Return, or `s` and Return.
///
/// Only a person at the terminal has it: what comes through a pipe, and a terminal that another program has in the
/// foreground, end nothing.
package struct StopKey {
  private var lines = TypedLines()
  private let hasTerminal: Bool

  /// Whether somebody can press it now.
  private static var isAtTerminal: Bool {
    guard Keyboard.isTerminal else { return false }
    // To read, or flush, in the background would stop the program.
    let foreground = tcgetpgrp(STDIN_FILENO)
    return foreground < 0 || foreground == getpgrp()
  }

  package init() {
    hasTerminal = Keyboard.isTerminal
    // What was typed before it was offered ends nothing.
    if Self.isAtTerminal { tcflush(STDIN_FILENO, TCIFLUSH) }
  }

  /// Whether it was pressed since the last call.
  package mutating func wasPressed() -> Bool {
    guard hasTerminal, Self.isAtTerminal else { return false }
    while let line = lines.next() {
      if ["", "s"].contains(line.trimmingBlanks().lowercased()) { return true }
    }
    return lines.hasEnded
  }

  /// How it is told of, for the end of an instruction.
  package static var words: String {
    Keyboard.isTerminal
      ? "Return ends it and keeps what was gathered, Ctrl-C gives up.\n" : "Ctrl-C gives up.\n"
  }
}
