// An NTRIP caster as its client sees it (RTCM 10410.0 and 10410.1), with one station.

import SensorTypes

/// One client's connection to a caster with one mountpoint, which sends the station's place every five seconds and its
/// observations every second.
package struct CasterTwin: Sendable {
  /// How a caster behaves.
  package enum Behaviour: Sendable, Hashable {
    /// It speaks version 2, in chunks.
    case versionTwo
    /// It speaks version 1, and ends a connection that asks for the newer one.
    case versionOne
    /// It accepts, and sends nothing.
    case silent
    /// It accepts, and sends what is no RTCM 3.
    case garbage
    /// Nobody listens.
    case unreachable
  }

  private static let period: Int64 = 1_000_000_000

  private let mountpoint: String
  private let behaviour: Behaviour
  private var output = ByteQueue(capacity: 16_384)
  private var request: [UInt8] = []
  private var isChunked = false
  private var nextRound: Int64 = .max
  private var round = 0
  /// Whether it has ended the connection.
  private(set) var hasEnded = false
  /// The sentences that the client has sent.
  private(set) var positions = 0

  init(_ mountpoint: String, _ behaviour: Behaviour) {
    (self.mountpoint, self.behaviour) = (mountpoint, behaviour)
  }

  /// Lives up to `time`.
  mutating func advance(to time: Timestamp) {
    while nextRound <= time.nanoseconds {
      if behaviour == .garbage {
        send([UInt8](repeating: 0, count: 200))
      } else {
        if round % 5 == 0 { send(Self.frame(number: 1_005, content: 19)) }
        send(Self.frame(number: 1_077, content: 160))
        send(Self.frame(number: 1_087, content: 120))
      }
      round += 1
      nextRound &+= Self.period
    }
  }

  mutating func takeByte() -> UInt8? { output.takeFirst() }

  func nextArrival(after time: Timestamp) -> Timestamp {
    output.count > 0 ? time : Timestamp(nanoseconds: nextRound)
  }

  /// Hears one byte of the client.
  mutating func receive(_ byte: UInt8, at time: Timestamp) {
    guard byte == 10 else {
      if request.count < 4_096 { request.append(byte) }
      return
    }
    let isEmpty = request.last == 13 && request.dropLast().last == 13
    if nextRound < .max || round > 0 {
      // After the request come sentences alone.
      if request.starts(with: "$GPGGA,".utf8) { positions += 1 }
      request.removeAll(keepingCapacity: true)
    } else if isEmpty || request == [13] {
      answer(String(decoding: request, as: UTF8.self), at: time)
      request.removeAll(keepingCapacity: true)
    }
  }

  private mutating func answer(_ request: String, at time: Timestamp) {
    let lines = request.split(separator: "\r")
    let isNew = lines.contains("Ntrip-Version: Ntrip/2.0")
    guard !isNew || behaviour != .versionOne else {
      hasEnded = true
      return
    }
    guard lines.first?.hasPrefix("GET /\(mountpoint) ") == true else {
      send(text: "SOURCETABLE 200 OK\r\n\r\nSTR;\(mountpoint);twin\r\nENDSOURCETABLE\r\n")
      hasEnded = true
      return
    }
    send(
      text: isNew
        ? "HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\nContent-Type: gnss/data\r\n"
          + "Transfer-Encoding: chunked\r\n\r\n" : "ICY 200 OK\r\n\r\n")
    isChunked = isNew
    if lines.contains(where: { $0.hasPrefix("Ntrip-GGA: $GPGGA,") }) { positions += 1 }
    round = 0
    nextRound = behaviour == .silent ? .max - 1 : time.nanoseconds &+ 100_000_000
  }

  private mutating func send(text: String) { output.append(Array(text.utf8)) }

  private mutating func send(_ frame: [UInt8]) {
    if isChunked { send(text: String(frame.count, radix: 16) + "\r\n") }
    output.append(frame)
    if isChunked { send(text: "\r\n") }
  }

  /// A frame of a message whose content but for its number is zeros.
  private static func frame(number: Int, content: Int) -> [UInt8] {
    var bytes: [UInt8] = [0xD3, UInt8(content / 256), UInt8(content % 256)]
    bytes += [UInt8(number / 16), UInt8(number % 16 * 16)]
    bytes += [UInt8](repeating: 0, count: content - 2)
    var sum: UInt32 = 0
    for byte in bytes {
      sum ^= UInt32(byte) * 65_536
      for _ in 0..<8 {
        sum *= 2
        if sum >= 0x100_0000 { sum ^= 0x186_4CFB }
      }
    }
    return bytes + [UInt8(sum / 65_536), UInt8(sum / 256 % 256), UInt8(sum % 256)]
  }
}
