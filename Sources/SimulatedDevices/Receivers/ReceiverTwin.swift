// A GNSS receiver: epochs out, configuration in, at the pace of its line.

package import SensorTypes

/// The twin of a receiver, on one of its ports.
///
/// It sends NMEA at 1 Hz until told otherwise. Those of u-blox answer UBX-CFG-VALSET, CFG-VALGET,
/// CFG-MSG, CFG-RATE, CFG-PRT, CFG-NAV5, CFG-CFG, CFG-RST, RXM-PMREQ and MON-VER as their generation does, the others
/// the sentences of their makers (`SentenceCommands`), lines (`ReceiverTwin+Unicore`) or binary messages (`ReceiverTwin+SkyTraq`,
/// `ReceiverTwin+Allystar`).
package struct ReceiverTwin: Sendable {
  /// Which port of the receiver is connected.
  package enum Link: Sendable, Hashable {
    /// Serial: bytes come at the line's pace.
    case uart
    /// I2C (DDC): bytes wait in a buffer.
    case i2c
  }

  let model: ReceiverTwinModel
  let link: Link
  private let source: any TruthSource
  private let seed: UInt64
  private let isExact: Bool
  private let powerOnBaudRate: Int
  /// Of a rover whose base moves with it: the angle from the body's y axis to the line from base to rover, radians clockwise seen
  /// from above.
  let antennas: Double?
  /// An interval of fixes that was set and counts after a restart, milliseconds.
  var pendingFixInterval: Int?
  /// The survey of its place as a base station.
  var survey = SimulatedSurvey()
  var baseConduct = BaseConduct()
  /// What a wrong ambiguity turns its heading by, radians.
  package var headingError = 0.0
  /// What it reports of its antenna and its surroundings.
  package var condition = SimulatedCondition()
  /// Whether its MON-VER has a hardware version that nobody knows, as those of copies do.
  package var hidesGeneration = false
  /// Of SkyTraq and Allystar: commands that its firmware refuses, or passes over, by identifier and sub-identifier.
  package var refusedCommands: Set<Int> = []
  package var silentCommands: Set<Int> = []

  var configuration: ReceiverConfiguration
  private var output = ByteQueue(capacity: 4096)
  /// On I2C, the messages in the queue: what is left of each, and since when it waits.
  private var waiting: [Waiting] = []
  var builder = MessageBuilder()
  var parser: FrameParser
  var skyTraq = SkyTraqParser()
  var sentence = SentenceParser()
  private var corrections = CorrectionInput()
  var line = LineParser()
  /// Whether it sleeps until something comes in.
  private(set) var isAsleep = false
  /// It sleeps as soon as the answer to that has left.
  var sleepsNext = false
  /// When the first byte of the queue has arrived completely, nanoseconds.
  private var headArrives: Int64 = 0
  private var nextEpoch = Int64.max
  private var epoch: UInt64 = 0
  private(set) var now: Int64 = 0
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
  package init(
    _ model: ReceiverTwinModel, link: Link, source: any TruthSource, seed: UInt64 = 0,
    baudRate: Int? = nil, antennas: Double? = nil, isExact: Bool = false
  ) {
    self.antennas = antennas
    self.model = model
    self.link = link
    self.source = source
    self.seed = seed
    self.isExact = isExact
    parser = FrameParser(sync: model.sync)
    powerOnBaudRate = max(1200, baudRate ?? model.defaultBaudRate)
    configuration = ReceiverConfiguration(model, baudRate: powerOnBaudRate)
  }

  /// The rate of the serial port now, bits a second.
  package var baudRate: Int { configuration.baudRate }

  /// Applies power at `time`: default configuration, nothing to send yet.
  package mutating func powerOn(at time: Timestamp) {
    configuration = ReceiverConfiguration(model, baudRate: powerOnBaudRate)
    dropOutput()
    (parser, skyTraq) = (FrameParser(sync: model.sync), SkyTraqParser())
    corrections = CorrectionInput()
    now = time.nanoseconds
    poweredAt = now
    knowsTime = false
    (isAsleep, sleepsNext, pendingFixInterval, survey) = (false, false, nil, SimulatedSurvey())
    scheduleEpochs(after: now &+ Self.startUp)
    if model == .mediaTek { greet() }
    if model == .quectel { greetQuectel() }
  }

  /// Nothing is sent and nothing computed any more.
  mutating func fallAsleep() {
    isAsleep = true
    nextEpoch = .max
    dropOutput()
  }

  /// What comes in wakes it, and is lost itself. A u-blox receiver's RAM was without power.
  private mutating func wakeUp() {
    guard !model.isUBlox else { return powerOn(at: Timestamp(nanoseconds: now)) }
    isAsleep = false
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
  package mutating func advance(to time: Timestamp) {
    now = max(now, time.nanoseconds)
    if sleepsNext, output.count == 0 || link == .i2c {
      sleepsNext = false
      fallAsleep()
    }
    while !isAsleep, nextEpoch &+ Self.latency <= now {
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

  func solution(at time: Int64) -> ReceiverSolution {
    var truth = source.truth(at: Timestamp(nanoseconds: time))
    if time &- poweredAt < Self.hotStart { truth.hasFix = false }
    return ReceiverSolution(
      truth: truth, knowsTime: knowsTime || truth.hasFix, isExact: isExact, seed: seed,
      epoch: epoch, corrections: corrections.use(at: time))
  }

  private mutating func send(epochAt time: Int64) {
    var solution = solution(at: time)
    knowsTime = solution.knowsTime
    applyBaseMode(to: &solution)
    if configuration.sendsNMEA {
      for sentence in model.sentences where isDue(sentence, solution) {
        builder.write(
          sentence, solution, isCombined: model != .nmea && model != .mediaTek)
        queue(at: time &+ Self.latency)
      }
    }
    if model == .unicore { sendLogs(solution, at: time &+ Self.latency) }
    if model == .quectel { sendQuectel(solution, at: time &+ Self.latency) }
    if model == .skyTraq { sendSkyTraq(solution, at: time &+ Self.latency) }
    guard configuration.sendsUBX else { return }
    if isDue(configuration.positionRate) {
      builder.writePVT(solution, length: model.generation == 7 ? 84 : 92)
      queue(at: time &+ Self.latency)
    }
    if let antennas, isDue(configuration.relativeRate) {
      builder.writeRelativePosition(solution, line: antennas + headingError)
      queue(at: time &+ Self.latency)
    }
    if let antennas, isDue(configuration.antennaRate) {
      builder.writeAntennaHeading(solution, line: antennas + headingError)
      queue(at: time &+ Self.latency)
    }
    if isDue(configuration.surveyRate) {
      builder.writeSurvey(solution, survey, configuration.baseMode)
      queue(at: time &+ Self.latency)
    }
    if isDue(configuration.satelliteRate) {
      builder.writeSatellites(solution)
      queue(at: time &+ Self.latency)
    }
    for part in SimulatedPart.allCases where isDue(configuration.partRates[part.rawValue]) {
      builder.write(part, solution, condition)
      queue(at: time &+ Self.latency)
    }
    if isDue(configuration.hardwareRate) {
      builder.writeHardware(condition, length: (model.generation ?? 8) <= 6 ? 68 : 60)
      queue(at: time &+ Self.latency)
    }
    if isDue(configuration.radioRate) {
      builder.writeRadio(condition)
      queue(at: time &+ Self.latency)
    }
  }

  /// Whether a message that comes with every so many epochs comes with this one.
  func isDue(_ rate: UInt8) -> Bool { rate > 0 && epoch % UInt64(rate) == 0 }

  /// Queues the finished message; one that does not fit whole is lost, as in the real buffer.
  mutating func queue(at time: Int64) {
    if output.count == 0 { headArrives = time &+ byteTime }
    let before = output.count
    output.append(builder.bytes)
    guard link == .i2c, output.count > before else { return }
    waiting.append(Waiting(bytes: output.count - before, since: time))
  }

  /// How many bytes have arrived by `time`.
  package func available(at time: Timestamp) -> Int {
    guard output.count > 0, link == .uart else { return output.count }
    guard time.nanoseconds >= headArrives else { return 0 }
    return Int(min(Int64(output.count), (time.nanoseconds &- headArrives) / byteTime &+ 1))
  }

  /// Takes the next byte that has arrived by `time`.
  package mutating func takeByte(at time: Timestamp) -> UInt8? {
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
    if isAsleep { return .distantFuture }
    return Timestamp(
      nanoseconds: nextEpoch &+ Self.latency &+ (link == .uart ? 16 &* byteTime : 0))
  }

  /// Hears one byte from the host.
  package mutating func receive(_ byte: UInt8, at time: Timestamp) {
    advance(to: time)
    if isAsleep { return wakeUp() }
    if !model.isUBlox { return hear(byte) }
    if configuration.takesRTCM { corrections.take(byte, at: now) }
    guard configuration.takesUBX, parser.take(byte) else { return }
    answer()
  }

  /// Queues an answer after some milliseconds to think.
  mutating func queueReply(after delay: Int64 = 5_000_000) {
    guard configuration.sendsUBX || !model.isUBlox else { return }
    queue(at: now &+ delay)
  }

  mutating func adopt(_ next: ReceiverConfiguration) {
    let hasNewRate = next.epochPeriod != configuration.epochPeriod
    if next.baseMode != configuration.baseMode { survey = SimulatedSurvey() }
    configuration = next
    if hasNewRate { scheduleEpochs(after: now) }
  }
}
