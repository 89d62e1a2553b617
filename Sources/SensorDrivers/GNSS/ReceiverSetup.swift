// How a receiver is found and brought to send what is wanted: a pure state machine that hears what was decoded and
// says what to send. It knows no bytes and no port.

import SensorTypes

/// The talk with a receiver, from the first byte to steady epochs.
///
/// Listen; ask who is there; set one thing after the other in the dialect of its family, each with its answer. A
/// u-blox receiver is asked for NAV-PVT in the dialect of its generation, and in the older ones where it refuses. One that
/// says nothing of itself and acknowledges nothing is read as it is. A receiver that falls silent, or back to its defaults after a
/// power cut, is taken from the beginning.
struct ReceiverSetup: Sendable {
  /// Seconds at one rate of the line: the burst of a receiver at 1 Hz comes by once, whole.
  static let listeningTime = 1.6
  /// Seconds that an answer may take; receivers answer within one epoch.
  static let answerTime = 1.1
  /// Seconds between commands that are not answered.
  static let unansweredTime = 0.2
  /// Answers "under way" that are heard of one command.
  static let patience = 3
  /// Seconds until the first NAV-PVT.
  static let firstEpochTime = 2.5
  /// Seconds of silence after which everything is asked again; three intervals where those are longer.
  static let silenceTime = 3.0
  /// Seconds for a command to leave before the line is another.
  static let leavingTime = 0.3
  /// Seconds in which one that was sent to sleep may finish what it says: an epoch at 9600 baud, and the answer.
  static let fallingTime = 1.0
  /// Seconds until one that answers no more, and did before, is asked again.
  static let pauseTime = 10.0
  /// Seconds from what wakes a receiver to its first message.
  static let wakingTime = 3.5
  /// The rates of the line that receivers are sold with or set to, the most frequent first.
  static let baudRates = [38400, 9600, 115_200, 230_400, 460_800, 57600, 19200, 4800]
  /// Epochs in a row, slower than asked for, by which one that has kept its rate is known to have been reset.
  static let slowEpochs = 5

  var phase = Phase.listening
  /// The rate at which the line is read; `nil` where it has none (I2C).
  var baudRate: Int?
  /// In what the receiver is talked to, once that is known.
  var dialect: Dialect?
  /// Commands that had no answer after all attempts, and commands that were refused.
  var counts = (unanswered: UInt64(0), refused: UInt64(0))
  /// What the receiver has not taken since it was found.
  var notTaken: [ReceiverSetting] = []
  /// Rates of the line that were tried in vain since something was understood.
  var searched = 0
  /// Whether it stays awake although it was sent to sleep.
  var isSleepless = false

  /// Whether a dynamic model is wanted.
  var setsModel = false
  /// Whether the heading by antennas is wanted.
  var setsHeading = false
  /// Whether it is to take corrections on its port.
  var setsCorrections = false
  /// Whether it is to be a base station, and whether it is to survey its place.
  var setsBase = false
  var surveys = false
  /// Whether it has taken that, and has not lost it since. It is not told again after each silence: a survey would begin again, and
  /// Unicore's writes its result to flash.
  var isBaseSet = false
  /// Epochs since the last heading.
  var epochsWithoutHeading = 0
  /// Seconds between epochs, as they were asked for last.
  var interval = 1.0
  /// The rate of the line that is needed for the wanted epochs, once the dialect is known; `nil` for any.
  var neededSpeed: Int?

  let access: Access
  let searchesBaudRate: Bool

  // Touched by the files of this type alone.

  var deadline: Timestamp?
  var heardSinceListening = false
  var identified: Dialect?
  var wasIdentified = false
  var askAgain: Timestamp?
  var awaited: (command: Int?, messages: Int) = (nil, 1)
  var granted: Bool?
  var pendings = 0
  var sawPVT = false
  /// Whether an epoch came as it was set to send them, before it was told anything.
  var keptSettings = false
  var mustAsk = false
  var isWaking = false
  var canChangeSpeed = true
  /// The rate of the line with which a receiver comes out of a power cut or of sleep.
  var ownBaudRate: Int?
  var wishes = (rate: false, sleep: false, restart: false)
  var lastEpoch: Timestamp?
  var slow = 0
  var hasKeptRate = false

