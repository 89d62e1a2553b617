// How a receiver is brought to speak NAV-PVT: a pure state machine that hears what was decoded and says
// what to send. It knows no bytes and no port.

import SensorTypes

/// The talk with a receiver, from the first byte to steady epochs.
///
/// Listen; ask for NAV-PVT in the newest dialect, then in the older one; when it comes, switch NMEA off
/// and set the rate; if neither dialect is understood, read NMEA. A receiver that falls silent, or back
/// to its defaults after a power cut, is taken from the beginning.
struct ReceiverSetup: Sendable {
  /// How the receiver is configured.
  enum Dialect: Sendable, Hashable {
    /// CFG-VALSET: generation 9 and later.
    case keys
    /// CFG-MSG and CFG-RATE: up to generation 9.
    case messages
  }

  /// One thing to be set.
  enum Item: Sendable, Hashable {
    /// NAV-PVT once an epoch, on the port that we hang on.
    case enablePVT
    /// No NMEA on this port: nobody reads it, and at 9600 baud it fills the line.
    case disableNMEA
    /// The wanted rate.
    case rate
  }

  /// What is to be done now.
  enum Command: Sendable, Hashable {
    /// Send the message that sets this.
    case send(Item, Dialect)
    /// Listen at another rate of the line.
    case changeBaudRate(Int)
  }

  /// Where the talk stands.
  enum Phase: Sendable, Hashable {
    /// Nothing understood yet.
    case listening
    /// A message was sent; its answer is awaited.
    case asking(Item, Dialect, attempt: Int)
    /// NAV-PVT was granted; the first is awaited.
    case awaitingPVT(Dialect)
    /// NAV-PVT comes.
    case running
    /// Not to be configured, or it understands neither dialect: NMEA is read.
    case reading
  }

  /// Seconds at one rate of the line: the burst of a receiver at 1 Hz comes by once, whole.
  static let listeningTime = 1.6
  /// Seconds that an answer may take; receivers answer within one epoch.
  static let answerTime = 1.1
  /// Seconds until the first NAV-PVT.
  static let firstEpochTime = 2.5
  /// Seconds of silence after which everything is asked again.
  static let silenceTime = 3.0
  /// The rates of the line that receivers are sold with or set to, the most frequent first.
  static let baudRates = [38400, 9600, 115_200, 230_400, 460_800, 57600, 19200, 4800]

  private(set) var phase = Phase.listening
  /// The rate at which the line is read; `nil` where it has none (I2C).
  private(set) var baudRate: Int?
  private let isConfigurable: Bool
  private let searchesBaudRate: Bool
  private var deadline: Timestamp?
  private var heardSinceListening = false
  private var granted: Bool?
  private var sawPVT = false

  /// A talk on a line at `baudRate` (`nil` for I2C). With `searchesBaudRate` it is only where the search
  /// begins.
  init(isConfigurable: Bool, baudRate: Int?, searchesBaudRate: Bool) {
    self.isConfigurable = isConfigurable
    self.baudRate = baudRate
    self.searchesBaudRate = searchesBaudRate
  }

  /// A whole, valid message of any protocol was decoded.
  mutating func heard(at now: Timestamp) {
    heardSinceListening = true
    // While epochs are the question, only NAV-PVT keeps the talk alive: a receiver that came back from
    // a power cut speaks NMEA again.
    if phase == .reading { deadline = now.advanced(bySeconds: Self.silenceTime) }
  }

  /// A NAV-PVT was decoded.
  mutating func heardPVT(at now: Timestamp) {
    heard(at: now)
    sawPVT = true
    if phase == .running { deadline = now.advanced(bySeconds: Self.silenceTime) }
  }

  /// The receiver accepted or refused a configuration message.
  mutating func answered(accepted: Bool) { granted = accepted }

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
    case .listening:
      if heardSinceListening {
        guard isConfigurable else { return read(now) }
        return ask(.enablePVT, .keys, attempt: 1, now)
      }
      guard isLate else { return nil }
      if searchesBaudRate { return nextBaudRate(now) }
      // Silent where we are: perhaps every output is off.
      if isConfigurable { return ask(.enablePVT, .keys, attempt: 1, now) }
      listen(now)
      return nil
    case .asking(let item, let dialect, let attempt):
      if item == .enablePVT, sawPVT { return ask(.disableNMEA, dialect, attempt: 1, now) }
      switch granted {
      case true?: return proceed(after: item, dialect, now)
      case false?: return refused(item, dialect, now)
      case nil:
        guard isLate else { return nil }
        if attempt < 2 { return ask(item, dialect, attempt: attempt + 1, now) }
        return refused(item, dialect, now)
      }
    case .awaitingPVT(let dialect):
      if sawPVT { return ask(.disableNMEA, dialect, attempt: 1, now) }
      return isLate ? refused(.enablePVT, dialect, now) : nil
    case .running, .reading:
      if isLate { listen(now) }
      return nil
    }
  }

  private mutating func listen(_ now: Timestamp) {
    phase = .listening
    heardSinceListening = false
    sawPVT = false
    deadline = now.advanced(bySeconds: Self.listeningTime)
  }

  private mutating func read(_ now: Timestamp) -> Command? {
    phase = .reading
    deadline = now.advanced(bySeconds: Self.silenceTime)
    return nil
  }

  private mutating func nextBaudRate(_ now: Timestamp) -> Command {
    let rates = Self.baudRates
    let index = baudRate.flatMap { rates.firstIndex(of: $0) } ?? rates.count - 1
    let next = rates[(index + 1) % rates.count]
    baudRate = next
    listen(now)
    return .changeBaudRate(next)
  }

  private mutating func ask(
    _ item: Item, _ dialect: Dialect, attempt: Int, _ now: Timestamp
  ) -> Command {
    phase = .asking(item, dialect, attempt: attempt)
    granted = nil
    deadline = now.advanced(bySeconds: Self.answerTime)
    return .send(item, dialect)
  }

  private mutating func proceed(after item: Item, _ dialect: Dialect, _ now: Timestamp) -> Command?
  {
    switch item {
    case .enablePVT:
      phase = .awaitingPVT(dialect)
      deadline = now.advanced(bySeconds: Self.firstEpochTime)
      return nil
    case .disableNMEA:
      return ask(.rate, dialect, attempt: 1, now)
    case .rate:
      phase = .running
      deadline = now.advanced(bySeconds: Self.silenceTime)
      return nil
    }
  }

  private mutating func refused(_ item: Item, _ dialect: Dialect, _ now: Timestamp) -> Command? {
    // NMEA that goes on and a rate that stays are no reason to give NAV-PVT up.
    guard item == .enablePVT else { return proceed(after: item, dialect, now) }
    if dialect == .keys { return ask(.enablePVT, .messages, attempt: 1, now) }
    // One that never said anything is not one that refuses.
    guard heardSinceListening else {
      listen(now)
      return nil
    }
    return read(now)
  }
}
