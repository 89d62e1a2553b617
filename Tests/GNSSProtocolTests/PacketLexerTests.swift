import GNSSProtocol
import SensorTypes
import Testing

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

  private func kinds(_ chunks: [[UInt8]]) -> [GNSSPacket.Kind] {
    var lexer = PacketLexer()
    var kinds: [GNSSPacket.Kind] = []
    for chunk in chunks {
      chunk.withUnsafeBytes { lexer.append($0) }
      while let packet = lexer.next() { kinds.append(packet.kind) }
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
    let stream: [UInt8] =
      [0xB5, 0x62, 0xFF] + Array("$GPG".utf8) + [0x00, 0xD3, 0xFF] + Self.gga + [0xB5, 0xB5]
      + Self.ack
    stream.withUnsafeBytes { lexer.append($0) }
    var count = 0
    while lexer.next() != nil { count += 1 }
    #expect(count == 2)
    #expect(lexer.counters.garbage > 0)
  }

  @Test("a wrong check sum gives no packet, in any byte of any protocol")
  func checksums() {
    for packet in [Self.gga, Self.ack] {
      for index in packet.indices.dropFirst().dropLast(2) {
        var damaged = packet
        damaged[index] ^= 0x01
        // A receiver that writes check sums is told by its first sentence.
        #expect(kinds([Self.gga, damaged + [10]]) == [.nmea], "byte \(index)")
      }
    }
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
      chunk.withUnsafeBytes { lexer.append($0) }
      while lexer.next() != nil {}
    }
    // What looked like the beginning of a long message must not swallow the next ones for ever.
    var found = false
    for _ in 0..<64 {
      Self.gga.withUnsafeBytes { lexer.append($0) }
      while let packet = lexer.next() { if packet.kind == .nmea { found = true } }
    }
    #expect(found)
  }
}
