import SensorTypes

/// Puts together what a receiver says in several sentences: one fix an epoch, never half old and half new.
///
/// An epoch is everything said about one time of day. It is over when another time comes, or, where that is too
/// late, with the sentence that has ended every one of the epochs before it. Where nobody waits two are open at a time if
/// need be: some receivers, and two on one wire, are still saying one when they begin the next.
struct EpochAssembler: Sendable {
  /// What kind of message a part of an epoch came in.
  typealias MessageID = UInt32

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

  /// An epoch under way.
  struct Part {
    var fix: GNSSFix
    /// What it began with.
    let first: MessageID
    /// A sentence said that its data are not to be used.
    var isVoid = false
    /// Speed, or course, has come with the position: a sentence of them alone overrules neither.
    var hasSpeed = false
    var hasCourse = false
    /// A height of which its own sentence did not say whether it is one; another's word counts.
    var unvouchedAltitude: Double?
    /// The best kind of fix that a GSA has said: with several constellations one comes for each.
    var bestMode = GNSSFix.Mode.none
  }

  /// Ended alike so often, an ending is a rule; and once it was none, so often.
  private static let rule = (first: 3, again: 10)

  /// Whether an epoch ends by rule, before the next one has begun.
  private let endsByRule: Bool
  private var current: Part?
  /// The one before, where two are open: at first, and as long as an epoch is still spoken of after another.
  private var previous: Part?
  /// For how many epochs more two are held open.
  private var patience = Self.longestPatience
  private static let longestPatience = 10
  private var wasEmitted = false
  /// The newest message, and how many of its kind have come in a row: a GSA for each constellation, say.
  private var last: (message: MessageID, run: Int) = (0, 0)
  private var ending: (message: MessageID, run: Int, count: Int, needed: Int) =
    (0, 0, 0, rule.first)
  /// A take may end two epochs: the one before, and its own; and the last ending two that are open.
  private var finished: (GNSSFix?, GNSSFix?)
  /// Times of day of the newest epochs that are out: of none a second line.
  private var told: (Double?, Double?, Double?)
  /// Days since 1970-01-01 of the last full date, and the time of day that it came with.
  private var date: (day: Int, timeOfDay: Double)?

  init(endsByRule: Bool) { self.endsByRule = endsByRule }

  /// Takes a part of the epoch at `moment`.
  mutating func take(
    _ message: MessageID, _ moment: Moment, received: Timestamp, _ add: (inout Part) -> Void
  ) {
    if begins(message, moment) { open(message, moment, received) }
    guard var part = current else { return }
    add(&part)
    part.fix.utc = utc(timeOfDay: part.fix.timeOfDay)
    current = part
    last = (message, message == last.message ? last.run + 1 : 1)
    if wasEmitted {
      // It came after what was taken for the end: no rule for long.
      ending = (0, 0, 0, Self.rule.again)
    } else if endsByRule, last == (ending.message, ending.run), ending.count >= ending.needed {
      wasEmitted = true
      finish(part)
    }
  }

  /// Whether a message is of another epoch than the one under way.
  private func begins(_ message: MessageID, _ moment: Moment) -> Bool {
    switch moment {
    case .at(let time): current?.fix.timeOfDay.map { !Self.isSame($0, time) } ?? true
    // Without a time its first message tells the round that it is of.
    case .unknown: current.map { $0.fix.timeOfDay != nil || $0.first == message } ?? true
    case .none: false
    }
  }

  private mutating func open(_ message: MessageID, _ moment: Moment, _ received: Timestamp) {
    if let time = moment.timeOfDay, let before = previous?.fix.timeOfDay, Self.isSame(before, time)
    {
      swap(&previous, &current)
      patience = Self.longestPatience
      return
    }
    if endsByRule || patience == 0 {
      close()
    } else if let under = current {
      // Out goes the earlier one; the other may still be spoken of.
      if let before = previous, Self.isLater(before, than: under) {
        finish(under)
      } else {
        if let before = previous { finish(before) }
        previous = under
      }
      patience -= 1
    }
    begun &+= 1
    current = Part(fix: GNSSFix(received: received), first: message)
    current?.fix.timeOfDay = moment.timeOfDay
    last = (0, 0)
  }

