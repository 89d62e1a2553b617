import SensorTypes

/// The moments of a receiver's epochs by its pulse per second, as far as the pulse is to be trusted.
///
/// A receiver raises a line at every whole second of UTC and says a while later which second that was. The pulse
/// tells the moment to microseconds, the message tens of milliseconds late and by a varying time. Nothing but a row
/// of pulses that lie a second apart, each shorter than the pause behind it, and epochs that count on as the pulses
/// do, is used; the two together name the pulse of an epoch. It reads no clock and does not allocate.
struct PulseClock: Sendable {
  /// What the second between two pulses may be off by this machine's clock, s: 500 ppm. So far the kernel corrects a
  /// crystal for NTP (`MAXFREQ`, linux/timex.h), so that one which is worse cannot be kept right at all; an interrupt's
  /// time is small beside it. While a clock is slewed faster than that, as chrony may, no pulse is used.
  static let tolerance = 500e-6
  /// When the line is looked at, seconds from its rise: it has to be low. Receivers' pulses are microseconds to 200 ms long;
  /// one of the other polarity is high then until just before the next second.
  static let look = 0.4...0.75
  /// Between two looks for edges at the most, seconds: none of a pulse is missed then.
  static let longestGap = 0.35
  /// From an epoch to its message at the most, seconds.
  static let longestLatency = 1.0
  /// Good seconds after which pulses are used, at first and where they have failed since.
  static let (firstRun, laterRun) = (3, 10)
  /// Pulses in a row whose epochs name another second than the pulses count: one alone was read late.
  static let toleratedMismatches = 2
  /// Seconds with fixes but without a pulse to use after which that is said.
  static let patience = 4.0
  private static let day = 86_400

  private(set) var state = PulseState.waiting
  /// The newest pulse's rise, and that of the one a second before it.
  private var edge: Timestamp?
  private var lastLook: Timestamp?
  private var edgeBefore: Timestamp?
  /// Whether the newest pulse was looked at, and had ended.
  private var wasSeen = false
  private var isShort = false
  /// Good seconds up to the newest pulse, since the receiver has a fix.
  private var run = 0
  private var neededRun = firstRun
  /// The second of the day that the newest pulse began, and the good seconds there were when an epoch said so.
  private var second: Int?
  private var toldAt = 0
  /// Whether the epoch of another pulse has agreed.
  private var isConfirmed = false
  /// Pulses whose epochs have not, and the good seconds at the newest of them.
  private var mismatches = 0
  private var mismatchedAt = -1
  /// The newest pulse that was used, and its second; from there on the newest good one, for pulses count seconds by
  /// themselves. Messages that come to be late by a second would be paired with the pulse after theirs: by these two that is
  /// seen, for as long as there is a fix.
  private var known: (edge: Timestamp, second: Int)?
  /// When an epoch last had its pulse, or was the first with a fix.
  private var goodUntil: Timestamp?
  /// What was wrong when the row of good seconds ended.
  private var fault = PulseRejection.irregular

  /// Forgets what came before: the receiver was not listened to, or its line not taken.
  mutating func forget() {
    (edge, lastLook) = (nil, nil)
    lose()
    goodUntil = nil
    state = .waiting
  }

  /// Takes what has come on the line since the last call: the newest rise, and how many there were; 0 for none. To be
  /// called all the time: where this machine was away for longer it knows nothing of the pulses meanwhile.
  mutating func take(edge newest: Timestamp?, count: Int, at now: Timestamp) {
    if let lastLook, now.seconds(since: lastLook) > Self.longestGap { forget() }
    lastLook = now
    guard let newest else { return }
    defer { (edge, wasSeen, isShort) = (newest, false, false) }
    guard let edge else { return }
    let length = newest.seconds(since: edge)
    guard count == 1, abs(length - 1) <= Self.tolerance else { return fail(.irregular) }
    guard isShort else { return fail(.inverted) }
    edgeBefore = edge
    run += 1
    second = second.map { ($0 + 1) % Self.day }
    if let known, let passed = Self.seconds(from: known.edge, to: newest) {
      self.known = (newest, (known.second + passed) % Self.day)
    }
  }

  /// The whole seconds between two pulses; `nil` where they are not so far apart.
  private static func seconds(from known: Timestamp, to edge: Timestamp) -> Int? {
    let passed = edge.seconds(since: known)
    let whole = passed.rounded()
    return abs(passed - whole) <= tolerance * whole ? Int(whole) : nil
  }

