// What an epoch is put together from.

import SensorTypes

extension EpochAssembler {
  /// What kind of message a part of an epoch came in, and by whom.
  struct Message: Sendable, Hashable {
    let kind: UInt32
    /// A bit of its own for each kind that has a time, by each talker: an epoch has it once. None for the others.
    let mark: UInt64

    /// A kind that has no time.
    init(_ sentence: NMEASentence) { (kind, mark) = (sentence.rawValue, 0) }

    /// A kind without a time, and without a bit.
    init(kind: UInt32, mark: UInt64) { (self.kind, self.mark) = (kind, mark) }

    /// The number of a kind that has one, below eight, and who has said it.
    init(kind: UInt32, number: UInt64, _ talker: NMEADecoder.Talker) {
      self.kind = kind
      mark = 1 << (number << 3 | UInt64(talker.rawValue))
    }
  }
}

/// Who has said whether an epoch's data are to be used; talkers are bits.
struct ValidityReport: Sendable {
  private var warned: UInt8 = 0
  private var vouched: UInt8 = 0
  private var placed: UInt8 = 0

  private static func bit(_ talker: NMEADecoder.Talker) -> UInt8 { 1 << talker.rawValue }

  /// A status of V.
  mutating func warn(_ talker: NMEADecoder.Talker) { warned |= Self.bit(talker) }

  /// A status of A.
  mutating func vouch(_ talker: NMEADecoder.Talker) { vouched |= Self.bit(talker) }

  /// A place, with or without a status.
  mutating func place(_ talker: NMEADecoder.Talker) { placed |= Self.bit(talker) }

  mutating func formUnion(_ other: ValidityReport) {
    (warned, vouched) = (warned | other.warned, vouched | other.vouched)
    placed |= other.placed
  }

  /// A warning counts, but that of one constellation which gave no place, where another's data are vouched for: a
  /// receiver may say of GLONASS alone that it has no fix.
  var isVoid: Bool {
    warned != 0
      && (warned & (placed | Self.bit(.several)) != 0 || vouched & ~warned == 0)
  }
}

/// An epoch under way.
struct PartialEpoch: Sendable {
  var fix: GNSSFix
  /// How many were begun before it.
  let ordinal: Int
  /// What it began with.
  let first: EpochAssembler.Message
  /// The time of that.
  let moment: SentenceTime
  /// What was said of it.
  var marks: UInt64 = 0
  /// Days since 1970-01-01, where one of its own sentences has said it.
  var day: Int?
  /// It was given out; what comes now comes too late.
  var isOut = false
  /// Whether its data are to be used.
  var word = ValidityReport()
  /// How its position came about.
  var kinds = FixKindReport()
  /// The corrections that its position rests on.
  var corrections = FixCorrections()
  /// Speed, or course, has come with the position: a sentence of them alone overrules neither.
  var hasSpeed = false
  var hasCourse = false
  /// A height of which its own sentence did not say whether it is one; another's word counts.
  var unvouchedAltitude: Double?
  /// The best kind of fix that a GSA has said: with several constellations one comes for each.
  var bestMode = FixMode.none

  init(ordinal: Int, first: EpochAssembler.Message, moment: SentenceTime, received: Timestamp) {
    fix = GNSSFix(received: received)
    fix.timeOfDay = moment.timeOfDay
    (self.ordinal, self.first, self.moment) = (ordinal, first, moment)
  }
}

/// What a sentence says of its time.
enum SentenceTime: Sendable, Hashable {
  /// Seconds of the day, and what its last digit is worth in seconds.
  case at(Double, resolution: Double)
  /// It has a place for the time, and nothing there: a receiver that knows none yet. Nothing of another epoch.
  case unknown
  /// Its kind has none: it is of the epoch under way.
  case none

  var timeOfDay: Double? { if case .at(let time, _) = self { time } else { nil } }

