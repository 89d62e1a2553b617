public import SensorTypes

/// From bytes to epochs: whatever mixture of NMEA, UBX, SBF, TSIP and Unicore's logs a receiver sends, one fix an epoch. Of SkyTraq's and
/// Allystar's binary messages what receivers say of themselves and of commands is read.
///
/// It says what the receiver says: an epoch without a fix comes as one with `mode == .none`. Constant
/// memory, and no allocation once the buffers stand.
public struct GNSSDecoder: Sendable {
  private var rollover: WeekRollover?
  private var lexer = PacketLexer()
  private var nmea: NMEADecoder
  private var ubx: UBXEpoch
  private var sbf = SBFEpoch()
  private var tsip = TSIPEpoch()
  private var merger = EpochMerger()
  private var ubxSky = SkyAssembler()
  /// When the newest bytes arrived, and when the packet that is decoded did.
  private var newest = Timestamp(nanoseconds: 0)
  private var received = Timestamp(nanoseconds: 0)
  /// UTC of the newest solution between two epochs (HNR-PVT): the epoch's own comes after some of them.
  private var lastBetween: Double?
  /// The number of wrong checksums that the satellites in use were judged with.
  private var knownDamage: UInt64 = 0
  private var events: [GNSSEvent] = []
  private var head = 0
  private var hasUBXSky = false

  /// Makes a decoder.
  ///
  /// - Parameters:
  ///   - endsByRule: Whether an epoch of several sentences, or messages, may come out with the one that has ended
  ///     all those before it. It is what a live compass wants; where nobody waits, each epoch ends with the next
  ///     one's beginning, whatever a receiver leaves out now and then.
  ///   - earliest: Seconds since 1970-01-01 before which no epoch can be: what a receiver dates earlier has lost a
  ///     multiple of 1024 weeks, which are added to the date of a fix that the receiver vouches for, and said in
  ///     `GNSSFix.weeksAdded`. `nil` believes every date.
  ///   - talker: The two letters of a talker whose source alone counts, where several are on one wire; any constellation's stands for
  ///     a receiver. `nil` follows the better source, and reports the others.
  ///   - latest: Seconds since 1970-01-01 after which no epoch can be: a date before `earliest` that lost weeks would move beyond is left
  ///     out. `nil` where nobody knows.
  public init(
    endsByRule: Bool = true, talker: String? = nil, earliest: Double? = nil, latest: Double? = nil
  ) {
    nmea = NMEADecoder(
      endsByRule: endsByRule,
      talker: talker.map { $0.utf8.prefix(2).reduce(0) { $0 << 8 | UInt16($1) } })
    rollover = earliest.map { WeekRollover(earliest: $0, latest: latest) }
    ubx = UBXEpoch(rollover: rollover, endsByRule: endsByRule)
    events.reserveCapacity(16)
  }

  /// Counters of packets, check sums, garbage.
  public var counters: PacketCounters { lexer.counters }

  /// The satellites of the last whole round, in the order in which they were said.
  public var satellites: [GNSSSatellite] { hasUBXSky ? ubxSky.satellites : nmea.sky.satellites }

  /// Who the receiver has said that it is.
  public private(set) var identity = ReceiverIdentity()

  /// What the receiver reports of its antenna, of the signals, and of the next leap second.
  public private(set) var condition = ReceiverCondition()

  /// Forgets a survey that was reported, so that the next report is news, even if it says the same.
  package mutating func forgetSurvey() { condition.survey = nil }

  /// How many bytes `append` takes now.
  public var room: Int { lexer.room }

  /// Says anew after which moment no epoch can be: see `init`.
  public mutating func setLatest(_ seconds: Double?) {
    rollover?.latest = seconds
    ubx.rollover = rollover
  }

  /// Takes bytes that arrived at `time`. Call `next` until it gives `nil` before more than `room` come.
  public mutating func append(_ bytes: UnsafeRawBufferPointer, at time: Timestamp) {
    newest = time
    lexer.append(bytes, at: time)
  }

  /// The next thing said, or `nil` until more bytes come.
  ///
  /// - Parameter now: When it is asked, by which what lacks its end is judged; without it, when the newest bytes came.
  public mutating func next(at now: Timestamp? = nil) -> GNSSEvent? {
    guard head < events.count || decodeNext(at: now) else { return nil }
    guard head < events.count else { return .message }
    return takeEvent()
  }

  /// Returns the next event other than `message`, or `nil` until more bytes come. Most packets yield only `message`, so that this is the
  /// fastest way to read long logs.
  ///
  /// - Parameter now: When it is asked, by which what lacks its end is judged; without it, when the newest bytes came.
  public mutating func nextReport(at now: Timestamp? = nil) -> GNSSEvent? {
    while head == events.count {
      guard decodeNext(at: now) else { return nil }
    }
    return takeEvent()
  }

