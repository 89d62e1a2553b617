// Finds whole, checked packets in a byte stream that mixes NMEA 0183 (with tag blocks), UBX, SBF, TSIP, SkyTraq's and Allystar's binary
// messages, RTCM 3, Unicore's ASCII logs and garbage.
//
// Reads split anywhere, streams begin in the middle, rates can be wrong: nothing is believed before its
// check sum fits. A packet that does not fit costs one byte, not its claimed length, and one whose end does not
// come in time as well.

public import SensorTypes

/// One packet, by its place in the lexer's buffer; valid until the next call of the lexer.
public struct GNSSPacket: Sendable, Hashable {
  /// The protocol.
  public var kind: PacketProtocol
  /// The place of its content in the buffer.
  public var range: Range<Int>
  /// When its first byte arrived.
  public var received: Timestamp
}

/// The protocol.
public enum PacketProtocol: Sendable, Hashable {
  /// A sentence: `range` covers what stands between `$` and `*`.
  case nmea
  /// A UBX message: `range` covers the payload.
  case ubx(messageClass: UInt8, id: UInt8)
  /// A log of Unicore: `range` covers what stands between `#` and `*`.
  case log
  /// A block of Septentrio's SBF, by its number without the revision: `range` covers what follows the header.
  case sbf(block: UInt16)
  /// A packet of Trimble's TSIP: `range` covers all of it, with its frame.
  case tsip
  /// A message of SkyTraq: `range` covers the payload, which begins with its identifier and is not empty.
  case skyTraq
  /// A message of Allystar: `range` covers the payload.
  case allystar(messageClass: UInt8, id: UInt8)
}

/// An incremental lexer with a buffer of fixed size.
public struct PacketLexer: Sendable {
  /// What the buffer holds at most; several of the longest packets.
  static let capacity = 8_192
  /// The longest UBX payload and the longest block of SBF that are waited for: a NAV-SIG of 250 signals.
  static let longestPayload = 4_096
  /// The longest sentence: the standard says 82, receivers say more.
  static let longestSentence = 256
  /// The longest log of Unicore that is read, and the longest line of a remark in a file.
  static let longestLine = 512
  /// The characters of a log's name at least: `MODE`.
  static let shortestName = 4
  /// The longest tag block (`\s:GP0001,n:12*hh\`): the standard says 80, with the backslashes.
  static let longestTagBlock = 128
  /// Seconds that a packet may take from its first byte to its last: receivers send each in one go, and at 9600 baud
  /// these are 960 bytes. What takes longer has lost its end, or claims a length that is not its own, and may hide
  /// whole packets.
  static let patience = 1.0

  private(set) var buffer: [UInt8] = []
  private(set) var start = 0
  /// Whether the byte before the first of the buffer ended a line.
  private(set) var beginsLine = true
  private var arrivals = Arrivals()
  /// Whether this receiver writes check sums: then a sentence without one is a damaged one.
  private(set) var sendsChecksums = false
  private var isFinished = false
  /// Whether this receiver speaks TSIP, which has no check sum.
  private(set) var speaksTSIP = false
  /// Where the newest row of plausible packets of TSIP ended, and whether a long one was among them.
  private(set) var rowOfTSIP = TSIPRow()
  private var credit = CheckCredit()
  /// The place in the buffer of the packet that `next` returned last, with its frame and check sum; of a sentence and of a log without the
  /// end of the line.
  package private(set) var frame = 0..<0
  /// What happened so far.
  public private(set) var counters = PacketCounters()

  /// Makes an empty lexer.
  public init() { buffer.reserveCapacity(Self.capacity) }

