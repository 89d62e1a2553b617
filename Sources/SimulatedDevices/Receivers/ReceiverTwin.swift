// A GNSS receiver: epochs out, configuration in, at the pace of its line.

public import SensorTypes

/// The twin of a receiver, on one of its ports.
///
/// It sends NMEA at 1 Hz until told otherwise. Those of u-blox answer UBX-CFG-VALSET, CFG-VALGET,
/// CFG-MSG, CFG-RATE, CFG-PRT, CFG-CFG, CFG-RST and MON-VER as their generation does.
public struct ReceiverTwin: Sendable {
  /// What kind of receiver.
  public enum Model: String, Sendable, Hashable {
    /// Generation 8: no VALSET (it is answered by ACK-NAK).
    case ubloxM8
    /// Generation 9: VALSET and the older messages.
    case ubloxM9
    /// Generation 10: VALSET only.
    case ubloxM10
    /// NMEA only; what is sent to it is not heard.
    case nmea

    /// The rate of the serial port after power-on, bits a second.
    public var defaultBaudRate: Int {
      switch self {
      case .ubloxM8, .nmea: 9600
      case .ubloxM9, .ubloxM10: 38400
      }
    }
  }

  /// Which port of the receiver is connected.
  public enum Link: Sendable, Hashable {
    /// Serial: bytes come at the line's pace.
    case uart
    /// I2C (DDC): bytes wait in a buffer.
    case i2c
  }

  let model: Model
  let link: Link
  private let source: any TruthSource
  private let seed: UInt64
  private let isExact: Bool
  private let powerOnBaudRate: Int

  private(set) var configuration: ReceiverConfiguration
  private var output = ByteQueue(capacity: 4096)
  /// On I2C, the messages in the queue: what is left of each, and since when it waits.
  private var waiting: [Waiting] = []
  private var builder = MessageBuilder()
  private var parser = FrameParser()
  /// When the first byte of the queue has arrived completely, nanoseconds.
  private var headArrives: Int64 = 0
  private var nextEpoch = Int64.max
  private var epoch: UInt64 = 0
  private var now: Int64 = 0
  private var poweredAt: Int64 = 0
  private var knowsTime = false

  private struct Waiting: Sendable {
    var bytes: Int
    var since: Int64
  }

  /// From the epoch to the first byte of its messages: the time to compute a solution.
  private static let latency: Int64 = 40_000_000
  /// After power-on: the time to the first message, and to a fix where there is one to be had.
  private static let startUp: Int64 = 300_000_000
  private static let hotStart: Int64 = 2_000_000_000

  /// Makes a receiver that is not powered yet: call `powerOn`. One that `isExact` says the truth to the
  /// last digit of its messages: what a sweep needs.
  public init(
    _ model: Model, link: Link, source: any TruthSource, seed: UInt64 = 0, baudRate: Int? = nil,
    isExact: Bool = false
  ) {
    self.model = model
    self.link = link
    self.source = source
    self.seed = seed
    self.isExact = isExact
    powerOnBaudRate = max(1200, baudRate ?? model.defaultBaudRate)
    configuration = ReceiverConfiguration(model, baudRate: powerOnBaudRate)
  }

  /// The rate of the serial port now, bits a second.
  public var baudRate: Int { configuration.baudRate }

  /// Applies power at `time`: default configuration, nothing to send yet.
  public mutating func powerOn(at time: Timestamp) {
    configuration = ReceiverConfiguration(model, baudRate: powerOnBaudRate)
    dropOutput()
    parser = FrameParser()
    now = time.nanoseconds
    poweredAt = now
    knowsTime = false
    scheduleEpochs(after: now &+ Self.startUp)
  }

  /// Epochs lie on whole multiples of their period in UTC.
  private mutating func scheduleEpochs(after time: Int64) {
    let utc = source.truth(at: Timestamp(nanoseconds: time)).utc * 1000
    let period = Double(configuration.epochPeriod)
    let wait = period - utc.truncatingRemainder(dividingBy: period)
    // The start of UTC is a whole second, so the boundary is exact to the nanosecond after rounding to
    // the microsecond.
    nextEpoch = time &+ Int64((wait * 1000).rounded()) &* 1000
  }

  private var byteTime: Int64 { 10_000_000_000 / Int64(configuration.baudRate) }

  /// Lives up to `time`: computes epochs and queues their messages.
  public mutating func advance(to time: Timestamp) {
    now = max(now, time.nanoseconds)
    while nextEpoch &+ Self.latency <= now {
      let period = Int64(configuration.epochPeriod) &* 1_000_000
      // Nobody read for long: the buffer is full and epochs get lost, all but the newest.
      if output.free < 512 {
        let late = (now &- Self.latency &- nextEpoch) / period
        nextEpoch &+= late &* period
        epoch &+= UInt64(late)
      }
      send(epochAt: nextEpoch)
      nextEpoch &+= period
      epoch &+= 1
    }
  }

