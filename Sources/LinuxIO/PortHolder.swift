import CLinuxIO
import Glibc

/// Who uses a device node.
package struct PortUsage: Sendable, Hashable {
  /// The other processes that have it open or locked, as `gpsd (process 812)`.
  package var holders: [String]
  /// If none is visible: processes of other users that were started with it, or have it as their terminal.
  package var suspects: [String]
  /// Whether this user sees what all processes have open. Only root does, where other users have any.
  package var isComplete: Bool

  package init(holders: [String] = [], suspects: [String] = [], isComplete: Bool = true) {
    (self.holders, self.suspects, self.isComplete) = (holders, suspects, isComplete)
  }
}

/// Finds out which process has a device node open or locked, so that an error can name it. All of it comes from the
/// kernel's /proc, nothing from a file that somebody could have written.
package enum PortHolder {
  /// How many lines of a list of the kernel's are read at most.
  private static let mostLines = 10_000
  /// How many processes a message names.
  private static let mostNamed = 5

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

  /// Processes in one line: the first of them, and how many more there are.
  package static func list(_ processes: [String]) -> String {
    let rest = processes.count - mostNamed
    return processes.prefix(mostNamed).joined(separator: ", ")
      + (rest > 0 ? " and \(rest) more" : "")
  }

  /// Who has a device node, as far as this user can see, and who probably has it.
  package static func usage(of path: String) -> PortUsage {
    let (open, locked) = holders(of: path)
    let others = open.union(locked).subtracting([getpid()])
    let hidden = hiddenProcesses()
    let suspects = others.isEmpty ? hidden.filter { isMeant(path, by: $0) } : []
    return PortUsage(
      holders: others.sorted().map(describe), suspects: suspects.sorted().map(describe),
      isComplete: hidden.isEmpty && (geteuid() == 0 || access("/proc/1", F_OK) == 0))
  }

  /// Whether a process keeps a port for itself (TIOCEXCL), so that this user cannot open it. Nothing of the line is set: somebody
  /// else may be reading it.
  package static func isRefused(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard file < 0 else {
      close(file)
      return false
    }
    return errno == EBUSY
  }

  /// The program that has a UDP port open, or its user; `nil` where neither is to be seen.
  static func find(udpPort port: UInt16) -> String? {
    for file in ["/proc/net/udp", "/proc/net/udp6"] {
      var found: (user: UInt32, inode: UInt64)?
      forEachLine(of: file) { line in
        if let entry = socket(line), entry.port == port { found = (entry.user, entry.inode) }
      }
      guard let found else { continue }
      let open = processes(with: "socket:[\(found.inode)]")
      return open.isEmpty
        ? "a process of the user with the number \(found.user)"
        : list(open.sorted().map(describe))
    }
    return nil
  }

  /// Port, owner and inode of a line of /proc/net/udp
  /// (`  812: 00000000:277E 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 31337 2 ...`).
  static func socket(_ line: String) -> (port: UInt16, user: UInt32, inode: UInt64)? {
    let words = line.split { $0 == " " || $0 == "\n" }
    guard words.count >= 10, let last = words[1].split(separator: ":").last,
      let port = UInt16(last, radix: 16), let user = UInt32(words[7]), let inode = UInt64(words[9])
    else { return nil }
    return (port, user, inode)
  }

  /// The processes whose descriptors this user may not read, without the kernel's threads.
  private static func hiddenProcesses() -> [Int32] {
    entries("/proc").compactMap(Int32.init).filter { process in
      access("/proc/\(process)/fd", R_OK) != 0 && errno == EACCES
        && !arguments(of: process).isEmpty
    }
  }

  /// Whether a process was started with this port, or has it as its terminal (getty): both are for everybody to see.
  private static func isMeant(_ path: String, by process: Int32) -> Bool {
    guard let target = resolved(path) else { return false }
    if arguments(of: process).contains(where: { isName($0, of: target) }) { return true }
    var (device, line): (UInt64, String?) = (0, nil)
    guard lodestone_device_number(path, &device) == 0 else { return false }
    forEachLine(of: "/proc/\(process)/stat") { line = $0 }
    return line.flatMap(terminal).map { $0 == device } ?? false
  }

  /// Whether an argument names a device: its path, another path of it, or the name below /dev as getty has it.
  private static func isName(_ argument: String, of target: String) -> Bool {
    guard (4...4_096).contains(argument.utf8.count) else { return false }
    if argument.hasPrefix("/dev/") { return resolved(argument) == target }
    return argument.hasPrefix("tty") && target == "/dev/" + argument
  }

  /// The controlling terminal of a line of /proc/PID/stat, as the kernel numbers devices (proc(5), tty_nr); `nil` for none.
  static func terminal(_ line: String) -> UInt64? {
    // The name in brackets may hold anything.
    guard let end = line.lastIndex(of: ")") else { return nil }
    let words = line[line.index(after: end)...].split(separator: " ")
    guard words.count > 4, let number = Int32(words[4]), number != 0 else { return nil }
    return UInt64(UInt32(bitPattern: number))
  }

  private static func arguments(of process: Int32) -> [String] {
    guard let file = fopen("/proc/\(process)/cmdline", "re") else { return [] }
    defer { fclose(file) }
    return withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { buffer in
      let count = fread(buffer.baseAddress, 1, buffer.count, file)
      return buffer[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  private static func holders(of path: String) -> (open: Set<Int32>, locked: Set<Int32>) {
    guard let target = resolved(path) else { return ([], []) }
    let open = processes(with: target)
    // The kernel keeps the number of who took the lock, which may be another process's by now.
    let locked = lockers(path).filter { process in
      access("/proc/\(process)/fd", R_OK) == 0
        ? open.contains(process) : access("/proc/\(process)", F_OK) == 0
    }
    return (open, Set(locked))
  }

  /// The processes that have this open, of those whose descriptors this user may read.
  private static func processes(with target: String) -> Set<Int32> {
    var open: Set<Int32> = []
    for process in entries("/proc").compactMap(Int32.init) {
      let folder = "/proc/\(process)/fd"
      if entries(folder).contains(where: { link("\(folder)/\($0)") == target }) {
        open.insert(process)
      }
    }
    return open
  }

  private static func lockers(_ path: String) -> [Int32] {
    var (major, minor, inode): (UInt32, UInt32, UInt64) = (0, 0, 0)
    guard lodestone_inode(path, &major, &minor, &inode) == 0 else { return [] }
    var found: [Int32] = []
    forEachLine(of: "/proc/locks") { line in
      if let process = locker(line, major: major, minor: minor, inode: inode) {
        found.append(process)
      }
    }
    return found
  }

  /// Reads the lines of a file of the kernel's, not more than `mostLines`. A longer line comes in parts.
  private static func forEachLine(of path: String, _ body: (String) -> Void) {
    guard let file = fopen(path, "re") else { return }
    defer { fclose(file) }
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1_024) { buffer in
      guard let base = buffer.baseAddress else { return }
      for _ in 0..<mostLines {
        guard fgets(base, 1_024, file) != nil else { return }
        body(String(cString: base))
      }
    }
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
