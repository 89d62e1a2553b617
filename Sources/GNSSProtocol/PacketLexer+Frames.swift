// The frames of Septentrio's SBF, of Trimble's TSIP, of RTCM 3, and of SkyTraq's and Allystar's binary messages in the lexer's buffer.

import SensorTypes

extension PacketLexer {
  /// Whether the dollar here begins a block of SBF, `$@`: no sentence does.
  var isBlock: Bool { start + 1 < buffer.count && buffer[start + 1] == SBFFrame.second }

  func block(_ received: Timestamp) -> PacketFinding {
    switch withBytes(start..<buffer.count, { SBFFrame.check($0) }) {
    case .incomplete: .incomplete
    case .garbage: .garbage
    case .badChecksum(let length): .badChecksum(length)
    case .whole(let block, let length):
      .packet(
        GNSSPacket(
          kind: .sbf(block: block), range: start + SBFFrame.header..<start + length,
          received: received), length: length)
    }
  }

  /// The second long plausible packet of TSIP in a row without a gap is believed, and from there on whatever has its frame.
  func trimble(_ received: Timestamp) -> PacketFinding {
    if start + 1 < buffer.count, !speaksTSIP, !TSIPReport.isKnown(buffer[start + 1]) {
      return .garbage
    }
    switch withBytes(start..<buffer.count, { TSIPFrame.check($0) }) {
    case .incomplete: return .incomplete
    case .garbage(let length): return .rejected(length)
    case .whole(let length):
      let packet = GNSSPacket(kind: .tsip, range: start..<start + length, received: received)
      guard !speaksTSIP else { return .packet(packet, length: length) }
      guard TSIPFrame.report(of: packet.range, in: self) != nil else {
        return .rejected(length)
      }
      // Short ones come by chance; between long ones they do not matter.
      let (isLong, isInRow) = (length >= TSIPFrame.longLength, rowOfTSIP.end == start)
      if isLong, isInRow, rowOfTSIP.hasLong { return .packet(packet, length: length) }
      return .plausible(length: length, hasLong: isLong || isInRow && rowOfTSIP.hasLong)
    }
  }

  func skyTraq(_ received: Timestamp) -> PacketFinding {
    switch withBytes(start..<buffer.count, { SkyTraqFrame.check($0) }) {
    case .incomplete: .incomplete
    case .garbage: .garbage
    case .badChecksum(let length): .badChecksum(length)
    case .whole(let length):
      .packet(
        GNSSPacket(
          kind: .skyTraq,
          range: start + SkyTraqFrame.header..<start + length + SkyTraqFrame.header
            - SkyTraqFrame.overhead, received: received), length: length)
    }
  }

  func rtcm() -> PacketFinding {
    switch withBytes(start..<buffer.count, { RTCMFrameCheck.check($0) }) {
    case .incomplete: .incomplete
    case .garbage: .garbage
    case .badChecksum(let length): .badChecksum(length)
    case .whole(let length): .skip(length: length)
    }
  }

  /// Allystar's messages have the frame of UBX with other first bytes.
  func allystar(_ received: Timestamp) -> PacketFinding {
    message(second: 0xD9, received) { .allystar(messageClass: $0, id: $1) }
  }
}