  private func solution(at time: Int64) -> ReceiverSolution {
    var truth = source.truth(at: Timestamp(nanoseconds: time))
    if time &- poweredAt < Self.hotStart { truth.hasFix = false }
    return ReceiverSolution(
      truth: truth, knowsTime: knowsTime || truth.hasFix, isExact: isExact, seed: seed,
      epoch: epoch)
  }

  private mutating func send(epochAt time: Int64) {
    let solution = solution(at: time)
    knowsTime = solution.knowsTime
    if configuration.sendsNMEA {
      for sentence in MessageBuilder.Sentence.allCases {
        let rate = UInt64(configuration.sentenceRates[sentence.rawValue])
        guard rate > 0, epoch % rate == 0 else { continue }
        builder.write(sentence, solution, isCombined: model != .nmea)
        queue(at: time &+ Self.latency)
      }
    }
    let rate = UInt64(configuration.positionRate)
    if configuration.sendsUBX, rate > 0, epoch % rate == 0 {
      builder.writePVT(solution)
      queue(at: time &+ Self.latency)
    }
  }

  /// Queues the finished message; one that does not fit whole is lost, as in the real buffer.
  private mutating func queue(at time: Int64) {
    if output.count == 0 { headArrives = time &+ byteTime }
    let before = output.count
    output.append(builder.bytes)
    guard link == .i2c, output.count > before else { return }
    waiting.append(Waiting(bytes: output.count - before, since: time))
  }

  /// How many bytes have arrived by `time`.
  public func available(at time: Timestamp) -> Int {
    guard output.count > 0, link == .uart else { return output.count }
    guard time.nanoseconds >= headArrives else { return 0 }
    return Int(min(Int64(output.count), (time.nanoseconds &- headArrives) / byteTime &+ 1))
  }

  /// Takes the next byte that has arrived by `time`.
  public mutating func takeByte(at time: Timestamp) -> UInt8? {
    guard available(at: time) > 0 else { return nil }
    headArrives &+= byteTime
    if let first = waiting.first {
      if first.bytes > 1 { waiting[0].bytes -= 1 } else { waiting.removeFirst() }
    }
    return output.takeFirst()
  }

  /// Forgets what has arrived and was not read.
  mutating func dropArrived(at time: Timestamp) {
    while takeByte(at: time) != nil {}
  }

  /// Forgets everything that is waiting.
  mutating func dropOutput() {
    output.removeAll()
    waiting.removeAll(keepingCapacity: true)
  }

  /// Forgets, on I2C, the messages that have waited since `time` or longer.
  mutating func dropWaiting(since time: Timestamp) {
    while let first = waiting.first, first.since <= time.nanoseconds {
      for _ in 0..<first.bytes { _ = output.takeFirst() }
      waiting.removeFirst()
    }
  }

  /// When there will be something to read: at once if there is; else when a stretch of about 16 bytes,
  /// the depth of a UART's buffer, or all of a message has come.
  func nextArrival(after time: Timestamp) -> Timestamp {
    if available(at: time) > 0 { return time }
    if output.count > 0 {
      let stretch = Int64(min(output.count, 16) - 1)
      return Timestamp(nanoseconds: headArrives &+ (link == .uart ? stretch &* byteTime : 0))
    }
    return Timestamp(
      nanoseconds: nextEpoch &+ Self.latency &+ (link == .uart ? 16 &* byteTime : 0))
  }

  /// Hears one byte from the host.
  public mutating func receive(_ byte: UInt8, at time: Timestamp) {
    advance(to: time)
    guard configuration.takesUBX, parser.take(byte) else { return }
    answer()
  }

  private mutating func reply(_ isAccepted: Bool) {
    builder.writeAcknowledge(isAccepted, parser.messageClass, parser.identity)
    queueReply()
  }

  private mutating func queueReply() {
    guard configuration.sendsUBX else { return }
    // Some milliseconds to think.
    queue(at: now &+ 5_000_000)
  }

  private mutating func answer() {
    let isLegacyAllowed = model != .ubloxM10
    switch (parser.messageClass, parser.identity) {
    case (0x0A, 0x04):
      builder.writeVersion(model)
      queueReply()
    case (0x01, 0x07) where parser.length == 0:
      builder.writePVT(solution(at: now))
      queueReply()
    case (0x06, 0x8A): reply(model != .ubloxM8 && applyValueSet())
    case (0x06, 0x8B):
      if model == .ubloxM8 { reply(false) } else { answerValueGet() }
    case (0x06, 0x01) where isLegacyAllowed: reply(applyMessageRate())
    case (0x06, 0x08) where isLegacyAllowed: answerRate()
    case (0x06, 0x00) where isLegacyAllowed: answerPort()
    case (0x06, 0x09): reply(parser.length == 12 || parser.length == 13)
    // A reset is not acknowledged.
    case (0x06, 0x04): powerOn(at: Timestamp(nanoseconds: now))
    case (0x06, _): reply(false)
    default: break
    }
  }

