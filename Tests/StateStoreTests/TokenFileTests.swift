import Foundation
import Glibc
@testable import StateStore
import Testing

@Suite struct TokenFileTests {
  /// A folder that goes with the test.
  final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)")
    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ text: String, mode: Int) throws -> TokenFile {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      let file = url.appending(path: "given")
      try Data(text.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      return TokenFile(path: file.path)
    }
  }

  static func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test("a token is made once, and only its owner can read it")
  func made() throws {
    let folder = Folder()
    let file = TokenFile(in: folder.url)
    #expect(file.path == folder.url.path + "/map-token")
    let token = try file.open()
    #expect(token.count == 32 && token.allSatisfy { "0123456789abcdef".contains($0) })
    #expect(try file.open() == token)
    #expect(try Self.mode(file.path) == 0o600)
    #expect(try Self.mode(folder.url.path) == 0o700)
    let new = try file.renew()
    #expect(new != token)
    #expect(try file.open() == new && Self.mode(file.path) == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["map-token"])
  }

  @Test func tokensHave128Bits() {
    let tokens = (0..<100).map { _ in TokenFile.random() }
    #expect(tokens.allSatisfy { $0.count == 32 })
    #expect(Set(tokens).count == 100)
    // No place of it is the same in all.
    for place in 0..<32 { #expect(Set(tokens.map { Array($0)[place] }).count > 4) }
  }

  @Test func aTokenThatWasGiven() throws {
    let folder = Folder()
    #expect(
      try folder.write(" correct-Horse_battery9 \n", mode: 0o600).open() == "correct-Horse_battery9"
    )
    // As a service gets a credential.
    #expect(
      try folder.write("correct-Horse_battery9", mode: 0o440).open() == "correct-Horse_battery9")
  }

  @Test(arguments: [
    "", "\n", "short", "sixteen letters?", "0123456789abcde\u{E9}", "a&b=0123456789ab",
  ])
  func whatIsNoToken(text: String) throws {
    let folder = Folder()
    let file = try folder.write(text, mode: 0o600)
    #expect {
      try file.open()
    } throws: { error in
      (error as? TokenFile.Malformed)?.description
        .hasSuffix("it holds no token: 16 to 128 letters, digits, - and _") == true
    }
    // It is replaced only when that is asked for.
    #expect(try Data(contentsOf: URL(filePath: file.path)) == Data(text.utf8))
    #expect(try file.renew().count == 32)
  }

  @Test(arguments: [0o644, 0o604, 0o660, 0o602])
  func aTokenThatOthersCanOpen(mode: Int) throws {
    let folder = Folder()
    let file = try folder.write("correct-Horse_battery9", mode: mode)
    #expect {
      try file.open()
    } throws: { error in
      (error as? FileProblem)?.description.contains("chmod 600") == true
    }
  }

  @Test func aPipeOrALinkIsNotReplaced() throws {
    let folder = Folder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    let pipe = folder.url.appending(path: "pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    let link = folder.url.appending(path: "link").path
    #expect(symlink("elsewhere", link) == 0)
    for path in [pipe, link] {
      #expect(throws: FileProblem.self) { try TokenFile(path: path).renew() }
      var status = stat()
      #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG, "\(path)")
    }
  }

  @Test func aFolderThatCannotBe() throws {
    #expect(throws: FileProblem.self) { try TokenFile(path: "/proc/nope/token").open() }
    #expect(throws: FileProblem.self) { try TokenFile(path: "/dev/null/token").open() }
    // A folder is made for a state directory, not for a file that somebody has named.
    let folder = Folder()
    let missing = folder.url.appending(path: "missing")
    #expect(throws: FileProblem.self) {
      try TokenFile(path: missing.appending(path: "token").path).open()
    }
    #expect(throws: FileProblem.self) {
      try TokenFile(path: missing.appending(path: "token").path).renew()
    }
    #expect(!FileManager.default.fileExists(atPath: missing.path))
  }
}
