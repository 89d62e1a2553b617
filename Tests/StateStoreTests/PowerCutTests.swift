import Foundation
import Testing

/// What a power cut leaves of the stored records: `save-cut` (Tests/Rig/SaveCut) is cut at every system call that
/// changes a file, in each of its scenarios, with three kinds of loss each.
struct PowerCutTests {
  private static func run(_ arguments: [String]) async throws -> (status: Int32, lines: [String]) {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let process = Process()
    process.executableURL = URL(filePath: tests).deletingLastPathComponent()
      .appending(path: "save-cut")
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    return await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        continuation.resume(returning: (process.terminationStatus, lines))
      }
    }
  }

  @Test("a power cut at any system call leaves the old record or the new one, and the history")
  func everywhere() async throws {
    let (status, lines) = try await Self.run([])
    print("power cuts:", lines.first ?? "nothing")
    #expect(status == 0, "\(lines.joined(separator: "\n"))")
    let cuts = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    #expect((cuts ?? 0) >= 200)
  }

  @Test("the cuts would show a record whose data never reached the disk")
  func control() async throws {
    let (status, lines) = try await Self.run(["--lie"])
    #expect(status == 1)
    #expect(lines.contains { $0.contains("not a calibration record") })
  }

  @Test("two processes that save at once leave whole records, and a reader never meets half of one")
  func race() async throws {
    let (status, lines) = try await Self.run(["--race"])
    #expect(status == 0, "\(lines.joined(separator: "\n"))")
  }
}
