import Foundation
import Glibc
import StateStore
import Testing

struct FileProblemTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "lodestone-test-\(UUID().uuidString)")

  /// What is wrong with an error of Foundation.
  private func problem(_ body: () throws -> Void) -> FileProblem? {
    do {
      try body()
      return nil
    } catch {
      return FileProblem("it", error)
    }
  }

  @Test("an error of Foundation is what the system said")
  func errors() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (none, file) = (folder.appending(path: "none"), folder.appending(path: "file"))
    try Data([0xE9]).write(to: file)
    let cases: [(Int32, () throws -> Void)] = [
      (ENOENT, { _ = try String(contentsOfFile: none.path, encoding: .utf8) }),
      (EISDIR, { _ = try String(contentsOfFile: folder.path, encoding: .utf8) }),
      (ENOTDIR, { _ = try FileManager.default.contentsOfDirectory(atPath: file.path) }),
      (ENOENT, { try Data([1]).write(to: none.appending(path: "x"), options: .atomic) }),
      (ENOENT, { try FileManager.default.removeItem(at: none) }),
      // Of bytes that are no text the system says nothing.
      (EIO, { _ = try String(contentsOfFile: file.path, encoding: .utf8) }),
    ]
    for (code, body) in cases {
      let found = try #require(problem(body))
      #expect(found.code == code && found.words == String(cString: strerror(code)).lowercased())
    }
  }

  @Test("a file is read as text or as bytes, up to a limit")
  func textFile() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "file").path
    try Data([0x61, 0xE9]).write(to: URL(filePath: path))
    #expect(try TextFile.bytes(of: path, limit: 2, isNamed: false) == [0x61, 0xE9])
    #expect(throws: FileProblem(path, "it is not UTF-8 text")) {
      try TextFile.read(path, limit: 2, isNamed: false)
    }
    #expect(throws: FileProblem(path, "it is longer than 1 bytes")) {
      try TextFile.bytes(of: path, limit: 1, isNamed: false)
    }
    #expect(throws: FileProblem(folder.path, "it is not a regular file")) {
      try TextFile.bytes(of: folder.path, limit: 9, isNamed: false)
    }
  }
}
