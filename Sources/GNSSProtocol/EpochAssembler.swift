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
  private var current: PartialEpoch?
  /// Another one that is open.
  private var previous: PartialEpoch?
  /// For how many epochs more two are held open.
  private var patience: Int
  /// The newest message, and how many of its kind have come in a row: a GSA for each constellation, say.
  private var last: (kind: UInt32, run: Int) = (0, 0)
  private var ending: (kind: UInt32, run: Int, count: Int, needed: Int) = (0, 0, 0, rule.first)
  /// A take may end two epochs: the one before, and its own; and the last ending two that are open.
  private var finished: (GNSSFix?, GNSSFix?)
  /// The newest epochs that are out: of none a second line.
  private var told: [Told] = []
  /// An earlier one that a sentence speaks of which begins none, until it is known whether it goes on there.
  private var aside: PartialEpoch?
  /// Days since 1970-01-01 of the last full date, and the time of day that it came with.
  private var date: (day: Int, timeOfDay: Double)?
  /// How many epochs were begun.
  private(set) var begun = 0
  /// Where in an epoch its VTG is.
  private var motionOrder = MotionOrder()

  /// An epoch that is out.
  private struct Told {
    let timeOfDay: Double
    let utc: Double?
    var marks: UInt64
  }

  init(endsByRule: Bool) {
    self.endsByRule = endsByRule
    patience = endsByRule ? 0 : Self.longestPatience
    told.reserveCapacity(Self.memory + 1)
  }

  /// Takes a part of the epoch at `moment`, on a `day` since 1970-01-01 where the sentence says one; `isVouched` where it is
  /// the day of the epochs after it too.
  mutating func take(
    _ message: Message, _ moment: SentenceTime, day: Int? = nil, isVouched: Bool = true,
    received: Timestamp, _ add: (inout PartialEpoch) -> Void
  ) {
    let moment = current.map { moment.agreeing(with: $0.moment) } ?? moment
    if isVouched, let day, let time = moment.timeOfDay { date = (day, time) }
    let isCurrent = select(message, moment, day, received)
    guard var part = isCurrent ? current : aside, isCurrent || moment != .none else { return }
    let tellsMotion = motionOrder.awaitsSentence && isCurrent && moment != .none
    if tellsMotion { motionOrder.give(to: &part) }
    add(&part)
    if tellsMotion { motionOrder.compare(with: part) }
    part.marks |= message.mark
    part.day = part.day ?? day
    guard isCurrent else {
      aside = part
      return
    }
    part.fix.utc = utc(of: part)
    if part.isOut { mark(part) }
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

  /// Takes speed and course without a time.
  mutating func take(_ motion: TimelessMotion, received: Timestamp) {
    if motionOrder.take(motion, under: current, begun: begun) || motion.kind == FixKind.none {
      return
    }
    take(.init(.vtg), .none, received: received) { $0.take(motion) }
  }

  /// A date by itself, with the time that it is of. It begins no epoch: some receivers send it ahead of the position's.
  mutating func take(date day: Int, timeOfDay: Double) {
    date = (day, timeOfDay)
    if let time = current?.fix.timeOfDay, isSameTime(time, timeOfDay), current?.day == nil {
      current?.day = day
    }
  }

  /// Makes the epoch that a message is of the current one; `false` for a message that is put aside, or of what is.
  private mutating func select(
    _ message: Message, _ moment: SentenceTime, _ day: Int?, _ received: Timestamp
  ) -> Bool {
    switch moment {
    // Whose it is where one was put aside, nobody knows.
    case .none: return aside == nil
    case .unknown:
      aside = nil
      // Without a time its first message tells the round that it is of.
      if let part = current, part.fix.timeOfDay == nil, part.first != message { return true }
    case .at(let time, _):
      if current?.takes(message, time, day) == true {
        aside = nil
        return true
      }
      if previous?.takes(message, time, day) == true {
        swap(&previous, &current)
        patience = Self.longestPatience
        aside = nil
        return true
      }
      if let part = aside, part.takes(message, time, day) {
        believe(part)
        return true
      }
      // Once the receiver goes on where it was, what was put aside stays behind; else it goes on from there.
      if let part = aside {
        if isAfterCurrent(time) { aside = nil } else { believe(part) }
      }
      if staysBehind(message, time) {
        aside = PartialEpoch(ordinal: begun, first: message, moment: moment, received: received)
        return false
      }
      recall(message, time)
    }
    open(message, moment, received)
    return true
  }

  /// Whether a message is of an earlier moment that is out, by a sentence which begins no epochs: a GLL of the last fix, a
  /// time in whole seconds beside tenths; or the first of another log.
  private func staysBehind(_ message: Message, _ time: Double) -> Bool {
    guard current.map({ $0.first.kind != message.kind }) == true, !isAfterCurrent(time),
      !isSame(current?.fix.timeOfDay, time)
    else { return false }
    if let index = told.lastIndex(where: { isSame($0.timeOfDay, time) }) {
      return told[index].marks & message.mark != 0
    }
    return isSame(previous?.fix.timeOfDay, time)
      || told.count == Self.memory
        && told.allSatisfy { secondsOfDay(from: time, to: $0.timeOfDay) > 1e-3 }
  }

  private func isAfterCurrent(_ time: Double) -> Bool {
    current?.fix.timeOfDay.map { secondsOfDay(from: $0, to: time) > 1e-3 } ?? true
  }

  /// What was put aside goes on: another log has begun, or the clock was put back.
  private mutating func believe(_ part: PartialEpoch) {
    close()
    told.removeAll(keepingCapacity: true)
    begun &+= 1
    var part = part
    part.fix.utc = utc(of: part)
    (current, aside, last) = (part, nil, (0, 0))
  }

  /// What it says of the order in which the receiver speaks, or of its clock, that a message is of an earlier moment.
  private mutating func recall(_ message: Message, _ time: Double) {
    if isSame(current?.fix.timeOfDay, time) { return }
    let index = told.lastIndex { isSame($0.timeOfDay, time) }
    if let index, told[index].marks & message.mark == 0 {
      // It lags: from now on it is waited for.
      patience = Self.longestPatience
    } else if isSame(previous?.fix.timeOfDay, time)
      || index.map({ current != nil || $0 < told.count - 1 }) ?? false
    {
      // It was said before: the clock was put back, or another log has begun.
      close()
      told.removeAll(keepingCapacity: true)
    }
  }

  /// Remembers what is said of an epoch that is out.
  private mutating func mark(_ part: PartialEpoch) {
    guard let index = told.lastIndex(where: { isSame(part.fix.timeOfDay, $0.timeOfDay) }) else {
      return
    }
    told[index].marks |= part.marks
  }

  private mutating func open(_ message: Message, _ moment: SentenceTime, _ received: Timestamp) {
    if let under = current {
      // A moment's second beginning: an echo, or the same time of another day, which a date may tell yet.
      let isAgain = moment.timeOfDay.flatMap { time in
        under.fix.timeOfDay.map { isSameTime($0, time) }
      }
      if isAgain ?? false || patience > 0 {
        if var before = previous {
          before.fill(from: under)
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
    current = PartialEpoch(ordinal: begun, first: message, moment: moment, received: received)
    last = (0, 0)
  }

  /// Whether `next` has an epoch: an answer that costs less than an epoch's place.
  var hasEnded: Bool { if case .some = finished.0 { true } else { false } }

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
    isSame(current?.fix.timeOfDay, time) || isSame(previous?.fix.timeOfDay, time)
      || told.contains { isSame($0.timeOfDay, time) }
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
    if var part = previous {
      if let current { part.fill(from: current) }
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

  private mutating func finish(_ part: PartialEpoch) {
    guard !part.isOut else { return }
    var fix = part.fix
    if let time = fix.timeOfDay {
      guard !isTold(fix, time) else { return }
      told.append(Told(timeOfDay: time, utc: fix.utc, marks: part.marks))
      if told.count > Self.memory { told.removeFirst() }
    }
    let kind = part.kinds.kind
    // What was entered or simulated the receiver has not measured.
    if part.word.isVoid || kind == .manual || kind == .simulated { fix.isValid = false }
    fix.set(kind: kind, corrections: part.corrections)
    // What moves at no place is nothing that a receiver has measured.
    if fix.latitude == nil { (fix.speed, fix.course) = (nil, nil) }
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

  private mutating func utc(of part: PartialEpoch) -> Double? {
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