  /// Whether `saw` is to be called with the line's level at `now`.
  func isLookDue(at now: Timestamp) -> Bool {
    guard let edge, !wasSeen else { return false }
    return Self.look.contains(now.seconds(since: edge))
  }

  /// Takes the level of the line.
  mutating func saw(isHigh: Bool) { (wasSeen, isShort) = (true, !isHigh) }

  /// The moment of an epoch on the monotonic clock; `nil` where no pulse tells it. Edges up to its arrival are to be
  /// taken before.
  mutating func moment(of fix: GNSSFix) -> Timestamp? {
    guard fix.mode > .none, fix.isValid, let utc = fix.utc ?? fix.timeOfDay, abs(utc) < 1e12 else {
      // It pulses by a time of its own, if at all: what comes now says nothing of what is to come.
      lose()
      (goodUntil, known) = (nil, nil)
      // With the next fix it is as at the first: it is no fault of the pulse's that it stopped before the word of it came.
      (state, neededRun) = (.waiting, Self.firstRun)
      return nil
    }
    let received = fix.received
    // What came without a fix was by the receiver's own clock.
    if goodUntil == nil { lose() }
    let start = goodUntil ?? received
    goodUntil = start
    if let edge, received.seconds(since: edge) > 1 + Self.longestLatency {
      self.edge = nil
      fail(.missing)
    }
    let moment = paired(utc, received)
    if let moment, isConfirmed, run >= neededRun {
      goodUntil = received
      if let edge, let second { known = (edge, second) }
      state = .inUse
      return moment
    }
    let isBad = run < neededRun || mismatches > 0
    if isBad, received.seconds(since: start) > Self.patience {
      neededRun = Self.laterRun
      state = .unusable(edge == nil ? .missing : mismatches > 0 ? .unmatched : fault)
    } else if state == .inUse {
      state = .waiting
      neededRun = Self.laterRun
    }
    return nil
  }

  /// The moment of an epoch by the pulse that began its second.
  private mutating func paired(_ utc: Double, _ received: Timestamp) -> Timestamp? {
    guard let edge, let edgeBefore else { return nil }
    let whole = utc.rounded(.down)
    let length = edge.seconds(since: edgeBefore)
    let fraction = (utc - whole) * length
    let epochSecond =
      (Int(whole.truncatingRemainder(dividingBy: Double(Self.day))) + Self.day) % Self.day
    // The newest that the message can be of.
    let isOfNewest = edge.advanced(bySeconds: fraction) <= received
    guard let second else {
      let named = (epochSecond + (isOfNewest ? 0 : 1)) % Self.day
      guard isAsKnown(named, edge) else {
        fail(.unmatched)
        return nil
      }
      (self.second, toldAt) = (named, run)
      return nil
    }
    let behind = (second - epochSecond + Self.day) % Self.day
    let moment = (behind == 0 ? edge : edgeBefore).advanced(bySeconds: fraction)
    guard behind <= 1, (0..<Self.longestLatency).contains(received.seconds(since: moment)) else {
      if mismatchedAt != run { mismatches += 1 }
      mismatchedAt = run
      if mismatches > Self.toleratedMismatches { fail(.unmatched) }
      return nil
    }
    mismatches = 0
    // What is of the same pulse agrees with itself.
    if run > toldAt { isConfirmed = true }
    return moment
  }

  /// Whether a pulse can be of this second by the newest that was used.
  private func isAsKnown(_ second: Int, _ edge: Timestamp) -> Bool {
    guard let known else { return true }
    let passed = edge.seconds(since: known.edge)
    return (known.second + Int(passed.rounded())) % Self.day == second
  }

  private mutating func fail(_ fault: PulseRejection) {
    self.fault = fault
    lose()
  }

  private mutating func lose() {
    run = 0
    edgeBefore = nil
    second = nil
    (isConfirmed, mismatches, mismatchedAt) = (false, 0, -1)
  }
}

/// How far it is.
enum PulseState: Sendable, Hashable {
  /// The receiver has no fix, or not enough pulses have come since.
  case waiting
  case inUse
  case unusable(PulseRejection)
}

/// Why pulses are not used.
enum PulseRejection: Sendable, Hashable {
  case missing
  /// They do not lie a second apart.
  case irregular
  /// The line is high for longer than it is low: it rises where a pulse ends.
  case inverted
  /// The epochs say another second than the pulses count, or counted before, or come more than a second after theirs.
  case unmatched
}
