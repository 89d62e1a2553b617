import Glibc
import TextForms

/// Runs this program's own commands, as a person would, and keeps what they print.
///
/// By posix_spawn and a pipe: Foundation's process needs sockets, which a small guest may not have.
struct Transcripts {
  /// Longest that a command may take, seconds.
  private static let limit = 30.0
  /// Bytes of output that are kept of each command.
  private static let kept = 200_000

  /// Longest that a command may take to end when it is asked to, seconds.
  private static let endLimit = 1.0

  let executable: String
  /// Asked while a command runs: it is ended when this throws.
  let check: () throws(BrokenOff) -> Void

  /// One command with its arguments; both of its streams as they come.
  func run(_ arguments: [String]) throws(BrokenOff) -> Report.Transcript {
    let command = (["lodestone"] + arguments).joined(separator: " ")
    func failure(_ code: Int32) -> Report.Transcript {
      Report.Transcript(command: command, exitCode: -1, output: String(cString: strerror(code)))
    }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return failure(errno) }
    // Not for the commands of anybody else who starts one at this moment.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var process = pid_t()
    let code = spawn(arguments, output: ends[1], &process)
    close(ends[1])
    guard code == 0 else { return failure(code) }
    var output: [UInt8] = []
    var isOver = false
    var end: BrokenOff?
    do throws(BrokenOff) {
      isOver = try read(ends[0], into: &output, for: Self.limit, check)
    } catch {
      end = error
      kill(process, SIGTERM)
      var rest: [UInt8] = []
      isOver =
        (try? read(ends[0], into: &rest, for: Self.endLimit) { () throws(BrokenOff) in }) ?? false
    }
    if !isOver { kill(process, SIGKILL) }
    var status: Int32 = 0
    // It has closed its output or was killed: it ends at once.
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    if let end { throw end }
    // As the macros of wait.h read it: the low seven bits are the signal, the next eight the code.
    let exitCode = status & 0x7F == 0 ? Int(status >> 8 & 0xFF) : -1
    return Report.Transcript(
      command: command, exitCode: isOver ? exitCode : -1,
      output: String(decoding: output, as: UTF8.self))
  }

  private func spawn(_ arguments: [String], output: Int32, _ process: inout pid_t) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
    var words: [UnsafeMutablePointer<CChar>?] = (["lodestone"] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    return posix_spawn(&process, executable, &actions, nil, words, environ)
  }

  // All that comes until the other end is closed; whether that happened in time.
  private func read(
    _ file: Int32, into output: inout [UInt8], for seconds: Double,
    _ check: () throws(BrokenOff) -> Void
  ) throws(BrokenOff) -> Bool {
    let deadline = ContinuousClock.now.advanced(by: .seconds(seconds))
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      try check()
      let left = (deadline - ContinuousClock.now) / .milliseconds(1)
      guard left > 0 else { return false }
      var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      let wait = min(left, Interruption.look * 1000)
      guard poll(&entry, 1, Int32(wait.rounded(.up))) > 0 else { continue }
      let count = readBytes(file, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return true }
      output += buffer[..<min(count, Self.kept - min(output.count, Self.kept))]
    }
  }
}

// `read` by itself is the method above.
private func readBytes(_ file: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(file, buffer, count)
}

extension Report.Transcript {
  /// What went wrong, as the command said it: the doctor's problems, else its error, else its last words; and
  /// the first line that mends it.
  var cause: (text: String, mend: String?) {
    let lines = output.split(separator: "\n").map(String.init)
    func rest(_ line: String, _ mark: String) -> String {
      String(line.dropFirst(mark.count)).trimmingBlanks()
    }
    let problems = lines.filter { $0.hasPrefix("problem ") }.map { rest($0, "problem") }
    let mend = lines.map { $0.trimmingBlanks() }
      .first { $0.hasPrefix("mend:") }.map { rest($0, "mend:") }
    if !problems.isEmpty {
      let more = problems.count > 2 ? "; and \(problems.count - 2) more" : ""
      return (problems.prefix(2).joined(separator: "; ") + more, mend)
    }
    let error = lines.first { $0.lowercased().hasPrefix("error:") }
    return (error ?? lines.last ?? "no output", mend)
  }
}
