package import FoundationEssentials
import Glibc
import Synchronization

/// Small files that must be whole or not there, whenever the power goes or another process writes too, and that nobody but
/// their owner reads: 0600 in folders of 0700, from the first byte on.
///
/// What root makes in a folder of another user belongs to that user: the daemon that has the folder must be able to read it.
package enum StateFile {
  /// More than any of them can need.
  package static let limit = 65_536
  /// Between a file's name and the number of the process that is writing it.
  private static let mark = ".new-"
  // Two threads of one process may write as well.
  private static let nextTemporary = Atomic<UInt64>(0)

  /// Reads a file of at most `limit` bytes; waits for nobody where it is a pipe.
  package static func read(_ path: String, limit: Int = limit) -> StateFileContent {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      return errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable(reason(errno))
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < limit {
      let got = bytes.withUnsafeMutableBytes { buffer in
        systemRead(descriptor, buffer.baseAddress?.advanced(by: count), limit - count)
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { return .unreadable(reason(errno)) }
      if got == 0 { return .bytes(Array(bytes[..<count])) }
      count += got
    }
    return .unreadable("longer than \(limit) bytes")
  }

  /// Writes beside, forces that to the disk, renames, and forces the new name to the disk: a power cut at
  /// any moment leaves the old file or the new one. Of two that write at once the last one's file stays.
  ///
  /// - Parameter needsPermissions: Whether a file system that keeps no permissions is an error.
  package static func write(
    _ bytes: [UInt8], to file: URL, needsPermissions: Bool = true
  ) throws {
    try replace(file, with: bytes, needsPermissions: needsPermissions)
    try forceNames(beside: file)
  }

  /// The first half of `write`: a process that is killed leaves the new file from here on, a power cut either of them.
  static func replace(
    _ file: URL, with bytes: [UInt8], needsPermissions: Bool = true
  ) throws {
    let folder = file.deletingLastPathComponent().path
    try makeFolder(folder)
    removeLeftovers(in: folder)
    let temporary = try writeTemporary(
      bytes, for: file.path, needsPermissions: needsPermissions)
    guard systemRename(temporary, file.path) == 0 else {
      let code = errno
      unlink(temporary)
      throw FileProblem(file.path, errno: code)
    }
  }

  /// The second half of `write`.
  static func forceNames(beside file: URL) throws {
    try synchronize(folder: file.deletingLastPathComponent().path)
  }

  /// Throws what writing a file would fail on at once: makes its folder, and a file beside it that goes again.
  static func rehearse(_ file: URL) throws {
    try makeFolder(file.deletingLastPathComponent().path)
    unlink(try writeTemporary([], for: file.path))
  }

  /// Gives a file another name in the same folder, as surely as `write`.
  static func rename(_ file: URL, to new: URL) throws {
    guard systemRename(file.path, new.path) == 0 else { throw FileProblem(file.path, errno: errno) }
    try synchronize(folder: new.deletingLastPathComponent().path)
  }

  /// Removes a file that is not needed any more; one that stays does no harm.
  static func remove(_ file: URL) { unlink(file.path) }

  /// Makes a folder and those above it, each forced to the disk, and closed to other users.
  static func makeFolder(_ path: String) throws {
    guard mkdir(path, 0o700) != 0 else {
      giveAway(folder: path)
      return try synchronize(folder: parent(of: path))
    }
    switch errno {
    case EEXIST: return
    case ENOENT where path != "/" && !path.isEmpty:
      try makeFolder(parent(of: path))
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw FileProblem(path, errno: errno)
      }
      giveAway(folder: path)
      try synchronize(folder: parent(of: path))
    case let code: throw FileProblem(path, errno: code)
    }
  }

  /// Gives what root has made to the owner of the folder in which it is.
  private static func giveAway(_ descriptor: Int32, in folder: String) {
    var status = stat()
    guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return }
    _ = fchown(descriptor, status.st_uid, status.st_gid)
  }

  private static func giveAway(folder path: String) {
    guard geteuid() == 0 else { return }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    giveAway(descriptor, in: parent(of: path))
    close(descriptor)
  }

  private static func parent(of path: String) -> String {
    URL(filePath: path).deletingLastPathComponent().path
  }

  private static func writeTemporary(
    _ bytes: [UInt8], for path: String, needsPermissions: Bool = true
  ) throws -> String {
    var temporary = ""
    var descriptor: Int32 = -1
    repeat {
      let number = nextTemporary.add(1, ordering: .relaxed).newValue
      temporary = "\(path)\(mark)\(getpid())-\(number)"
      descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      // Left by a process that had this one's number before the power went.
    } while descriptor < 0 && errno == EEXIST
    guard descriptor >= 0 else { throw FileProblem(path, errno: errno) }
    giveAway(descriptor, in: parent(of: path))
    // FAT makes of 0600 whatever the card was mounted with.
    var status = stat()
    guard
      !needsPermissions || (fstat(descriptor, &status) == 0 && status.st_mode & 0o077 == 0)
    else {
      close(descriptor)
      unlink(temporary)
      throw FileProblem(
        path, "this file system cannot keep it from other users; mount it with umask=077")
    }
    var failure = fill(descriptor, bytes)
    if failure == 0, fsync(descriptor) != 0 { failure = errno }
    // Some file systems say only here that the disk is full.
    if close(descriptor) != 0, failure == 0, errno != EINTR { failure = errno }
    guard failure == 0 else {
      unlink(temporary)
      throw FileProblem(path, errno: failure)
    }
    return temporary
  }

  /// Writes all of it; 0, or what the system says.
  private static func fill(_ descriptor: Int32, _ bytes: [UInt8]) -> Int32 {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        systemWrite(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? EIO : errno }
      done += count
    }
    return 0
  }

  private static func synchronize(folder: String) throws {
    let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be written but not read takes the file all the same.
    guard descriptor >= 0 || errno == EACCES else { throw FileProblem(folder, errno: errno) }
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // A file system that cannot do it for a folder says EINVAL; there is nothing more to be had from it.
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw FileProblem(folder, errno: errno)
    }
  }

  /// Removes what a process that is no more has left half written.
  private static func removeLeftovers(in folder: String) {
    for name in names(in: folder) {
      guard let range = name.ranges(of: mark).last,
        let owner = name[range.upperBound...].split(separator: "-").first.flatMap({ pid_t($0) }),
        owner > 0, owner != getpid(), kill(owner, 0) != 0, errno == ESRCH
      else { continue }
      unlink("\(folder)/\(name)")
    }
  }

  /// The names in a folder, sorted; none where it cannot be read.
  static func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// What reading one came to.
