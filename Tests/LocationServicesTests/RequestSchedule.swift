// A client that asks for one location, what happens to it, and what is to be heard of it.

import Geodesy
import SensorTypes

@testable import LocationServices

/// An answer, by the number of the fix in its latitude (in millionths of a degree); `nil`: a failure.
struct RequestAnswer: Hashable {
  var fix: Int?
  /// When it came.
  var milliseconds: Int

  init(fix: Int?, seconds: Double) {
    self.init(fix: fix, milliseconds: Int((seconds * 1_000).rounded()))
  }

  init(fix: Int?, milliseconds: Int) {
    self.fix = fix
    self.milliseconds = milliseconds
  }
}

/// One client that asks, and what it has heard.
struct RequestBench {
  var engine = LocationEngine()
  var now = 0.0
  private(set) var heard: [RequestAnswer] = []
  private(set) var updates: [Int] = []
  private(set) var reasons: [String] = []
  private let client = ClientID(rawValue: 1)
  private var settings: ClientSettings

  init(desired: Double) {
    settings = ClientSettings(desiredAccuracy: desired, pausesAutomatically: false)
    ask(.register)
    ask(.configure(settings))
  }

  mutating func desire(_ metres: Double) {
    settings.desiredAccuracy = metres
    ask(.configure(settings))
  }

  mutating func ask(_ action: ServiceAction) {
    var new: [EventContent] = []
    engine.handle(ServiceRequest(client, action), at: Timestamp(seconds: now)) {
      new.append($0.content)
    }
    note(new)
  }

  mutating func say(_ observation: Observation) {
    var new: [EventContent] = []
    engine.handle(observation) { new.append($0.content) }
    note(new)
  }

  mutating func fix(
    _ number: Int, accuracy: Double?, speed: Double? = nil, at seconds: Double
  ) {
    var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: .threeDimensional)
    fix.latitude = Double(number) / 1e6
    fix.longitude = 13
    fix.horizontalAccuracy = accuracy
    fix.speed = speed
    fix.speedAccuracy = speed == nil ? nil : 0.2
    now = max(now, seconds)
    say(.location(LocationEstimate(fix: fix, isSimulated: false)))
  }

  mutating func advance(_ seconds: Double) {
    now = max(now, seconds)
    var new: [EventContent] = []
    engine.advance(to: Timestamp(seconds: seconds)) { new.append($0.content) }
    note(new)
  }

  mutating func takeHeard() -> [RequestAnswer] {
    defer { heard = [] }
    return heard
  }

  private mutating func note(_ contents: [EventContent]) {
    for content in contents {
      switch content {
      case .requestedLocation(let report):
        let number = Int((report.position.latitude * 1e6).rounded())
        heard.append(RequestAnswer(fix: number, seconds: now))
      case .requestFailed(let failure):
        heard.append(RequestAnswer(fix: nil, seconds: now))
        reasons.append(failure.reason)
      case .location(let report):
        updates.append(Int((report.position.latitude * 1e6).rounded()))
      default: break
      }
    }
  }
}

/// A list of what happens to one client, in order, and what is to be heard of it.
struct RequestSchedule {
  enum Event {
    case fix(accuracy: Double, speed: Double?)
    case loss
    case request
    case stop
    case start
    case desire(Double)
    /// Something looks at the clock.
    case look
  }

  struct Item {
    /// Milliseconds.
    var time: Int
    var event: Event

    var seconds: Double { Double(time) / 1_000 }
  }

  private(set) var items: [Item] = []
  /// Whether the clock is looked at exactly when the engine has asked for it.
  private let isPunctual: Bool

  init(seed: UInt64) {
    var dice = Dice(seed: seed)
    isPunctual = Bool.random(using: &dice)
    // Whether the sky is open, on the whole; whether the board moves; how good the receiver is.
    let sky = Double.random(in: 0...1, using: &dice)
    let speed = [nil, 0, 1.5, 25][Int.random(in: 0..<4, using: &dice)]
    var accuracy = Double.random(in: 2...80, using: &dice)
    var time = Int.random(in: 0...50_000, using: &dice)
    var next = Item(time: time, event: .desire(Self.desired(&dice)))
    for _ in 0..<Int.random(in: 5...60, using: &dice) {
      items.append(next)
      // Often whole seconds, so that a fix and the end of the patience fall together.
      time += Bool.random(using: &dice) ? 1_000 : .random(in: 50...12_000, using: &dice)
      let event: Event
      switch Double.random(in: 0...1, using: &dice) {
      case ..<0.2: event = .request
      case ..<0.26: event = .stop
      case ..<0.29: event = .start
      case ..<0.33: event = .desire(Self.desired(&dice))
      case ..<0.4: event = .look
      case ..<(0.4 + 0.6 * sky):
        // It gets better, mostly.
        accuracy *= .random(in: 0.6...1.2, using: &dice)
        event = .fix(
          accuracy: accuracy, speed: speed.map { $0 * .random(in: 0.5...1.5, using: &dice) })
      default: event = .loss
      }
      next = Item(time: time, event: event)
    }
    // The time goes on until nothing can be due any more.
    items.append(Item(time: time + 100_000, event: .look))
  }

  // As much as `kCLLocationAccuracyReduced` takes everything; with that itself the answer is a cell, by which nobody can
  // tell of which fix it is.
  private static func desired(_ dice: inout Dice) -> Double {
    [-2, -1, 10, 100, 1_000, 3_000, 6_000_000, 3][Int.random(in: 0..<8, using: &dice)]
  }

