// What an epoch is put together from.

import SensorTypes

extension EpochAssembler {
  /// What a sentence says of its time.
  enum Moment: Sendable, Hashable {
    /// Seconds of the day.
    case at(Double)
    /// It has a place for the time, and nothing there: a receiver that knows none yet. Nothing of another epoch.
    case unknown
    /// Its kind has none: it is of the epoch under way.
    case none

    var timeOfDay: Double? { if case .at(let time) = self { time } else { nil } }
  }

  /// What kind of message a part of an epoch came in, and by whom.
  struct Message: Sendable, Hashable {
    let kind: UInt32
    /// A bit of its own for each kind that has a time, by each talker: an epoch has it once. None for the others.
    let mark: UInt64

    /// A kind that has no time.
    init(_ sentence: NMEADecoder.Sentence) { (kind, mark) = (sentence.rawValue, 0) }

    /// The number of a kind that has one, below eight, and who has said it.
    init(kind: UInt32, number: UInt64, _ talker: NMEADecoder.Talker) {
      self.kind = kind
      mark = 1 << (number << 3 | UInt64(talker.rawValue))
    }
  }

  /// An epoch under way.
  struct Part: Sendable {
    var fix: GNSSFix
    /// How many were begun before it.
    let ordinal: Int
    /// What it began with.
    let first: Message
    /// What was said of it.
    var marks: UInt64 = 0
    /// Days since 1970-01-01, where one of its own sentences has said it.
    var day: Int?
    /// It was given out; what comes now comes too late.
    var isOut = false
    /// A sentence said that its data are not to be used.
    var isVoid = false
    /// Speed, or course, has come with the position: a sentence of them alone overrules neither.
    var hasSpeed = false
    var hasCourse = false
    /// A height of which its own sentence did not say whether it is one; another's word counts.
    var unvouchedAltitude: Double?
    /// The best kind of fix that a GSA has said: with several constellations one comes for each.
    var bestMode = GNSSFix.Mode.none

    init(ordinal: Int, first: Message, moment: Moment, received: Timestamp) {
      fix = GNSSFix(received: received)
      fix.timeOfDay = moment.timeOfDay
      (self.ordinal, self.first) = (ordinal, first)
    }
  }
}

extension EpochAssembler.Part {
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
}