  /// Decodes the next packet, once all events are taken. Returns whether there was one; it may have no event.
  private mutating func decodeNext(at now: Timestamp?) -> Bool {
    events.removeAll(keepingCapacity: true)
    head = 0
    guard let packet = lexer.next(at: now ?? newest) else { return false }
    decode(packet)
    return true
  }

  private mutating func takeEvent() -> GNSSEvent {
    head += 1
    return events[head - 1]
  }

  /// Ends what is under way, at the end of a file; then call `next` until it gives `nil`.
  public mutating func finish() {
    // A file may end in a sentence without its line end.
    withUnsafeBytes(of: (UInt8(13), UInt8(10))) { lexer.append($0, at: newest) }
    lexer.finish()
    while let packet = lexer.next(at: newest) { decode(packet) }
    noteDamage()
    ubx.endAll()
    drainUBX()
    sbf.end()
    drainSBF()
    tsip.close()
    drainTSIP()
    nmea.epochs.close()
    nmea.sky.finish()
    ubxSky.finish()
    drainNMEA()
    merger.finish()
    drainMerger()
    drainSky()
  }

  private mutating func noteDamage() {
    guard lexer.counters.badChecksums != knownDamage else { return }
    knownDamage = lexer.counters.badChecksums
    nmea.sky.noteDamage()
  }

  private mutating func decode(_ packet: GNSSPacket) {
    noteDamage()
    received = packet.received
    // The buffer alone: a closure that changes the decoder would have the whole lexer copied.
    let buffer = lexer.buffer
    buffer.withUnsafeBufferPointer {
      take(packet, UnsafeBufferPointer(rebasing: $0[packet.range]))
    }
    drainSky()
  }

  private mutating func take(_ packet: GNSSPacket, _ bytes: UnsafeBufferPointer<UInt8>) {
    switch packet.kind {
    case .nmea:
      let begun = nmea.epochs.begun
      nmea.decode(bytes, received: received)
      if nmea.epochs.begun != begun {
        if let time = nmea.epochs.timeOfDay {
          ubx.finish(before: time)
          drainUBX()
          sbf.finish(before: time)
          drainSBF()
        }
        merger.nmeaBegan()
      }
      drainNMEA()
    case .log:
      nmea.decode(log: bytes, received: received)
      drainNMEA()
    case .ubx(let messageClass, let id):
      let before = condition
      message(messageClass, id, bytes)
      UBXDecoder.condition(messageClass: messageClass, id: id, bytes, into: &condition)
      drainUBX()
      if condition != before { events.append(.condition) }
    case .sbf(let block):
      SBFDecoder.decode(block: block, bytes, received: received, into: &sbf)
      drainSBF()
    case .tsip:
      if let report = TSIPFrame.report(of: packet.range, in: lexer) {
        tsip.take(report, received: received)
        drainTSIP()
      }
    case .skyTraq: take(SkyTraqDecoder.notice(bytes, into: &identity))
    case .allystar(let messageClass, let id):
      take(
        AllystarDecoder.notice(messageClass: messageClass, id: id, bytes, into: &identity))
    }
  }

  private mutating func message(
    _ messageClass: UInt8, _ id: UInt8, _ bytes: UnsafeBufferPointer<UInt8>
  ) {
    switch (messageClass, id) {
    case (UBXDecoder.navigation, 0x07):
      takeHeading(messageClass, id, bytes)
      guard let fix = UBXDecoder.epoch(pvt: bytes, received: received) else { return }
      ubx.take(pvt: fix, timeOfWeek: UBXDecoder.Payload(bytes: bytes).u4(0))
    case (0x28, 0x00):
      guard let fix = UBXDecoder.epoch(hnr: bytes, received: received) else { return }
      lastBetween = fix.utc
      merge(fix, isPVT: true)
    case (UBXDecoder.navigation, 0x05), (UBXDecoder.navigation, 0x3C),
      (UBXDecoder.navigation, 0x45), (0x28, 0x01):
      takeHeading(messageClass, id, bytes)
    case (UBXDecoder.navigation, 0x61): ubx.close()  // NAV-EOE: the epoch is over
    case (UBXDecoder.navigation, let id):
      if UBXDecoder.satellites(id: id, bytes, into: &ubxSky) {
        // One message is all of them, unless another with more signals of the same epoch follows.
        if id != 0x35 { ubxSky.finish() }
        return
      }
      UBXDecoder.decode(id: id, bytes, received: received, state: &ubx)
      ubx.settle()
    case (0x05, 0...1) where bytes.count >= 2:
      let command = Int(bytes[0]) << 8 | Int(bytes[1])
      events.append(.answer(ReceiverAnswer(.ubx, command, id == 1 ? .accepted : .refused)))
    default:
      if UBXDecoder.identity(messageClass: messageClass, id: id, bytes, into: &identity) {
        events.append(.identity)
      }
    }
  }

