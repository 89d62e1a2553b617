import CLinuxIO
import Glibc

/// Finds out which process has a device node open or locked, so that an error can name it. All of it comes from the
/// kernel's /proc, nothing from a file that somebody could have written.
package enum PortHolder {
  /// How many lines of /proc/locks are read at most.
  private static let mostLocks = 10_000

  /// The other processes that have `path` open or locked, as `gpsd (process 812)`; empty when none is visible. Who has
  /// it open only root sees of other users' processes, who has locked it everybody.
  package static func find(_ path: String) -> [String] {
    let (open, locked) = holders(of: path)
    return open.union(locked).subtracting([getpid()]).sorted().map(describe)
  }

  /// The processes that have locked `path`, this one among them. Where the one that has taken the lock has ended and left
  /// it to a child: the other processes that have `path` open.
  static func locking(_ path: String) -> [String] {
    let (open, locked) = holders(of: path)
    return (locked.isEmpty ? open.subtracting([getpid()]) : locked).sorted().map(describe)
  }

  private static func holders(of path: String) -> (open: Set<Int32>, locked: Set<Int32>) {
    guard let target = resolved(path) else { return ([], []) }
    var open: Set<Int32> = []
    for process in entries("/proc").compactMap(Int32.init) {
      let folder = "/proc/\(process)/fd"
      if entries(folder).contains(where: { link("\(folder)/\($0)") == target }) {
        open.insert(process)
      }
    }
    // The kernel keeps the number of who took the lock, which may be another process's by now.
    let locked = lockers(path).filter { process in
      access("/proc/\(process)/fd", R_OK) == 0
        ? open.contains(process) : access("/proc/\(process)", F_OK) == 0
    }
    return (open, Set(locked))
  }

  private static func lockers(_ path: String) -> [Int32] {
    var (major, minor, inode): (UInt32, UInt32, UInt64) = (0, 0, 0)
    guard lodestone_inode(path, &major, &minor, &inode) == 0,
      let file = fopen("/proc/locks", "re")
    else { return [] }
    defer { fclose(file) }
    var found: [Int32] = []
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress else { return }
      for _ in 0..<mostLocks {
        guard fgets(base, 256, file) != nil else { return }
        if let process = locker(String(cString: base), major: major, minor: minor, inode: inode) {
          found.append(process)
        }
      }
    }
    return found
  }

  /// The process that holds the lock of a line of /proc/locks
  /// (`1: FLOCK  ADVISORY  WRITE 812 00:06:342 0 EOF`), if that is a lock of a whole file (flock) and the file is this
  /// one. A process that waits for it (`1: -> FLOCK ...`) is not counted, and one in another namespace has no number.
  static func locker(_ line: String, major: UInt32, minor: UInt32, inode: UInt64) -> Int32? {
    let words = line.split { $0 == " " || $0 == "\n" }
    guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]), process > 0 else {
      return nil
    }
    let place = words[5].split(separator: ":")
    guard place.count == 3, UInt32(place[0], radix: 16) == major,
      UInt32(place[1], radix: 16) == minor, UInt64(place[2]) == inode
    else { return nil }
    return process
  }

  /// A process by name and number.
  static func describe(process: Int32) -> String {
    guard let name = firstLine("/proc/\(process)/comm") else { return "process \(process)" }
    return "\(name) (process \(process))"
  }

  private static func resolved(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  private static func link(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_097) { buffer in
      guard let base = buffer.baseAddress else { return nil }
      let count = readlink(path, base, 4_096)
      guard count > 0 else { return nil }
      base[count] = 0
      return String(cString: base)
    }
  }

  private static func firstLine(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress, fgets(base, 256, file) != nil else { return nil }
      return String(String(cString: base).prefix { $0 != "\n" })
    }
  }

  static func entries(_ folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
