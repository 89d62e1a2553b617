// What a receiver has sent, for clients of gpsd that watch raw data (gpsd_json(5), "?WATCH": `raw`).

import GNSSProtocol
package import SensorTypes

/// Bytes of a receiver, as clients with `"raw":1` and with `"raw":2` get them. Both are cut into pieces that fit into what waits for a
/// client.
package struct GPSDRawData: Hashable, Sendable {
  /// For level 1: sentences and logs as they are, each with CR LF, and binary messages as a line of hexadecimal digits. A piece is a whole
  /// number of lines.
  package var lines: [[UInt8]] = []
  /// For level 2: every byte as it came.
  package var verbatim: [[UInt8]] = []

  package init(lines: [[UInt8]] = [], verbatim: [[UInt8]] = []) {
    (self.lines, self.verbatim) = (lines, verbatim)
  }
}

/// Makes raw data for clients of the bytes of one receiver.
///
/// Level 1 has the messages whose check sums fit, in the protocols that Lodestone reads. RTCM is not in it, as in gpsd's. Level 2 also has
/// what came at a wrong rate of the line.
package struct GPSDRawReader: Sendable {
  /// The number of bytes from which on a piece is closed.
  static let longestPiece = 4_096

  private var lexer = PacketLexer()

  package init() {}

  /// Takes what a receiver has sent.
  ///
  /// - Parameters:
  ///   - time: When it came.
  ///   - wantsLines: Whether a client wants level 1.
  ///   - wantsBytes: Whether a client wants level 2.
  package mutating func take(
    _ bytes: [UInt8], at time: Timestamp, wantsLines: Bool, wantsBytes: Bool
  ) -> GPSDRawData {
    var data = GPSDRawData()
    var rest = bytes[...]
    while wantsBytes, !rest.isEmpty {
      let piece = rest.prefix(Self.longestPiece)
      data.verbatim.append(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    guard wantsLines else {
      // A client that comes later gets no message whose beginning came long before.
      lexer = PacketLexer()
      return data
    }
    rest = bytes[...]
    var lines: [UInt8] = []
    repeat {
      let piece = rest.prefix(lexer.room)
      piece.withUnsafeBytes { lexer.append($0, at: time) }
      rest = rest.dropFirst(piece.count)
      while let packet = lexer.next(at: time) {
        append(packet, to: &lines)
        guard lines.count >= Self.longestPiece else { continue }
        data.lines.append(lines)
        lines = []
      }
    } while !rest.isEmpty && lexer.room > 0
    if !lines.isEmpty { data.lines.append(lines) }
    return data
  }

  private func append(_ packet: GNSSPacket, to lines: inout [UInt8]) {
    let isText =
      switch packet.kind {
      case .nmea, .log: true
      case .ubx, .sbf, .tsip, .skyTraq, .allystar: false
      }
    lexer.withBytes(lexer.frame) { bytes in
      if isText {
        lines += bytes
      } else {
        for byte in bytes {
          lines.append(Self.digit(byte >> 4))
          lines.append(Self.digit(byte & 15))
        }
      }
    }
    lines += [13, 10]
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
  }
}
