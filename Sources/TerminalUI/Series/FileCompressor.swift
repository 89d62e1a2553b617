// The compression of finished files.

import Glibc
import StateStore

/// Compresses finished files of a series with the program `gzip`, at the lowest priority.
///
/// The compressed file gets its name only when it is complete and on the disk, and the original is deleted after that. A power
/// loss at any moment leaves one of them whole.
struct FileCompressor {
  /// The time that any file may take, in seconds. Its size adds to it.
  private static let patience = 60.0
  /// The lowest rate of compression that is waited for, in bytes per second.
  private static let leastRate = 100_000.0

  let series: FileSeries

  /// Whether this machine has the program.
  static func isInstalled() -> Bool {
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    guard null >= 0 else { return false }
    defer { close(null) }
    guard let process = try? FilterProcess(["gzip", "--version"], input: null, output: null) else {
      return false
    }
    return process.end(within: 10) == nil
  }

  /// Compresses a file. Returns false where it is not a finished one any more.
  ///
  /// - Parameters:
  ///   - entry: The file.
  ///   - isStopped: Asked meanwhile whether to give up. The original stays then.
  func compress(_ entry: SeriesName.SeriesEntry, unless isStopped: () -> Bool) throws -> Bool {
    guard let input = series.open(finished: entry) else { return false }
    defer { close(input) }
    var status = stat()
    let path = series.place(entry.name)
    guard fstat(input, &status) == 0 else { throw FileProblem(path, errno: errno) }
    let (part, whole) = (path + ".gz.part", path + ".gz")
    let output = open(
      part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, status.st_mode & 0o777)
    guard output >= 0 else { throw FileProblem(part, errno: errno) }
    var isComplete = false
    defer {
      if !isComplete { unlink(part) }
      close(output)
    }
    // Another process must not take it for one that was left behind.
    flock(output, LOCK_EX | LOCK_NB)
    let process = try FilterProcess(["gzip", "-c"], input: input, output: output)
    process.stepBack()
    let seconds = Self.patience + Double(status.st_size) / Self.leastRate
    if let problem = process.end(within: seconds, unless: isStopped) {
      throw FileProblem(path, "not compressed: \(problem)")
    }
    var times = [status.st_atim, status.st_mtim]
    futimens(output, &times)
    guard fsync(output) == 0 else { throw FileProblem(part, errno: errno) }
    guard access(whole, F_OK) != 0 else { throw FileProblem(whole, errno: EEXIST) }
    guard rename(part, whole) == 0 else { throw FileProblem(whole, errno: errno) }
    isComplete = true
    series.syncFolder()
    guard unlink(path) == 0 else { throw FileProblem(path, errno: errno) }
    return true
  }
}