  /// Takes bytes that arrived at `time`. Call `next` until it gives `nil` before more arrive than fit.
  public mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp) {
    if start > 0 {
      beginsLine = Self.endsLine(buffer[start - 1])
      buffer.removeFirst(start)
      arrivals.removeFirst(start)
      rowOfTSIP.end -= start
      start = 0
    }
    arrivals.add(place: buffer.count, time)
    let room = Self.capacity - buffer.count
    if bytes.count > room { counters.overflow &+= UInt64(bytes.count - room) }
    buffer.append(contentsOf: bytes.prefix(room))
    credit.arrived(min(room, bytes.count))
  }

  /// Nothing more will come: what still waits for its end has none, and may hide whole packets.
  public mutating func finish() { isFinished = true }

  /// How many more bytes `append` would take.
  public var room: Int { Self.capacity - (buffer.count - start) }

  /// Lends the bytes of a packet.
  public func withBytes<Result>(
    _ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    buffer.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
  }

  /// The next packet, or `nil` until more bytes come or what is under way has taken too long at `now`.
  public mutating func next(at now: Timestamp) -> GNSSPacket? {
    while start < buffer.count {
      let received = arrivals.time(of: start)
      guard !credit.isUsedUp else {
        counters.unchecked &+= 1
        counters.garbage &+= 1
        start += 1
        continue
      }
      switch look(received) {
      case .packet(let packet, let length):
        counters.packets &+= 1
        if packet.kind == .nmea, buffer[packet.range.upperBound] == UInt8(ascii: "*") {
          sendsChecksums = true
        }
        if case .tsip = packet.kind { speaksTSIP = true } else { speaksTSIP = false }
        frame = start..<start + length
        start += length
        return packet
      case .plausible(let length, let hasLong):
        credit.spend(length)
        rowOfTSIP = TSIPRow(end: start + length, hasLong: hasLong)
        counters.garbage &+= 1
        start += 1
      case .skip(let length):
        counters.skipped &+= 1
        start += length
      case .tagBlock(let length): start += length
      case .remark(let length):
        counters.garbage &+= UInt64(length)
        start += length
      case .incomplete:
        let isLate = now.seconds(since: received) > Self.patience
        guard isLate || isFinished else { return nil }
        if isLate { counters.unfinished &+= 1 }
        counters.garbage &+= 1
        start += 1
      case .garbage:
        counters.garbage &+= 1
        start += 1
      case .rejected(let length):
        credit.spend(length)
        counters.garbage &+= 1
        start += 1
      case .badChecksum(let length):
        credit.spend(length)
        counters.badChecksums &+= 1
        counters.garbage &+= 1
        start += 1
      }
    }
    return nil
  }

  enum PacketFinding {
    case packet(GNSSPacket, length: Int)
    case skip(length: Int)
    /// What may be a packet of TSIP. It hides nothing: the bytes in it are looked at as well.
    case plausible(length: Int, hasLong: Bool)
    case tagBlock(length: Int)
    case remark(length: Int)
    case incomplete
    case garbage
    /// The bytes are no packet. The number is how many were examined to find that out.
    case rejected(Int)
    /// The bytes that were checked.
    case badChecksum(Int)
  }

  private func look(_ received: Timestamp) -> PacketFinding {
    switch buffer[start] {
    case UInt8(ascii: "$") where isBlock: block(received)
    case UInt8(ascii: "$"), UInt8(ascii: "!"): sentence(received)
    case 0xB5: message(second: 0x62, received) { .ubx(messageClass: $0, id: $1) }
    case SkyTraqFrame.first: skyTraq(received)
    case 0xF1: allystar(received)
    case TSIPFrame.dle: trimble(received)
    case UInt8(ascii: "\\"): tagBlock()
    case RTCMFrameCheck.preamble: rtcm()
    case UInt8(ascii: "#"): line(received)
    default: .garbage
    }
  }

  /// A message of UBX, or of another protocol with its frame, by its second byte.
  func message(
    second: UInt8, _ received: Timestamp,
    kind: (_ messageClass: UInt8, _ id: UInt8) -> PacketProtocol
  ) -> PacketFinding {
    let available = buffer.count - start
    if available > 1, buffer[start + 1] != second { return .garbage }
    guard available >= 6 else { return .incomplete }
    let length = Int(buffer[start + 4]) | Int(buffer[start + 5]) << 8
    guard length <= Self.longestPayload else { return .garbage }
    guard available >= length + 8 else { return .incomplete }
    var (a, b): (UInt8, UInt8) = (0, 0)
    for index in start + 2..<start + 6 + length {
      a &+= buffer[index]
      b &+= a
    }
    guard a == buffer[start + 6 + length], b == buffer[start + 7 + length] else {
      return .badChecksum(length)
    }
    return .packet(
      GNSSPacket(
        kind: kind(buffer[start + 2], buffer[start + 3]),
        range: start + 6..<start + 6 + length, received: received), length: length + 8)
  }
}

/// Counters; they only grow.
public struct PacketCounters: Sendable, Hashable {
  /// Whole, valid packets.
  public var packets: UInt64 = 0
  /// Sentences and messages whose check sum did not fit.
  public var badChecksums: UInt64 = 0
  /// Bytes that belonged to nothing.
  public var garbage: UInt64 = 0
  /// RTCM messages, skipped whole.
  public var skipped: UInt64 = 0
  /// Sentences and messages whose end did not come within a second.
  public var unfinished: UInt64 = 0
  /// Bytes that were passed over without a look, because too many before them were looked at in vain.
  public var unchecked: UInt64 = 0
  /// Bytes that arrived while the buffer was full, and were lost.
  public var overflow: UInt64 = 0

  /// Makes counters at zero.
  public init() {}
}
