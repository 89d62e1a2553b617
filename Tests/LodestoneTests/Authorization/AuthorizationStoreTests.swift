import Foundation
import LocationServices
import Testing

@testable import Lodestone

struct AuthorizationStoreTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "lodestone-decisions-\(UUID().uuidString)")

  private func client(_ path: String, user: UInt32 = 1, unit: String? = nil) -> AuthorizationClient
  {
    AuthorizationClient(executable: path, user: user, unit: unit)
  }

  @Test(
    "M10: a decision is there for the next run of the same program, user and unit, and for no other"
  )
  func clients() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let decision = AuthorizationDecision(.provisional, accuracy: .reduced, hasAskedForAlways: true)
    try AuthorizationStore(of: client("/usr/bin/boat"), in: folder).keep(decision, at: 1)
    try AuthorizationStore(of: client("/usr/bin/boat", unit: "boat.service"), in: folder)
      .keep(AuthorizationDecision(.denied), at: 2)
    func load(_ client: AuthorizationClient) throws -> AuthorizationDecision? {
      try AuthorizationStore(of: client, in: folder).load()
    }
    #expect(try load(client("/usr/bin/boat")) == decision)
    #expect(try load(client("/usr/bin/boat", unit: "boat.service"))?.grant == .denied)
    // The same name, and so the same file.
    #expect(try load(client("/home/eve/boat")) == nil)
    #expect(try load(client("/usr/bin/boat", user: 2)) == nil)
    #expect(try load(client("/usr/bin/kite")) == nil)
  }

  @Test("M10: what is as at the beginning is not kept, and what replaces it is")
  func replacement() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = AuthorizationStore(of: client("/usr/bin/boat"), in: folder)
    try store.keep(AuthorizationDecision(.whenInUse), at: 1)
    try store.keep(AuthorizationDecision(.always), at: 2)
    #expect(try store.load()?.grant == .always)
    try store.keep(AuthorizationDecision(.notDetermined), at: 3)
    #expect(try store.load() == nil)
  }

  @Test("M10: what the first release has written is read, and a newer form is put aside")
  func forms() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = AuthorizationStore(of: client("/usr/bin/boat"), in: folder)
    try store.keep(AuthorizationDecision(.denied), at: 1)
    let file = folder.appending(path: "authorization/boat.json")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.contains("\"schema\" : 1"))
    let newer = text.replacingOccurrences(of: "\"schema\" : 1", with: "\"schema\" : 2")
    try Data(newer.utf8).write(to: file)
    #expect(throws: StoreProblem.self) { _ = try store.load() }
    #expect(try Data(contentsOf: URL(filePath: file.path + ".damaged")) == Data(newer.utf8))
  }

  @Test("M10: a file that is none is put aside, said, and nothing is decided")
  func damaged() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = AuthorizationStore(of: client("/usr/bin/boat"), in: folder)
    try store.keep(AuthorizationDecision(.denied), at: 1)
    let file = folder.appending(path: "authorization/boat.json")
    try Data("{}".utf8).write(to: file)
    #expect(throws: StoreProblem.self) { _ = try store.load() }
    #expect(try store.load() == nil)
    #expect(FileManager.default.fileExists(atPath: file.path + ".damaged"))
    try store.keep(AuthorizationDecision(.whenInUse), at: 2)
    #expect(try store.load()?.grant == .whenInUse)
  }
}
