import Foundation
import GNSSProtocol
import SensorTypes
import SharedData

/// What a receiver may send, written from the standards, and what the decoder makes of it.
enum Stream {
  /// A sentence with its frame and check sum.
  static func sentence(_ content: String) -> [UInt8] {
    let sum = content.utf8.reduce(UInt8(0), ^)
    let digits = String(sum, radix: 16, uppercase: true)
    return Array("$\(content)*\(digits.count == 1 ? "0" : "")\(digits)\r\n".utf8)
  }

  /// A place as sentences give it: 48 degrees 7.038 minutes north, 11 degrees 31 minutes east.
  static let place = "4807.038,N,01131.000,E"

  static func rmc(
    _ time: String, _ status: String = "A", place: String = place, motion: String = "22.4,84.4",
    talker: String = "GP"
  ) -> [UInt8] {
    sentence("\(talker)RMC,\(time),\(status),\(place),\(motion),230324,,")
  }

  static func gga(
    _ time: String, _ quality: String = "1", place: String = place, altitude: Double = 545.4,
    talker: String = "GP"
  ) -> [UInt8] {
    sentence(
      "\(talker)GGA,\(time),\(place),\(quality),08,0.9,\(altitude),M,46.9,M,,")
  }

  /// A UBX message with its frame and Fletcher's sums; `fields` are offset, bytes and value, little-endian.
  static func message(
    _ messageClass: UInt8, _ id: UInt8, length: Int, _ fields: [(Int, Int, Int)]
  ) -> [UInt8] {
    var payload = [UInt8](repeating: 0, count: length)
    for (offset, size, value) in fields {
      for index in 0..<size {
        payload[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
      }
    }
    let body = [messageClass, id, UInt8(length & 255), UInt8(length >> 8)] + payload
    var sums: (UInt8, UInt8) = (0, 0)
    for byte in body {
      sums.0 &+= byte
      sums.1 &+= sums.0
    }
    return [0xB5, 0x62] + body + [sums.0, sums.1]
  }

  /// NAV-PVT of a time of week, at 52 N 13 E and so many hundred millionths of a degree more.
  static func pvt(second: Int, of millisecond: Int = 0, north: Int = 0) -> [UInt8] {
    message(
      1, 7, length: 92,
      [
        (0, 4, second * 1_000 + millisecond), (4, 2, 2026), (6, 1, 11), (7, 1, 22), (8, 1, 3),
        (9, 1, second / 60), (10, 1, second % 60), (11, 1, 7), (16, 4, millisecond * 1_000_000),
        (20, 1, 3), (21, 1, 1), (23, 1, 9), (24, 4, 130_000_000), (28, 4, 520_000_000 + north),
        (32, 4, 80_000), (36, 4, 36_000), (40, 4, 1_500), (44, 4, 2_500), (60, 4, 1_400),
        (64, 4, 9_000_000), (68, 4, 120), (72, 4, 250_000), (76, 2, 150),
      ])
  }

  /// All that comes out of bytes that arrive in pieces.
  static func events(_ bytes: [UInt8], chunk: Int = 64, endsByRule: Bool = true)
    -> [GNSSEvent]
  {
    var decoder = GNSSDecoder(endsByRule: endsByRule)
    return events(bytes, chunk: chunk, by: &decoder)
  }

  static func events(_ bytes: [UInt8], chunk: Int = 64, by decoder: inout GNSSDecoder)
    -> [GNSSEvent]
  {
    var events: [GNSSEvent] = []
    for start in stride(from: 0, to: bytes.count, by: chunk) {
      bytes[start..<min(bytes.count, start + chunk)].withUnsafeBytes {
        decoder.append($0, at: Timestamp(nanoseconds: 7))
      }
      while let event = decoder.next() { events.append(event) }
    }
    decoder.finish()
    while let event = decoder.next() { events.append(event) }
    return events
  }

  /// The epochs among them.
  static func fixes(_ bytes: [UInt8], chunk: Int = 64, endsByRule: Bool = true) -> [GNSSFix] {
    events(bytes, chunk: chunk, endsByRule: endsByRule).compactMap {
      if case .epoch(let fix, _) = $0 { fix } else { nil }
    }
  }

  /// The headings among them.
  static func headings(_ bytes: [UInt8]) -> [ReceiverHeading] {
    events(bytes).compactMap { if case .heading(let heading) = $0 { heading } else { nil } }
  }

  /// The logs of real receivers, where they are.
  static var logs: [URL] {
    SharedData.files(in: "data/gps/gpsd", extension: "log")
  }
}
