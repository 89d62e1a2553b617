import Foundation
import Glibc
import StateStore
import Testing

struct CredentialFileTests {
  private func result(_ content: String, mode: Int = 0o600) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "lodestone-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "caster").path
    _ = FileManager.default.createFile(
      atPath: path, contents: Data(content.utf8), attributes: [.posixPermissions: mode])
    do {
      return try CredentialFile.read(path)
    } catch {
      #expect(error.description.hasPrefix(path + ": "))
      #expect(!error.description.contains("hush"))
      return error.words
    }
  }

  @Test(
    "a user name and a password are read, with colons in the password, with and without a line end")
  func reads() throws {
    #expect(try result("me:hush\n") == "me:hush")
    #expect(try result("me:hu:sh") == "me:hu:sh")
    #expect(try result("me:hush\r\n", mode: 0o400) == "me:hush")
    #expect(try result("me@example:\n") == "me@example:")
  }

  @Test(
    "a file that others can read, write or run is refused",
    arguments: [0o640, 0o604, 0o660, 0o644, 0o620, 0o601])
  func modes(mode: Int) throws {
    #expect(
      try result("me:hush\n", mode: mode) == "other users can open it: close it with chmod 600")
  }

  @Test(
    "what holds something else is refused without a word of it",
    arguments: [
      "", "\n", "hush\n", ":hush\n", "me:hush\nmore\n", "me:hush\u{0}\n",
      String(repeating: "hush:", count: 200),
    ])
  func contents(content: String) throws {
    #expect(try result(content) == "it must hold USER:PASSWORD on its only line")
  }

  @Test("a token is one word")
  func tokens() throws {
    func token(_ content: String) throws -> String {
      let path = "/tmp/lodestone-token-\(UInt64.random(in: 0 ... .max))"
      try content.write(toFile: path, atomically: false, encoding: .utf8)
      defer { try? FileManager.default.removeItem(atPath: path) }
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      do throws(FileProblem) { return try CredentialFile.token(path) } catch { return error.words }
    }
    #expect(try token("abc-_==\n") == "abc-_==" && token("me:hush") == "me:hush")
    for content in ["", "\n", "two words\n", "a\nb\n", "hüsh", String(repeating: "a", count: 600)] {
      #expect(try token(content) == "it must hold the token on its only line")
    }
  }

  @Test("what is missing or no file is said")
  func others() {
    #expect(throws: FileProblem.self) { try CredentialFile.read("/nonexistent/caster") }
    #expect(throws: FileProblem("/tmp", errno: EISDIR)) {
      try CredentialFile.read("/tmp")
    }
    #expect(throws: FileProblem.self) { try CredentialFile.read("/dev/null") }
  }
}
