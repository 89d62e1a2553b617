#if FUZZ
  // The fuzzers are a package of their own, which sees no package declarations.
  @testable import GNSSProtocol
  @testable import SensorTypes
#else
  import GNSSProtocol
  import SensorTypes
#endif

/// What holds of whatever a caster of corrections sends.
package enum CasterChecks {
  /// An answer of a caster, as it is, behind heads that let anything pass, and with check sums of frames made right.
  package static func caster(_ bytes: [UInt8]) -> [String] {
    let heads = ["", "ICY 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]
    let mended = withCheckSums(bytes)
    return frames(mended)
      + heads.flatMap { answer(Array($0.utf8) + bytes) + client(Array($0.utf8) + mended) }
      + table(bytes)
  }

  /// Calls `body` with the bytes whole, and in small pieces of an even size.
  private static func pieces(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map {
      Array(bytes[$0..<min($0 + size, bytes.count)])
    }
  }

  private static func size(_ bytes: [UInt8]) -> Int { 1 + Int(bytes.first ?? 0) % 13 }

  private static func frames(_ bytes: [UInt8]) -> [String] {
    var failures: [String] = []
    func find(_ size: Int) -> [RTCMFrame] {
      var framer = RTCMFramer()
      var found: [RTCMFrame] = []
      for piece in pieces(bytes, of: size) { framer.take(piece) { found.append($0) } }
      let inFrames = found.reduce(0) { $0 + $1.bytes.count }
      let kept = bytes.count - inFrames - Int(framer.rejected)
      if kept < 0 || kept >= RTCMFramer.longestFrame {
        failures.append("\(kept) bytes are neither of a frame nor rejected")
      }
      return found
    }
    let whole = find(max(1, bytes.count))
    if whole != find(size(bytes)) {
      failures.append("other frames come of the same bytes in pieces")
    }
    for frame in whole where !(frame.number.map((0...4_095).contains) ?? true) {
      failures.append("message \(frame.number ?? -1)")
    }
    return failures
  }

  private static func answer(_ bytes: [UInt8]) -> [String] {
    func read(_ size: Int) -> (events: [NTRIPResponseReader.Event], body: [UInt8]) {
      var reader = NTRIPResponseReader()
      var (events, body): ([NTRIPResponseReader.Event], [UInt8]) = ([], [])
      for piece in pieces(bytes, of: size) {
        for event in reader.take(piece) {
          if case .body(let more) = event { body += more } else { events.append(event) }
        }
      }
      return (events, body)
    }
    let (whole, parts) = (read(max(1, bytes.count)), read(size(bytes)))
    var failures: [String] = []
    if whole.events != parts.events || whole.body != parts.body {
      failures.append("another answer comes of the same bytes in pieces")
    }
    if whole.body.count > bytes.count { failures.append("more content than there were bytes") }
    return failures
  }

  private static func client(_ bytes: [UInt8]) -> [String] {
    func run(_ size: Int) -> (frames: [RTCMFrame], status: CorrectionStatus) {
      var client = CorrectionClient(
        CorrectionSource(host: "caster.example", mountpoint: "M", credentials: "/c"), program: "L/1"
      )
      var now = Timestamp(nanoseconds: 0)
      var fix = GNSSFix(received: now, mode: .threeDimensional)
      (fix.latitude, fix.longitude, fix.timeOfDay) = (48, 11, 0)
      client.setWanted(true)
      client.setPosition(fix)
      _ = client.step(at: now)
      client.connected(credentials: "me:hush-hush", at: now)
      var found: [RTCMFrame] = []
      for piece in pieces(bytes, of: size) { client.received(piece, at: now) { found.append($0) } }
      let status = client.status(at: now)
      // Whatever it was told, it comes to an end.
      for _ in 0..<100 {
        now = now.advanced(bySeconds: 1)
        while client.step(at: now) != nil {}
      }
      return (found, status)
    }
    let (whole, parts) = (run(max(1, bytes.count)), run(size(bytes)))
    var failures: [String] = []
    if whole.frames != parts.frames || whole.status != parts.status {
      failures.append("another state comes of the same bytes in pieces")
    }
    let words = whole.status.description
    if words.utf8.contains(where: { $0 < 32 || $0 == 127 }) {
      failures.append("control characters")
    }
    if words.contains("hush-hush") { failures.append("the password is told") }
    return failures
  }

  private static func table(_ bytes: [UInt8]) -> [String] {
    func read(_ size: Int) -> SourceTable {
      var table = SourceTable()
      for piece in pieces(bytes, of: size) { table.take(piece) }
      table.finish()
      return table
    }
    let whole = read(max(1, bytes.count))
    var failures: [String] = []
    if whole != read(size(bytes)) {
      failures.append("another table comes of the same bytes in pieces")
    }
    for stream in whole.streams {
      if !(stream.latitude.map((-90...90).contains) ?? true) { failures.append("latitude") }
      if !(stream.longitude.map((-180...180).contains) ?? true) { failures.append("longitude") }
      let texts = [stream.mountpoint, stream.identifier, stream.format, stream.systems]
      if texts.contains(where: { $0.utf8.contains { $0 < 32 || $0 == 127 } }) {
        failures.append("control characters in the table")
      }
    }
    return failures
  }

  /// The bytes with the check sums of whatever looks like a frame made right.
  private static func withCheckSums(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    var at = 0
    while at + 6 <= bytes.count {
      let end = at + 3 + (Int(bytes[at + 1] & 3) << 8 | Int(bytes[at + 2]))
      guard bytes[at] == 0xD3, bytes[at + 1] & 0xFC == 0, end + 3 <= bytes.count else {
        at += 1
        continue
      }
      var sum: UInt32 = 0
      for byte in bytes[at..<end] {
        sum ^= UInt32(byte) << 16
        for _ in 0..<8 {
          sum <<= 1
          if sum & 0x100_0000 != 0 { sum ^= 0x186_4CFB }
        }
      }
      for place in 0..<3 {
        bytes[end + place] = UInt8(truncatingIfNeeded: sum >> (16 - 8 * UInt32(place)))
      }
      at = end + 3
    }
    return bytes
  }
}
