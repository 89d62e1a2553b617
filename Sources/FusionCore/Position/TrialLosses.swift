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
  /// The index of the last age, and of the last group of speeds.
  private static let last = 7

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
  private var byAge: SIMD8<Double>
  private var ageCounts = SIMD8<Double>.zero
  private var bySpeed = SIMD8<Double>.zero
  private var speedCounts = SIMD8<Double>.zero

  /// Begins with what is believed of a carrier that has shown nothing.
  init(_ p: TrialLossParameters) { byAge = SIMD8<Double>(repeating: p.unknown) }

  /// By how much the radius of a filter's doubt is to be multiplied, `age` seconds after a fix at which the
  /// carrier had a speed.
  func multiple(_ age: Double, speed: Double, _ p: TrialLossParameters) -> Double {
    var below = 0
    while below < Self.last - 1, age > p.ages[below + 1] { below += 1 }
    let (first, next) = (p.ages[below], p.ages[below + 1])
    let part = min(1, max(0, (age - first) / (next - first)))
    let ofAge = byAge[below] + part * (byAge[below + 1] - byAge[below])
    return exp(ofAge + bySpeed[Self.group(speed, p)])
  }

  private static func group(_ speed: Double, _ p: TrialLossParameters) -> Int {
    var group = 0
    while group < last, speed > p.speeds[group] { group += 1 }
    return group
  }

  /// All trials go on for `dt`, as `PositionFilter.advance`.
  mutating func advance(
    _ dt: Double, turn: Double, isTurning: Bool, _ habits: MotionHabits,
    _ p: MotionHabitParameters
  ) {
    for index in trials.indices {
      let noise = habits.noise(trials[index].filter, isTurning: isTurning, p)
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
  mutating func begin(
    _ filter: PositionFilter, accuracy: Double, at time: Timestamp, _ p: TrialLossParameters
  ) {
    if let newest {
      let since = time.seconds(since: newest)
      if since >= 0 && since < p.interval - 0.1 { return }
    }
    newest = time
    if trials.isEmpty { trials.reserveCapacity(p.most) }
    if trials.count >= p.most { trials.removeFirst() }
    trials.append(
      Trial(filter: filter, start: time, accuracy: accuracy, speed: filter.speed))
  }

  /// Holds the trials against a fix.
  ///
  /// - Parameter receiver: How much two fixes of these accuracies differ that lie so many seconds apart, the
  ///   square of a 68 % radius.
  mutating func take(
    place: SIMD2<Double>, accuracy: Double, at time: Timestamp, _ p: TrialLossParameters,
    receiver: (_ first: Double, _ second: Double, _ apart: Double) -> Double
  ) {
    for index in trials.indices {
      let trial = trials[index]
      let age = time.seconds(since: trial.start)
      guard age >= p.ages[trial.next] - 0.1 else { continue }
      let due = trial.next
      var next = due + 1
      while next <= Self.last, age >= p.ages[next] - 0.1 { next += 1 }
      trials[index].next = next
      let doubt = trial.filter.radius
      // Too late for this one, or a fix that cannot tell.
      guard age < p.latest * p.ages[due], accuracy < p.worstFix * trial.accuracy + doubt else {
        continue
      }
      let offset = place - trial.filter.position
      let wide = doubt * multiple(age, speed: trial.speed, p)
      let square = receiver(trial.accuracy, accuracy, age) + wide * wide
      learn(due, Self.group(trial.speed, p), isInside: (offset * offset).sum() <= square, p)
    }
    trials.removeAll { $0.next > Self.last }
  }

  private mutating func learn(
    _ age: Int, _ group: Int, isInside: Bool, _ p: TrialLossParameters
  ) {
    func step(_ first: Double, _ last: Double, _ count: Double, _ seen: Double) -> Double {
      (isInside ? p.share - 1 : p.share) * max(last, first / (1 + seen / count))
    }
    func limited(_ value: Double) -> Double { min(p.widest, max(p.narrowest, value)) }
    let ageStep = step(p.ageFirstStep, p.ageLastStep, p.ageCount, ageCounts[age])
    let speedStep = step(p.speedFirstStep, p.speedLastStep, p.speedCount, speedCounts[group])
    byAge[age] = limited(byAge[age] + ageStep)
    bySpeed[group] = limited(bySpeed[group] + speedStep)
    ageCounts[age] += 1
    speedCounts[group] += 1
  }
}
