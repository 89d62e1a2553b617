// The server with real sockets on loopback addresses. Its limits are short here, so that the tests are.

import Glibc
@testable import LiveMap
import Testing

/// A client's socket; calls wait five seconds at most.
final class TestClient {
  let file: Int32

  init(port: UInt16, from source: String = "127.0.0.1") throws {
    file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var patience = timeval(tv_sec: 5, tv_usec: 0)
    for name in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(file, SOL_SOCKET, name, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    try Self.name(source, 0) { guard bind(file, $0, $1) == 0 else { throw SystemProblem(errno) } }
    try Self.name("127.0.0.1", port) {
      guard connect(file, $0, $1) == 0 else { throw SystemProblem(errno) }
    }
  }

  deinit { close(file) }

  private static func name(
    _ text: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
  ) throws {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    inet_pton(AF_INET, text, &name.sin_addr)
    try withUnsafePointer(to: &name) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        Glibc.send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      done += count
    }
  }

  /// Receives until a text has come, or the end, or for five seconds.
  func receive(until end: String? = nil) -> String {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(file, &piece, piece.count, 0)
      guard count > 0 else { break }
      bytes += piece[..<count]
      if let end, String(decoding: bytes, as: UTF8.self).hasSuffix(end) { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the server has closed the connection, within five seconds.
  var isClosed: Bool {
    var byte: UInt8 = 0
    let count = recv(file, &byte, 1, 0)
    return count == 0 || (count < 0 && errno == ECONNRESET)
  }
}

@Suite struct WebServerTests {
  static let get = "GET /a?token=right HTTP/1.1\r\nHost: a\r\n\r\n"

  static func server(
    _ change: (inout ConnectionLimits) -> Void = { _ in }
  ) throws -> (server: WebServer, port: UInt16) {
    var limits = ConnectionLimits()
    change(&limits)
    let server = try WebServer(service: PathService(), limits: limits)
    let address = try #require(ListenAddress("127.0.0.1"))
    return (server, try server.start(at: address, port: 0))
  }

  @Test func requestsOnOneConnection() throws {
    let (server, port) = try Self.server()
    defer { server.stop() }
    let client = try TestClient(port: port)
    for _ in 0..<3 {
      client.send(Self.get)
      #expect(client.receive(until: "/a\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
    client.send("GET /later?token=right HTTP/1.1\r\nConnection: close\r\n\r\n")
    #expect(client.receive().hasSuffix("later\n"))
  }

  @Test("whoever ends the connection behind a request still gets the whole answer")
  func halfClosed() throws {
    let (server, port) = try Self.server()
    defer { server.stop() }
    for path in ["/a", "/later"] {
      for token in ["right", "wrong"] {
        let client = try TestClient(port: port)
        client.send("GET \(path)?token=\(token) HTTP/1.1\r\nHost: a\r\n\r\n")
        shutdown(client.file, Int32(SHUT_WR))
        let received = client.receive()
        #expect(received.hasPrefix("HTTP/1.1 \(token == "right" ? 200 : 403) "))
        #expect(received.hasSuffix(token == "wrong" ? "No.\n" : path == "/a" ? "/a\n" : "later\n"))
      }
    }
  }

  @Test func aLongLineIsRefusedAtOnce() throws {
    let (server, port) = try Self.server()
    defer { server.stop() }
    for start in ["GET / HTTP/1.1\r\nX: ", "", "GET /"] {
      let client = try TestClient(port: port)
      client.send(start + String(repeating: "a", count: 2_500_000))
      // The rest is not read: the answer may be lost with the connection.
      let received = client.receive()
      #expect(received.isEmpty || received.hasPrefix("HTTP/1.1 431 "))
    }
    let client = try TestClient(port: port)
    client.send(Self.get)
    #expect(client.receive(until: "/a\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
  }

  @Test func whoAsksNothingIsClosed() throws {
    let (server, port) = try Self.server { $0.deadlines.request = 0.05 }
    defer { server.stop() }
    #expect(try TestClient(port: port).isClosed)
    let slow = try TestClient(port: port)
    slow.send("GET / HTTP/1.1\r\nX: ")
    #expect(slow.isClosed)
  }

  @Test("idle connections make room, from one address and from many")
  func room() throws {
    let (server, port) = try Self.server {
      $0.places = Places(total: 8, perAddress: 4)
      $0.deadlines.request = 60
    }
    defer { server.stop() }
    let trusted = try (0..<3).map { _ in
      let client = try TestClient(port: port)
      client.send("GET /live?token=right HTTP/1.1\r\n\r\n")
      #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 101 "))
      return client
    }
    // Of the same address one is left, and who asks gets it.
    let idle = try (0..<8).map { _ in try TestClient(port: port) }
    let client = try TestClient(port: port)
    client.send(Self.get)
    #expect(client.receive(until: "/a\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
    for client in idle { #expect(client.isClosed) }
    // From others too.
    let others = try (0..<40).map { try TestClient(port: port, from: "127.0.0.\(2 + $0 % 8)") }
    for client in others.prefix(30) { #expect(client.isClosed) }
    client.send(Self.get)
    #expect(client.receive(until: "/a\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(server.takeCrowdedOut() >= 38)
    #expect(server.takeCrowdedOut() == 0)
    // Those that stream have lost nothing.
    for client in trusted {
      client.send([0x88, 0x80, 0, 0, 0, 0])
      #expect(client.receive() == "\u{FFFD}\u{2}\u{3}\u{FFFD}")
    }
  }

  @Test func placesThatStreamAreNobodyElses() throws {
    let (server, port) = try Self.server { $0.places = Places(total: 8, perAddress: 2) }
    defer { server.stop() }
    let streams = try (0..<2).map { _ in
      let client = try TestClient(port: port)
      client.send("GET /live?token=right HTTP/1.1\r\n\r\n")
      _ = client.receive(until: "\r\n\r\n")
      return client
    }
    #expect(try TestClient(port: port).receive().hasPrefix("HTTP/1.1 503 "))
    let other = try TestClient(port: port, from: "127.0.0.2")
    other.send(Self.get)
    #expect(other.receive(until: "/a\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
    withExtendedLifetime(streams) {}
  }

  @Test func stopClosesEverything() throws {
    let (server, port) = try Self.server()
    let client = try TestClient(port: port)
    client.send(Self.get)
    _ = client.receive(until: "/a\n")
    server.stop()
    #expect(client.isClosed)
    #expect(throws: SystemProblem(ECONNREFUSED)) { try TestClient(port: port) }
    // The port is free at once.
    let address = try #require(ListenAddress("127.0.0.1"))
    let next = try WebServer(service: PathService())
    #expect(try next.start(at: address, port: port) == port)
    next.stop()
  }

  @Test func aPortThatIsTaken() throws {
    let (server, port) = try Self.server()
    defer { server.stop() }
    let address = try #require(ListenAddress("127.0.0.1"))
    let other = try WebServer(service: PathService())
    #expect(throws: SystemProblem(EADDRINUSE)) { try other.start(at: address, port: port) }
    let elsewhere = try #require(ListenAddress("203.0.113.1"))
    #expect(throws: SystemProblem(EADDRNOTAVAIL)) { try other.start(at: elsewhere, port: 0) }
  }
}
