// Losses that are only tried: how wrong a carried position would be by now is measured on the way.

import LinearAlgebra
import SensorTypes

/// Positions that are carried beside the real one as if the receiver had fallen silent at a fix, and held
/// against the fixes that come.
///
/// They teach by how much a filter's doubt is to be multiplied for its circle to hold 68 % of those fixes:
/// after so many seconds, and for a carrier that was as fast as it is. The errors of a carried position are
/// not normal (nothing happens for minutes, then there is a traffic light), and what makes them large is the
/// speed at which the loss began: on a motorway it stays, between houses it does not. The share inside is what is
/// promised, so the share is what is steered: a fix outside is a step up, one inside a step down half as
/// long, until both happen as often as they should.
struct TrialLosses: Sendable, Hashable, Codable {
  /// After how long a trial is held against a fix, seconds, and how many such times there are.
  private static let ages = SIMD8<Double>(2, 5, 10, 15, 20, 30, 45, 60)
  private static let last = 7
  /// Where one group of speeds ends and the next begins, m/s: standing, a walk, a run, a bicycle, a town, a road out
  /// of town, a motorway.
  private static let speeds = SIMD8<Double>(0.7, 2.5, 5, 8, 12, 18, 25, .infinity)
  /// Between the starts of two trials, seconds, and how many run at a time.
  private static let interval = 5.0
  private static let most = 13
  /// The share of fixes that a trial's circle is to hold: a little less than the 68 % of the published one, which
  /// has all of the last fix's accuracy besides, and not only what two fixes differ by.
  private static let share = 0.65
  /// How far the logarithm of a multiple goes at a comparison, at first and after many: the first minute halves or
  /// doubles it, an hour's memory is some minutes long. By age, and by speed.
  private static let ageStep = (first: 0.5, last: 0.03, count: 4.0)
  private static let speedStep = (first: 0.2, last: 0.06, count: 20.0)
  /// Logarithms of the largest multiple and of the smallest, 20 and 0.3, of each of both; and of what is believed
  /// of a carrier that has shown nothing yet: it does twice what was expected.
  private static let widest = 3.0
  private static let narrowest = -1.2
  private static let unknown = 0.7

  private struct Trial: Sendable, Hashable, Codable {
    var filter: PositionFilter
    var start: Timestamp
    /// The accuracy of the fix that it began with, m, and the speed there.
    var accuracy: Double
    var speed: Double
    /// Which of the ages comes next.
    var next = 0
  }

  private var trials: [Trial] = []
  private var newest: Timestamp?
  /// Logarithms of the multiples, and how many comparisons they are made of.
  private var byAge = SIMD8<Double>(repeating: Self.unknown)
  private var ageCounts = SIMD8<Double>.zero
  private var bySpeed = SIMD8<Double>.zero
  private var speedCounts = SIMD8<Double>.zero

  /// By how much the radius of a filter's doubt is to be multiplied, `age` seconds after a fix at which the
  /// carrier had a speed.
  func multiple(_ age: Double, speed: Double) -> Double {
    var below = 0
    while below < Self.last - 1, age > Self.ages[below + 1] { below += 1 }
    let (first, next) = (Self.ages[below], Self.ages[below + 1])
    let part = min(1, max(0, (age - first) / (next - first)))
    let ofAge = byAge[below] + part * (byAge[below + 1] - byAge[below])
    return exp(ofAge + bySpeed[Self.group(speed)])
  }

  private static func group(_ speed: Double) -> Int {
    var group = 0
    while group < last, speed > speeds[group] { group += 1 }
    return group
  }

  /// All trials go on for `dt`, as `PositionFilter.advance`.
  mutating func advance(_ dt: Double, turn: Double, isTurning: Bool, _ habits: MotionHabits) {
    for index in trials.indices {
      let noise = habits.noise(trials[index].filter, isTurning: isTurning)
      trials[index].filter.advance(dt, turn: turn, isTurning: isTurning, noise)
    }
  }

  /// The origin of the local frame has moved, and all that lies in it the other way.
  mutating func shift(by offset: SIMD2<Double>) {
    for index in trials.indices { trials[index].filter.position += offset }
  }

  /// The way is not known to be the same any more; what was learned of it stays.
  mutating func end() {
    trials.removeAll(keepingCapacity: true)
    newest = nil
  }

  /// A trial begins at a fix, if one is due.
  mutating func begin(_ filter: PositionFilter, accuracy: Double, at time: Timestamp) {
    if let newest {
      let since = time.seconds(since: newest)
      if since >= 0 && since < Self.interval - 0.1 { return }
    }
    newest = time
    if trials.isEmpty { trials.reserveCapacity(Self.most) }
    if trials.count >= Self.most { trials.removeFirst() }
    trials.append(
      Trial(filter: filter, start: time, accuracy: accuracy, speed: filter.speed))
  }

  /// Holds the trials against a fix.
  ///
  /// - Parameter receiver: How much two fixes of these accuracies differ that lie so many seconds apart, the
  ///   square of a 68 % radius.
  mutating func take(
    place: SIMD2<Double>, accuracy: Double, at time: Timestamp,
    receiver: (_ first: Double, _ second: Double, _ apart: Double) -> Double
  ) {
    for index in trials.indices {
      let trial = trials[index]
      let age = time.seconds(since: trial.start)
      guard age >= Self.ages[trial.next] - 0.1 else { continue }
      let due = trial.next
      var next = due + 1
      while next <= Self.last, age >= Self.ages[next] - 0.1 { next += 1 }
      trials[index].next = next
      let doubt = trial.filter.radius
      // Too late for this one, or a fix that cannot tell.
      guard age < 1.25 * Self.ages[due], accuracy < 3 * trial.accuracy + doubt else { continue }
      let offset = place - trial.filter.position
      let wide = doubt * multiple(age, speed: trial.speed)
      let square = receiver(trial.accuracy, accuracy, age) + wide * wide
      learn(due, Self.group(trial.speed), isInside: (offset * offset).sum() <= square)
    }
    trials.removeAll { $0.next > Self.last }
  }

  private mutating func learn(_ age: Int, _ group: Int, isInside: Bool) {
    func step(_ of: (first: Double, last: Double, count: Double), _ seen: Double) -> Double {
      (isInside ? Self.share - 1 : Self.share) * max(of.last, of.first / (1 + seen / of.count))
    }
    func limited(_ value: Double) -> Double { min(Self.widest, max(Self.narrowest, value)) }
    byAge[age] = limited(byAge[age] + step(Self.ageStep, ageCounts[age]))
    bySpeed[group] = limited(bySpeed[group] + step(Self.speedStep, speedCounts[group]))
    ageCounts[age] += 1
    speedCounts[group] += 1
  }
}
