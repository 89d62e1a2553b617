public import SensorTypes

/// From bytes to epochs: whatever mixture of NMEA and UBX a receiver sends, one fix an epoch.
///
/// It says what the receiver says: an epoch without a fix comes as one with `mode == .none`. Constant
/// memory, and no allocation once the buffer stands.
public struct GNSSDecoder: Sendable {
  /// Something that came out of the bytes.
  public enum Event: Sendable, Hashable {
    /// An epoch; `isPVT` when it came whole, in one UBX NAV-PVT.
    case epoch(GNSSFix, isPVT: Bool)
    /// The answer to a UBX configuration message.
    case answer(accepted: Bool, messageClass: UInt8, id: UInt8)
    /// A valid packet that is neither.
    case message
  }

  private var lexer = PacketLexer()
  private var assembler = EpochAssembler()
  private var ubx = UBXEpoch()
  private var received = Timestamp(nanoseconds: 0)
  /// Times of day of the newest epochs by either protocol: a receiver that sends both says each epoch
  /// twice, and the better one (UBX) counts.
  private var lastUBX: Double?
  private var nmeaSinceUBX = 0
  private var pending: Event?

  /// Makes a decoder.
  public init() {}

  /// Counters of packets, check sums, garbage.
  public var counters: PacketLexer.Counters { lexer.counters }

  /// How many bytes `append` takes now.
  public var room: Int { lexer.room }

  /// Takes bytes that arrived at `time`. Call `next` until it gives `nil` before more than `room` come.
  public mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp) {
    received = time
    lexer.append(bytes)
  }

  /// The next thing said, or `nil` until more bytes come.
  public mutating func next() -> Event? {
    if let event = pending {
      pending = nil
      return event
    }
    while let packet = lexer.next() {
      let event = decode(packet)
      if let fix = ubx.next() {
        pending = event == .message ? nil : event
        return epoch(ubx: fix, isPVT: false)
      }
      if let fix = assembler.next(), let event = epoch(nmea: fix) { return event }
      if let event { return event }
    }
    return nil
  }

  /// Ends what is under way, at the end of a file; then call `next` once more.
  public mutating func finish() {
    // A file may end in a sentence without its line end.
    withUnsafeBytes(of: (UInt8(13), UInt8(10))) { lexer.append($0) }
    while let packet = lexer.next() {
      _ = decode(packet)
      if let fix = assembler.next(), pending == nil { pending = epoch(nmea: fix) }
    }
    ubx.close()
    assembler.close()
    if pending == nil, let fix = ubx.next() { pending = epoch(ubx: fix, isPVT: false) }
    if pending == nil, let fix = assembler.next() { pending = epoch(nmea: fix) }
  }

  private mutating func decode(_ packet: GNSSPacket) -> Event? {
    let received = self.received
    switch packet.kind {
    case .nmea:
      var assembler = self.assembler
      _ = lexer.withBytes(packet.range) {
        NMEADecoder.decode($0, received: received, into: &assembler)
      }
      self.assembler = assembler
      return .message
    case .ubx(UBXDecoder.navigation, 0x07):
      guard
        let fix = lexer.withBytes(packet.range, { UBXDecoder.epoch(pvt: $0, received: received) })
      else { return .message }
      return epoch(ubx: fix, isPVT: true)
    case .ubx(0x28, 0x00):
      guard
        let fix = lexer.withBytes(packet.range, { UBXDecoder.epoch(hnr: $0, received: received) })
      else { return .message }
      return epoch(ubx: fix, isPVT: true)
    case .ubx(UBXDecoder.navigation, 0x61):
      ubx.close()  // NAV-EOE: the epoch is over
      return .message
    case .ubx(UBXDecoder.navigation, let id):
      var state = ubx
      _ = lexer.withBytes(packet.range) {
        UBXDecoder.decode(id: id, $0, received: received, state: &state)
      }
      ubx = state
      return .message
    case .ubx(0x05, let id) where packet.range.count >= 2 && id <= 1:
      return lexer.withBytes(packet.range) {
        .answer(accepted: id == 1, messageClass: $0[0], id: $0[1])
      }
    case .ubx: return .message
    }
  }

  private mutating func epoch(ubx fix: GNSSFix, isPVT: Bool) -> Event {
    lastUBX = fix.timeOfDay
    nmeaSinceUBX = 0
    return .epoch(fix, isPVT: isPVT)
  }

  private mutating func epoch(nmea fix: GNSSFix) -> Event? {
    // Three NMEA epochs without one of UBX: it has fallen silent, and NMEA counts again.
    nmeaSinceUBX += 1
    guard lastUBX == nil || nmeaSinceUBX > 3 else { return nil }
    return .epoch(fix, isPVT: false)
  }
}
