import CLinuxIO
import Foundation
import Glibc
import SensorBus
import Testing

@testable import LinuxIO

/// A UDP port against real sockets of this process, on the loopback interface.
struct DatagramStreamTests {
  private static let gga = "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47"
  private static let rmc = "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A"

  /// A program that sends from a port of its own.
  private final class Sender {
    let file: Int32

    init() { file = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0) }
    deinit { close(file) }

    @discardableResult
    func send(_ text: String, to port: UInt16, at address: String = "127.0.0.1") -> Bool {
      send(Array(text.utf8), to: port, at: address)
    }

    func send(_ bytes: [UInt8], to port: UInt16, at address: String) -> Bool {
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = port.bigEndian
      inet_pton(AF_INET, address, &name.sin_addr)
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      return withUnsafePointer(to: &name) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(file, bytes, bytes.count, 0, $0, length) == bytes.count
        }
      }
    }
  }

  /// A port that is free now. Another process could take it before the stream does: then the stream's opening fails.
  private func freePort() throws -> UInt16 {
    let file = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(file) }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(file, $0, length) == 0 && getsockname(file, $0, &length) == 0
      }
    }
    try #require(result)
    return UInt16(bigEndian: name.sin_port)
  }

  private func open(_ port: UInt16, at address: String? = nil) throws -> DatagramStream {
    try DatagramStream(
      address: address, port: port, place: "\(ServerAddress.udp(address: address, port: port))")
  }

  /// What has come, read in pieces of so many bytes.
  private func read(_ stream: DatagramStream, piece: Int = 256) throws -> String {
    guard case .descriptor(let file) = stream.readiness, isReadable(file) else { return "" }
    var buffer = [UInt8](repeating: 0, count: piece)
    var all: [UInt8] = []
    while true {
      let result: Result<Int, BusError> = buffer.withUnsafeMutableBytes { bytes in
        do throws(BusError) { return .success(try stream.read(into: bytes)) } catch {
          return .failure(error)
        }
      }
      let count = try result.get()
      guard count > 0 else { return String(decoding: all, as: UTF8.self) }
      all += buffer[..<count]
    }
  }

  private func refusal(_ address: String?, _ port: UInt16) -> String? {
    do {
      _ = try open(port, at: address)
      return nil
    } catch { return "\(error)" }
  }

  @Test(
    "datagrams come as a stream of lines, in whatever pieces it is read",
    arguments: [1, 7, 256, 4_096])
  func lines(piece: Int) throws {
    let port = try freePort()
    let (stream, sender) = (try open(port), Sender())
    sender.send(Self.gga + "\r\n" + Self.rmc + "\r\n", to: port)
    sender.send(String(Self.gga.prefix(20)), to: port)
    sender.send(Self.gga.dropFirst(20) + "\r\n", to: port)
    sender.send(Self.rmc, to: port)
    let lines = try read(stream, piece: piece).split(whereSeparator: \.isNewline)
    #expect(lines.map(String.init) == [Self.gga, Self.rmc, Self.gga, Self.rmc])
    #expect(try stream.note == nil && read(stream, piece: 0) == "")
  }

  @Test("of two senders one is read, and both are named; what was not read is counted")
  func senders() throws {
    let port = try freePort()
    let (stream, one, two) = (try open(port), Sender(), Sender())
    one.send("$GPGGA,1", to: port)
    two.send(Self.rmc, to: port)
    // The one that gives a position is read, and half a sentence of the other does not spoil it.
    #expect(
      try read(stream).split(whereSeparator: \.isNewline).map(String.init) == [
        "$GPGGA,1", Self.rmc,
      ])
    two.send(Self.rmc, to: port)
    one.send(Self.gga, to: port)
    #expect(try read(stream) == Self.rmc + "\r\n")
    #expect(stream.ignored == 1)
    #expect(
      stream.note
        == "hears several programs of 127.0.0.1 at its port: it follows one, so that their sentences do not mix"
    )
  }

  @Test("the longest datagram is whole, and an empty one is nothing")
  func longest() throws {
    let port = try freePort()
    let (stream, sender) = (try open(port, at: "127.0.0.1"), Sender())
    let text = String(repeating: Self.gga + "\r\n", count: 65_507 / (Self.gga.utf8.count + 2))
    #expect(sender.send([], to: port, at: "127.0.0.1"))
    // More than some kernels let a program send at once.
    guard sender.send(text, to: port) else { return }
    #expect(try read(stream, piece: 1_000) == text)
  }

  @Test("a port that is in use says who has it; addresses that are none say so")
  func refusals() throws {
    let port = try freePort()
    let stream = try open(port)
    let words = try #require(refusal(nil, port))
    #expect(
      words.hasPrefix("udp://:\(port): no connection: UDP port \(port) is in use by "), "\(words)")
    #expect(words.contains("(process \(getpid()))") && words.hasSuffix("(errno \(EADDRINUSE))"))
    #expect(refusal("127.0.0.1", port)?.contains("in use") == true)
    withExtendedLifetime(stream) {}
    // 192.0.2.0/24 is for documents (RFC 5737).
    #expect(
      refusal("192.0.2.77", try freePort())?.contains(
        "no interface of this machine has this address") == true)
    #expect(refusal("boat", 10_110)?.contains("no address") == true)
  }

  @Test("programs share a multicast group, and each hears it")
  func groups() throws {
    let port = try freePort()
    let streams = [try open(port, at: "239.255.77.77"), try open(port, at: "239.255.77.77")]
    let sender = Sender()
    var interface = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    let size = socklen_t(MemoryLayout<in_addr>.size)
    try #require(setsockopt(sender.file, Int32(IPPROTO_IP), IP_MULTICAST_IF, &interface, size) == 0)
    // A machine without a way to the group cannot send to it.
    guard sender.send(Self.gga, to: port, at: "239.255.77.77") else { return }
    for stream in streams { #expect(try read(stream) == Self.gga + "\r\n") }
  }

  @Test("nothing can be sent")
  func sending() throws {
    let stream = try open(try freePort())
    #expect(throws: BusError.self) { try stream.setBaudRate(9_600) }
    #expect(throws: BusError.self) {
      try stream.write(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }
}
