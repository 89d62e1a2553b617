import GNSSProtocol
import SensorTypes

/// What holds of whatever bytes come in; each check gives what does not, in words. The fuzzers ask it of millions of
/// inputs, the tests of those that are kept.
package enum StreamChecks {
  /// NMEA, UBX, RTCM, garbage; as they are, and with check sums that fit: else nothing that a fuzzer makes would come
  /// as far as the decoders.
  package static func stream(_ bytes: [UInt8]) -> [String] {
    let mended = withCheckSums(bytes)
    return check(bytes) + (mended == bytes ? [] : check(mended))
  }

  private static func check(_ bytes: [UInt8]) -> [String] {
    var failures: [String] = []
    // As large as they are taken, and in small pieces of an even size.
    let whole = events(bytes, pieces: .max, &failures)
    let pieces = events(bytes, pieces: 1 + Int(bytes.first ?? 0) % 13, &failures)
    if whole != pieces { failures.append("other events come of the same bytes in pieces") }
    for case .epoch(let fix, _) in whole { check(fix, &failures) }
    for case .heading(let heading) in whole { check(heading, &failures) }
    return failures
  }

  /// gpsd's reports.
  package static func gpsd(_ bytes: [UInt8]) -> [String] {
    var failures: [String] = []
    var decoder = GPSDDecoder()
    var time = Timestamp(nanoseconds: 0)
    feed(bytes, pieces: 1 + Int(bytes.first ?? 0) % 61) { piece in
      // A tenth of a second a piece: waits end too.
      time = time.advanced(bySeconds: 0.1)
      decoder.append(piece, at: time)
      while let event = decoder.next(at: time) {
        if case .epoch(let fix) = event { check(fix, &failures) }
        if case .heading(let heading) = event { check(heading, &failures) }
      }
    } room: {
      decoder.room
    }
    decoder.finish()
    while let event = decoder.next(at: time) {
      if case .epoch(let fix) = event { check(fix, &failures) }
    }
    return failures
  }

  /// The bytes with the check sums of whatever looks like a sentence, a log, or a message of a binary protocol made right.
  private static func withCheckSums(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let digits = [UInt8]("0123456789ABCDEF".utf8)
    var at = 0
    while at < bytes.count {
      if bytes[at...].starts(with: "$@".utf8), at + 8 <= bytes.count {
        let end = at + Int(bytes[at + 6]) + Int(bytes[at + 7]) << 8
        if end >= at + 8, end <= bytes.count {
          let sum = blockSum(bytes[(at + 4)..<end])
          (bytes[at + 2], bytes[at + 3]) = (UInt8(sum & 255), UInt8(sum >> 8))
          at = end - 1
        }
      } else if bytes[at] == UInt8(ascii: "$"),
        let star = bytes[at...].prefix(256).firstIndex(of: UInt8(ascii: "*")),
        star + 2 < bytes.count
      {
        let sum = bytes[(at + 1)..<star].reduce(0, ^)
        (bytes[star + 1], bytes[star + 2]) = (digits[Int(sum >> 4)], digits[Int(sum & 15)])
        at = star
      } else if bytes[at] == UInt8(ascii: "#"),
        let star = bytes[at...].prefix(504).firstIndex(of: UInt8(ascii: "*")),
        star + 8 < bytes.count
      {
        let sum = cyclicSum(bytes[(at + 1)..<star])
        for index in 0..<8 { bytes[star + 1 + index] = digits[Int(sum >> (28 - 4 * index) & 15)] }
        at = star
      } else if bytes[at...].starts(with: [0xA0, 0xA1]), at + 4 <= bytes.count {
        let end = at + 4 + Int(bytes[at + 2]) << 8 + Int(bytes[at + 3])
        if end + 2 < bytes.count {
          bytes[end] = bytes[(at + 4)..<end].reduce(0, ^)
          (bytes[end + 1], bytes[end + 2]) = (0x0D, 0x0A)
          at = end + 2
        }
      } else if bytes[at...].starts(with: [0xB5, 0x62]) || bytes[at...].starts(with: [0xF1, 0xD9]),
        at + 8 <= bytes.count
      {
        let end = at + 6 + Int(bytes[at + 4]) + Int(bytes[at + 5]) << 8
        if end + 2 <= bytes.count {
          var sums: (UInt8, UInt8) = (0, 0)
          for byte in bytes[(at + 2)..<end] {
            sums.0 &+= byte
            sums.1 &+= sums.0
          }
          (bytes[end], bytes[end + 1]) = sums
          at = end + 1
        }
      }
      at += 1
    }
    return bytes
  }

  /// CRC-32 as Unicore's logs have it.
  private static func cyclicSum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in
        value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320
      }
    }
  }

  /// CRC-16-CCITT as blocks of SBF have it.
  private static func blockSum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ UInt16(byte) << 8) { value, _ in
        value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021
      }
    }
  }

  private static func events(
    _ bytes: [UInt8], pieces: Int, _ failures: inout [String]
  ) -> [GNSSEvent] {
    var decoder = GNSSDecoder(endsByRule: false)
    var events: [GNSSEvent] = []
    func drain() {
      while let event = decoder.next() {
        events.append(event)
        if decoder.satellites.count > 128 { failures.append("more satellites than are up") }
      }
    }
    feed(bytes, pieces: pieces) { piece in
      decoder.append(piece, at: Timestamp(nanoseconds: 0))
      drain()
    } room: {
      decoder.room
    }
    decoder.finish()
    drain()
    for satellite in decoder.satellites {
      within(satellite.elevation, -90..<90.001, "elevation", &failures)
      within(satellite.azimuth, 0..<360.001, "azimuth", &failures)
      within(satellite.carrierToNoise, 0..<256, "carrier to noise", &failures)
    }
    if decoder.counters.overflow > 0 { failures.append("bytes were lost that there was room for") }
    return events
  }

  private static func feed(
    _ bytes: [UInt8], pieces: Int, _ take: (UnsafeRawBufferPointer) -> Void, room: () -> Int
  ) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(max(1, min(pieces, room())))
        take(UnsafeRawBufferPointer(rebasing: piece))
        rest = rest.dropFirst(piece.count)
      }
    }
  }

  private static func check(_ fix: GNSSFix, _ failures: inout [String]) {
    within(fix.latitude, -90..<90.000_001, "latitude", &failures)
    within(fix.longitude, -180..<180.000_001, "longitude", &failures)
    within(fix.course, 0..<360.000_001, "course", &failures)
    within(fix.timeOfDay, 0..<86_401, "time of day", &failures)
    if (fix.latitude == nil) != (fix.longitude == nil) { failures.append("half a place") }
    if fix.mode == .none, fix.latitude != nil { failures.append("a place without a fix") }
    let values = [
      fix.utc, fix.altitude, fix.ellipsoidalAltitude, fix.horizontalAccuracy, fix.verticalAccuracy,
      fix.speed, fix.speedAccuracy, fix.courseAccuracy, fix.verticalSpeed, fix.hdop, fix.vdop,
      fix.pdop,
    ]
    if values.contains(where: { $0.map { !$0.isFinite } ?? false }) {
      failures.append("a number that is none")
    }
  }

  private static func check(_ heading: ReceiverHeading, _ failures: inout [String]) {
    within(heading.trueHeading, 0..<360, "true heading", &failures)
    within(heading.magneticHeading, 0..<360, "magnetic heading", &failures)
    within(heading.accuracy, 0..<180, "accuracy of a heading", &failures)
    within(heading.roll, -180..<180.001, "roll", &failures)
    within(heading.pitch, -90..<90.001, "pitch", &failures)
  }

  private static func within(
    _ value: Double?, _ range: Range<Double>, _ name: String, _ failures: inout [String]
  ) {
    if let value, !range.contains(value) { failures.append("\(name) \(value)") }
  }
}