  /// UBX-CFG-VALSET: all items or none.
  private mutating func applyValueSet() -> Bool {
    guard parser.length >= 4, parser[0] <= 1 else { return false }
    var next = configuration
    var offset = 4
    var items = 0
    while offset < parser.length {
      guard items < 64, offset + 4 <= parser.length else { return false }
      let key = UInt32(truncatingIfNeeded: parser.number(at: offset, bytes: 4))
      let size = Self.valueSize(key)
      guard size > 0, offset + 4 + size <= parser.length,
        let item = ReceiverConfiguration.item(key, link: link),
        next.set(item, to: parser.number(at: offset + 4, bytes: size))
      else { return false }
      offset += 4 + size
      items += 1
    }
    // Bit 0 of the layers is RAM; the others matter after a power cycle only, which loses them here.
    if parser[1] & 0x01 != 0 { adopt(next) }
    return true
  }

  /// Bytes of a value by the size in its key.
  private static func valueSize(_ key: UInt32) -> Int {
    switch key >> 28 & 7 {
    case 1, 2: 1
    case 3: 2
    case 4: 4
    case 5: 8
    default: 0
    }
  }

  private mutating func adopt(_ next: ReceiverConfiguration) {
    let hasNewRate = next.epochPeriod != configuration.epochPeriod
    configuration = next
    if hasNewRate { scheduleEpochs(after: now) }
  }

  /// UBX-CFG-VALGET of single keys in RAM.
  private mutating func answerValueGet() {
    guard parser.length >= 8, (parser.length - 4) % 4 == 0, parser[0] == 0 else {
      return reply(false)
    }
    builder.beginUBX(0x06, 0x8B)
    builder.append(1, bytes: 1)
    builder.append(Int64(parser[1]), bytes: 1)
    builder.append(0, bytes: 2)
    for offset in stride(from: 4, to: parser.length, by: 4) {
      let key = UInt32(truncatingIfNeeded: parser.number(at: offset, bytes: 4))
      guard let item = ReceiverConfiguration.item(key, link: link), Self.valueSize(key) > 0 else {
        return reply(false)
      }
      builder.append(Int64(key), bytes: 4)
      builder.append(
        Int64(bitPattern: configuration.value(of: item)), bytes: Self.valueSize(key))
    }
    builder.endUBX()
    queueReply()
    reply(true)
  }

  /// UBX-CFG-MSG: a rate for this port (3 bytes) or for all six (8 bytes).
  private mutating func applyMessageRate() -> Bool {
    guard parser.length == 3 || parser.length == 8 else { return false }
    let rate = parser.length == 3 ? parser[2] : parser[link == .i2c ? 2 : 3]
    switch (parser[0], parser[1]) {
    case (0x01, 0x07): configuration.positionRate = rate
    case (0x01, _): break
    case (0xF0, let identity):
      if let sentence = ReceiverConfiguration.sentence(identity) {
        configuration.sentenceRates[sentence.rawValue] = rate
      }
    default: return false
    }
    return true
  }

  private mutating func answerRate() {
    if parser.length == 0 {
      builder.beginUBX(0x06, 0x08)
      builder.append(Int64(configuration.measurementPeriod), bytes: 2)
      builder.append(Int64(configuration.navigationRatio), bytes: 2)
      builder.append(1, bytes: 2)
      builder.endUBX()
      queueReply()
      return reply(true)
    }
    var next = configuration
    guard parser.length == 6,
      next.set(.measurementPeriod, to: parser.number(at: 0, bytes: 2)),
      next.set(.navigationRatio, to: parser.number(at: 2, bytes: 2))
    else { return reply(false) }
    adopt(next)
    reply(true)
  }

  /// UBX-CFG-PRT: protocols and line rate. The answer leaves at the new rate.
  private mutating func answerPort() {
    let port: UInt8 = link == .i2c ? 0 : 1
    if parser.length <= 1 {
      builder.beginUBX(0x06, 0x00)
      builder.append(Int64(port), bytes: 1)
      builder.append(0, bytes: 3)
      builder.append(link == .i2c ? 0x84 : 0x8C0, bytes: 4)
      builder.append(link == .i2c ? 0 : Int64(configuration.baudRate), bytes: 4)
      builder.append(configuration.takesUBX ? 3 : 2, bytes: 2)
      builder.append(
        (configuration.sendsUBX ? 1 : 0) | (configuration.sendsNMEA ? 2 : 0), bytes: 2)
      builder.append(0, bytes: 4)
      builder.endUBX()
      queueReply()
      return reply(true)
    }
    guard parser.length == 20 else { return reply(false) }
    // Another port than ours: accepted, and nothing to do with us.
    guard parser[0] == port else { return reply(true) }
    var next = configuration
    if link == .uart, !next.set(.baudRate, to: parser.number(at: 8, bytes: 4)) {
      return reply(false)
    }
    next.takesUBX = parser[12] & 0x01 != 0
    next.sendsUBX = parser[14] & 0x01 != 0
    next.sendsNMEA = parser[14] & 0x02 != 0
    adopt(next)
    reply(true)
  }
}
