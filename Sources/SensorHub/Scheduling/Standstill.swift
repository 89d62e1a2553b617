import SensorTypes

/// When epochs were received that waited because this board stood still: the program was stopped (SIGSTOP, SIGTSTP), its
/// control group frozen, or the machine had no time for it.
///
/// Bytes get their time when they are read. What came in the meantime waits in the kernel, and would be taken for news: a place
/// an hour old for the one of now. By the receiver's own time, and that of the last epoch before, the moment is known. A value
/// without a clock of its own.
struct SuspensionMonitor: Sendable {
  /// From one look to the next at the least, seconds: a receiver is looked at four times a second.
  static let limit = 1.0
  /// An epoch that comes so much later than the ones before the standstill is one that waited, seconds; receivers' own latency
  /// varies by less.
  static let latenessLimit = 0.5
  /// Seconds in which all that waited is read; whatever a receiver's clock has done meanwhile, its epochs are news afterwards.
  static let longestReading = 2.0
  private static let day = 86_400.0

  private var lastLook: Timestamp?
  /// The time between the last two looks, in seconds.
  private var pause = 0.0
  /// The first look after a standstill, as long as what waited is being read.
  private var resumed: Timestamp?
  /// The look before it.
  private var stopped = Timestamp(nanoseconds: 0)
  /// The newest epoch whose arrival was seen.
  private var known: GNSSFix?

  /// Somebody looks at the receiver. Returns whether nobody has for too long.
  mutating func look(at now: Timestamp) -> Bool {
    defer { lastLook = now }
    pause = lastLook.map { now.seconds(since: $0) } ?? 0
    guard let lastLook, pause > Self.limit else { return false }
    (resumed, stopped) = (now, lastLook)
    return true
  }

  /// How much longer than `limit` the pause before the last look was, in seconds. Nobody listened for that long, because the
  /// machine was busy: it says nothing of the receiver.
  func delay(after limit: Double) -> Double { max(0, pause - limit) }

  /// It was not listened to on purpose: what it says next has not waited.
  mutating func forget() { (lastLook, resumed, known, pause) = (nil, nil, nil, 0) }

  /// Puts the time of an epoch right. Returns `false` where it has waited and nobody can say for how long.
  mutating func date(_ fix: inout GNSSFix) -> Bool {
    guard let resumed, fix.received.seconds(since: resumed) < Self.longestReading else {
      return isNews(fix)
    }
    guard let known, let passed = Self.seconds(from: known, to: fix) else {
      return fix.received == resumed ? false : isNews(fix)
    }
    let expected = known.received.advanced(bySeconds: passed)
    if fix.received.seconds(since: expected) < Self.latenessLimit { return isNews(fix) }
    // The last before the standstill may have waited already. What is older is of a clock that was set meanwhile.
    guard expected.seconds(since: stopped) > -Self.limit else {
      return fix.received == resumed ? false : isNews(fix)
    }
    fix.received = expected
    return true
  }

  private mutating func isNews(_ fix: GNSSFix) -> Bool {
    (resumed, known) = (nil, fix)
    return true
  }

  /// By the receiver's clock; with the time of day alone up to half a day. `nil` where it says none.
  private static func seconds(from known: GNSSFix, to fix: GNSSFix) -> Double? {
    if let before = known.utc, let after = fix.utc { return after - before }
    guard let before = known.timeOfDay ?? known.utc, let after = fix.timeOfDay ?? fix.utc else {
      return nil
    }
    return (after - before).remainder(dividingBy: day)
  }
}
