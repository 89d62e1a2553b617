import SensorTypes

/// Puts together what a receiver says in several sentences: one fix an epoch, never half old and half new.
///
/// An epoch is everything said about one moment. It is over when another one's is said, or, where that is too late, with
/// the sentence that has ended every one of the epochs before it. Two are open at a time where need be: some
/// receivers, and two on one wire, are still saying one when they begin the next.
struct EpochAssembler: Sendable {
  /// Ended alike so often, an ending is a rule; and once it was none, so often.
  private static let rule = (first: 3, again: 10)
  private static let longestPatience = 10
  /// How many of the epochs that are out are remembered.
  private static let memory = 3

  /// Whether an epoch ends by rule, before the next one has begun.
  private let endsByRule: Bool
  /// The epoch that was spoken of last.
  private var current: Part?
  /// Another one that is open.
  private var previous: Part?
  /// For how many epochs more two are held open.
  private var patience: Int
  /// The newest message, and how many of its kind have come in a row: a GSA for each constellation, say.
  private var last: (kind: UInt32, run: Int) = (0, 0)
  private var ending: (kind: UInt32, run: Int, count: Int, needed: Int) = (0, 0, 0, rule.first)
  /// A take may end two epochs: the one before, and its own; and the last ending two that are open.
  private var finished: (GNSSFix?, GNSSFix?)
  /// The newest epochs that are out: of none a second line.
  private var told: [Told] = []
  /// Days since 1970-01-01 of the last full date, and the time of day that it came with.
  private var date: (day: Int, timeOfDay: Double)?
  /// How many epochs were begun.
  private(set) var begun = 0

  /// An epoch that is out.
  private struct Told {
    let timeOfDay: Double
    let utc: Double?
    let marks: UInt64
  }

  init(endsByRule: Bool) {
    self.endsByRule = endsByRule
    patience = endsByRule ? 0 : Self.longestPatience
    told.reserveCapacity(Self.memory + 1)
  }

  /// Takes a part of the epoch at `moment`, on a `day` since 1970-01-01 where the sentence says one.
  mutating func take(
    _ message: Message, _ moment: Moment, day: Int? = nil, received: Timestamp,
    _ add: (inout Part) -> Void
  ) {
    if let day, let time = moment.timeOfDay { date = (day, time) }
    select(message, moment, day, received)
    guard var part = current else { return }
    add(&part)
    part.marks |= message.mark
    part.day = part.day ?? day
    part.fix.utc = utc(of: part)
    last = (message.kind, message.kind == last.kind ? last.run + 1 : 1)
    if part.isOut || previous != nil {
      // It came after what was taken for the end, or may: no rule for long.
      ending = (0, 0, 0, Self.rule.again)
    } else if endsByRule, last == (ending.kind, ending.run), ending.count >= ending.needed {
      finish(part)
      part.isOut = true
    }
    current = part
  }

  /// A date by itself, with the time that it is of. It begins no epoch: some receivers send it ahead of the position's.
  mutating func take(date day: Int, timeOfDay: Double) {
    date = (day, timeOfDay)
    if let time = current?.fix.timeOfDay, isSameTime(time, timeOfDay), current?.day == nil {
      current?.day = day
    }
  }

  /// Makes the epoch that a message is of the current one.
  private mutating func select(
    _ message: Message, _ moment: Moment, _ day: Int?, _ received: Timestamp
  ) {
    switch moment {
    case .none: return
    case .unknown:
      // Without a time its first message tells the round that it is of.
      if let part = current, part.fix.timeOfDay == nil, part.first != message { return }
    case .at(let time):
      if let part = current, part.takes(message, time, day) { return }
      if let part = previous, part.takes(message, time, day) {
        swap(&previous, &current)
        patience = Self.longestPatience
        return
      }
      recall(message, time)
    }
    open(message, moment, received)
  }

  /// What it says of the order in which the receiver speaks, or of its clock, that a message is of an earlier moment.
  private mutating func recall(_ message: Message, _ time: Double) {
    func isThat(_ other: Double?) -> Bool { other.map { isSameTime($0, time) } ?? false }
    if isThat(current?.fix.timeOfDay) { return }
    let index = told.lastIndex { isThat($0.timeOfDay) }
    if let index, told[index].marks & message.mark == 0 {
      // It lags: from now on it is waited for.
      patience = Self.longestPatience
    } else if isThat(previous?.fix.timeOfDay)
      || index.map({ current != nil || $0 < told.count - 1 }) ?? false
    {
      // It was said before: the clock was put back, or another log has begun.
      close()
      told.removeAll(keepingCapacity: true)
    }
  }

