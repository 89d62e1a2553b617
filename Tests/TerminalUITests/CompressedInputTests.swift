// Compressed files that are read.

import Foundation
import Glibc
import Testing

@testable import TerminalUI

@Suite(.enabled(if: FileCompressor.isInstalled(), "gzip is not installed"))
final class CompressedInputTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-input-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A file with bytes as gzip compresses them.
  private func compressed(_ bytes: [UInt8], by words: [String] = ["gzip", "-c"]) throws -> String {
    let plain = folder.appending(path: UUID().uuidString).path
    try Data(bytes).write(to: URL(filePath: plain))
    let input = open(plain, O_RDONLY | O_CLOEXEC)
    let output = open(plain + ".out", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer {
      close(input)
      close(output)
    }
    let process = try FilterProcess(words, input: input, output: output)
    let problem = process.end(within: 60)
    try #require(problem == nil)
    return plain + ".out"
  }

  private func content(_ path: String, limit: Int = InputFile.wholeLimit) throws -> [UInt8] {
    var input = try InputFile(path)
    return try input.readAll(limit: limit)
  }

  /// What a body fails with.
  private func commandError(_ body: () throws -> Void) -> CommandError? {
    do {
      try body()
      return nil
    } catch {
      return error as? CommandError
    }
  }

  private static let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 * $0 / 777) }

  @Test("the content is what it was, whatever the file's name")
  func content() throws {
    #expect(try content(compressed(Self.bytes)) == Self.bytes)
    var input = try InputFile(compressed(Self.bytes))
    #expect(try input.isCompressed && input.beginning() == Array(Self.bytes[..<4_096]))
    #expect(try input.readAll() == Self.bytes)
    let plain = folder.appending(path: "plain.gz")
    try Data([1, 2, 3]).write(to: plain)
    #expect(try content(plain.path) == [1, 2, 3])
    #expect(try content(compressed([])) == [])
  }

  @Test("two compressed files behind each other are one")
  func concatenated() throws {
    var both = try Data(contentsOf: URL(filePath: compressed([1, 2, 3])))
    both += try Data(contentsOf: URL(filePath: compressed([4, 5])))
    let path = folder.appending(path: "both").path
    try both.write(to: URL(filePath: path))
    #expect(try content(path) == [1, 2, 3, 4, 5])
  }

  @Test("a file that was cut off is good up to there; piece by piece its end is an error")
  func cutOff() throws {
    let whole = try Data(contentsOf: URL(filePath: compressed(Self.bytes)))
    let path = folder.appending(path: "cut").path
    try whole.prefix(whole.count * 2 / 3).write(to: URL(filePath: path))
    let bytes = try content(path)
    #expect(bytes.count > 10_000 && Self.bytes.starts(with: bytes))
    var input = try InputFile(path)
    let error = commandError {
      while try input.read(1 << 16) != nil {}
    }
    #expect(error?.kind == .data && error?.description.contains("damaged or cut off") == true)
  }

  @Test("a file that grows beyond all measure is refused, by size and as a whole")
  func bomb() throws {
    // 80 MB of zeros in 80 kB.
    let path = try compressed([UInt8](repeating: 0, count: Decompression.alwaysTaken + (16 << 20)))
    var input = try InputFile(path)
    var count = 0
    let error = commandError {
      while let data = try input.read(1 << 16) { count += data.count }
    }
    #expect(error?.kind == .data && count <= Decompression.alwaysTaken)
    #expect(throws: CommandError.self) { try self.content(path, limit: 1 << 20) }
    #expect(Decompression.limit(ofFile: 1 << 20) == 200 << 20)
    #expect(Decompression.limit(ofFile: 0) == 64 << 20)
    #expect(Decompression.limit(ofFile: .max) == .max)
  }

  @Test("zstd is read where it is installed", .enabled(if: access("/usr/bin/zstd", X_OK) == 0))
  func zstd() throws {
    #expect(try content(compressed(Self.bytes, by: ["zstd", "-cq"])) == Self.bytes)
  }

  @Test("a file whose reader gives up leaves no process behind")
  func givenUp() throws {
    let path = try compressed([UInt8](repeating: 7, count: 32 << 20))
    for _ in 0..<20 {
      var input = try InputFile(path)
      #expect(try input.read(16)?.count == 16)
    }
  }

  @Test("a program that is not there is an error; one that takes too long is stopped")
  func programs() throws {
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    #expect(throws: (any Error).self) {
      try FilterProcess(["no-such-program-of-lodestone"], input: null, output: null)
    }
    let sleeper = try FilterProcess(["sleep", "600"], input: null, output: null)
    #expect(sleeper.end(within: 0.05)?.contains("stopped") == true)
    let failure = try FilterProcess(
      ["sh", "-c", "echo words >&2; exit 3"], input: null, output: null)
    #expect(failure.end(within: 30) == "words")
    let silent = try FilterProcess(["sh", "-c", "exit 3"], input: null, output: null)
    #expect(silent.end(within: 30) == "exit code 3")
  }
}
