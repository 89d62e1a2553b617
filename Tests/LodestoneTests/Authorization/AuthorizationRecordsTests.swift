@testable import Diagnosis
import Foundation
import LocationServices
import SimulatedDevices
import Testing

@testable import Lodestone

struct AuthorizationRecordsTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "lodestone-records-\(UUID().uuidString)")
  private var policy: URL { folder.appending(path: "authorization.yaml") }
  private var records: AuthorizationRecords {
    AuthorizationRecords(policies: [AuthorizationPolicy(policy)], folder: folder)
  }

  private func keep(_ grant: AuthorizationDecision.Grant, _ path: String, user: UInt32) throws {
    let client = AuthorizationClient(executable: path, user: user, unit: nil)
    try AuthorizationStore(of: client, in: folder)
      .keep(AuthorizationDecision(grant), at: 1_795_564_800)
  }

  private var findings: [Doctor.Finding] {
    Doctor(
      provider: SimulatedBusProvider(SimulatedBoard(chips: []), clock: VirtualClock()),
      state: { _ in nil }, modelFolders: [], authorization: records
    ).permissions()
  }

  @Test(
    "M10: what was decided is listed, and forgotten by a program's name or path, for every user")
  func forgetting() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try keep(.denied, "/usr/bin/boat", user: 0)
    try keep(.always, "/usr/bin/boat", user: 4_000_000)
    try keep(.whenInUse, "/home/eve/boat", user: 0)
    try keep(.denied, "/usr/bin/kite", user: 0)
    #expect(records.entries().entries.count == 4 && records.entries().problems.isEmpty)
    let line = try #require(
      records.entries().entries.first { $0.client.user == 4_000_000 }?.description)
    #expect(line == "/usr/bin/boat, as user 4000000: always, full accuracy, on 2026-11-25")
    #expect(try records.forget("/usr/bin/boat").count == 2)
    #expect(try records.forget("/usr/bin/boat").isEmpty)
    #expect(try records.forget("boat").map(\.client.executable) == ["/home/eve/boat"])
    #expect(records.entries().entries.map(\.client.executable) == ["/usr/bin/kite"])
  }

  @Test("M10: a path that leads to a program by a link, or from this folder, means the program")
  func links() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let real = folder.appending(path: "x86_64/boat")
    try FileManager.default.createDirectory(
      at: real.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: real)
    let link = folder.appending(path: "debug")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: real.deletingLastPathComponent())
    let path = real.resolvingSymlinksInPath().path
    try keep(.denied, path, user: 0)
    #expect(try records.forget(link.appending(path: "kite").path).isEmpty)
    #expect(
      try records.forget(link.appending(path: "boat").path).map(\.client.executable) == [path])
    let up = String(repeating: "../", count: 40)
    try keep(.denied, path, user: 0)
    #expect(try records.forget(up + path.dropFirst()).map(\.client.executable) == [path])
  }

  @Test(
    "the doctor says how many rules there are, which mistake keeps all from their place, and which file is damaged"
  )
  func doctor() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(findings.isEmpty)
    try keep(.denied, "/usr/bin/boat", user: 0)
    try Data("schema: 1\nrules:\n  - authorization: ask\n".utf8).write(to: policy)
    #expect(findings.map(\.level) == [.good])
    #expect(findings.first?.text.contains("has 1 rule for who may know") == true)
    try Data("schema: 1\nrules:\n  - authorization: perhaps\n".utf8).write(to: policy)
    #expect(findings.map(\.level) == [.problem])
    #expect(findings.first?.text.contains("authorization.yaml:3") == true)
    try FileManager.default.removeItem(at: policy)
    let file = folder.appending(path: "authorization/boat.json")
    try Data("[]".utf8).write(to: file)
    #expect(findings.map(\.level) == [.problem])
    // Looking changes nothing.
    #expect(FileManager.default.fileExists(atPath: file.path))
    #expect(records.entries().problems.count == 1)
  }
}
