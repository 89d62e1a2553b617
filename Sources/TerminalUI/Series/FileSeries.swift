// The folder of a series: a new file, the deletion of the oldest ones, and what is to be compressed.

import FoundationEssentials
import Glibc
import StateStore

/// The files of a series in their folder.
///
/// Only regular files whose names the series itself gives are touched, and none that a process is writing: a file that is
/// written is locked (`flock`). Links are left alone.
struct FileSeries: Sendable {
  /// The names that a new file tries if another process takes them at the same moment.
  private static let attempts = 100

  /// The path that a person gave, for messages.
  let path: String
  /// The path of the folder up to the last slash, as the person named it; empty for the working directory.
  private let prefix: String
  private let name: SeriesName

  private var folder: String { prefix.isEmpty ? "." : prefix }

  /// - Parameter path: The path of the series; its folder exists.
  init(path: String) throws {
    self.path = path
    let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    prefix = String(path[..<start])
    name = SeriesName(String(path[start...]))
    guard name.isUsable else {
      throw CommandError("\(path): a series needs a name that does not end in .gz", kind: .usage)
    }
  }

  /// Creates the next file. It never opens one that exists. Returns the file, and the seconds by which its name is ahead of
  /// the clock.
  ///
  /// - Parameter wall: The system's clock, in seconds since the beginning of 1970.
  func create(at wall: Double) throws -> (file: OutputFile, lead: Double) {
    var newest = try entries().last?.second
    for _ in 0..<Self.attempts {
      guard let second = SeriesName.next(at: wall, after: newest) else { break }
      do {
        let file = try OutputFile(creating: place(name.name(second)))
        return (file, Double(second) - wall)
      } catch let problem as FileProblem where problem.code == EEXIST {
        // A folder or a link has this name, or another process was faster.
        newest = second
      }
    }
    throw FileProblem(path, "no name is left for another file of this series")
  }

  /// Returns the files of the series, the oldest first. Unfinished compressed files are left out.
  func entries() throws -> [SeriesName.SeriesEntry] {
    try allEntries().filter { $0.form != .partial }
  }

  private func allEntries() throws -> [SeriesName.SeriesEntry] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw FileProblem(folder, error)
    }
    return names.compactMap(name.entry).sorted { ($0.second, $0.name) < ($1.second, $1.name) }
  }

  /// Deletes the oldest finished files beyond a number, and compressed files that a power loss has left incomplete. A
  /// finished file and its compressed form count as one. Returns what could not be deleted.
  ///
  /// - Parameter number: The finished files that are kept; `nil` keeps all.
  func prune(keeping number: Int?) throws -> [FileProblem] {
    let all = try allEntries()
    var problems = all.filter { $0.form == .partial }.compactMap(delete)
    guard let number else { return problems }
    let files = all.filter { $0.form != .partial }
    let seconds = Set(files.map(\.second)).sorted()
    // The newest one may be the one that is written. It is locked then, and counts for nothing.
    let finished = seconds.filter { second in
      files.contains { $0.second == second && isFinished($0) }
    }
    for second in finished.dropLast(number) {
      problems += files.filter { $0.second == second }.compactMap(delete)
    }
    return problems
  }

  /// Returns the finished files without a compressed form, the oldest first. The newest file is none of them, whatever its lock says.
  func uncompressed() throws -> [SeriesName.SeriesEntry] {
    let files = try entries()
    let done = Set(files.filter { $0.form == .compressed }.map(\.second))
    let newest = files.map(\.second).max()
    return files.filter {
      $0.form == .plain && $0.second != newest && !done.contains($0.second) && isFinished($0)
    }
  }

  /// Opens a finished file and locks it; `nil` if it is no regular file or a process writes it.
  ///
  /// - Returns: A descriptor, which the caller closes.
  func open(finished entry: SeriesName.SeriesEntry) -> Int32? {
    // Opening a pipe must not wait for a writer. On NFS only what is open for writing can be locked.
    let descriptor = Glibc.open(
      place(entry.name), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      flock(descriptor, LOCK_EX | LOCK_NB) == 0
    else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Has the names of this folder written to the disk.
  func syncFolder() {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Returns the path of a file of this folder.
  func place(_ name: String) -> String { prefix + name }

  private func isFinished(_ entry: SeriesName.SeriesEntry) -> Bool {
    guard let descriptor = open(finished: entry) else { return false }
    close(descriptor)
    return true
  }

  /// Deletes a file, unless a process writes it. Returns why it could not be deleted.
  private func delete(_ entry: SeriesName.SeriesEntry) -> FileProblem? {
    guard let descriptor = open(finished: entry) else { return nil }
    defer { close(descriptor) }
    let path = place(entry.name)
    // What has the name by now, be it a link, is removed and not followed.
    guard unlink(path) == 0 || errno == ENOENT else { return FileProblem(path, errno: errno) }
    return nil
  }
}