  private mutating func open(_ message: Message, _ moment: Moment, _ received: Timestamp) {
    if let under = current {
      // A moment's second beginning: an echo, or the same time of another day, which a date may tell yet.
      let isAgain = moment.timeOfDay.flatMap { time in
        under.fix.timeOfDay.map { isSameTime($0, time) }
      }
      if isAgain ?? false || patience > 0 {
        if let before = previous {
          previous = before.goes(before: under) ? under : before
          finish(before.goes(before: under) ? before : under)
        } else {
          previous = under
        }
        patience = max(0, patience - 1)
      } else {
        close()
      }
    }
    begun &+= 1
    current = Part(ordinal: begun, first: message, moment: moment, received: received)
    last = (0, 0)
  }

  /// The next finished epoch.
  mutating func next() -> GNSSFix? {
    guard let fix = finished.0 else { return nil }
    finished = (finished.1, nil)
    return fix
  }

  /// The time of day of the epoch that was spoken of last, while it is under way.
  var timeOfDay: Double? { current?.fix.timeOfDay }

  /// Whether an epoch of that time is under way or just out.
  func knows(_ time: Double) -> Bool {
    func isThat(_ other: Double?) -> Bool { other.map { isSameTime($0, time) } ?? false }
    return isThat(current?.fix.timeOfDay) || isThat(previous?.fix.timeOfDay)
      || told.contains { isThat($0.timeOfDay) }
  }

  /// Ends what is under way and before `time`.
  mutating func close(before time: Double) {
    settleOrder()
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
    settleOrder()
    if let part = previous {
      finish(part)
    } else if current != nil {
      let isAlike = last == (ending.kind, ending.run)
      ending = (last.kind, last.run, isAlike ? min(ending.count + 1, 1_000) : 1, ending.needed)
    }
    if let part = current { finish(part) }
    (previous, current) = (nil, nil)
  }

  private mutating func settleOrder() {
    if let before = previous, let under = current, under.goes(before: before) {
      swap(&previous, &current)
    }
  }

  private mutating func finish(_ part: Part) {
    guard !part.isOut else { return }
    var fix = part.fix
    if let time = fix.timeOfDay {
      guard !isTold(fix, time) else { return }
      told.append(Told(timeOfDay: time, utc: fix.utc, marks: part.marks))
      if told.count > Self.memory { told.removeFirst() }
    }
    if part.isVoid { fix.isValid = false }
    if fix.mode > .none, fix.altitude == nil, let altitude = part.unvouchedAltitude {
      fix.altitude = altitude
      if part.bestMode == .none { fix.mode = .threeDimensional }
    }
    if finished.0 == nil { finished.0 = fix } else { finished.1 = fix }
  }

  /// Whether that moment is out, of this day or of none.
  private func isTold(_ fix: GNSSFix, _ time: Double) -> Bool {
    told.contains { earlier in
      guard isSameTime(earlier.timeOfDay, time) else { return false }
      guard let a = earlier.utc, let b = fix.utc else { return true }
      return abs(a - b) < 43_200
    }
  }

  private mutating func utc(of part: Part) -> Double? {
    guard let timeOfDay = part.fix.timeOfDay else { return nil }
    if let day = part.day { return Double(day) * 86_400 + timeOfDay }
    guard let date else { return nil }
    var day = date.day
    // The date is some epochs old; midnight may have passed since. It is carried along: where it is said once a day,
    // noon is half a day from it too.
    if timeOfDay < date.timeOfDay - 43_200 { day += 1 }
    if timeOfDay > date.timeOfDay + 43_200 { day -= 1 }
    self.date = (day, timeOfDay)
    return Double(day) * 86_400 + timeOfDay
  }
}

/// Whether two times of day are one moment's.
private func isSameTime(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 1e-3 }

extension EpochAssembler.Part {
  /// Whether a message is of this epoch: of its moment, and not said yet.
  fileprivate func takes(_ message: EpochAssembler.Message, _ time: Double, _ day: Int?) -> Bool {
    guard let own = fix.timeOfDay, isSameTime(own, time), marks & message.mark == 0 else {
      return false
    }
    return day == nil || self.day == nil || day == self.day
  }
}
