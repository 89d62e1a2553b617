// A host of receiver twins: the bytes that it sends, and what it makes of theirs.

@testable import SimulatedDevices

/// A frame with its checksum by the closed form of Fletcher's sums.
func ubxFrame(_ messageClass: UInt8, _ identity: UInt8, _ payload: [UInt8]) -> [UInt8] {
  let body =
    [messageClass, identity, UInt8(payload.count & 0xFF), UInt8(payload.count >> 8)] + payload
  var a = 0
  var b = 0
  for (index, byte) in body.enumerated() {
    a += Int(byte)
    b += Int(byte) * (body.count - index)
  }
  return [0xB5, 0x62] + body + [UInt8(a & 0xFF), UInt8(b & 0xFF)]
}

func ubxKeyed(_ key: UInt32, _ value: [UInt8]) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: key >> (8 * UInt32($0))) } + value
}

/// The UBX messages in a stretch of bytes, with sound checksums only.
func ubxMessages(_ bytes: [UInt8]) -> [(UInt8, UInt8, [UInt8])] {
  var found: [(UInt8, UInt8, [UInt8])] = []
  var index = 0
  while index + 8 <= bytes.count {
    guard bytes[index] == 0xB5, bytes[index + 1] == 0x62 else {
      index += 1
      continue
    }
    let length = Int(bytes[index + 4]) | Int(bytes[index + 5]) << 8
    let end = index + 8 + length
    guard end <= bytes.count else { break }
    let payload = Array(bytes[(index + 6)..<(end - 2)])
    let whole = Array(bytes[index..<end])
    if ubxFrame(bytes[index + 2], bytes[index + 3], payload) == whole {
      found.append((bytes[index + 2], bytes[index + 3], payload))
    }
    index = end
  }
  return found
}

/// The NMEA sentences in a stretch of bytes whose checksums are right, without `$`, `*` and checksum.
func nmeaSentences(_ bytes: [UInt8]) -> [String] {
  String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").compactMap { line in
    guard line.first == "$", let star = line.lastIndex(of: "*") else { return nil }
    let body = line[line.index(after: line.startIndex)..<star]
    let sum = body.utf8.reduce(0, ^)
    return Int(line[line.index(after: star)...], radix: 16) == Int(sum) ? String(body) : nil
  }
}

extension ReceiverTwin {
  static let testWorld = SimulatedWorld(
    .init(latitude: -33.85, longitude: -70.65),
    trajectory: Trajectory(segments: [.init(duration: 4, speed: 2), .init(duration: 60)]),
    start: ms(0))

  /// A receiver that has had power since five seconds before the time zero.
  static func started(
    _ model: ReceiverTwinModel, _ link: ReceiverTwin.Link, baudRate: Int? = nil
  ) -> ReceiverTwin {
    var twin = ReceiverTwin(model, link: link, source: testWorld, baudRate: baudRate)
    twin.powerOn(at: ms(-5000))
    return twin
  }

  /// Reads all that arrives until `end`, looking every 10 ms; times in milliseconds.
  mutating func listen(from: Double, to end: Double) -> [UInt8] {
    var bytes: [UInt8] = []
    for now in stride(from: from, through: end, by: 10) {
      advance(to: ms(now))
      while let byte = takeByte(at: ms(now)) { bytes.append(byte) }
    }
    return bytes
  }

  mutating func say(_ bytes: [UInt8], at now: Double) {
    for byte in bytes { receive(byte, at: ms(now)) }
  }

  /// What a receiver of sentences answers to one, besides its epochs.
  mutating func answers(to body: String, at now: Double) -> [String] {
    let sum = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
    say(Array("$\(body)*\(sum.count == 1 ? "0" : "")\(sum)\r\n".utf8), at: now)
    return nmeaSentences(listen(from: now, to: now + 150)).filter { line in
      !["RMC", "VTG", "GGA", "GSA", "GLL"].contains { line.dropFirst(2).hasPrefix($0) }
    }
  }
}
