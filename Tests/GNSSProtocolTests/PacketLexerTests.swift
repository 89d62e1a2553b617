import SensorTypes
import Testing

@testable import GNSSProtocol

struct PacketLexerTests {
  // The example sentence of the NMEA 0183 literature; its check sum is 47.
  static let gga = Array(
    "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n".utf8)
  // UBX ACK-ACK for CFG-MSG: the sums are 0x05+0x01+0x02+0x00+0x06+0x01 = 0x0f and the sum of sums 0x38.
  static let ack: [UInt8] = [0xB5, 0x62, 0x05, 0x01, 0x02, 0x00, 0x06, 0x01, 0x0F, 0x38]
  // RTCM 1005 from the standard's own example (RTCM 10403.3, table 3.5-6), 25 bytes.
  static let rtcm: [UInt8] = [
    0xD3, 0x00, 0x13, 0x3E, 0xD7, 0xD3, 0x02, 0x02, 0x98, 0x0E, 0xDE, 0xEF, 0x34, 0xB4, 0xBD, 0x62,
    0xAC, 0x09, 0x41, 0x98, 0x6F, 0x33, 0x36, 0x0B, 0x98,
  ]

  private let now = Timestamp(nanoseconds: 0)

  private func kinds(_ chunks: [[UInt8]]) -> [PacketProtocol] {
    var lexer = PacketLexer()
    var kinds: [PacketProtocol] = []
    for chunk in chunks {
      chunk.withUnsafeBytes { lexer.append($0, at: now) }
      while let packet = lexer.next(at: now) { kinds.append(packet.kind) }
    }
    return kinds
  }

