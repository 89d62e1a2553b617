// A GNSS receiver on a byte stream: found, configured, read, put to sleep.

import SensorBus
package import SensorTypes

/// A receiver on a serial line or a u-blox receiver's I2C port.
///
/// A u-blox receiver is asked for UBX NAV-PVT, whose four accuracies are the receiver's own, one of another known
/// family for the NMEA that is needed; one that cannot or must not be configured is read as it is. Nothing is
/// stored in the receiver: after a power cut it has its own settings again, and is configured again. It has no
/// thread, reads no clock and never waits.
package final class GNSSReceiver: ReceiverDriver {
  /// Reads of one `poll`; a serial line cannot fill more in a tenth of a second, and a stream that
  /// never ends must not hold the thread.
  private static let readsPerPoll = 8

  let stream: ObservedStream
  /// The only talker whose positions are read; `nil` for the better source.
  var talker: String?
  private var codec: any ReceiverCodec
  private(set) var setup: ReceiverSetup
  private let port: ReceiverPort
  private let wantedRate: Double
  private let model: DynamicModel?
  /// The place that it is to hold as a base station.
  let base: BasePlace?
  /// Whether its newest epoch was of a fixed place.
  private(set) var isPlaced = false
  /// The newest position that it has measured since its survey began.
  var surveyPosition: GNSSFix?
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
  private var lastRead: Timestamp?
  private var lastPVT: Timestamp?
  /// The newest round of satellites that nobody has taken.
  private var sky: GNSSSky?
  private var heading: ReceiverHeading?
  /// What it reports of its antenna, of the signals and of the next leap second.
  private(set) var condition: ReceiverCondition?
  /// The talkers of other sources on its wire, which are not read; the decoder bounds their number.
  package private(set) var ignored: [String] = []
  /// Bytes since something was last understood.
  private(set) var notUnderstood = 0
  /// Seconds between epochs that those who use it want; `nil` for as fast as it goes.
  private var wantedInterval: Double?

  /// The shortest time between epochs of which the receiver is capable, seconds; 0 where only its commands limit it.
  private var shortestInterval = 0.0

  /// Who the receiver says that it is, once it has.
  package private(set) var identity: SensorIdentity?

  init(
    _ stream: any ByteStream, codec: any ReceiverCodec, port: ReceiverPort, outputRate: Double,
    model: DynamicModel? = nil, readsHeading: Bool = false, takesCorrections: Bool = false,
    base: BasePlace? = nil, setup: ReceiverSetup
  ) {
    self.stream = stream as? ObservedStream ?? ObservedStream(stream)
    self.codec = codec
    self.port = port
    self.setup = setup
    self.model = model
    self.base = base
    // 0.1 to 25 Hz is what receivers can do; anything else is a mistake that must not trap below.
    wantedRate = outputRate > 0 ? min(25, max(0.1, outputRate)) : 1
    self.setup.setsModel = model != nil
    self.setup.setsHeading = readsHeading
    self.setup.setsCorrections = takesCorrections
    self.setup.setsBase = base != nil
    if case .survey? = base { self.setup.surveys = true }
    self.setup.interval = 1 / wantedRate
  }

  deinit { buffer.deallocate() }

  /// Reads what has arrived, goes on with the talk, and gives the next epoch: call it until it gives
  /// `nil`. The stream is read once for one `now`.
  ///
  /// Throws the stream's error; the receiver can be polled on afterwards.
  package func poll(now: Timestamp) throws(DriverError) -> GNSSFix? {
    if let fix = nextEpoch(now) { return fix }
    try talk(now)
    if lastRead != now {
      (lastRead, stream.time) = (now, now)
      try receive(now)
    }
    let fix = nextEpoch(now)
    try talk(now)
    return fix
  }

  /// What the board's own clock shows: see `ReceiverDriver`.
  package func setBoardTime(_ seconds: Double) { codec.setBoardTime(seconds) }

  /// The satellites: see `ReceiverDriver`.
  package func takeSky() -> GNSSSky? {
    defer { sky = nil }
    return sky
  }

  /// The newest heading: see `ReceiverDriver`.
  package func takeHeading() -> ReceiverHeading? {
    defer { heading = nil }
    return heading
  }

  /// When `poll` is due at the latest if no byte arrives: the talk's next deadline.
  package var nextDue: Timestamp { setup.nextDue }

  /// The rate of the line at which it is read now, bits per second; `nil` on I2C.
  package var baudRate: Int? { setup.baudRate }

  /// Whether the receiver was configured and sends what was asked for.
  package var isConfigured: Bool { setup.phase == .running }

  /// Commands that it did not answer after all attempts, and commands that it refused.
  package var refusals: UInt64 { setup.counts.unanswered &+ setup.counts.refused }

  /// Epochs a second that are asked for: the wanted rate, or what receiver and line can do.
  package var outputRate: Double { 1 / settings.interval }

  /// Seconds from one epoch to the next as they come, for whoever waits for them.
  package var interval: Double? { setup.interval }

  /// Sets the seconds from one epoch to the next that are wanted; `nil` for as fast as it goes. The receiver does
  /// what it can, and the line carries.
  package func setInterval(_ seconds: Double?) {
    let seconds = seconds.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
    guard seconds != wantedInterval else { return }
    wantedInterval = seconds
    setup.askRate()
  }

  /// Goes on towards sleep: see `ReceiverDriver`. Only a receiver that the line can wake is sent to sleep, once it has
  /// said what it is.
  package func rest(now: Timestamp) throws(DriverError) -> ReceiverSleepState {
    switch setup.phase {
    case .asleep: return .asleep
    case .fallingAsleep: break
    default:
      guard canSleep else { return .impossible }
      if setup.phase == .running { setup.sleep() }
    }
    while try poll(now: now) != nil {}
    switch setup.phase {
    case .asleep: return .asleep
    case .fallingAsleep: return .underWay
    case .listening, .reading: return .impossible
    default: return canSleep ? .underWay : .impossible
    }
  }

  /// Wakes the receiver, by asking it who it is; what the line has held is dropped. One that is falling asleep is woken
  /// by a later call, when it sleeps.
  package func wake(now: Timestamp) throws(DriverError) {
    setup.hurry()
    guard setup.phase == .asleep else { return }
    if let baudRate {
      do { try stream.setBaudRate(baudRate) } catch { throw .bus(error) }
    }
    setup.wake(now: now)
  }

  /// Asks one that speaks less than once a second for the usual rate: whoever listens at a line's rate after rate hears
  /// it at the right one.
  package func finish() {
    if case .fallingAsleep = setup.phase { return }
    guard let dialect = setup.dialect, setup.phase != .asleep,
      setup.interval > ReceiverSettings.usualInterval
    else { return }
    let usual = ReceiverSettings(
      interval: ReceiverSettings.usualInterval, model: nil, hasRoom: false)
    for request in codec.requests(setting: .rate, in: dialect, port: port, settings: usual) {
      try? stream.write(request.bytes)
    }
  }

  /// Whether it may be sent to sleep, as far as is known of it.
  private var canSleep: Bool {
    guard setup.access != .reads, !setup.isSleepless, baudRate != nil else { return false }
    return setup.dialect.map { $0.isUBX || $0 == .pmtk } ?? true
  }

  /// Its words change with what the search finds.
  package var explainsSilence: Bool { true }

  /// Bytes that are more than the halves of two messages.
  static let garbageLimit = 256

  /// The wanted time between epochs, as far as the receiver is capable of it, seconds.
  private var leastInterval: Double { max(1 / wantedRate, wantedInterval ?? 0, shortestInterval) }

  /// What is asked of it.
  var settings: ReceiverSettings {
    return ReceiverSettings(
      interval: setup.dialect.possible(leastInterval, baudRate: baudRate), model: model,
      hasRoom: (baudRate ?? .max) > 9_600, base: base)
  }

  private func receive(_ now: Timestamp) throws(DriverError) {
    for _ in 0..<Self.readsPerPoll {
      // What is not taken now waits in the kernel.
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, codec.room)])
      guard !room.isEmpty else { return }
      let count: Int
      do { count = try stream.read(into: room) } catch { throw .bus(error) }
      guard count > 0, count <= room.count else { return }
      notUnderstood = min(notUnderstood + count, 1_000_000)
      codec.append(UnsafeRawBufferPointer(rebasing: room[..<count]), at: now)
      if count < room.count { return }
    }
  }

  private func nextEpoch(_ now: Timestamp) -> GNSSFix? {
    while let event = codec.next(at: now) {
      notUnderstood = 0
      switch event {
      case .message: setup.heard(at: now)
      case .heading(let heading):
        setup.heardHeading(isByAntennas: heading.source == .antennas, at: now)
        self.heading = heading
      case .sky(let satellites):
        setup.heard(at: now)
        sky = GNSSSky(received: now, satellites: satellites)
      case .answer(let command, let isAccepted):
        setup.heard(at: now)
        setup.answered(to: command, isAccepted: isAccepted, at: now)
      case .identity(let identity, let dialect, let shortestInterval):
        setup.heard(at: now)
        setup.identified(dialect)
        self.identity = identity
        self.shortestInterval = shortestInterval ?? 0
      case .restarted:
        setup.heard(at: now)
        setup.restarted()
      case .condition(let condition):
        setup.heard(at: now)
        self.condition = condition.isEmpty ? nil : condition
      case .ignored(let talkers):
        setup.heard(at: now)
        ignored = talkers
      case .epoch(let epoch, let isPVT):
        setup.heardEpoch(isPVT: isPVT, at: now)
        stream.restart()
        if isPVT {
          lastPVT = now
        } else if let lastPVT, now.seconds(since: lastPVT) < setup.repetitionTime {
          // The same epochs once more, until NMEA is off.
          continue
        }
        let fix = placed(epoch)
        isPlaced = fix.kind == .manual
        return fix
      }
    }
    return nil
  }

  private func talk(_ now: Timestamp) throws(DriverError) {
    // A talk never has more to do at one moment than this.
    for _ in 0..<8 {
      setup.neededSpeed = setup.dialect.neededSpeed(interval: leastInterval)
      guard let command = setup.step(now: now) else { return }
      do {
        switch command {
        case .changeBaudRate(let rate): try stream.setBaudRate(rate)
        case .identify(let all):
          for question in codec.questions(ofAll: all) { try stream.write(question) }
        case .send(let item, let dialect, let part):
          let settings = settings
          if item == .rate { setup.interval = settings.interval }
          // A new survey begins: the figures of the one before do not count.
          if item == .base {
            condition?.survey = nil
            surveyPosition = nil
            codec.forgetSurvey()
          }
          let requests = codec.requests(
            setting: item, in: dialect, port: port, settings: settings)
          let request = requests.indices.contains(part) ? requests[part] : nil
          setup.sent(answer: request?.answer, of: requests.count)
          if let request {
            codec.sent(request)
            try stream.write(request.bytes)
          }
        }
      } catch {
        throw .bus(error)
      }
    }
  }
}

/// What may be said to a receiver.
package enum ReceiverControl: Sendable, Hashable {
  /// What u-blox receivers understand.
  case uBlox
  /// The question who it is, and then what its family understands.
  case any
  case readOnly
}
