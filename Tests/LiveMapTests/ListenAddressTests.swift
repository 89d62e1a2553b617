@testable import LiveMap
import Testing

@Suite struct ListenAddressTests {
  @Test(arguments: [
    ("127.0.0.1", true, false), ("127.9.9.9", true, false), ("localhost", true, false),
    ("::1", true, false), ("0.0.0.0", false, true), ("::", false, true),
    ("192.0.2.7", false, false), ("2001:db8::7", false, false),
  ])
  func numericAddresses(text: String, isLoopback: Bool, isWildcard: Bool) throws {
    let address = try #require(ListenAddress(text))
    #expect(address.isLoopback == isLoopback)
    #expect(address.isWildcard == isWildcard)
  }

  @Test(arguments: [
    "", "board", "board.example", "1.2.3", "256.0.0.1", "127.0.0.1:80", "[::1]", " ",
  ])
  func namesAreNone(text: String) { #expect(ListenAddress(text) == nil) }

  @Test func urls() throws {
    let four = try #require(ListenAddress("127.0.0.1"))
    #expect(four.urls(port: 8080, token: nil) == ["http://127.0.0.1:8080/"])
    let six = try #require(ListenAddress("2001:db8::7"))
    #expect(six.urls(port: 1, token: "ab") == ["http://[2001:db8::7]:1/?token=ab"])
    // Every address that a browser can use, and this machine has at least itself.
    let all = try #require(ListenAddress("0.0.0.0")).urls(port: 8080, token: "ab")
    #expect(all.contains("http://127.0.0.1:8080/?token=ab"))
    #expect(all.allSatisfy { !$0.contains("0.0.0.0") })
  }
}
