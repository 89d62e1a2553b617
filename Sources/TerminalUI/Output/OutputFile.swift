import FoundationEssentials
import Glibc
import StateStore
import Synchronization

/// A file that a command writes.
///
/// A new file can be read by its owner alone (0600, less the umask), because a recording says where the board was; `replace`
/// leaves that to the umask. A file that exists keeps its permissions, and what it holds until the first byte is written.
/// Pipes and devices are written into, never replaced. A new file into which nothing is written is removed again, unless it
/// is finished.
package final class OutputFile: Sendable {
  private struct State {
    var isEmptied = false
    var isClosed = false
    var written = 0
  }

  package let path: String
  private let descriptor: Int32
  private let isNew: Bool
  private let state: Mutex<State>

  /// Whether the file was opened to be continued, and its last line has no end.
  package let isCutOff: Bool

  package convenience init(path: String) throws { try self.init(path, appends: false) }

  /// Opens a file of lines to write behind what it holds.
  package convenience init(appendingTo path: String) throws { try self.init(path, appends: true) }

  /// Creates a file, and locks it while it is written. Throws `EEXIST` if the name is taken, also by a link.
  package init(creating path: String) throws {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileProblem(path, errno: errno) }
    isNew = true
    isCutOff = false
    state = Mutex(State())
    // A file system without locks does without.
    flock(descriptor, LOCK_EX | LOCK_NB)
  }

  private init(_ path: String, appends: Bool) throws {
    self.path = path
    let flags = (appends ? O_APPEND : 0) | O_WRONLY | O_CREAT | O_CLOEXEC
    let created = open(path, flags | O_EXCL, 0o600)
    isNew = created >= 0
    // A link to a file that does not exist yet is created by the second call.
    descriptor = isNew ? created : open(path, flags, 0o600)
    guard descriptor >= 0 else { throw FileProblem(path, errno: errno) }
    isCutOff = appends && Self.endsAmidLine(path)
    state = Mutex(State(isEmptied: appends))
  }

  /// Whether a file is a regular one and its last line has no end.
  private static func endsAmidLine(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { Glibc.close(descriptor) }
    var status = stat()
    var last: UInt8 = 0
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size > 0, pread(descriptor, &last, 1, status.st_size - 1) == 1
    else { return false }
    return last != UInt8(ascii: "\n")
  }

  deinit {
    let state = state.withLock { $0 }
    guard !state.isClosed else { return }
    // The command was refused before it wrote anything.
    if isNew, state.written == 0, (try? isToBeReopened()) == false { unlink(path) }
    close(descriptor)
  }

  /// Writes a file as a whole: a disk that is full, or a power cut, leaves what was there before. What is no
  /// regular file is written into.
  package static func replace(_ path: String, by bytes: [UInt8]) throws {
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
  package static func refuseTaken(_ path: String, unless isForced: Bool) throws {
    var status = stat()
    guard !isForced, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size > 0
    else { return }
    throw CommandError("\(path) is there already: --force writes over it", kind: .usage)
  }

  /// Bytes written so far.
  package var written: Int { state.withLock { $0.written } }

  /// Writes all of it, or says what the system says.
  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while !rest.isEmpty {
      rest = UnsafeRawBufferPointer(rebasing: rest[try writeSome(rest)...])
    }
  }

  /// Writes as many bytes as the system takes at once, at least one. Returns their number; throws `FileProblem`.
  package func writeSome(_ bytes: UnsafeRawBufferPointer) throws -> Int {
    // One thread writes. A write can block for as long as a reader pauses, so nothing is locked meanwhile.
    let (isFirst, isClosed) = state.withLock { state in
      defer { state.isEmptied = true }
      return (!state.isEmptied, state.isClosed)
    }
    guard !isClosed else { throw FileProblem(path, errno: EBADF) }
    // Only a regular file can be emptied; others refuse, which is as good.
    if isFirst { _ = ftruncate(descriptor, 0) }
    while true {
      let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw FileProblem(path, errno: count == 0 ? EIO : errno) }
      state.withLock { $0.written += count }
      return count
    }
  }

  /// Whether it is a file in which bytes have places, and not a pipe or a device.
  var isRegular: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Sets where the next bytes go, counted from the beginning of the file; what it holds stays.
  ///
  /// - Returns: Whether that is possible. A pipe or a device has no places.
  func seek(to place: Int) -> Bool {
    state.withLock { $0.isEmptied && !$0.isClosed }
      && lseek(descriptor, off_t(place), SEEK_SET) == off_t(place)
  }

  /// Cuts the file behind a number of bytes, where the next ones then go. Returns whether that was possible.
  func cut(to place: Int) -> Bool { seek(to: place) && ftruncate(descriptor, off_t(place)) == 0 }

  /// Closes the file. Some file systems report a full disk only here.
  package func finish() throws {
    try state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      guard close(descriptor) == 0 || errno == EINTR else { throw FileProblem(path, errno: errno) }
    }
  }

  /// Returns whether the file was moved away from its name, so that a new one can be created there. Throws if the name
  /// belongs to another file that is not empty.
  package func isToBeReopened() throws -> Bool {
    var (own, present) = (stat(), stat())
    guard fstat(descriptor, &own) == 0 else { throw FileProblem(path, errno: errno) }
    guard stat(path, &present) == 0 else {
      guard errno == ENOENT else { throw FileProblem(path, errno: errno) }
      return true
    }
    if own.st_dev == present.st_dev, own.st_ino == present.st_ino { return false }
    guard present.st_mode & S_IFMT == S_IFREG, present.st_size == 0 else {
      throw FileProblem(path, "is another file by now, and not an empty one")
    }
    return true
  }
}
