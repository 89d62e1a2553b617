import SensorTypes

/// Makes one line an epoch of what a receiver says in two protocols: the word that says more.
///
/// UBX that says all of an epoch counts before NMEA, and NMEA before UBX that says less.
struct EpochMerger: Sendable {
  /// After so many of the other's epochs a protocol is not spoken any more.
  private static let silent = 4

  /// Time of day of the newest epoch by UBX that said all of it, seconds since the one before, and the NMEA epochs since
  /// then that it had told of.
  private var lastUBX: (time: Double?, period: Double, told: Int)?
  /// UBX epochs that said less since one of NMEA was begun.
  private var lessSinceNMEA = silent
  /// An epoch by NMEA of which UBX may be about to speak.
  private var waiting: GNSSFix?
  /// An epoch of which UBX said less, and NMEA may be about to speak.
  private var less: GNSSFix?
  /// Time of day of the newest of those that are out.
  private var lastLess: Double?
  private var ready: [(fix: GNSSFix, isPVT: Bool)] = []
  private var head = 0

  init() { ready.reserveCapacity(4) }

  mutating func next() -> (fix: GNSSFix, isPVT: Bool)? {
    guard head < ready.count else {
      ready.removeAll(keepingCapacity: true)
      head = 0
      return nil
    }
    head += 1
    return ready[head - 1]
  }

  /// NMEA has begun an epoch.
  mutating func nmeaBegan() { lessSinceNMEA = 0 }

  /// Nothing more will come.
  mutating func finish() {
    tellLess()
    tellWaiting()
  }

  /// Before which time of day NMEA's epochs are over, when UBX has said `fix`; `nil` where that says nothing of it.
  func timeToCloseBefore(_ fix: GNSSFix, isPVT: Bool, _ nmea: EpochAssembler) -> Double? {
    if isPVT || fix.saysAll { return fix.timeOfDay }
    return less.flatMap { $0.timeOfDay }.flatMap { nmea.knows($0) ? nil : $0 }
  }

  /// An epoch by UBX.
  mutating func take(ubx fix: GNSSFix, isPVT: Bool, _ nmea: EpochAssembler) {
    guard isPVT || fix.saysAll else { return take(less: fix, nmea) }
    if let time = fix.timeOfDay {
      if let earlier = waiting?.timeOfDay, secondsOfDay(from: earlier, to: time) > 1e-3 {
        tellWaiting()
      }
      waiting = nil
    }
    var period = 1.0
    if let earlier = lastUBX?.time, let time = fix.timeOfDay {
      period = min(max(secondsOfDay(from: earlier, to: time), 0.02), 10)
    }
    lastUBX = (fix.timeOfDay, period, 0)
    ready.append((fix, isPVT))
  }

  private mutating func take(less fix: GNSSFix, _ nmea: EpochAssembler) {
    // NMEA has had the time of an epoch to speak of the one before.
    if let time = less?.timeOfDay, nmea.knows(time) { less = nil }
    tellLess()
    defer { lessSinceNMEA = min(lessSinceNMEA + 1, Self.silent) }
    if lessSinceNMEA == Self.silent {
      tell(less: fix)
    } else if let time = fix.timeOfDay, !nmea.knows(time) {
      less = fix
    }
    // Without a time nobody can say which of NMEA's epochs it is; while NMEA is spoken, it is taken for one of them.
  }

  /// An epoch by NMEA.
  mutating func take(nmea fix: GNSSFix) {
    if let time = fix.timeOfDay {
      if let lastLess, abs(secondsOfDay(from: lastLess, to: time)) <= 1e-3 { return }
      if let other = less?.timeOfDay {
        let ahead = secondsOfDay(from: other, to: time)
        if ahead > 1e-3 { tellLess() } else if ahead >= -1e-3 { less = nil }
      }
    }
    if let (time, period, told) = lastUBX {
      let ahead =
        time.flatMap { time in fix.timeOfDay.map { secondsOfDay(from: time, to: $0) } } ?? 0
      if ahead <= 1e-3, told < Self.silent {
        lastUBX?.told += 1
        return
      }
      if ahead > 1e-3, ahead < (Double(Self.silent) - 0.5) * period {
        // UBX may be about to speak of it.
        tellWaiting()
        waiting = fix
        return
      }
      lastUBX = nil
    }
    tellWaiting()
    lastLess = nil
    ready.append((fix, false))
  }

  private mutating func tell(less fix: GNSSFix) {
    lastLess = fix.timeOfDay
    ready.append((fix, false))
  }

  private mutating func tellLess() {
    guard let fix = less else { return }
    less = nil
    tell(less: fix)
  }

  private mutating func tellWaiting() {
    guard let fix = waiting else { return }
    waiting = nil
    ready.append((fix, false))
  }
}

extension GNSSFix {
  /// Whether an epoch of several UBX messages is one that nobody need be asked about besides.
  fileprivate var saysAll: Bool {
    timeOfDay != nil && (mode == .none || (latitude != nil && altitude != nil && speed != nil))
  }
}