  /// What a client hears of the engine.
  func played() -> [RequestAnswer] {
    var bench = RequestBench(desired: -1)
    for (number, item) in items.enumerated() {
      // A timer that fires when it should; or none at all, so that what happens next finds it overdue.
      while isPunctual, let due = bench.engine.nextDeadline, due <= Timestamp(seconds: item.seconds)
      {
        bench.advance(due.seconds)
      }
      bench.now = item.seconds
      switch item.event {
      case .fix(let accuracy, let speed):
        bench.fix(number, accuracy: accuracy, speed: speed, at: item.seconds)
      case .loss:
        bench.say(.locationUnavailable(.noFix, at: Timestamp(seconds: item.seconds)))
      case .request: bench.ask(.requestLocation)
      case .stop: bench.ask(.stop(.location))
      case .start: bench.ask(.start(.location))
      case .desire(let metres): bench.desire(metres)
      case .look: bench.advance(item.seconds)
      }
    }
    return bench.heard
  }

  /// The rule, restated over the list: every request on its own, with what comes after it.
  func expected() -> (answers: [RequestAnswer], cancelled: Int, ignored: Int) {
    var (answers, cancelled, ignored) = ([RequestAnswer](), 0, 0)
    // The item at which the request before was over.
    var free = 0
    for (begin, item) in items.enumerated() {
      guard case .request = item.event else { continue }
      guard begin >= free, !isUpdating(before: begin) else {
        ignored += 1
        continue
      }
      guard let (answer, end) = answer(to: begin) else {
        cancelled += 1
        // Nothing waits from the stop or start on.
        free = items[begin...].firstIndex { $0.event.cancels } ?? items.count
        continue
      }
      answers.append(answer)
      free = end
    }
    return (answers, cancelled, ignored)
  }

  /// The answer to the request at `begin` and the first item that finds it over; `nil`: it is cancelled.
  private func answer(to begin: Int) -> (RequestAnswer, Int)? {
    let start = items[begin].time
    var fixes: [Int] = []
    // What is known from before: the newest fix, if it is of use.
    if let newest = items[..<begin].lastIndex(where: \.event.isFix) {
      let desired = desired(at: begin)
      if start - items[newest].time <= 10_000 || desired > 0 && radius(newest, start) <= desired {
        fixes.append(newest)
      }
    }
    for index in begin..<items.count {
      let time = items[index].time
      // First what was due before this.
      if let best = best(of: fixes, begin) {
        if time >= start + 10_000 { return (due(best, start + 10_000, index), index) }
      } else if time >= start + 40_000 {
        return (due(nil, start + 40_000, index), index)
      }
      if items[index].event.cancels { return nil }
      if items[index].event.isFix { fixes.append(index) }
      guard items[index].event.isFix || index == begin, let best = best(of: fixes, begin) else {
        continue
      }
      let desired = desired(at: index)
      let isMet: Bool
      if desired > 0 {
        isMet = radius(best, time) <= desired
      } else {
        isMet = radius(best, time) <= 10 && time - lastImprovement(of: fixes, start) >= 3_000
      }
      if isMet || time >= start + 10_000 {
        return (RequestAnswer(fix: best, milliseconds: time), index + 1)
      }
    }
    return nil
  }

  /// An answer that is due at `time` and told at the latest with the item at `index`.
  private func due(_ fix: Int?, _ time: Int, _ index: Int) -> RequestAnswer {
    RequestAnswer(fix: fix, milliseconds: isPunctual ? time : items[index].time)
  }

  /// Of each two the one that is known better by the time of the later; of equals the later.
  private func best(of fixes: [Int], _ begin: Int) -> Int? {
    guard var best = fixes.first else { return nil }
    for fix in fixes.dropFirst() {
      if radius(best, items[fix].time) >= radius(fix, items[fix].time) { best = fix }
    }
    return best
  }

  /// When a fix was last a tenth better than the best before it.
  private func lastImprovement(of fixes: [Int], _ start: Int) -> Int {
    var (finest, time) = (Double.infinity, start)
    for fix in fixes {
      guard case .fix(let accuracy, _) = items[fix].event, accuracy < 0.9 * finest else { continue }
      (finest, time) = (accuracy, max(start, items[fix].time))
    }
    return time
  }

  private func isUpdating(before index: Int) -> Bool {
    for item in items[..<index].reversed() {
      if case .start = item.event { return true }
      if case .stop = item.event { return false }
    }
    return false
  }

  private func desired(at index: Int) -> Double {
    for item in items[...index].reversed() {
      if case .desire(let metres) = item.event { return metres }
    }
    return -1
  }

  /// The growing radius, for a board of which nothing is declared.
  private func radius(_ fix: Int, _ time: Int) -> Double {
    guard case .fix(let accuracy, let speed) = items[fix].event else { return .infinity }
    let age = Double(max(0, time - items[fix].time)) / 1_000
    guard let speed else { return accuracy + 310 * age }
    let variance = 0.04 * age * age + age * age * age / 3
    let grown = speed * age + (accuracy * accuracy + 2.27889 * variance).squareRoot()
    return min(grown, accuracy + 310 * age)
  }
}

extension RequestSchedule.Event {
  fileprivate var isFix: Bool { if case .fix = self { true } else { false } }

  fileprivate var cancels: Bool {
    switch self {
    case .stop, .start: true
    default: false
    }
  }
}
