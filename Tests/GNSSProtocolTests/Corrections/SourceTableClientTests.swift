import SensorTypes
import Testing

@testable import GNSSProtocol

struct SourceTableClientTests {
  private let now = Timestamp(seconds: 10)

  private func client(_ credentials: String? = nil) -> SourceTableClient {
    SourceTableClient(host: "caster.example:2101", program: "Lodestone/1", credentials: credentials)
  }

  private func answer(_ text: String, _ credentials: String? = nil) -> SourceTableClient {
    var client = client(credentials)
    _ = client.connected(at: now)
    client.received(Array(text.utf8), at: now)
    return client
  }

  private func streams(_ client: SourceTableClient) -> [String]? {
    if case .table(let table) = client.state { table.streams.map(\.mountpoint) } else { nil }
  }

  @Test(
    "tables of versions 1 and 2 are read, with a length, in chunks, and ended by their last line or the connection"
  )
  func tables() {
    let table = "STR;A;x\r\nSTR;B;y\r\nENDSOURCETABLE\r\n"
    #expect(
      streams(answer("SOURCETABLE 200 OK\r\nContent-Type: text/plain\r\n\r\n" + table)) == [
        "A", "B",
      ])
    #expect(
      streams(answer("HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\n\r\n" + table)) == [
        "A", "B",
      ])
    #expect(streams(answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nSTR;A;x\r\n")) == ["A"])
    #expect(
      streams(
        answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nSTR;A;x\r\n\r\n0\r\n\r\n")
      ) == ["A"])
    var open = answer("SOURCETABLE 200 OK\r\n\r\nSTR;A;x\r\nSTR;B")
    #expect(open.state == .underWay)
    open.lost("the server has ended it")
    #expect(streams(open) == ["A", "B"])
  }

  @Test("a caster that drops the newer request is asked in the older one")
  func fallsBack() {
    var client = client()
    #expect(
      String(decoding: client.connected(at: now), as: UTF8.self).hasPrefix("GET / HTTP/1.1\r\n"))
    client.lost("the server has ended it")
    #expect(client.state == .connect)
    #expect(
      String(decoding: client.connected(at: now), as: UTF8.self).hasPrefix("GET / HTTP/1.0\r\n"))
    client.lost("the server has ended it")
    #expect(
      client.state
        == .failed(
          CasterFailure(
            .unreachable, "caster.example:2101: it has ended the connection without an answer")))
  }

  @Test(
    "each failure has its kind and its words",
    arguments: [
      (
        "HTTP/1.1 401 No\r\n\r\n", nil, CasterFailure.FailureKind.refused,
        "it shows its table to users alone (401): --ntrip-credentials FILE"
      ),
      ("HTTP/1.1 401 No\r\n\r\n", "a:hush", .refused, "wrong user name or password (401)"),
      ("HTTP/1.1 403 No\r\n\r\n", nil, .refused, "this user may not see its table (403)"),
      ("HTTP/1.1 404 No\r\n\r\n", nil, .foreign, "it answers 404"),
      ("HTTP/1.1 503 Busy\r\n\r\n", nil, .unreachable, "it answers 503"),
      (
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", nil, .foreign,
        "it is no NTRIP caster: it sends a web page"
      ),
      ("hush\r\n", "a:hush", .foreign, "it is no NTRIP caster"),
      ("ICY 200 OK\r\n\r\n\u{7F}", nil, .foreign, "it sends something else than a source table"),
      (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", nil, .foreign,
        "its chunked transfer is broken"
      ),
    ] as [(String, String?, CasterFailure.FailureKind, String)])
  func failures(text: String, credentials: String?, kind: CasterFailure.FailureKind, words: String)
  {
    #expect(
      answer(text, credentials).state
        == .failed(CasterFailure(kind, "caster.example:2101: \(words)")))
  }

  @Test("nothing is waited for without a limit, in time and in size")
  func limits() {
    var client = client()
    _ = client.connected(at: now)
    client.step(at: now.advanced(bySeconds: 9.9))
    #expect(client.state == .underWay)
    client.step(at: now.advanced(bySeconds: 10))
    #expect(
      client.state
        == .failed(CasterFailure(.unreachable, "caster.example:2101: it does not answer")))

    var slow = answer("SOURCETABLE 200 OK\r\n\r\nSTR;A;x\r\n")
    slow.step(at: now.advanced(bySeconds: 30))
    #expect(
      slow.state
        == .failed(
          CasterFailure(.unreachable, "caster.example:2101: its table has no end after 30 s")))

    var endless = answer("SOURCETABLE 200 OK\r\n\r\n")
    let piece = [UInt8](repeating: 65, count: 65_536)
    for _ in 0..<65 { endless.received(piece, at: now) }
    #expect(
      endless.state
        == .failed(CasterFailure(.foreign, "caster.example:2101: its table has more than 4 MiB")))
  }
}
