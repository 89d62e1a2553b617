// What a client of gpsd gets of a receiver's own bytes.

import SensorTypes
import Testing

@testable import OutputProtocols

struct GPSDRawDataTests {
  /// The empty poll of UBX-MON-VER, whose check sum u-blox prints: B5 62 0A 04 00 00 0E 34.
  private static let poll: [UInt8] = [0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34]
  /// The example of NMEA 0183 that manuals of receivers print.
  private static let sentence =
    "$GPGGA,092750.000,5321.6802,N,00630.3372,W,1,8,1.03,61.7,M,55.2,M,,*76"
  /// An RTCM frame without content (its CRC is that of RTCM 10403): neither text nor a message that is shown.
  private static let frame: [UInt8] = [0xD3, 0, 0, 0x47, 0xEA, 0x4B]

  private static func text(_ data: GPSDRawData) -> String {
    String(decoding: data.lines.joined(), as: UTF8.self)
  }

  private static func take(
    _ reader: inout GPSDRawReader, _ bytes: [UInt8], at seconds: Double = 0
  ) -> GPSDRawData {
    reader.take(bytes, at: Timestamp(seconds: seconds), wantsLines: true, wantsBytes: true)
  }

  @Test("level 1 has sentences as they are and binary messages in hexadecimal, level 2 every byte")
  func levels() {
    var reader = GPSDRawReader()
    let bytes = [0x00, 0xFF] + Self.poll + Array((Self.sentence + "\r\n").utf8) + Self.frame
    let data = Self.take(&reader, bytes)
    #expect(Self.text(data) == "b5620a0400000e34\r\n\(Self.sentence)\r\n")
    #expect(Array(data.verbatim.joined()) == bytes)
  }

  @Test("a message that comes in pieces is one line, and one that is cut short is none")
  func pieces() {
    var reader = GPSDRawReader()
    var lines = ""
    for byte in Self.poll { lines += Self.text(Self.take(&reader, [byte])) }
    #expect(lines == "b5620a0400000e34\r\n")
    #expect(Self.text(Self.take(&reader, Array(Self.poll.prefix(5)))) == "")
    #expect(
      Self.text(Self.take(&reader, Array((Self.sentence + "\r\n").utf8), at: 5))
        == "\(Self.sentence)\r\n")
  }

  @Test("only the levels that somebody watches are made")
  func unwatched() {
    var reader = GPSDRawReader()
    let now = Timestamp(seconds: 0)
    let bytes = reader.take(Self.poll, at: now, wantsLines: false, wantsBytes: true)
    #expect(bytes == GPSDRawData(verbatim: [Self.poll]))
    let lines = reader.take(Self.poll, at: now, wantsLines: true, wantsBytes: false)
    #expect(lines == GPSDRawData(lines: [Array("b5620a0400000e34\r\n".utf8)]))
  }

  @Test("much at once is cut into pieces that wait for a client, and none is lost")
  func much() {
    var reader = GPSDRawReader()
    let bytes = Array(repeating: Self.poll, count: 4_000).flatMap { $0 }
    let data = Self.take(&reader, bytes)
    #expect(Self.text(data) == String(repeating: "b5620a0400000e34\r\n", count: 4_000))
    #expect(Array(data.verbatim.joined()) == bytes)
    for piece in data.lines + data.verbatim { #expect(piece.count < 16_384) }
    for line in data.lines { #expect(line.suffix(2) == [13, 10]) }
  }

  @Test("any bytes are taken")
  func noise() {
    var reader = GPSDRawReader()
    var seed: UInt64 = 38
    for second in 0..<200 {
      let bytes = (0..<500).map { _ -> UInt8 in
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: seed >> 56)
      }
      let data = Self.take(&reader, bytes, at: Double(second))
      #expect(Array(data.verbatim.joined()) == bytes)
    }
  }
}
