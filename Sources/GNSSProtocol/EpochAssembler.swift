import SensorTypes

/// Puts together what a receiver says in several sentences: one fix an epoch, never half old and half new.
///
/// An epoch is everything said about one time of day. It is over when another time comes, or, where that is too
/// late, with the sentence that has ended every one of the epochs before it.
struct EpochAssembler: Sendable {
  /// What kind of message a part of an epoch came in.
  typealias MessageID = UInt32

  /// An epoch under way.
  struct Part {
    var fix: GNSSFix
    /// A sentence said that its data are not to be used.
    var isVoid = false
    /// Speed and course have come with the position: a sentence of them alone overrules neither.
    var hasMotion = false
    /// The best kind of fix that a GSA has said: with several constellations one comes for each.
    var bestMode = GNSSFix.Mode.none
  }

  /// Ended alike so often, an ending is a rule; and once it was none, so often.
  private static let rule = (first: 3, again: 10)

  /// Whether an epoch ends by rule, before the next one has begun.
  private let endsByRule: Bool
  private var current: Part?
  private var wasEmitted = false
  /// The newest message, and how many of its kind have come in a row: a GSA for each constellation, say.
  private var last: (message: MessageID, run: Int) = (0, 0)
  private var ending: (message: MessageID, run: Int, count: Int, needed: Int) =
    (0, 0, 0, rule.first)
  /// A take may end two epochs: the one before, and its own.
  private var finished: (GNSSFix?, GNSSFix?)
  /// Days since 1970-01-01 of the last full date, and the time of day that it came with.
  private var date: (day: Int, timeOfDay: Double)?

  init(endsByRule: Bool) { self.endsByRule = endsByRule }

  /// Takes a part of the epoch at `timeOfDay` (`nil` for a sentence without a time: it belongs to the
  /// epoch that is under way).
  mutating func take(
    _ message: MessageID, timeOfDay: Double?, received: Timestamp, _ add: (inout Part) -> Void
  ) {
    if let timeOfDay {
      if current.map({ $0.fix.timeOfDay.map { abs($0 - timeOfDay) > 1e-3 } ?? false }) ?? true {
        close()
        current = Part(fix: GNSSFix(received: received))
        last = (0, 0)
      }
      current?.fix.timeOfDay = timeOfDay
    }
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

  /// A full date was said for the current epoch.
  mutating func setDate(day: Int, timeOfDay: Double) { date = (day, timeOfDay) }

  /// The next finished epoch.
  mutating func next() -> GNSSFix? {
    guard let fix = finished.0 else { return nil }
    finished = (finished.1, nil)
    return fix
  }

  /// Time of day of the epoch under way, unless it is out already.
  var timeOfDay: Double? { wasEmitted ? nil : current?.fix.timeOfDay }

  /// Ends the epoch under way: nothing more will come.
  mutating func close() {
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
    if part.isVoid { fix.isValid = false }
    if finished.0 == nil { finished.0 = fix } else { finished.1 = fix }
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