package enum StateFileContent: Equatable {
  case missing
  case bytes([UInt8])
  /// There is one that cannot be read, and why.
  case unreadable(String)
}

/// Holds a folder against other processes, and other threads, that change what is in it; given back when it
/// goes, or when the process does.
///
/// Nobody changes the folder without it while another one has it: of two who keep a former record at once, one would
/// lose it. Where the file system knows no locks, or the folder may be written but not read, there is none to be had,
/// and whole files are all that is promised.
struct FolderLock: ~Copyable {
  /// How long another one is waited for, seconds. A save writes four files at most and forces each and its folder to the
  /// disk; an SD card that is busy with itself takes a second or two for one of these: a quarter of a minute for the
  /// slowest save, and two of them in turn. Who is not through by then hangs.
  static let patience = 30.0
  /// How long a hub waits, seconds: what stops it waits for it, and it comes again by itself.
  static let hubPatience = 2.0
  private static let step = 0.005

  private let descriptor: Int32

  /// Takes the lock; throws where another one has it for all of `patience`.
  ///
  /// - Parameter pause: Waits for so many seconds.
  init(
    _ folder: URL, patience: Double = Self.patience, pause: (Double) -> Void = { systemPause($0) }
  ) throws {
    descriptor = try Self.take(folder.path, patience: patience, pause)
  }

  /// The folder's descriptor with the lock, or -1 where there can be none.
  private static func take(_ folder: String, patience: Double, _ pause: (Double) -> Void) throws
    -> Int32
  {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // What is not there is changed by nobody.
      guard [ENOENT, ENOTDIR, EACCES].contains(errno) else {
        throw FileProblem(folder, errno: errno)
      }
      return -1
    }
    var left = Int((patience / step).rounded(.up))
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
      guard left > 0 else {
        close(descriptor)
        throw FileProblem(
          folder, "another process has been changing it for \(Int(patience)) s; nothing was written"
        )
      }
      left -= 1
      pause(step)
    }
    return descriptor
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}

// `read`, `write` and `rename` by themselves are the functions of the same names above.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int)
  -> Int
{
  read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, buffer, count)
}

private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }

private func systemPause(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }
