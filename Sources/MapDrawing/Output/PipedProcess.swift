// A program that is given bytes and gives others back.

import Glibc

/// A program, found as a shell finds it.
struct PipedProcess {
  let program: String
  let arguments: [String]
  let input: [UInt8]
  let outputLimit: Int
  let seconds: Double

  /// Bytes of what it says of errors that are kept.
  private static let errorLimit = 4096

  func run() throws(PipedProcessError) -> ProcessResult {
    let deadline = ContinuousClock.now.advanced(by: .seconds(seconds))
    var streams = Streams()
    defer { streams.close() }
    try streams.open()
    let process = try spawn(streams)
    streams.closeTheirs()
    var output: [UInt8] = []
    var errors: [UInt8] = []
    do throws(PipedProcessError) {
      try exchange(&streams, &output, &errors, deadline)
    } catch {
      kill(process, SIGKILL)
      _ = Self.end(of: process, .now.advanced(by: .seconds(5)))
      throw error
    }
    // It has closed its output; a moment later it has ended, or it never will.
    guard let status = Self.end(of: process, deadline) else {
      kill(process, SIGKILL)
      _ = Self.end(of: process, .now.advanced(by: .seconds(5)))
      throw .late
    }
    return ProcessResult(
      output: output, errors: String(decoding: errors, as: UTF8.self), isSuccess: status == 0)
  }

  /// Both ends of three connections. The program's input is a socket: writing to one that is closed is an error there, and
  /// with a pipe a signal that ends this process.
  private struct Streams {
    var ours: [Int32] = []
    var theirs: [Int32] = []

    mutating func open() throws(PipedProcessError) {
      for isInput in [true, false, false] {
        var ends: [Int32] = [-1, -1]
        let code = isInput ? socketpair(AF_UNIX, Streams.kind, 0, &ends) : pipe(&ends)
        guard code == 0 else { throw .call(errno) }
        // Not for a program that somebody else starts at this moment; and none of the three numbers that the program's
        // ends get, where this process has closed its own.
        let moved = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        let error = errno
        for end in ends { closeFile(end) }
        ours.append(moved[0])
        theirs.append(moved[1])
        guard moved.allSatisfy({ $0 >= 0 }) else { throw .call(error) }
        _ = fcntl(moved[0], F_SETFL, O_NONBLOCK)
      }
    }

    private static let kind = Int32(SOCK_STREAM.rawValue)

    mutating func shut(_ place: Int) {
      closeFile(ours[place])
      // poll leaves out what is negative.
      ours[place] = -1
    }

    mutating func closeTheirs() {
      for file in theirs where file >= 0 { closeFile(file) }
      theirs = []
    }

    mutating func close() {
      closeTheirs()
      for file in ours where file >= 0 { closeFile(file) }
      ours = []
    }
  }

  private func spawn(_ streams: Streams) throws(PipedProcessError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (place, file) in streams.theirs.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, file, Int32(place))
    }
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var process = pid_t()
    let code = posix_spawnp(&process, program, &actions, nil, words, environ)
    guard code == 0 else { throw .start(code) }
    return process
  }

  // Until both outputs are closed.
  private func exchange(
    _ streams: inout Streams, _ output: inout [UInt8], _ errors: inout [UInt8],
    _ deadline: ContinuousClock.Instant
  ) throws(PipedProcessError) {
    var sent = 0
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while streams.ours[1] >= 0 || streams.ours[2] >= 0 {
      let left = (deadline - .now) / .milliseconds(1)
      guard left > 0 else { throw .late }
      var entries = streams.ours.enumerated().map { place, file in
        pollfd(fd: file, events: Int16(place == 0 ? POLLOUT : POLLIN), revents: 0)
      }
      let ready = poll(&entries, nfds_t(entries.count), Int32(left.rounded(.up)))
      if ready < 0, errno == EINTR { continue }
      guard ready >= 0 else { throw .call(errno) }
      if entries[0].revents != 0 {
        let count = input.withUnsafeBytes { bytes in
          send(
            streams.ours[0], bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
            Int32(MSG_NOSIGNAL))
        }
        if count > 0 { sent += count }
        // It is told that this was all; or it does not want more, and says by its end what it made of that.
        if sent == input.count || (count < 0 && errno != EAGAIN && errno != EINTR) {
          streams.shut(0)
        }
      }
      for place in 1...2 where entries[place].revents != 0 {
        let count = read(streams.ours[place], &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { continue }
        guard count > 0 else {
          streams.shut(place)
          continue
        }
        if place == 1 {
          output += buffer[..<count]
          guard output.count <= outputLimit else { throw .tooMuch }
        } else {
          errors += buffer[..<min(count, Self.errorLimit - min(errors.count, Self.errorLimit))]
        }
      }
    }
  }

  // As waitpid tells it; nil where it has not ended in time. Zero where somebody else was told: what it wrote is judged
  // by itself.
  private static func end(of process: pid_t, _ deadline: ContinuousClock.Instant) -> Int32? {
    while true {
      var status: Int32 = 0
      let code = waitpid(process, &status, WNOHANG)
      if code == process { return status }
      if code < 0, errno != EINTR { return 0 }
      guard ContinuousClock.now < deadline else { return nil }
      poll(nil, 0, 2)
    }
  }
}

struct ProcessResult {
  var output: [UInt8]
  /// What it said of errors, the beginning.
  var errors: String
  var isSuccess: Bool
}

enum PipedProcessError: Error, Hashable {
  /// It could not be started: an error number.
  case start(Int32)
  /// Some other call failed: an error number.
  case call(Int32)
  /// It took too long and was killed.
  case late
  /// It wrote more than it may and was killed.
  case tooMuch
}

// `close` by itself is the method above.
private func closeFile(_ file: Int32) { close(file) }