  /// A talk on a line at `baudRate` (`nil` for I2C). With `searchesBaudRate` it is only where the search
  /// begins.
  init(access: Access, baudRate: Int?, searchesBaudRate: Bool) {
    self.access = access
    self.baudRate = baudRate
    self.searchesBaudRate = searchesBaudRate
  }

  /// When `step` wants to be called again at the latest, if nothing is heard before.
  var nextDue: Timestamp { deadline ?? Timestamp(nanoseconds: .min) }

  /// What to do now, if anything; call again until it gives `nil`.
  mutating func step(now: Timestamp) -> Command? {
    guard let deadline else {
      // The first call: time begins.
      listen(now)
      return nil
    }
    let isLate = now >= deadline
    switch phase {
    case .listening: return listened(isLate, now)
    case .identifying(let attempt):
      // A receiver that still sends what it was told has lost nothing: its next epoch is waited for.
      if let identified, isLate || keptSettings || !isBaseSet { return begin(identified, now) }
      guard isLate else { return nil }
      if attempt < 2 { return identify(attempt: attempt + 1, now) }
      counts.unanswered &+= 1
      // Copies of u-blox receivers know the question of messages and not that who they are.
      return ask(.enablePVT, .keys, now)
    case .asking(let item, let dialect, let part, let attempt):
      // That it comes says nothing of the newer dialect: a generation 8 receiver may have been left so.
      if item == .enablePVT, sawPVT, dialect == .messages {
        return ask(next(after: item, dialect), dialect, now)
      }
      if awaited.messages == 0 { return refused(item, dialect, now) }
      switch granted {
      case true?: return granted(item, dialect, part, now)
      case false?:
        counts.refused &+= 1
        return refused(item, dialect, now)
      case nil:
        guard isLate else { return nil }
        if awaited.command == nil { return granted(item, dialect, part, now) }
        if attempt < 2 { return ask(item, dialect, part: part, attempt: attempt + 1, now) }
        counts.unanswered &+= 1
        return refused(item, dialect, now)
      }
    case .awaitingPVT(let dialect):
      if sawPVT { return ask(next(after: .enablePVT, dialect), dialect, now) }
      return isLate ? refused(.enablePVT, dialect, now) : nil
    case .changingSpeed(let dialect, let from, let to):
      guard isLate else { return nil }
      phase = .tryingSpeed(dialect, from: from, to: to)
      // Its next epoch may be a minute away.
      mustAsk = true
      return change(to: to, now)
    case .tryingSpeed(let dialect, let from, let to):
      if heardSinceListening { return ask(next(after: .speed(to), dialect), dialect, now) }
      if mustAsk {
        mustAsk = false
        return .identify(all: access == .configures)
      }
      guard isLate else { return nil }
      canChangeSpeed = false
      notTaken.append(.speed(to))
      defer { heardSinceListening = true }
      return change(to: from, now)
    case .running: return run(isLate, now)
    case .reading:
      // One that has said who it is before was not to be understood for a while.
      if let askAgain, now >= askAgain { return identify(attempt: 1, now) }
      if isLate { listen(now) }
      return nil
    case .fallingAsleep:
      guard isLate else { return nil }
      phase = isSleepless ? .running : .asleep
      self.deadline = isSleepless ? now.advanced(bySeconds: silenceLimit) : .distantFuture
      return nil
    case .asleep: return nil
    }
  }

  mutating func listen(_ now: Timestamp) {
    phase = .listening
    (heardSinceListening, sawPVT, identified, keptSettings) = (false, false, nil, false)
    (wishes, lastEpoch, slow, hasKeptRate) = ((false, false, false), nil, 0, false)
    deadline = now.advanced(bySeconds: Self.listeningTime)
  }