  private mutating func takeHeading(
    _ messageClass: UInt8, _ id: UInt8, _ bytes: UnsafeBufferPointer<UInt8>
  ) {
    if let heading = UBXDecoder.heading(
      messageClass: messageClass, id: id, bytes, received: received)
    {
      events.append(.heading(heading))
    }
  }

  private mutating func drainUBX() {
    while ubx.hasEnded, let (fix, isPVT) = ubx.next() {
      ubxSky.finish()
      // A solution between two epochs has told of this moment, or a later one, before.
      if let utc = fix.utc, let lastBetween, utc <= lastBetween, lastBetween - utc < 2 { continue }
      merge(fix, isPVT: isPVT)
    }
  }

  private mutating func drainSBF() {
    while sbf.hasHeading, let heading = sbf.nextHeading() { events.append(.heading(heading)) }
    while sbf.hasEnded, let fix = sbf.next() { merge(fix, isPVT: false) }
  }

  private mutating func drainTSIP() {
    while let fix = tsip.next() { merge(fix, isPVT: false) }
  }

  private mutating func merge(_ fix: GNSSFix, isPVT: Bool) {
    // What NMEA alone has told of comes before.
    if let time = merger.timeToCloseBefore(fix, isPVT: isPVT, nmea.epochs) {
      nmea.epochs.close(before: time)
      drainNMEA()
    }
    merger.take(ubx: fix, isPVT: isPVT, nmea.epochs)
    drainMerger()
  }

  private mutating func drainMerger() {
    while let (epoch, isPVT) = merger.next() {
      var fix = epoch
      if let rollover, fix.weeksAdded == 0, fix.canBeDated, let utc = fix.utc {
        let weeks = rollover.weeks(lostBy: utc)
        if weeks > 0 {
          fix.utc = utc + seconds(weeks: weeks)
          fix.weeksAdded = weeks
        } else if utc < rollover.earliest {
          // No lost weeks make it a date that can be: the time of day alone is left.
          fix.utc = nil
        }
      }
      events.append(.epoch(fix, isPVT: isPVT))
    }
  }

  private mutating func drainNMEA() {
    if let word = nmea.word {
      nmea.word = nil
      if case .identity = word { identity = nmea.identity }
      take(word)
    }
    if nmea.choice.hasNews {
      nmea.choice.hasNews = false
      events.append(
        .ignored(
          talkers: nmea.choice.ignored.map { talker in
            let letters = [talker >> 8, talker].map { UInt8(truncatingIfNeeded: $0) }
            return String(decoding: letters, as: UTF8.self)
          }))
    }
    if case .some = nmea.heading, let heading = nmea.heading {
      nmea.heading = nil
      events.append(.heading(heading))
    }
    while nmea.epochs.hasEnded, let fix = nmea.epochs.next() {
      nmea.sky.finish()
      merger.take(nmea: fix)
      drainMerger()
    }
  }

  private mutating func take(_ notice: ReceiverNotice?) {
    switch notice {
    case nil: break
    case .answer(let answer)?: events.append(.answer(answer))
    case .restarted?: events.append(.restarted)
    case .antenna(let antenna)?:
      if condition.antenna != antenna {
        condition.antenna = antenna
        events.append(.condition)
      }
    case .identity?: events.append(.identity)
    }
  }

  private mutating func drainSky() {
    if ubxSky.takeFinished() {
      hasUBXSky = true
      events.append(.sky)
    }
    if nmea.sky.takeFinished(), !hasUBXSky { events.append(.sky) }
  }
}

/// Something that came out of the bytes.
public enum GNSSEvent: Sendable, Hashable {
  /// An epoch; `isPVT` when it came whole: in one UBX NAV-PVT, or in the messages that together say the same.
  case epoch(GNSSFix, isPVT: Bool)
  /// Which way something is turned.
  case heading(ReceiverHeading)
  /// All satellites were said: `satellites` has them.
  case sky
  /// The receiver said who it is: `identity` has it.
  case identity
  /// The answer to a command.
  case answer(ReceiverAnswer)
  /// The receiver has just started, and has its own settings.
  case restarted
  /// The receiver reports something new of its antenna, of the signals or of the next leap second: `condition` has it.
  case condition
  /// Other sources of positions are on the wire. The talkers are all those whose positions are not read now.
  case ignored(talkers: [String])
  /// A valid packet that is none of them.
  case message
}
