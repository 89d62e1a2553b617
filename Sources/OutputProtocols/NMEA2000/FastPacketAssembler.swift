// Fast packets of other nodes, put together again.

package import SensorTypes

/// Puts frames of fast packets together, of a bounded number of packets at once.
///
/// Frames of a packet come in order. One that is missing, doubled or late ends its packet, which is counted in `dropped`.
package struct FastPacketAssembler: Sendable {
  /// Packets that are put together at once; the oldest gives way.
  package static let limit = 8
  /// The time in seconds that a packet may take.
  package static let timeout = 0.75

  private struct Packet {
    var source: UInt8
    var pgn: UInt32
    var sequence: UInt8
    var total: Int
    var bytes: [UInt8]
    var next: UInt8
    var start: Timestamp
  }

  private var packets: [Packet] = []
  /// Packets that were begun and not ended.
  package private(set) var dropped: UInt64 = 0

  package init() {}

  /// The number of packets that have begun.
  package var count: Int { packets.count }

  /// Takes a frame; returns the payload where the frame completes a packet.
  package mutating func take(
    _ frame: CANFrame, _ header: NMEA2000Header, at now: Timestamp
  ) -> [UInt8]? {
    expire(at: now)
    guard let first = frame.byte(0) else { return nil }
    let (sequence, index) = (first >> 5, first & 0x1F)
    let place = packets.firstIndex { $0.source == header.source && $0.pgn == header.pgn }
    if index == 0 {
      if let place { drop(place) }
      return begin(frame, header, sequence, at: now)
    }
    guard let place else { return nil }
    guard packets[place].sequence == sequence, packets[place].next == index else {
      drop(place)
      return nil
    }
    let missing = packets[place].total - packets[place].bytes.count
    packets[place].bytes += frame.bytes.dropFirst().prefix(missing)
    packets[place].next += 1
    if packets[place].bytes.count == packets[place].total {
      return packets.remove(at: place).bytes
    }
    // A frame in the middle that is not full leaves a gap, and index 31 is the last one.
    if frame.count < CANFrame.capacity || index == 31 { drop(place) }
    return nil
  }

  private mutating func begin(
    _ frame: CANFrame, _ header: NMEA2000Header, _ sequence: UInt8, at now: Timestamp
  ) -> [UInt8]? {
    guard let size = frame.byte(1), (1...NMEA2000Message.largestFast).contains(Int(size)) else {
      return nil
    }
    let total = Int(size)
    let bytes = Array(frame.bytes.dropFirst(2).prefix(total))
    if bytes.count == total { return bytes }
    guard frame.count == CANFrame.capacity else { return nil }
    if packets.count >= Self.limit { drop(0) }
    packets.append(
      Packet(
        source: header.source, pgn: header.pgn, sequence: sequence, total: total, bytes: bytes,
        next: 1, start: now))
    return nil
  }

  private mutating func expire(at now: Timestamp) {
    let before = packets.count
    packets.removeAll { !(0...Self.timeout).contains(now.seconds(since: $0.start)) }
    dropped += UInt64(before - packets.count)
  }

  private mutating func drop(_ place: Int) {
    packets.remove(at: place)
    dropped += 1
  }
}
