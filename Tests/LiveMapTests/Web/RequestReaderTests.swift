// What is a request, and what is none: within limits, whatever comes.

@testable import LiveMap
import Testing

@Suite struct RequestReaderTests {
  static let request = "GET /live?token=abc HTTP/1.1\r\nHost: localhost:8080\r\nX:  a b \t\r\n\r\n"

  /// Gives bytes to a reader in pieces of a certain length. Returns all requests that are whole.
  static func read(_ text: String, by count: Int = .max) throws(RequestProblem)
    -> [WebRequest]
  {
    var reader = RequestReader()
    var requests: [WebRequest] = []
    var rest = Array(text.utf8)[...]
    repeat {
      let piece = Array(rest.prefix(min(count, reader.room)))
      rest = rest.dropFirst(piece.count)
      piece.withUnsafeBytes { reader.append($0) }
      while let request = try reader.take() { requests.append(request) }
    } while !rest.isEmpty
    return requests
  }

  static func problem(_ text: String, by count: Int = .max) -> RequestProblem? {
    do throws(RequestProblem) {
      _ = try read(text, by: count)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [1, 2, 3, 7, 64, 8_192])
  func aRequestInPieces(count: Int) throws {
    let expected = WebRequest(
      method: "GET", path: "/live", query: "token=abc",
      headers: ["host": "localhost:8080", "x": "a b"])
    #expect(try Self.read(Self.request, by: count) == [expected])
    // Several behind each other stay apart.
    let three = try Self.read(Self.request + Self.request + Self.request, by: count)
    #expect(three == [expected, expected, expected])
  }

  @Test func whatIsHeldOfTheNextRequest() throws {
    var reader = RequestReader()
    #expect(reader.isEmpty)
    Array((Self.request + "GET").utf8).withUnsafeBytes { reader.append($0) }
    #expect(try reader.take() != nil)
    #expect(try reader.take() == nil)
    #expect(!reader.isEmpty)
    #expect(reader.takeRest() == Array("GET".utf8))
    #expect(reader.isEmpty && reader.room == 32_768)
  }

  @Test(arguments: [
    // Bare line feeds and carriage returns.
    "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\rHost: a\r\r",
    "GET / HTTP/1.1\r\r\n", "\r\n", "\n",
    // Control characters.
    "\0", "GET /\0 HTTP/1.1\r\n", "GET / HTTP/1.1\r\nX: \0\r\n", "GET / HTTP/1.1\r\nX: \u{7F}\r\n",
    "\u{16}\u{3}\u{1}\u{2}",
    // Lines that are none.
    "GET /\r\n", "GET  / HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", " GET / HTTP/1.1\r\n",
    "GET http://a/ HTTP/1.1\r\n", "GET * HTTP/1.1\r\n", "GE(T / HTTP/1.1\r\n", "/ HTTP/1.1\r\n",
    "GET /\u{E9} HTTP/1.1\r\n", "GET / ICY/1.1\r\n", "GET / http/1.1\r\n",
    "GET / HTTP/1.1\r\nX\r\n", "GET / HTTP/1.1\r\nX : a\r\n", "GET / HTTP/1.1\r\n: a\r\n",
    "GET / HTTP/1.1\r\nX: a\r\n b\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n",
  ])
  func whatIsNoRequest(text: String) {
    #expect(Self.problem(text) == .malformed)
    #expect(Self.problem(text, by: 1) == .malformed)
  }

  @Test func versions() throws {
    #expect(try Self.read("GET / HTTP/1.0\r\n\r\n").first?.isHTTP10 == true)
    for version in ["HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/1.1.1"] {
      #expect(Self.problem("GET / \(version)\r\n\r\n") == .version)
    }
  }

  @Test("a line has at most 8192 bytes, its end not counted")
  func lines() {
    func line(_ count: Int) -> String { "X:" + String(repeating: "a", count: count - 2) }
    let start = "GET / HTTP/1.1\r\n"
    #expect(Self.problem(start + line(8_192) + "\r\n\r\n") == nil)
    #expect(Self.problem(start + line(8_193)) == .tooLarge)
    // It is known as soon as the line is too long, in the request line too.
    #expect(Self.problem(String(repeating: "A", count: 8_192)) == nil)
    #expect(Self.problem(String(repeating: "A", count: 8_193)) == .tooLarge)
    #expect(Self.problem("GET /" + String(repeating: "a", count: 8_188), by: 100) == .tooLarge)
  }

  @Test("a head has at most 32768 bytes and 100 header lines")
  func heads() throws {
    func head(_ count: Int, lines: Int) -> String {
      var text = "GET / HTTP/1.1\r\n"
      let each = (count - text.utf8.count - 2) / lines
      for index in 0..<lines {
        let length =
          index < lines - 1 ? each : count - text.utf8.count - 2
        text += "X:" + String(repeating: "a", count: length - 4) + "\r\n"
      }
      return text + "\r\n"
    }
    let largest = head(32_768, lines: 8)
    #expect(largest.utf8.count == 32_768)
    #expect(try Self.read(largest).count == 1)
    #expect(Self.problem(head(32_769, lines: 8)) == .tooLarge)
    #expect(try Self.read(head(2_000, lines: 100)).count == 1)
    #expect(Self.problem(head(2_000, lines: 101)) == .tooLarge)
  }

  @Test("what is held stays within the limit, however much comes")
  func room() {
    var reader = RequestReader()
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
    piece.withUnsafeBytes { reader.append($0) }
    #expect(reader.room == 0)
    #expect(throws: RequestProblem.tooLarge) { try reader.take() }
  }

  @Test func bodiesAndLastRequests() throws {
    func read(_ lines: String, version: String = "1.1") throws -> WebRequest {
      try #require(try Self.read("GET / HTTP/\(version)\r\n\(lines)\r\n").first)
    }
    #expect(try !read("").hasBody && !read("").isLast)
    #expect(try !read("Content-Length: 0\r\n").hasBody)
    for line in [
      "Content-Length: 1", "content-length: 00", "Content-Length: x", "Content-Length: -1",
      "Content-Length: 0\r\nContent-Length: 0", "Transfer-Encoding: chunked", "Content-Length:",
    ] {
      #expect(try read(line + "\r\n").hasBody && read(line + "\r\n").isLast)
    }
    #expect(try read("Connection: Close\r\n").isLast)
    #expect(try read("Connection: keep-alive , close\r\n").isLast)
    #expect(try !read("Connection: keep-alive\r\n").isLast)
    #expect(try read("", version: "1.0").isLast)
  }

  @Test func parameters() throws {
    func token(_ target: String) throws -> String? {
      try Self.read("GET \(target) HTTP/1.1\r\n\r\n").first?.parameter("token")
    }
    #expect(try token("/?token=abc") == "abc")
    #expect(try token("/?a=b&token=abc&token=d") == "abc")
    #expect(try token("/?token=a=b") == "a=b")
    #expect(try token("/?token=") == "")
    #expect(try token("/?token") == nil)
    #expect(try token("/?tokens=a&Token=b") == nil)
    #expect(try token("/token=a") == nil)
    #expect(try Self.read("GET /a?b?c HTTP/1.1\r\n\r\n").first?.query == "b?c")
  }

  @Test func decodedParameters() throws {
    func value(_ text: String) -> String? {
      WebRequest(method: "GET", path: "/", query: "a=\(text)").decodedParameter("a")
    }
    #expect(value("heading%2Csky") == "heading,sky" && value("%c3%A5+b") == "å+b")
    #expect(value("") == "" && value("%25") == "%")
    for text in ["%", "%2", "%2g", "%+2", "a%c3", "%ff", "%%20"] { #expect(value(text) == nil) }
  }
}

/// Requests that were damaged at random, the same in every run.
@Suite struct DamagedBytesTests {
  /// SplitMix64.
  struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return value ^ value >> 31
    }

    /// Bytes with some of them replaced, left out or doubled.
    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      for _ in 0..<Int.random(in: 1...6, using: &self) where !bytes.isEmpty {
        let place = Int.random(in: bytes.indices, using: &self)
        switch Int.random(in: 0..<3, using: &self) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &self)
        case 1: bytes.remove(at: place)
        default: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
        }
      }
      return bytes
    }
  }

  @Test("a damaged request means the same in one piece and byte by byte")
  func requests() {
    var random = Random(state: 1)
    var whole = 0
    for _ in 0..<4_000 {
      let bytes = random.damaged(Array(RequestReaderTests.request.utf8))
      let results = [1, Int.max].map { count in Self.read(bytes, by: count) }
      #expect(results[0] == results[1])
      if results[0].first != nil { whole += 1 }
    }
    // Both kinds are among them.
    #expect((200..<3_800).contains(whole))
  }

  static func read(_ bytes: [UInt8], by count: Int) -> [WebRequest] {
    var reader = RequestReader()
    var requests: [WebRequest] = []
    for start in stride(from: 0, to: bytes.count, by: min(count, bytes.count)) {
      let piece = bytes[start...].prefix(count)
      piece.withUnsafeBytes { reader.append($0) }
      do {
        while let request = try reader.take() { requests.append(request) }
      } catch {
        return requests
      }
    }
    return requests
  }

  @Test("damaged frames mean the same in one piece and byte by byte")
  func frames() {
    var random = Random(state: 2)
    let frames =
      WebSocketTests.frame(0x81, Array("Hello".utf8)) + WebSocketTests.frame(0x02, [1, 2, 3])
      + WebSocketTests.frame(0x80, [UInt8](repeating: 4, count: 200))
      + WebSocketTests.frame(0x88, [0x03, 0xE8])
    var codes: [UInt16: Int] = [:]
    for _ in 0..<4_000 {
      let bytes = random.damaged(frames)
      let ends = [1, Int.max / 2].map { count -> UInt16? in
        var reader = WebSocketReader()
        for start in stride(from: 0, to: bytes.count, by: min(count, bytes.count)) {
          let frames = bytes[start...].prefix(count).withUnsafeBytes { reader.take($0) }
          if case .close(let code)? = frames.last { return code }
        }
        return nil
      }
      #expect(ends[0] == ends[1])
      if let code = ends[0] { codes[code, default: 0] += 1 }
    }
    #expect((codes[1000] ?? 0) > 200 && (codes[1002] ?? 0) > 200)
  }
}
