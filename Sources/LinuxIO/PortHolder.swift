#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Finds out which process has a device node open, so that an error can name it.
public enum PortHolder {
  /// The processes that have `path` open, as `gpsd (process 812)`; empty when none is visible. Only root
  /// sees other users' processes.
  public static func find(_ path: String) -> [String] {
    guard let target = resolved(path) else { return [] }
    var holders: [String] = []
    for process in entries("/proc").compactMap(Int32.init) where process != getpid() {
      let folder = "/proc/\(process)/fd"
      if entries(folder).contains(where: { link("\(folder)/\($0)") == target }) {
        holders.append(describe(process: process))
      }
    }
    return holders
  }

  /// A process by name and number.
  static func describe(process: Int32) -> String {
    guard process > 0 else { return "another process" }
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
