// Answers of HTTP/1.1 servers, sound and hostile.

import Testing

@testable import OutputProtocols

@Suite("answers over HTTP") struct HTTPAnswerTests {
  private static func read(_ text: String, limit: Int = 100) -> HTTPAnswerReader.HTTPProgress {
    var reader = HTTPAnswerReader(limit: limit)
    let whole = reader.take(Array(text.utf8))
    // Byte by byte it is the same.
    var slow = HTTPAnswerReader(limit: limit)
    var last = HTTPAnswerReader.HTTPProgress.unfinished
    for byte in text.utf8 where last == .unfinished { last = slow.take([byte]) }
    #expect(last == whole)
    return whole == .unfinished ? reader.ended() : whole
  }

  private static func answer(_ text: String) -> (status: Int, body: String)? {
    guard case .answer(let answer) = read(text) else { return nil }
    return (answer.head.status, String(decoding: answer.body, as: UTF8.self))
  }

  @Test("lengths, pieces and ends")
  func bodies() throws {
    #expect(
      try #require(Self.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}...")) == (200, "{}"))
    #expect(try #require(Self.answer("HTTP/1.0 404 Not Found\n\nno")) == (404, "no"))
    #expect(try #require(Self.answer("HTTP/1.1 204 \r\n\r\n")) == (204, ""))
    #expect(
      try #require(
        Self.answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 x\r\ncontent-length:0\r\n\r\n"))
        == (202, ""))
    #expect(
      try #require(
        Self.answer(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\n{\"a\"\r\n2 \r\n:1\r\n1\r\n}\r\n0\r\nX: y\r\n\r\n"
        )) == (200, #"{"a":1}"#))
  }

  @Test(
    "what cannot be read is said in words",
    arguments: [
      "", "H", "ICY 200 OK\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
      "HTTP/1.1 +20 OK\r\n\r\n", "HTTP/1.1 999 OK\r\n\r\n", "\u{1}\u{2}",
      "HTTP/1.1 200 OK\r\n: a\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\n\r\n",
      "HTTP/1.1 101 x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFF\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
  func broken(text: String) {
    guard case .foreign(let words) = Self.read(text) else {
      Issue.record("\(text)")
      return
    }
    #expect(!words.isEmpty && words.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
  }

  @Test("some answers may come before the answer, and no endless row of them")
  func interim() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\n"
    let end = "HTTP/1.1 204 x\r\n\r\n"
    #expect(Self.answer(String(repeating: interim, count: 8) + end)?.status == 204)
    guard case .foreign(let words) = Self.read(String(repeating: interim, count: 9) + end) else {
      Issue.record("an endless row is read")
      return
    }
    #expect(words == "9 answers before an answer (status 100)")
  }

  @Test("nothing without an end is kept")
  func endless() {
    let long = String(repeating: "a", count: 20_000)
    for text in [
      long, "HTTP/1.1 200 OK\r\nA: \(long)", "HTTP/1.1 200 OK\r\n\r\n\(long)",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(long)",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        + String(repeating: "A: b\r\n", count: 2_000),
    ] {
      var reader = HTTPAnswerReader(limit: 100)
      guard case .foreign = reader.take(Array(text.utf8)) else {
        Issue.record("\(text.prefix(80))")
        continue
      }
    }
  }
}