  private mutating func listened(_ isLate: Bool, _ now: Timestamp) -> Command? {
    if mustAsk, access != .reads {
      if let ownBaudRate, ownBaudRate != baudRate { return change(to: ownBaudRate, now) }
      mustAsk = false
      if isWaking { deadline = now.advanced(bySeconds: Self.wakingTime) }
      isWaking = false
      return .identify(all: access == .configures)
    }
    if heardSinceListening {
      guard access != .reads else {
        (phase, askAgain) = (.reading, nil)
        deadline = now.advanced(bySeconds: silenceLimit)
        return nil
      }
      return identify(attempt: 1, now)
    }
    guard isLate else { return nil }
    searched += 1
    if searchesBaudRate {
      let rates = Self.baudRates
      let index = baudRate.flatMap { rates.firstIndex(of: $0) } ?? rates.count - 1
      listen(now)
      // The first time round it is only listened to; then perhaps every output is off.
      mustAsk = searched >= rates.count
      ownBaudRate = nil
      return change(to: rates[(index + 1) % rates.count], now)
    }
    if access != .reads { return identify(attempt: 1, now) }
    listen(now)
    return nil
  }

  private mutating func change(to rate: Int, _ now: Timestamp) -> Command {
    baudRate = rate
    heardSinceListening = false
    deadline = now.advanced(bySeconds: Self.listeningTime)
    return .changeBaudRate(rate)
  }

  private mutating func identify(attempt: Int, _ now: Timestamp) -> Command {
    phase = .identifying(attempt: attempt)
    deadline = now.advanced(
      bySeconds: isBaseSet ? max(Self.answerTime, 1.1 * interval) : Self.answerTime)
    return .identify(all: access == .configures)
  }

  private mutating func begin(_ dialect: Dialect, _ now: Timestamp) -> Command? {
    notTaken = []
    isBaseSet = isBaseSet && keptSettings && dialect == self.dialect
    return ask(dialect.isUBX ? .enablePVT : .sentences, dialect, now)
  }

  private mutating func run(_ isLate: Bool, _ now: Timestamp) -> Command? {
    if isLate || wishes.restart {
      if wishes.restart { isBaseSet = false }
      // One of Unicore's has no output of its own after a power cut, so it is asked at once.
      mustAsk = dialect == .unicore
      listen(now)
      return nil
    }
    guard let dialect else { return nil }
    if wishes.sleep {
      wishes.sleep = false
      phase = .fallingAsleep(since: now)
      deadline = now.advanced(bySeconds: Self.fallingTime + max(Self.answerTime, 1.5 * interval))
      return .send(.sleep, dialect, part: 0)
    }
    guard wishes.rate else { return nil }
    wishes.rate = false
    // With the rate go the line that carries it and how many epochs lie between two looks at the satellites.
    return ask(next(after: dialect.isUBX ? .disableNMEA : .sentences, dialect), dialect, now)
  }

  /// Sends a command; without one everything is set.
  mutating func ask(
    _ item: ReceiverSetting?, _ dialect: Dialect, part: Int = 0, attempt: Int = 1, _ now: Timestamp
  ) -> Command? {
    self.dialect = dialect
    (granted, pendings) = (nil, 0)
    switch item {
    case nil:
      phase = .running
      (lastEpoch, slow, hasKeptRate) = (nil, 0, false)
      deadline = now.advanced(bySeconds: silenceLimit)
      return nil
    case .speed(let to)?:
      ownBaudRate = ownBaudRate ?? baudRate
      phase = .changingSpeed(dialect, from: baudRate ?? to, to: to)
      deadline = now.advanced(bySeconds: Self.leavingTime)
      return .send(.speed(to), dialect, part: 0)
    case let item?:
      notTaken.removeAll { $0 == item }
      phase = .asking(item, dialect, part: part, attempt: attempt)
      let isAnswered = dialect != .casic
      deadline = now.advanced(bySeconds: isAnswered ? Self.answerTime : Self.unansweredTime)
      return .send(item, dialect, part: part)
    }
  }
}
