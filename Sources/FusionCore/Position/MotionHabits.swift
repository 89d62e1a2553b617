// How the carrier of the last minutes moves: what a pause adds to the doubt is learned, not set.

import LinearAlgebra

/// What was learned of how the carrier gains speed and turns, and of whether the gyro turns with it.
///
/// From fixes `window` apart. A walker, a bicycle and a car on a motorway differ by factors of ten, and a
/// board in a hand turns without its carrier: constants would be right for one of them.
struct MotionHabits: Sendable, Hashable, Codable {
  /// What a fix is compared with.
  private struct Moment: Sendable, Hashable, Codable {
    var time: Double
    var speed: Double
    var speedVariance: Double
    var course: Double?
    var courseVariance: Double
    var turned: Double
  }

  private var reference: Moment?
  /// Whether every part of the window had a measured turn.
  private var isAided = false
  /// How many windows had a speed, a course at both ends, and a measured turn between these.
  private var speeds = 0.0
  private var courses = 0.0
  private var aidedCourses = 0.0
  /// Growth of the variance of speed, (m/s)^2 per second.
  private var along = 0.0
  /// Growth of the variance of course, rad^2 per second, where nothing measures a turn, and what a gyro misses.
  private var turning: Double
  private var turningAided: Double
  private var gyroSquare: Double
  private var gyroProduct: Double

  /// Begins with what is believed before the first window; what a window shows soon takes its place.
  init(_ p: MotionHabitParameters) {
    turning = p.turningPrior
    turningAided = p.aidedPrior
    gyroSquare = p.fixedBoard
    gyroProduct = p.fixedBoard
  }

  /// How much of what the gyro turns its carrier turns, 0 to 1: next to nothing for a board in a hand.
  var gyroShare: Double { min(1, max(0, gyroProduct / gyroSquare)) }

  /// A part of the window had no measured turn.
  mutating func missTurn() { isAided = false }

  /// What a second adds to the doubt of a filter.
  ///
  /// - Parameter isTurning: Whether it is measured how the carrier turns.
  func noise(
    _ filter: PositionFilter, isTurning: Bool, _ p: MotionHabitParameters
  ) -> PositionProcessNoise {
    let speed = filter.speed
    let along = speeds > 0 ? self.along : Self.believedAlong(speed, p)
    return PositionProcessNoise(
      along: along,
      across: speed * speed * (isTurning ? turningAided : turning) + min(along, p.largestSideways),
      rate: p.rateNoise)
  }

  private static func believedAlong(_ speed: Double, _ p: MotionHabitParameters) -> Double {
    p.alongPrior + p.alongSpeedPrior * speed * speed
  }

  /// Takes what a fix says of the way.
  ///
  /// - Parameters:
  ///   - time: Seconds from any start.
  ///   - speed: With its variance, m/s and (m/s)^2.
  ///   - course: Radians clockwise from north, with its variance; `nil` where there is none.
  ///   - turned: What was measured of turns since any start, radians clockwise.
  mutating func take(
    time: Double, speed: Double, speedVariance: Double, course: Double?, courseVariance: Double,
    turned: Double, _ p: MotionHabitParameters
  ) {
    let now = Moment(
      time: time, speed: speed, speedVariance: speedVariance, course: course,
      courseVariance: courseVariance, turned: turned)
    guard let before = reference else { return begin(now) }
    let dt = time - before.time
    // Fixes that are a whole number of seconds apart are not so to the nanosecond.
    guard dt >= p.window - 0.1 || dt < 0 else { return }
    defer { begin(now) }
    guard dt > 0, dt < p.longestWindow * p.window else { return }
    // What the two measurements err by is not the carrier's.
    let change = speed - before.speed
    if speeds == 0 { along = Self.believedAlong(before.speed, p) }
    Self.learn(
      &along, (change * change - speedVariance - before.speedVariance) / dt, &speeds,
      least: p.leastAlong, p)
    guard let course, let last = before.course else { return }
    learnTurn(
      (course - last).remainder(dividingBy: 2 * .pi), gyro: isAided ? turned - before.turned : nil,
      noise: courseVariance + before.courseVariance, dt, p)
  }

  private mutating func learnTurn(
    _ angle: Double, gyro: Double?, noise: Double, _ dt: Double, _ p: MotionHabitParameters
  ) {
    Self.learn(&turning, (angle * angle - noise) / dt, &courses, least: p.leastTurning, p)
    guard let gyro else { return }
    let rest = angle - gyroShare * gyro
    Self.learn(
      &turningAided, (rest * rest - noise) / dt, &aidedCourses, least: p.leastTurning, p)
    let weight = p.courseVariance / (p.courseVariance + noise)
    let fade = exp(-1 / p.memory)
    gyroSquare = p.fixedBoard + fade * (gyroSquare - p.fixedBoard) + weight * gyro * gyro
    gyroProduct = p.fixedBoard + fade * (gyroProduct - p.fixedBoard) + weight * gyro * angle
  }

  private mutating func begin(_ moment: Moment) {
    reference = moment
    isAided = true
  }

  private static func learn(
    _ value: inout Double, _ seen: Double, _ count: inout Double, least: Double,
    _ p: MotionHabitParameters
  ) {
    count = min(p.memory, count + 1)
    value = max(least, value + (max(0, seen) - value) / (count + p.priorWeight))
  }
}