  @Test("packets come out whole wherever the reads split")
  func splits() {
    let stream = Self.gga + Self.ack + Self.rtcm + Self.gga
    for cut in 0...stream.count {
      #expect(
        kinds([Array(stream[..<cut]), Array(stream[cut...])]) == [
          .nmea, .ubx(messageClass: 5, id: 1), .nmea,
        ])
    }
    #expect(kinds(stream.map { [$0] }).count == 3)
  }

  @Test("garbage before, between and after costs only itself")
  func garbage() {
    var lexer = PacketLexer()
    // Half a packet of each protocol, and bytes that begin like one.
    let parts: [[UInt8]] = [
      [0xB5, 0x62, 0xFF], Array("$GPG".utf8), [0x00, 0xD3, 0xFF], Self.gga, [0xB5, 0xB5], Self.ack,
    ]
    let stream = Array(parts.joined())
    stream.withUnsafeBytes { lexer.append($0, at: now) }
    var count = 0
    while lexer.next(at: now) != nil { count += 1 }
    #expect(count == 2)
    #expect(lexer.counters.garbage > 0)
  }

  @Test("a tag block before a sentence is no garbage, wherever the reads split")
  func tagBlocks() {
    // The XOR of `s:GP0001,n:12`.
    let sum = "s:GP0001,n:12".utf8.reduce(UInt8(0)) { $0 ^ $1 }
    let block = Array("\\s:GP0001,n:12*\(String(sum, radix: 16))\\".utf8)
    let text = block + Self.gga + block + Self.gga
    for cut in 0...text.count {
      #expect(kinds([Array(text[..<cut]), Array(text[cut...])]) == [.nmea, .nmea], "\(cut)")
    }
    var lexer = PacketLexer()
    text.withUnsafeBytes { lexer.append($0, at: now) }
    while lexer.next(at: now) != nil {}
    #expect(lexer.counters.garbage == 4, "the two line ends")
    #expect(lexer.counters.badChecksums == 0)
    // One that is damaged, or has no end, costs itself.
    var damaged = block
    damaged[3] ^= 1
    #expect(kinds([damaged + Self.gga]) == [.nmea])
    let endless = [UInt8(ascii: "\\")] + [UInt8](repeating: 65, count: 300)
    #expect(kinds([endless + Self.gga]) == [.nmea])
    #expect(kinds([[UInt8(ascii: "\\"), 0] + Self.gga]) == [.nmea])
  }

  @Test(
    "a log's remark is none of its sentences, wherever the reads split; within a line a # is nothing"
  )
  func remarks() {
    let text = Array("# Sample: ".utf8) + Self.gga + Array("#".utf8) + Self.ack + Self.gga
    for cut in 0...text.count {
      #expect(
        kinds([Array(text[..<cut]), Array(text[cut...])]) == [
          .ubx(messageClass: 5, id: 1), .nmea,
        ], "\(cut)")
    }
    #expect(kinds(text.map { [$0] }).count == 2)
    #expect(kinds([Array("x# ".utf8) + Self.gga]).count == 1)
    // Without an end it is none.
    #expect(kinds([Array("#".utf8) + [UInt8](repeating: 32, count: 600) + Self.gga]).count == 1)
  }

  // The example of UNIHEADINGA in Unicore's N4 manual.
  static let log = Array((UnicoreLogTests.manual + "\r\n").utf8)

  @Test("logs come out whole wherever the reads split, at the beginning of a line and within one")
  func logs() {
    let stream = Self.log + Self.gga + Self.rtcm + Self.log + Self.ack + Self.log
    let whole: [PacketProtocol] = [.log, .nmea, .log, .ubx(messageClass: 5, id: 1), .log]
    for cut in 0...stream.count {
      #expect(kinds([Array(stream[..<cut]), Array(stream[cut...])]) == whole, "\(cut)")
    }
    #expect(kinds(stream.map { [$0] }) == whole)
  }

  @Test("a log that is cut anywhere hides no sentence and no other log")
  func cutLogs() {
    for cut in 0..<Self.log.count - 2 {
      let half = Array(Self.log[..<cut])
      // Cut within its name it is a remark, and what its line goes on with is an example.
      let isRemark = (1...12).contains(cut)
      #expect(kinds([half + Self.gga + Self.log]) == (isRemark ? [.log] : [.nmea, .log]), "\(cut)")
      #expect(kinds([half + Self.log + Self.gga]).suffix(1) == [.nmea], "\(cut)")
    }
  }

  @Test("of the first characters of a log each is a capital or a digit, four at least")
  func logNames() {
    let name = Array("UNIHEADINGA".utf8)
    let rest = Array(",1;2".utf8)
    func line(_ content: [UInt8]) -> [UInt8] {
      UnicoreLogTests.log(String(decoding: content, as: UTF8.self))
    }
    for place in name.indices {
      for byte in UInt8(0x20)...0x7E where byte != UInt8(ascii: ",") {
        var changed = name
        changed[place] = byte
        let isName = (65...90).contains(byte) || (48...57).contains(byte)
        #expect(kinds([line(changed + rest)]) == (isName ? [.log] : []), "\(byte) at \(place)")
      }
    }
    for count in 0...4 {
      #expect(kinds([line(Array(name.prefix(count)) + rest)]) == (count < 4 ? [] : [.log]))
    }
    #expect(kinds([line(name + [59, 50])]).isEmpty)
  }

  @Test("a log has eight digits, in either case, directly before the end of its line")
  func logEnds() {
    let line = Array(Self.log.dropLast(2))
    let upper = Array(
      String(decoding: line, as: UTF8.self).split(separator: "*")[1].uppercased().utf8)
    #expect(kinds([Array(line.dropLast(8)) + upper + [10]]) == [.log])
    for end in [[UInt8(32), 13], [UInt8(ascii: "0"), 13], [UInt8(ascii: "g"), 13]] {
      #expect(kinds([line + end]).isEmpty)
      #expect(kinds([Array(line.dropLast()) + end]).isEmpty)
    }
    // Longer than one that is read, and one that never ends.
    let long = "BESTSATA,1;" + String(repeating: "1,", count: 300)
    #expect(kinds([UnicoreLogTests.log(long) + Self.gga]) == [.nmea])
    let endless = Array("#UNIHEADINGA,".utf8) + [UInt8](repeating: 49, count: 4_000)
    #expect(kinds([endless, Self.gga]) == [.nmea])
    #expect(kinds([Array("#".utf8) + [UInt8](repeating: 65, count: 4_000), Self.gga]) == [.nmea])
    #expect(kinds([Array("x#UNI\u{7F},1;2".utf8) + Self.gga]) == [.nmea])
  }

  @Test("a wrong check sum gives no packet, in any byte of any protocol")
  func checksums() {
    for packet in [Self.gga, Self.ack, Self.log] {
      for index in packet.indices.dropFirst().dropLast(2) {
        var damaged = packet
        damaged[index] ^= 0x01
        // A receiver that writes check sums is told by its first sentence.
        #expect(kinds([Self.gga, damaged + [10]]) == [.nmea], "byte \(index)")
      }
    }
  }

  // Of the five characters of an address each may be a capital or a digit ("P5HDT" of a maker, "GNG1A"), and no other.
  @Test(
    "a sentence without a check sum is taken by its address of capitals and digits, and no other")
  func addresses() {
    let address = Array("GPGGA".utf8)
    for place in address.indices {
      for byte in UInt8(0x20)...0x7E where !"*,$#".utf8.contains(byte) {
        var changed = address
        changed[place] = byte
        let isAddress = (65...90).contains(byte) || (48...57).contains(byte)
        let sentence = Array("$".utf8) + changed + Array(",1,2\r\n".utf8)
        #expect(kinds([sentence]) == (isAddress ? [.nmea] : []), "\(byte) at \(place)")
      }
    }
    #expect(kinds([Array("$GPGG,1,2,3\r\n".utf8)]).isEmpty)
  }

  @Test("a megabyte of noise is survived, and the next packet found")
  func noise() {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    var lexer = PacketLexer()
    for _ in 0..<512 {
      let chunk: [UInt8] = (0..<2_048).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
      }
      chunk.withUnsafeBytes { lexer.append($0, at: now) }
      while lexer.next(at: now) != nil {}
    }
    // What looked like the beginning of a long message must not swallow the next ones for ever.
    var found = false
    for _ in 0..<64 {
      Self.gga.withUnsafeBytes { lexer.append($0, at: now) }
      while let packet = lexer.next(at: now) { if packet.kind == .nmea { found = true } }
    }
    #expect(found)
  }

  // Bit 3 of the length's high byte: 92 become 2,140, in which more than twenty later epochs would lie.
  @Test(
    "a wrong length holds what is behind it for a second, and each packet has the time of its first byte"
  )
  func wrongLength() {
    var damaged = Stream.pvt(second: 0)
    damaged[5] ^= 0x08
    var lexer = PacketLexer()
    var found: [(received: Double, at: Double)] = []
    // An epoch every 0.2 s, its bytes in two pieces 10 ms apart; looked at every 50 ms besides.
    for tick in 0..<60 {
      let now = Timestamp(seconds: Double(tick) * 0.05)
      func take(_ bytes: ArraySlice<UInt8>, at time: Timestamp) {
        bytes.withUnsafeBytes { lexer.append($0, at: time) }
        while let packet = lexer.next(at: time) {
          found.append((packet.received.seconds, time.seconds))
        }
      }
      take([], at: now)
      guard tick % 4 == 0 else { continue }
      let bytes = tick == 0 ? damaged : Stream.pvt(second: tick / 4)
      take(bytes[..<40], at: now)
      take(bytes[40...], at: now.advanced(bySeconds: 0.01))
    }
    #expect(lexer.counters.unfinished == 1)
    #expect(found.count == 14)
    for (index, packet) in found.enumerated() {
      #expect(abs(packet.received - Double(index + 1) * 0.2) < 1e-9)
      let late = packet.at - packet.received
      #expect(late < 1.06 && (packet.at < 1.06 || late < 0.011), "epoch \(index): \(late) s late")
    }
  }

  @Test(
    "a sentence or a message that never ends is given up after a second, one that takes its time is not"
  )
  func unfinished() {
    for beginning in [Array("$GPGGA,123519,48".utf8), [0xB5, 0x62, 1], [0xD3, 0, 0x13]] {
      var lexer = PacketLexer()
      beginning.withUnsafeBytes { lexer.append($0, at: Timestamp(seconds: 5)) }
      #expect(lexer.next(at: Timestamp(seconds: 6)) == nil)
      #expect(lexer.room == 8_192 - beginning.count)
      #expect(lexer.next(at: Timestamp(seconds: 6.001)) == nil)
      #expect(lexer.room == 8_192)
    }
    var lexer = PacketLexer()
    var packet: GNSSPacket?
    for (index, byte) in Self.gga.enumerated() {
      let time = Timestamp(seconds: 5 + Double(index) * 0.014)
      withUnsafeBytes(of: byte) { lexer.append($0, at: time) }
      packet = packet ?? lexer.next(at: time)
    }
    #expect(packet?.received == Timestamp(seconds: 5))
  }

  @Test("every byte keeps the time at which it came, however it comes and whatever has gone before")
  func arrivals() {
    var dice = Dice(seed: 11)
    var arrivals = Arrivals()
    // What the bytes in a buffer are, the plain way: a time each.
    var times: [Timestamp] = []
    for step in 0..<5_000 {
      let time = Timestamp(nanoseconds: Int64(step) * 1_000_000)
      arrivals.add(place: times.count, time)
      times += [Timestamp](repeating: time, count: dice.next(4))
      guard !times.isEmpty, dice.next(3) == 0 else { continue }
      let gone = dice.next(times.count + 1)
      for place in 0..<gone { #expect(arrivals.time(of: place) == times[place]) }
      arrivals.removeFirst(gone)
      times.removeFirst(gone)
    }
    // More than it has marks for: never later than it was, and the order stays.
    var full = Arrivals()
    for place in 0..<10_000 { full.add(place: place, Timestamp(nanoseconds: Int64(place))) }
    var before = Timestamp(nanoseconds: 0)
    for place in 0..<10_000 {
      let time = full.time(of: place)
      #expect(time >= before && time.nanoseconds <= Int64(place))
      before = time
    }
  }

  @Test(
    "bytes that begin a long frame every few bytes are passed over after a while, are counted, and hide nothing later",
    arguments: [
      [0xD3, 0x03, 0xFF], [0x24, 0x40, 0x00, 0x10], [0xB5, 0x62, 0x01, 0x07, 0xE0, 0x0F],
      [0xF1, 0xD9, 0x01, 0x07, 0xE0, 0x0F],
    ] as [[UInt8]])
  func flood(pattern: [UInt8]) {
    var lexer = PacketLexer()
    let piece = (0..<1_020).map { pattern[$0 % pattern.count] }
    func take(_ bytes: [UInt8], at time: Timestamp) -> Int {
      bytes.withUnsafeBytes { lexer.append($0, at: time) }
      var count = 0
      while lexer.next(at: time) != nil { count += 1 }
      return count
    }
    var packets = 0
    for _ in 0..<200 { packets += take(piece, at: now) }
    #expect(packets == 0 && lexer.counters.unchecked > 100_000)
    // Each check was of the length that is claimed, less its frame.
    let length = pattern.count == 3 ? 1_023 : 4_064
    let checked = Int(lexer.counters.badChecksums) * length
    #expect(checked <= CheckCredit.atOnce + CheckCredit.perByte * 200 * piece.count + 5_000)
    let later = now.advanced(bySeconds: 2)
    _ = take([UInt8](repeating: 0, count: 4_100), at: later)
    #expect(take(Self.gga + Self.ack, at: later) == 2)
  }

  // Each of them looks at hundreds of bytes for its end, and the next one begins within them.
  @Test(
    "beginnings of text and of TSIP that have no end are passed over after a while, are counted, and hide nothing later",
    arguments: [
      ("$", reach: 255), ("$GPGGA,1*00,", reach: 255), ("#BESTPOSA,", reach: 511),
      ("#MODE,", reach: 511), ("\u{10}A\u{10}", reach: 398),
    ] as [(String, reach: Int)])
  func endless(pattern: String, reach: Int) {
    var lexer = PacketLexer()
    let pattern = Array(pattern.utf8)
    let piece = (0..<6_000).map { pattern[$0 % pattern.count] }
    func take(_ bytes: [UInt8], at time: Timestamp) -> Int {
      bytes.withUnsafeBytes { lexer.append($0, at: time) }
      var count = 0
      while lexer.next(at: time) != nil { count += 1 }
      return count
    }
    for _ in 0..<100 { #expect(take(piece, at: now) == 0) }
    let counters = lexer.counters
    #expect(counters.garbage > 595_000 && counters.overflow == 0)
    // Each beginning that was looked at cost `reach` bytes.
    let looks = Int(counters.garbage - counters.unchecked) / pattern.count
    #expect(looks > 256)
    #expect(looks * reach <= CheckCredit.atOnce + CheckCredit.perByte * 100 * piece.count)
    let later = now.advanced(bySeconds: 2)
    _ = take([UInt8](repeating: 0, count: 600), at: later)
    #expect(take(Self.gga + Self.ack, at: later) == 2)
  }

  @Test("a sentence of every length ends at its first byte that is no text, whatever that is")
  func sentenceEnds() {
    for length in 0...40 {
      let content = (0..<length).map { UInt8(ascii: "A") + UInt8($0 % 26) }
      for place in 0...length {
        for byte in [UInt8(0), 9, 10, 13, 31, 32, 42, 126, 127, 128, 159, 170, 255] {
          var text = content
          text.insert(byte, at: place)
          // The plain way, byte by byte.
          let end = text.firstIndex { $0 < 32 || $0 > 126 } ?? text.count
          let star = text[..<end].lastIndex(of: UInt8(ascii: "*"))
          let sum = text[..<(text[..<end].firstIndex(of: UInt8(ascii: "*")) ?? end)].reduce(
            UInt8(0), ^)
          let found = text.withUnsafeBufferPointer { PrintableText($0, 0..<text.count) }
          #expect(found.end == end && found.star == star && found.sum == sum, "\(text)")
        }
      }
    }
  }
}
