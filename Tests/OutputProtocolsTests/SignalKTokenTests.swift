// A board and a Signal K server whose tokens are of no use.

import Testing

@testable import OutputProtocols

@Suite("tokens of a Signal K server") struct SignalKTokenTests {
  private static let ended =
    #"{"state":"COMPLETED","statusCode":200,"accessRequest":{"permission":"APPROVED","token":"a.b","expirationTime":"2020-01-01T00:00:00Z"}}"#

  @Test("a server whose tokens have ended is asked with growing pauses, and no file is written")
  func endedTokens() throws {
    var talk = try SignalKTalk()
    talk.utc = 1_800_000_000
    try talk.discover()
    var pauses: [Double] = []
    for _ in 0..<9 {
      #expect(try talk.request().hasPrefix("POST /signalk/v1/access/requests "))
      talk.answer(200, Self.ended)
      #expect(talk.connection() == nil)
      #expect(talk.client.problem?.contains("token has ended") == true)
      pauses.append(talk.wait())
    }
    #expect(pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300] && talk.kept.isEmpty)
    // One that lets a person approve first.
    var slow = try SignalKTalk()
    slow.utc = 1_800_000_000
    try slow.discover()
    for _ in 0..<5 {
      _ = try slow.request()
      slow.answer(202, #"{"state":"PENDING","href":"\#(SignalKTalk.path)"}"#)
      #expect(slow.connection() == nil && slow.wait() == 5)
      _ = try slow.request()
      slow.answer(200, Self.ended)
      #expect(slow.connection() == nil)
      _ = slow.wait()
    }
    #expect(slow.kept.count == 2 && slow.kept.last?.pending == nil)
  }
}
