// Who gets the page.

@testable import LiveMap
import Testing

@Suite struct MapAccessTests {
  let token = "0123456789abcdef0123456789abcdef"
  var here: MapAccess { MapAccess(token: token, isForThisMachine: true) }
  var everywhere: MapAccess { MapAccess(token: token, isForThisMachine: false) }

  @Test(arguments: [
    "localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:8080", "127.1.2.3:1", "[::1]",
    "[::1]:8080",
  ])
  func namesOfThisMachine(host: String) {
    #expect(MapAccess.isLoopback(host: host))
    #expect(here.refusal(host: host, origin: nil, token: token, opensWebSocket: false) == nil)
  }

  @Test(arguments: [
    "", "board.example", "localhost.board.example", "127.0.0.1.board.example", "192.0.2.1:8080",
    "0.0.0.0:8080", "[::]", "[::1", "[::1]x", "localhost:", "localhost:x", "localhost:8080:1",
    "localhost@board.example",
  ])
  func otherNames(host: String) {
    #expect(!MapAccess.isLoopback(host: host))
    #expect(here.refusal(host: host, origin: nil, token: token, opensWebSocket: false) == .host)
  }

  @Test func aRequestWithoutAHostIsRefused() {
    #expect(here.refusal(host: nil, origin: nil, token: token, opensWebSocket: false) == .host)
  }

  @Test(arguments: [
    ("http://localhost:8080", true), ("https://LOCALHOST:8080", true), (nil, false),
    ("null", false),
    ("http://localhost", false), ("http://localhost:8081", false), ("http://board.example", false),
    ("http://board.example/http://localhost:8080", false),
  ])
  func aWebSocketIsForItsOwnPage(origin: String?, isAnswered: Bool) {
    for access in [here, everywhere] {
      let refusal = access.refusal(
        host: "localhost:8080", origin: origin, token: token, opensWebSocket: true)
      #expect((refusal == nil) == isAnswered)
    }
  }

  @Test("only the token opens, on this machine too")
  func tokens() {
    for access in [here, everywhere] {
      for given in [nil, "", "0", String(token.dropLast()), token + "0", token.uppercased()] {
        #expect(
          access.refusal(host: "localhost", origin: nil, token: given, opensWebSocket: false)
            == .token)
      }
    }
    #expect(
      everywhere.refusal(host: "192.0.2.7:8080", origin: nil, token: token, opensWebSocket: false)
        == nil)
  }

  @Test func textsAreComparedWhole() {
    #expect(MapAccess.isSame("abc", "abc"))
    #expect(MapAccess.isSame("", ""))
    for other in ["", "a", "ab", "abd", "xbc", "abcd", "abcabc"] {
      #expect(!MapAccess.isSame(other, "abc"))
    }
  }

  @Test func aHostThatIsNoneGoesIntoNoHeader() {
    #expect(MapAccess.plain(host: "[::1]:8080") == "[::1]:8080")
    for host in [nil, "", "a; script-src *", "a b", "ä"] {
      #expect(MapAccess.plain(host: host) == nil)
    }
  }
}
