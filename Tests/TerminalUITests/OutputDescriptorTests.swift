// A command's output where it cannot be written.

import Foundation
import Glibc
import Synchronization
@testable import TerminalUI
import Testing

@Suite struct OutputDescriptorTests {
  /// Messages about an output.
  private final class Said: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private func write(_ text: String, to output: OutputDescriptor) -> Bool {
    Array(text.utf8).withUnsafeBytes { output.write($0) }
  }

  @Test("a full disk is reported once, and nothing is written after it")
  func fullDisk() throws {
    let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    let said = Said()
    let output = OutputDescriptor(descriptor, name: "standard output") { said.add($0) }
    #expect(output.failure == nil)
    #expect(!write("a line\n", to: output))
    #expect(
      said.all
        == ["lodestone: cannot write to standard output: No space left on device (28)"])
    #expect(output.failure == ENOSPC)
    // There is room again, but the output would have a gap.
    let folder = FileManager.default.temporaryDirectory
    let file = folder.appending(path: "lodestone-output-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let other = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(other >= 0 && dup2(other, descriptor) == descriptor)
    #expect(!write("another\n", to: output))
    #expect(try Data(contentsOf: file).isEmpty && said.all.count == 1)
    output.close()
    Glibc.close(descriptor)
    Glibc.close(other)
  }

  @Test("a broken pipe ends the output without a message")
  func brokenPipe() throws {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let said = Said()
    let output = OutputDescriptor(ends[1], name: "standard output") { said.add($0) }
    #expect(write("heard\n", to: output))
    close(ends[0])
    #expect(!write("unheard\n", to: output) && !write("unheard\n", to: output))
    #expect(output.failure == nil && said.all.isEmpty)
    close(ends[1])
  }

  @Test("a closed output is reported like any other error")
  func closed() {
    let said = Said()
    let output = OutputDescriptor(-1, name: "standard output") { said.add($0) }
    #expect(!write("a line\n", to: output) && output.failure == EBADF)
    #expect(said.all == ["lodestone: cannot write to standard output: Bad file descriptor (9)"])
  }
}