  /// The same, or `other` where one is the other rounded to fewer digits: some receivers write hundredths in some sentences
  /// and thousandths in others.
  func agreeing(with other: SentenceTime) -> SentenceTime {
    guard case .at(let time, let resolution) = self, case .at(let own, let ownResolution) = other,
      resolution != ownResolution
    else { return self }
    let coarser = max(resolution, ownResolution)
    return coarser <= 0.01 && abs(time - own) <= 0.51 * coarser ? other : self
  }
}

extension PartialEpoch {
  /// Whether it comes out before another one: what was begun first, unless a receiver says one kind of sentence an epoch
  /// ahead of the others, and these are the first two that were heard.
  func goes(before other: Self) -> Bool {
    let isFirst = ordinal < other.ordinal
    guard marks & other.marks == 0, day == nil || other.day == nil || day == other.day,
      let own = fix.timeOfDay, let time = other.fix.timeOfDay
    else { return isFirst }
    let ahead = secondsOfDay(from: own, to: time)
    // Farther apart they are two logs, one behind the other, or a clock that was put right.
    return abs(ahead) <= 10 && abs(ahead) > 1e-3 ? ahead > 0 : isFirst
  }

  /// Whether it is of a time before `time`; what has none is.
  func isBefore(_ time: Double) -> Bool {
    fix.timeOfDay.map { secondsOfDay(from: $0, to: time) > 1e-3 } ?? true
  }

  /// Takes what it has not, from a part of the same moment and place that begins with a sentence that it has: a receiver
  /// that says one twice says the rest once.
  mutating func fill(from other: Self) {
    guard let time = fix.timeOfDay, let otherTime = other.fix.timeOfDay,
      isSameTime(time, otherTime),
      day == nil || other.day == nil || day == other.day, isAt(other.fix)
    else { return }
    if fix.latitude == nil {
      (fix.latitude, fix.longitude) = (other.fix.latitude, other.fix.longitude)
    }
    if fix.altitude == nil {
      (fix.altitude, fix.ellipsoidalAltitude) = (
        other.fix.altitude, other.fix.ellipsoidalAltitude
      )
    }
    fix.speed = fix.speed ?? other.fix.speed
    fix.course = fix.course ?? other.fix.course
    fix.mode = max(fix.mode, other.fix.mode)
    fix.utc = fix.utc ?? other.fix.utc
    day = day ?? other.day
    unvouchedAltitude = unvouchedAltitude ?? other.unvouchedAltitude
    bestMode = max(bestMode, other.bestMode)
    word.formUnion(other.word)
    kinds.formUnion(other.kinds)
    corrections.age = corrections.age ?? other.corrections.age
    corrections.station = corrections.station ?? other.corrections.station
    if fix.horizontalAccuracy == nil {
      (fix.horizontalAccuracy, fix.accuracySource) = (
        other.fix.horizontalAccuracy, other.fix.accuracySource
      )
    }
    fix.verticalAccuracy = fix.verticalAccuracy ?? other.fix.verticalAccuracy
    (fix.hdop, fix.vdop) = (fix.hdop ?? other.fix.hdop, fix.vdop ?? other.fix.vdop)
    fix.pdop = fix.pdop ?? other.fix.pdop
  }

  /// Whether another fix is at this one's place, as far as both say one: a metre.
  private func isAt(_ other: GNSSFix) -> Bool {
    guard let latitude = fix.latitude, let longitude = fix.longitude,
      let otherLatitude = other.latitude, let otherLongitude = other.longitude
    else { return true }
    return abs(latitude - otherLatitude) <= 1e-5 && abs(longitude - otherLongitude) <= 1e-5
  }

  /// Whether a message is of this epoch: of its moment, and not said yet.
  func takes(_ message: EpochAssembler.Message, _ time: Double, _ day: Int?) -> Bool {
    guard let own = fix.timeOfDay, isSameTime(own, time), marks & message.mark == 0 else {
      return false
    }
    return day == nil || self.day == nil || day == self.day
  }
}

/// Whether two times of day are one moment's.
func isSameTime(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 1e-3 }

func isSame(_ a: Double?, _ b: Double) -> Bool { a.map { isSameTime($0, b) } ?? false }
