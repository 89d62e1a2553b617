// Who gets the page.

import Testing

@testable import LodestoneCommand

@Suite struct MapAccessTests {
  let open = MapAccess(token: nil)
  let token = "0123456789abcdef0123456789abcdef"

  @Test(arguments: [
    "localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:8080", "127.1.2.3:1", "[::1]",
    "[::1]:8080",
  ])
  func namesOfThisMachine(host: String) {
    #expect(MapAccess.isLoopback(host: host))
    #expect(open.refusal(host: host, origin: nil, token: nil, opensWebSocket: false) == nil)
  }

  @Test(arguments: [
    "", "board.example", "localhost.board.example", "127.0.0.1.board.example", "192.0.2.1:8080",
    "0.0.0.0:8080", "[::]", "[::1", "[::1]x", "localhost:", "localhost:x", "localhost:8080:1",
    "localhost@board.example",
  ])
  func otherNames(host: String) {
    #expect(!MapAccess.isLoopback(host: host))
    #expect(open.refusal(host: host, origin: nil, token: nil, opensWebSocket: false) == .host)
  }

  @Test func aRequestWithoutAHostIsRefused() {
    #expect(open.refusal(host: nil, origin: nil, token: nil, opensWebSocket: false) == .host)
  }

  @Test(arguments: [
    ("http://localhost:8080", true), ("https://LOCALHOST:8080", true), (nil, false),
    ("null", false),
    ("http://localhost", false), ("http://localhost:8081", false), ("http://board.example", false),
    ("http://board.example/http://localhost:8080", false),
  ])
  func aWebSocketIsForItsOwnPage(origin: String?, isAnswered: Bool) {
    let refusal = open.refusal(
      host: "localhost:8080", origin: origin, token: nil, opensWebSocket: true)
    #expect((refusal == nil) == isAnswered)
    let other = MapAccess(token: token).refusal(
      host: "localhost:8080", origin: origin, token: token, opensWebSocket: true)
    #expect((other == nil) == isAnswered)
  }

  @Test func withATokenOnlyTheTokenOpens() {
    let access = MapAccess(token: token)
    for given in [nil, "", "0", String(token.dropLast()), token + "0", token.uppercased()] {
      #expect(
        access.refusal(host: "localhost", origin: nil, token: given, opensWebSocket: false)
          == .token)
    }
    #expect(
      access.refusal(host: "192.0.2.7:8080", origin: nil, token: token, opensWebSocket: false)
        == nil)
  }

  @Test func textsAreComparedWhole() {
    #expect(MapAccess.isSame("abc", "abc"))
    #expect(MapAccess.isSame("", ""))
    for other in ["", "a", "ab", "abd", "xbc", "abcd", "abcabc"] {
      #expect(!MapAccess.isSame(other, "abc"))
    }
  }

  @Test func tokensHave128Bits() {
    let tokens = (0..<100).map { _ in MapAccess.newToken() }
    #expect(
      tokens.allSatisfy { $0.count == 32 && $0.allSatisfy { "0123456789abcdef".contains($0) } })
    #expect(Set(tokens).count == 100)
  }

  @Test func aHostThatIsNoneGoesIntoNoHeader() {
    #expect(MapAccess.plain(host: "[::1]:8080") == "[::1]:8080")
    for host in [nil, "", "a; script-src *", "a b", "ä"] {
      #expect(MapAccess.plain(host: host) == nil)
    }
  }
}
