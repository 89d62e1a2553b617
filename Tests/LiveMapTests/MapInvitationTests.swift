import Foundation
import Glibc
import StateStore
import TerminalUI
import Testing

@testable import LiveMap

/// What `lodestone map` says of where it is.
struct MapInvitationTests {
  private static let url = "http://192.0.2.7:8080/?token=0123456789abcdef0123456789abcdef"

  private func invitation(isReachable: Bool = true) -> MapInvitation {
    MapInvitation(
      urls: [Self.url, "http://127.0.0.1:8080/?token=0123456789abcdef0123456789abcdef"],
      plainURLs: ["http://192.0.2.7:8080/", "http://127.0.0.1:8080/"],
      tokenPath: "/var/lib/lodestone/map-token", isReachable: isReachable)
  }

  @Test("a terminal gets the token, and a journal the name of its file")
  func lines() {
    #expect(invitation().lines(isInteractive: true).first == Self.url)
    let journal = invitation().lines(isInteractive: false)
    #expect(
      journal == [
        "http://192.0.2.7:8080/", "http://127.0.0.1:8080/",
        "Append ?token= and the text in /var/lib/lodestone/map-token.",
      ])
    #expect(journal.allSatisfy { !$0.contains("0123456789abcdef") })
  }

  @Test("a QR code is shown on a terminal where others reach the map, or where it was asked for")
  func code() {
    #expect(invitation(isReachable: false).code(isWanted: false, columns: 80) == nil)
    #expect(invitation().code(isWanted: false, columns: nil) == nil)
    for (wanted, reachable, columns) in [
      (false, true, 80), (true, false, 80), (true, true, nil),
    ] {
      let code = invitation(isReachable: reachable).code(isWanted: wanted, columns: columns)
      guard case .lines(let lines) = code else {
        Issue.record("wanted \(wanted), reachable \(reachable), columns \(columns ?? 0)")
        continue
      }
      // Colours are for terminals alone.
      #expect(lines.allSatisfy { $0.contains("\u{1B}[") == (columns != nil) })
    }
  }

  @Test("a QR code that is wider than the terminal is not shown, and its width is said")
  func narrow() {
    // ISO/IEC 18004: version 4 holds 78 bytes at level L, version 3 only 53. It has 33 modules, and 4 light ones on
    // either side.
    #expect((54...78).contains(Self.url.utf8.count))
    #expect(invitation().code(isWanted: true, columns: 40) == .tooWide(columns: 41))
    guard case .lines(let lines) = invitation().code(isWanted: true, columns: 41) else {
      Issue.record("it fits")
      return
    }
    #expect(lines.count == 21)
  }

  @Test("the invitation to this machine alone is an URL with the token and none for a phone")
  func loopback() throws {
    let address = try #require(ListenAddress("127.0.0.1"))
    let invitation = MapInvitation(at: address, port: 9000, token: "abc", tokenPath: "/t")
    #expect(invitation.lines(isInteractive: true) == ["http://127.0.0.1:9000/?token=abc"])
    #expect(invitation.code(isWanted: false, columns: 80) == nil)
  }

  @Test(
    "why the server cannot listen decides the exit code",
    arguments: [
      (EADDRINUSE, 74, "port 80 is in use"), (EADDRNOTAVAIL, 64, "not an address"),
      (EACCES, 77, "from 1024 on"), (EMFILE, 74, "cannot listen at [::1]:80: "),
    ] as [(Int32, Int32, String)])
  func problems(number: Int32, code: Int32, words: String) throws {
    let address = try #require(ListenAddress("::1"))
    let error = CommandError(SystemProblem(number), listeningAt: address, port: 80)
    #expect(error.kind.rawValue == code && error.description.contains(words))
  }

  @Test("a token that cannot be used is an error with the option that helps")
  func token() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = TokenFile(path: folder.appending(path: "token").path)
    let first = try file.mapToken(isNew: false)
    #expect(try file.mapToken(isNew: false) == first)
    let second = try file.mapToken(isNew: true)
    #expect(second != first && second.utf8.count >= 16)
    try Data("no token".utf8).write(to: URL(filePath: file.path))
    #expect {
      try file.mapToken(isNew: false)
    } throws: { error in
      let error = error as? CommandError
      return error?.kind == .data && error?.description.contains("--new-token") == true
    }
  }
}
