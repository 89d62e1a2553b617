// Whose a VTG is: it has no time, and some receivers send it ahead of the position that it belongs to.

import SensorTypes

/// Speed and course of a sentence without a time.
struct TimelessMotion: Sendable {
  /// Degrees from true north, and m/s; `nil` where the sentence has none.
  var course, speed: Double?
  var kind: FixKind?
}

/// Where in an epoch a receiver sends its VTG, learned from the sentences with a time around it.
///
/// Between two sentences of one time it is theirs. Between those of two epochs it is of the first, unless the receiver was heard to
/// begin with it, or its speeds are those of the RMC that follow and not of those before. Each of two in a row must show it.
struct MotionOrder: Sendable {
  /// Speeds that agree are the same number, in whatever unit; others differ by more, m/s.
  private static let (same, other) = (0.03, 0.2)
  /// After so many that agree with one neighbour alone the order is known.
  private static let enough = 2

  /// Whether a VTG leads its epoch.
  private(set) var leads = false
  /// One that waits for the sentence that tells whose it is, and the number of the epoch that was under way.
  private var waiting: (motion: TimelessMotion, ordinal: Int)?
  /// The newest speed, that of the RMC of the epoch that was under way, and the number of that epoch.
  private var compared: (speed: Double, before: Double, ordinal: Int)?
  /// How many in a row have shown that they lead, or that they do not (negative).
  private var agreement = 0

  /// Takes a VTG. Returns whether it waits for the next sentence with a time.
  mutating func take(_ motion: TimelessMotion, under part: PartialEpoch?, begun: Int) -> Bool {
    // The first of all.
    if begun == 0 { leads = true }
    compared = nil
    if let part, part.hasSpeed, let before = part.fix.speed, let speed = motion.speed {
      compared = (speed, before, part.ordinal)
    }
    waiting = leads ? (motion, part?.ordinal ?? begun) : nil
    return leads
  }

  /// Whether a sentence with a time is waited for.
  var awaitsSentence: Bool { waiting != nil || compared != nil }

  /// Gives an epoch of which a sentence with a time has come the VTG that waits for it.
  mutating func give(to part: inout PartialEpoch) {
    guard let waiting else { return }
    self.waiting = nil
    // Behind a sentence of its own epoch it leads none.
    if part.ordinal == waiting.ordinal { learn(leads: false) }
    // In the epoch that was under way, or at the beginning of the next; not in one that was put aside.
    if part.ordinal == waiting.ordinal || part.ordinal == waiting.ordinal + 1 {
      part.take(waiting.motion)
    }
  }

  /// Compares the newest speed with the RMC of the epoch behind it.
  mutating func compare(with part: PartialEpoch) {
    guard let compared, part.ordinal != compared.ordinal else {
      // It lies within its epoch.
      if part.ordinal == compared?.ordinal { compared = nil }
      return
    }
    guard part.hasSpeed, let behind = part.fix.speed else { return }
    self.compared = nil
    let (isBefore, isBehind) = (abs(compared.speed - compared.before), abs(compared.speed - behind))
    if isBehind <= Self.same, isBefore >= Self.other { learn(leads: true) }
    if isBefore <= Self.same, isBehind >= Self.other { learn(leads: false) }
  }

  private mutating func learn(leads: Bool) {
    agreement = leads ? max(agreement, 0) + 1 : min(agreement, 0) - 1
    guard abs(agreement) >= Self.enough else { return }
    self.leads = leads
    agreement = 0
  }
}

extension PartialEpoch {
  /// Takes speed and course where no sentence with a time has said them.
  mutating func take(_ motion: TimelessMotion) {
    kinds.take(timeless: motion.kind)
    if !hasCourse, let course = motion.course { fix.course = course }
    if !hasSpeed, let speed = motion.speed { fix.speed = speed }
  }
}
