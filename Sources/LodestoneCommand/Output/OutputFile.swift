// The compiler finds `stat` in whichever module of C it meets first; of those that this target brings along it is this.
import CoreFoundation
import Foundation
import Glibc
import SensorHub
import Synchronization

/// A file that a command writes. A new one can be read by its owner alone (0600, less the umask), because a recording says
/// where the board was; `replace` leaves that to the umask. One that is there already keeps its permissions. What is no regular file (a pipe, a device) is written into, never
/// replaced; what a regular file held before is gone with the first byte, not sooner.
final class OutputFile: Sendable {
  private struct State {
    var isEmptied = false
    var written = 0
  }

  private let path: String
  private let descriptor: Int32
  private let state = Mutex(State())

  init(path: String) throws {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileProblem(path, errno: errno) }
  }

  deinit { close(descriptor) }

  /// Writes a file as a whole: a disk that is full, or a power cut, leaves what was there before. What is no
  /// regular file is written into.
  static func replace(_ path: String, by bytes: [UInt8]) throws {
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      return try bytes.withUnsafeBytes { try OutputFile(path: path).write($0) }
    }
    do {
      try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw FileProblem(path, error)
    }
  }

  /// Refuses to write over what a person may have nowhere else.
  static func refuseTaken(_ path: String, unless isForced: Bool) throws {
    var status = stat()
    guard !isForced, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size > 0
    else { return }
    throw CommandError("\(path) is there already: --force writes over it")
  }

  /// Bytes written so far.
  var written: Int { state.withLock { $0.written } }

  /// Writes all of it, or says what the system says.
  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try state.withLock { state in
      if !state.isEmptied {
        state.isEmptied = true
        // Only a regular file can be emptied; others refuse, which is as good.
        _ = ftruncate(descriptor, 0)
      }
      var rest = bytes
      while let start = rest.baseAddress, !rest.isEmpty {
        let count = Glibc.write(descriptor, start, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw FileProblem(path, errno: errno) }
        state.written += count
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }
}
