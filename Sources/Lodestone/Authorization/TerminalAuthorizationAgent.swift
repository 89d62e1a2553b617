// Prompts for authorization on a terminal.

import Glibc
public import LocationServices

/// An agent that asks in plain lines, and reads the number of an answer.
///
/// No colours and no cursor movements: they read the same over SSH and on a serial console. Where the program has no
/// terminal, or is a shell's background job, nobody answers. While it waits the program's own reading of the terminal gets what is typed only by chance.
public struct TerminalAuthorizationAgent: AuthorizationAgent {
  /// Milliseconds between two looks whether the prompt still stands.
  private static let look: Int32 = 200
  /// An answer is a number and a letter: what is longer is none.
  private static let longestLine = 256

  private let path: String

  /// Makes one.
  ///
  /// - Parameter path: The terminal; that of the program where nothing is said.
  public init(path: String = "/dev/tty") { self.path = path }

  /// Asks until an answer is understood, the terminal is gone, or the prompt stands no more.
  public func reply(
    to prompt: AuthorizationPrompt, of client: AuthorizationClient,
    whileIt stands: @Sendable () -> Bool
  ) -> AuthorizationReply? {
    let terminal = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    guard isatty(terminal) == 1, Self.isOurs(terminal) else { return nil }
    // What was typed before was no answer to this.
    tcflush(terminal, TCIFLUSH)
    guard Self.write(Self.lines(prompt, client) + [""], to: terminal) else { return nil }
    var line: [UInt8] = []
    while true {
      guard Self.isOurs(terminal) else { return nil }
      guard stands() else {
        _ = Self.write(["", "It is not asked any more.", ""], to: terminal)
        return nil
      }
      var waiting = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, Self.look)
      if ready == 0 || (ready < 0 && errno == EINTR) { continue }
      var byte: UInt8 = 0
      let count = read(terminal, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { return nil }
      guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
        if line.count < Self.longestLine { line.append(byte) }
        continue
      }
      if let reply = Self.reply(String(decoding: line, as: UTF8.self), to: prompt) { return reply }
      line = []
      guard Self.write(["Answer with one of the numbers."], to: terminal) else { return nil }
    }
  }

  /// What is shown.
  static func lines(_ prompt: AuthorizationPrompt, _ client: AuthorizationClient) -> [String] {
    var lines = [""]
    switch prompt.kind {
    case .position: lines.append("\(client.name) wants to know where this board is.")
    case .always:
      lines.append("\(client.name) wants to know where this board is also while it is not in use.")
    case .fullAccuracy: lines.append("\(client.name) wants to know exactly where this board is.")
    }
    lines.append("  (\(client))")
    if !prompt.usage.isEmpty { lines.append("  It says: \(prompt.usage)") }
    for (index, option) in prompt.options.enumerated() {
      lines.append("  \(index + 1)  \(Self.words(option))")
    }
    if prompt.kind == .position {
      lines.append(
        prompt.accuracy == .full
          ? "  An r behind the number, as in 1r: only to some kilometres."
          : "  Only to some kilometres; an f behind the number, as in 1f: exactly.")
    }
    // A program's words, and the path that it gives itself, may hold what moves a cursor or begins a line.
    return lines.map(\.shown)
  }

  /// What a line answers; `nil` where it is no answer.
  static func reply(_ line: String, to prompt: AuthorizationPrompt) -> AuthorizationReply? {
    var text = line.lowercased().filter { !$0.isWhitespace }
    var accuracy: AccuracyAuthorization?
    if prompt.kind == .position, text.hasSuffix("r") || text.hasSuffix("f") {
      accuracy = text.removeLast() == "r" ? .reduced : .full
    }
    guard let number = Int(text), prompt.options.indices.contains(number - 1) else { return nil }
    return AuthorizationReply(prompt.options[number - 1], accuracy: accuracy)
  }

  /// Whether the program may read it: a shell's background job that does is stopped. Of a terminal that is not the program's
  /// own there is no such thing.
  private static func isOurs(_ terminal: Int32) -> Bool {
    let group = tcgetpgrp(terminal)
    return group < 0 || group == getpgrp()
  }

  private static func words(_ answer: AuthorizationAnswer) -> String {
    switch answer {
    case .allowWhileUsing: "Allow while using the program"
    case .allowOnce: "Allow once"
    case .dontAllow: "Don't allow"
    case .keepOnlyWhileUsing: "Keep only while using"
    case .changeToAlways: "Change to always allow"
    }
  }

  private static func write(_ lines: [String], to terminal: Int32) -> Bool {
    LineOutput.write(lines.joined(separator: "\n"), to: terminal)
  }
}
