/// From which of several sources on one wire positions are taken. A source is known by the talker of its sentences.
///
/// Receivers talk as one constellation or as several of them; all of these are one source. Other instruments (II, IN) may pass
/// on the positions of another receiver. The first source with a fix is followed until another has had fixes for some
/// seconds in which it had none. A receiver comes before another instrument.
struct SourceChoice: Sendable {
  /// The time in seconds without a fix after which another source is followed.
  private static let patience = 5.0
  /// The maximum number of talkers that are reported.
  private static let limit = 8
  /// The source of all receivers' talkers.
  private static let receivers: UInt16 = 0

  /// What a sentence tells of its source.
  struct Sentence {
    /// The two letters of the talker.
    let letters: UInt16
    let talker: NMEADecoder.Talker
    /// Seconds by a clock that all sources share; `nil` for a sentence without a time.
    let time: Double?
    /// Whether it has a fix; `nil` if it does not say.
    let hasFix: Bool?
  }

  /// The only source that counts; `nil` for the better one.
  private let wanted: UInt16?
  private var followed: UInt16?
  /// When the followed source last had a fix, or others were first heard without one of it.
  private var lastFix: Double?
  /// Since when a receiver has had fixes, and its newest one, while another instrument is followed.
  private var receiverFixes: (since: Double, newest: Double)?
  private var talkers: [(letters: UInt16, source: UInt16)] = []
  /// Whether the talkers that are not read have changed, for the one who decodes to take.
  var hasNews = false

  init(wanted: UInt16? = nil) {
    self.wanted = wanted.map { letters in
      let bytes = [UInt8(truncatingIfNeeded: letters >> 8), UInt8(truncatingIfNeeded: letters)]
      let talker = bytes.withUnsafeBufferPointer { NMEADecoder.Talker($0[...]) }
      return Self.source(letters, talker)
    }
    followed = self.wanted
    talkers.reserveCapacity(Self.limit)
  }

  private static func source(_ letters: UInt16, _ talker: NMEADecoder.Talker) -> UInt16 {
    talker == .other ? letters : receivers
  }

  /// The talkers of positions that are not read.
  var ignored: [UInt16] { talkers.filter { $0.source != followed }.map(\.letters) }

  /// Whether a receiver is followed, whose own sentences have no talker, or nothing yet.
  var followsReceivers: Bool { followed ?? Self.receivers == Self.receivers }

  /// Whether a sentence that belongs to a position, and tells of none itself, is to be read.
  func follows(_ letters: UInt16, _ talker: NMEADecoder.Talker) -> Bool {
    followed.map { $0 == Self.source(letters, talker) } ?? true
  }

  /// Whether a sentence of a position is to be read.
  mutating func follows(_ sentence: Sentence) -> Bool {
    let source = Self.source(sentence.letters, sentence.talker)
    let hasFix = sentence.hasFix == true
    if followed == nil, hasFix { followed = source }
    guard let followed else { return true }
    if source == followed {
      if hasFix { lastFix = sentence.time ?? lastFix }
      report(sentence.letters, source)
      return true
    }
    report(sentence.letters, source)
    guard wanted == nil, hasFix, let time = sentence.time, isBetter(source, at: time) else {
      return false
    }
    (self.followed, lastFix, receiverFixes, hasNews) = (source, time, nil, true)
    return true
  }

  /// Whether a source that has a fix is better than the one that is followed.
  private mutating func isBetter(_ source: UInt16, at time: Double) -> Bool {
    guard let last = lastFix else {
      lastFix = time
      return false
    }
    if secondsOfDay(from: last, to: time) > Self.patience { return true }
    guard source == Self.receivers else { return false }
    var fixes = receiverFixes ?? (time, time)
    let pause = secondsOfDay(from: fixes.newest, to: time)
    if !(0...Self.patience).contains(pause) { fixes.since = time }
    fixes.newest = time
    receiverFixes = fixes
    return secondsOfDay(from: fixes.since, to: time) > Self.patience
  }

  private mutating func report(_ letters: UInt16, _ source: UInt16) {
    guard talkers.count < Self.limit, !talkers.contains(where: { $0.letters == letters }) else {
      return
    }
    talkers.append((letters, source))
    if source != followed { hasNews = true }
  }
}
