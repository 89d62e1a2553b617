import SensorTypes

/// Puts together what a receiver says in several sentences: one fix an epoch, never half old and half new.
///
/// An epoch is everything said about one time of day. It is over when another time comes, or, sooner,
/// with the sentence that has ended each of the epochs before it.
struct EpochAssembler: Sendable {
  /// What kind of message a part of an epoch came in.
  typealias MessageID = UInt16

  private var current: GNSSFix?
  private var wasEmitted = false
  private var lastMessage: MessageID = 0
  private var learnedEnd: MessageID?
  private var candidateEnd: MessageID?
  private var finished: GNSSFix?
  /// Days since 1970-01-01 of the last full date, and the time of day that it came with.
  private var date: (day: Int, timeOfDay: Double)?

  /// Takes a part of the epoch at `timeOfDay` (`nil` for a sentence without a time: it belongs to the
  /// epoch that is under way).
  mutating func take(
    _ message: MessageID, timeOfDay: Double?, received: Timestamp, _ part: (inout GNSSFix) -> Void
  ) {
    if let timeOfDay {
      if current.map({ $0.timeOfDay.map { abs($0 - timeOfDay) > 1e-3 } ?? false }) ?? true {
        close()
        current = GNSSFix(received: received)
      }
      current?.timeOfDay = timeOfDay
    }
    guard var fix = current else { return }
    part(&fix)
    fix.utc = utc(timeOfDay: fix.timeOfDay)
    current = fix
    if wasEmitted {
      // It came after what was taken for the end: learn anew.
      learnedEnd = nil
    }
    lastMessage = message
    if message == learnedEnd, !wasEmitted {
      wasEmitted = true
      finished = fix
    }
  }

  /// A full date was said for the current epoch.
  mutating func setDate(day: Int, timeOfDay: Double) { date = (day, timeOfDay) }

  /// The next finished epoch.
  mutating func next() -> GNSSFix? {
    defer { finished = nil }
    return finished
  }

  /// Ends the epoch under way: nothing more will come.
  mutating func close() {
    defer {
      current = nil
      wasEmitted = false
    }
    guard let fix = current else { return }
    if !wasEmitted { finished = fix }
    // Two epochs in a row that ended alike make the rule.
    if candidateEnd == lastMessage { learnedEnd = lastMessage }
    candidateEnd = lastMessage
  }

  private func utc(timeOfDay: Double?) -> Double? {
    guard let timeOfDay, let date else { return nil }
    var day = date.day
    // The date is some epochs old; midnight may have passed since.
    if timeOfDay < date.timeOfDay - 43_200 { day += 1 }
    if timeOfDay > date.timeOfDay + 43_200 { day -= 1 }
    return Double(day) * 86_400 + timeOfDay
  }
}

/// Days since 1970-01-01 of a date of the Gregorian calendar, or `nil` for one that is none.
func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
  guard (1...12).contains(month), (1...31).contains(day), (1...9999).contains(year) else {
    return nil
  }
  // Years that begin in March, so that the leap day is the last.
  let y = month <= 2 ? year - 1 : year
  let era = y / 400
  let yearOfEra = y - era * 400
  let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}
