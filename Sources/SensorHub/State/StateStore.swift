public import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// What outlives a run: the calibrations of this machine, and where it was last.
public struct StateStore: Sendable {
  /// The folder.
  public let folder: URL
  /// The records of its magnetometers.
  public let calibrations: CalibrationStore
  let positionFile: URL

  /// Makes a store.
  ///
  /// - Parameter folder: `StateDirectory.current()` on a board; a folder of its own in a test.
  public init(folder: URL) {
    self.folder = folder
    calibrations = CalibrationStore(stateDirectory: folder)
    positionFile = folder.appending(path: "position.json")
  }

  /// Where the board was last; `nil` if that was never known.
  public var lastPosition: LastPosition? {
    LastPosition(StateFile.read(positionFile.path))
  }

  /// Keeps a position.
  public func save(_ position: LastPosition) throws {
    try StateFile.write(try position.encoded(), to: positionFile)
  }
}

/// Where this machine keeps what outlives a run.
public enum StateDirectory {
  /// `$STATE_DIRECTORY` (systemd), else `$XDG_STATE_HOME/lodestone`, else `~/.local/state/lodestone`.
  public static func current(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> URL {
    // systemd separates several by colons; ours is the first.
    if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
      return URL(filePath: String(given))
    }
    if let home = environment["XDG_STATE_HOME"], !home.isEmpty {
      return URL(filePath: home).appending(path: "lodestone")
    }
    return home(environment).appending(path: ".local/state/lodestone")
  }

  /// `$HOME`, else what the system's list of users says.
  public static func home(_ environment: [String: String]) -> URL {
    environment["HOME"].flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
      ?? FileManager.default.homeDirectoryForCurrentUser
  }
}

/// Small files that must be whole or not there.
enum StateFile {
  /// What reading one came to.
  enum Content: Equatable {
    /// There is none.
    case missing
    /// All of it.
    case bytes([UInt8])
    /// There is one that cannot be read, and why.
    case unreadable(String)
  }

  /// More than any of them can need.
  static let limit = 65_536

  static func read(_ path: String) -> Content {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
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

  /// Writes beside, forces to the disk, then renames, so that a power cut leaves the old file or the
  /// new one.
  static func write(_ bytes: [UInt8], to file: URL) throws {
    let folder = file.deletingLastPathComponent()
    // Of this process alone: another one may be writing too.
    let temporary = file.appendingPathExtension("new-\(getpid())")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(bytes).write(to: temporary)
      let handle = try FileHandle(forWritingTo: temporary)
      try handle.synchronize()
      try handle.close()
    } catch {
      throw FileProblem(file.path, error)
    }
    guard rename(temporary.path, file.path) == 0 else {
      throw FileProblem(file.path, errno: errno)
    }
    // The new name itself is on the disk only when the folder is.
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

// `read` by itself is the function of the same name above.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int)
  -> Int
{
  read(descriptor, buffer, count)
}
