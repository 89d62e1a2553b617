// Questions to whoever sits at the terminal; reads standard input.

import Glibc

/// Questions at the terminal, answered by a line.
package struct Keyboard: Sendable {
  /// Longest answer that is kept, bytes.
  private static let limit = 200

  private let stopSignal: @Sendable () -> Int32?

  /// - Parameter stopSignal: The number of the signal that ends the wait for an answer, once it has come.
  package init(stopSignal: @escaping @Sendable () -> Int32?) { self.stopSignal = stopSignal }

  /// Whether somebody can answer.
  package static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Refuses at once where a question could not be answered.
  ///
  /// - Parameter yes: Whether nothing is to be asked.
  package static func check(_ yes: Bool) throws {
    guard yes || isTerminal else {
      throw CommandError("nobody is at the keyboard: with --yes nothing is asked", kind: .usage)
    }
  }

  /// Asks on standard output, and waits for a line that was begun after the question: a key that was pressed
  /// too often answers nothing. `nil` at the end of input.
  package func answer(to question: String) throws(SignalInterruption) -> String? {
    try answer { Terminal.write(question) }
  }

  /// Asks on standard error, where a question is seen whatever standard output is for. Ctrl-C ends the
  /// command.
  static func ask(_ question: String) throws -> String? {
    let stop = StopFlag()
    let interrupts = Interrupts { stop.set($0) }
    defer { withExtendedLifetime(interrupts) {} }
    do throws(SignalInterruption) {
      return try Keyboard { stop.signal }.answer {
        Terminal.writeError(Terminal.plain(Terminal.fitting(question)))
      }
    } catch {
      Terminal.writeError("\n")
      throw Interrupts.end(by: error.signal)
    }
  }

  /// Asks for yes or no, again where the answer is neither, a few times; Return takes `usual`, the end of input is no.
  package static func agrees(_ question: String, usual: Bool) throws -> Bool {
    for _ in 0..<5 {
      let choice = usual ? "[Y/n]" : "[y/N]"
      guard let answer = try ask("\(question) \(choice) ") else { return false }
      switch answer.lowercased().filter({ !$0.isWhitespace }) {
      case "": return usual
      case "y", "yes": return true
      case "n", "no": return false
      default: continue
      }
    }
    return false
  }

  /// Waits for Return; ends the command where input ends, or `q` is said.
  package static func waitForReturn(_ words: String) throws {
    guard let answer = try ask(words) else { throw CommandError.unanswered }
    guard answer.lowercased().first != "q" else {
      throw CommandError("given up; what was stored stays")
    }
  }

  private func answer(asking ask: () -> Void) throws(SignalInterruption) -> String? {
    tcflush(STDIN_FILENO, TCIFLUSH)
    ask()
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256)
    while true {
      if let signal = stopSignal() { throw SignalInterruption(signal: signal) }
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
