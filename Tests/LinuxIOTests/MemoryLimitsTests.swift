import Foundation
import LinuxIO
import Testing

/// What a process gives back of its memory, by the kernel's own count.
struct MemoryLimitsTests {
  /// Resident pages of files in kB, as proc(5) has them.
  private var residentFiles: Int? {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("RssFile:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
  }

  @Test("code that does not run leaves the memory, and runs again when it is called")
  func code() throws {
    let before = try #require(residentFiles)
    MemoryLimits.releaseCode()
    let after = try #require(residentFiles)
    // Other tests run meanwhile, but not all code at once.
    #expect(after < before * 3 / 4, "\(before) kB before, \(after) kB after")
  }
}
