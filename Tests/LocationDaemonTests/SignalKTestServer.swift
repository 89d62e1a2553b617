// Sockets of the tests of Signal K: a client, a receiver of datagrams, and a server that answers as a test says.

import Foundation
import Glibc
import OutputProtocols
import Testing

/// A socket on loopback that keeps what it gets.
final class SignalKPeer {
  private let file: Int32
  private(set) var text = ""
  private(set) var datagrams: [String] = []
  /// The port of a receiver of datagrams.
  private(set) var port: UInt16 = 0

  /// Takes over a descriptor.
  init(_ file: Int32) {
    self.file = file
    var timeout = timeval(tv_sec: 0, tv_usec: 50_000)
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  }

  convenience init(connectingTo port: UInt16) throws {
    self.init(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    let result = Self.withAddress(port) { connect(file, $0, $1) }
    try #require(result == 0)
  }

  /// Receives datagrams at a port that the system chooses.
  convenience init(datagrams: Void) throws {
    self.init(socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
    let result = Self.withAddress(0) { bind(file, $0, $1) }
    try #require(result == 0)
    port = Self.port(of: file)
  }

  deinit { close(file) }

  static func withAddress(
    _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  static func port(of file: Int32) -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &length) }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  func say(_ text: String) { say(Array(text.utf8)) }

  func say(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Whether something comes that is as wanted, ten seconds at most.
  func gets(_ isWanted: (String) -> Bool) -> Bool {
    eventually {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = read(file, &buffer, buffer.count)
      if count > 0 {
        let new = String(decoding: buffer[..<count], as: UTF8.self)
        text += new
        if port != 0 { datagrams.append(new) }
      }
      return isWanted(text)
    }
  }

  /// Takes bytes that have come, as they are.
  func bytes() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(file, &buffer, buffer.count)
    return Array(buffer.prefix(max(0, count)))
  }
}

/// A server that takes one connection at a time and answers as a test says.
final class SignalKTestServer {
  private let file: Int32
  let port: UInt16
  private var peer: SignalKPeer?
  private var request = ""
  private var pending: [UInt8] = []
  /// The texts that came over the WebSocket.
  private(set) var messages: [String] = []

  init() throws {
    file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let descriptor = file
    let result = SignalKPeer.withAddress(0) { bind(descriptor, $0, $1) }
    try #require(result == 0 && listen(file, 8) == 0)
    port = SignalKPeer.port(of: file)
    var timeout = timeval(tv_sec: 0, tv_usec: 50_000)
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(file) }

  /// Whether a connection comes whose request is as wanted, ten seconds at most.
  func accepts(_ isWanted: (String) -> Bool) -> Bool {
    var descriptor: Int32 = -1
    guard
      eventually({
        descriptor = accept(file, nil, nil)
        return descriptor >= 0
      })
    else { return false }
    let peer = SignalKPeer(descriptor)
    self.peer = peer
    let isWhole = peer.gets { text in
      guard let end = text.range(of: "\r\n\r\n") else { return false }
      return !text.hasPrefix("POST") || text[end.upperBound...].hasSuffix("}")
    }
    request = peer.text
    return isWhole && isWanted(request)
  }

  /// Answers, and closes the connection.
  func answer(_ status: Int, _ body: String) {
    peer?.say("HTTP/1.1 \(status) x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    peer = nil
  }

  /// Answers to the handshake of a WebSocket.
  func agree() {
    let key = request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?
      .dropFirst("Sec-WebSocket-Key: ".count)
    let accept = WebSocketClient.accept(String(key ?? ""))
    peer?.say(
      "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
    )
    messages = []
    pending = []
  }

  func hangUp() { peer = nil }

  /// Whether texts come that together are as wanted, ten seconds at most.
  func hears(_ isWanted: (String) -> Bool) -> Bool {
    eventually {
      pending += peer?.bytes() ?? []
      while let text = takeText() { messages.append(text) }
      return isWanted(messages.joined(separator: "\n"))
    }
  }

  /// Takes a masked frame of less than 64 KiB.
  private func takeText() -> String? {
    guard pending.count >= 6, pending[1] & 0x80 != 0 else { return nil }
    let short = Int(pending[1] & 0x7F)
    guard short < 126 || pending.count >= 8 else { return nil }
    let (length, start) = short < 126 ? (short, 2) : (Int(pending[2]) << 8 | Int(pending[3]), 4)
    guard pending.count >= start + 4 + length else { return nil }
    let mask = Array(pending[start..<(start + 4)])
    let payload = pending[(start + 4)..<(start + 4 + length)]
    let plain = payload.enumerated().map { $1 ^ mask[$0 & 3] }
    pending.removeFirst(start + 4 + length)
    return String(decoding: plain, as: UTF8.self)
  }
}
