// A program that reads one descriptor and writes another one: gzip.

import Glibc
import StateStore

/// A running program that a file goes through. Its process group is a separate one, so that Ctrl-C does not reach it.
final class FilterProcess {
  /// How long a program that was killed may take to go, in seconds.
  private static let patience = 5.0
  /// Bytes of its messages that are kept.
  private static let messageLimit = 1_024

  private let process: pid_t
  /// The end of the pipe that its messages come out of.
  private let messages: Int32
  private var hasEnded = false

  /// Starts a program, which is found as a shell finds it.
  ///
  /// - Parameters:
  ///   - words: The program and its arguments.
  ///   - input: The descriptor that it reads.
  ///   - output: The descriptor that it writes.
  init(_ words: [String], input: Int32, output: Int32) throws {
    let program = words.first ?? ""
    let ends = try Self.pipe(for: program)
    defer { close(ends[1]) }
    // It is read when the program has ended.
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (place, file) in [input, output, ends[1]].enumerated() {
      posix_spawn_file_actions_adddup2(&actions, file, Int32(place))
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { for word in arguments { free(word) } }
    var process = pid_t()
    let code = posix_spawnp(&process, program, &actions, &attributes, arguments, environ)
    guard code == 0 else {
      close(ends[0])
      throw FileProblem(program, errno: code)
    }
    self.process = process
    messages = ends[0]
  }

  /// Returns both ends of a pipe, which no program gets unless it is given one.
  ///
  /// - Parameter name: What the pipe is for, for messages.
  static func pipe(for name: String) throws -> [Int32] {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw FileProblem(name, errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  deinit {
    if !hasEnded {
      kill(process, SIGKILL)
      _ = Self.status(of: process, within: Self.patience) { false }
    }
    close(messages)
  }

  /// Leaves the processor to every other program.
  func stepBack() { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(process), 19) }

  /// Waits for its end, and kills it when time is up or nobody wants it any more. Returns what went wrong; `nil` where
  /// nothing did.
  func end(within seconds: Double, unless isStopped: () -> Bool = { false }) -> String? {
    var status = Self.status(of: process, within: seconds, unless: isStopped)
    let isLate = status == nil
    if isLate {
      kill(process, SIGKILL)
      status = Self.status(of: process, within: Self.patience) { false }
    }
    hasEnded = status != nil
    if isLate { return "it was stopped after \(Int(seconds)) s at the latest" }
    guard let status, status != 0 else { return nil }
    let words = message
    // As the macros of wait.h read it: the low seven bits are the signal, the next eight the code.
    let code = status & 0x7F == 0 ? "exit code \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
    return words.isEmpty ? code : words
  }

  /// The first line of what it has said of errors.
  private var message: String {
    var bytes = [UInt8](repeating: 0, count: Self.messageLimit)
    let count = max(0, read(messages, &bytes, bytes.count))
    let line = bytes[..<count].drop { $0 == 10 }.prefix { $0 != 10 }
    return String(decoding: line, as: UTF8.self)
  }

  /// Its status as waitpid tells it; `nil` where it has not ended in time.
  private static func status(
    of process: pid_t, within seconds: Double, unless isStopped: () -> Bool
  ) -> Int32? {
    let deadline = ContinuousClock.now.advanced(by: .seconds(seconds))
    while true {
      var status: Int32 = 0
      let code = waitpid(process, &status, WNOHANG)
      if code == process { return status }
      // Somebody else was told. What it wrote is judged by itself.
      if code < 0, errno != EINTR { return 0 }
      guard ContinuousClock.now < deadline, !isStopped() else { return nil }
      poll(nil, 0, 10)
    }
  }
}