  private static func isLater(_ a: Part, than b: Part) -> Bool {
    guard let a = a.fix.timeOfDay, let b = b.fix.timeOfDay else { return false }
    // Farther apart they are two logs, one behind the other, or a clock that was put right.
    return (0...10).contains(secondsOfDay(from: b, to: a))
  }

  private static func isSame(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 1e-3 }

  /// A full date was said for the current epoch.
  mutating func setDate(day: Int, timeOfDay: Double) { date = (day, timeOfDay) }

  /// The next finished epoch.
  mutating func next() -> GNSSFix? {
    guard let fix = finished.0 else { return nil }
    finished = (finished.1, nil)
    return fix
  }

  /// How many epochs were begun.
  private(set) var begun = 0

  /// Ends what is under way and before `time`.
  mutating func close(before time: Double) {
    if let part = previous, part.isBefore(time) {
      finish(part)
      previous = nil
    }
    guard let part = current, part.isBefore(time) else { return }
    guard let later = previous else { return close() }
    finish(part)
    (current, previous) = (later, nil)
  }

  /// Ends the epochs under way: nothing more will come.
  mutating func close() {
    if let before = previous, let under = current, Self.isLater(before, than: under) {
      swap(&previous, &current)
    }
    if let part = previous { finish(part) }
    previous = nil
    defer {
      current = nil
      wasEmitted = false
    }
    guard let part = current else { return }
    if !wasEmitted { finish(part) }
    let isAlike = last == (ending.message, ending.run)
    ending = (last.message, last.run, isAlike ? min(ending.count + 1, 1_000) : 1, ending.needed)
  }

  private mutating func finish(_ part: Part) {
    var fix = part.fix
    if let time = fix.timeOfDay {
      guard !isTold(time) else {
        patience = Self.longestPatience
        return
      }
      told = (told.1, told.2, time)
    }
    if part.isVoid { fix.isValid = false }
    if fix.mode > .none, fix.altitude == nil, let altitude = part.unvouchedAltitude {
      fix.altitude = altitude
      if part.bestMode == .none { fix.mode = .threeDimensional }
    }
    if finished.0 == nil { finished.0 = fix } else { finished.1 = fix }
  }

  private func isTold(_ time: Double) -> Bool {
    func isThat(_ earlier: Double?) -> Bool { earlier.map { Self.isSame($0, time) } ?? false }
    return isThat(told.0) || isThat(told.1) || isThat(told.2)
  }

  private mutating func utc(timeOfDay: Double?) -> Double? {
    guard let timeOfDay, let date else { return nil }
    var day = date.day
    // The date is some epochs old; midnight may have passed since. It is carried along: where it is said once a day,
    // noon is half a day from it too.
    if timeOfDay < date.timeOfDay - 43_200 { day += 1 }
    if timeOfDay > date.timeOfDay + 43_200 { day -= 1 }
    self.date = (day, timeOfDay)
    return Double(day) * 86_400 + timeOfDay
  }
}

extension EpochAssembler.Part {
  /// Whether it is of a time before `time`; what has none is.
  fileprivate func isBefore(_ time: Double) -> Bool {
    fix.timeOfDay.map { secondsOfDay(from: $0, to: time) > 1e-3 } ?? true
  }
}

/// Seconds from one time of day to the next that is nearest: from -43200 to 43200.
func secondsOfDay(from a: Double, to b: Double) -> Double {
  let difference = b - a
  if difference > 43_200 { return difference - 86_400 }
  return difference < -43_200 ? difference + 86_400 : difference
}

/// Days since 1970-01-01 of a date of the Gregorian calendar, or `nil` for one that is none.
func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
  guard (1...12).contains(month), (1...9999).contains(year) else { return nil }
  let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  let length =
    switch month {
    case 2: isLeap ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  guard (1...length).contains(day) else { return nil }
  // Years that begin in March, so that the leap day is the last.
  let y = month <= 2 ? year - 1 : year
  let era = y / 400
  let yearOfEra = y - era * 400
  let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}
