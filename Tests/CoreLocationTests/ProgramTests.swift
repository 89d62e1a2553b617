import Foundation
import Testing

/// The facade as a program of its own sees it, on the simulated board.
struct ProgramTests {
  @Test(
    "D17: a program of the main thread hears its delegate, with a run loop, with an async main, and with both",
    arguments: ["run-loop", "async", "both"])
  func program(mode: String) async throws {
    let folder = try #require(
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    let process = Process()
    process.executableURL = URL(filePath: folder).deletingLastPathComponent()
      .appending(path: "facade-program")
    process.arguments = [mode, "2"]
    let board = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-program-\(UUID().uuidString).yaml")
    defer { try? FileManager.default.removeItem(at: board) }
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(
      contentsOf: root.appending(path: "Boards/simulated.yaml"), encoding: .utf8)
    // The sky is open from the start: the receiver's first fix is not what is waited for here.
    try Data(text.replacingOccurrences(of: "fix: false", with: "fix: true").utf8).write(to: board)
    var environment = ProcessInfo.processInfo.environment
    environment["LODESTONE_BOARD"] = board.path
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let lines = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        continuation.resume(
          returning: String(decoding: bytes, as: UTF8.self).split(separator: "\n"))
      }
    }
    #expect(process.terminationStatus == 0)
    #expect(lines.first == "authorization 3")
    #expect(lines.count { $0.hasPrefix("heading ") } >= 2)
    #expect(lines.count { $0.hasPrefix("location ") } >= 2)
  }
}
