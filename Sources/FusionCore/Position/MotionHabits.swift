// How the carrier of the last minutes moves: what a pause adds to the doubt is learned, not set.

import LinearAlgebra

/// What was learned of how the carrier gains speed and turns, and of whether the gyro turns with it.
///
/// From fixes `window` apart. A walker, a bicycle and a car on a motorway differ by factors of ten, and a
/// board in a hand turns without its carrier: constants would be right for one of them.
struct MotionHabits: Sendable, Hashable, Codable {
  /// Between the fixes that are compared, seconds: longer than a receiver's filter smooths (1 to 2 s), no
  /// longer than a bend.
  static let window = 5.0
  /// Memory, in windows: a minute and a half, in which a town becomes a motorway.
  private static let memory = 20.0
  /// How many windows outweigh what was believed before the first.
  private static let belief = 2.0
  /// What is believed then: a carrier gains or loses a tenth of its speed in a window, a walker at least 0.3 m/s
  /// (variances per second, of 1 and per (m/s)^2); where nothing measures it, it turns by 8 degrees; a gyro
  /// misses 2.5 of them. What a window shows soon takes their place.
  private static let firstAlong = (least: 0.02, ofSpeed: 0.002)
  private static let firstTurning = 0.004
  private static let firstAided = 0.0004
  /// Evidence that a gyro turns with its carrier, rad^2, before there is any: as much as a turn by 20 degrees gives,
  /// because most boards are screwed to what they ride on.
  private static let fixedBoard = 0.12
  /// Less than a drive along a straight road shows: (0.1 m/s)^2 and (0.4 degrees)^2 in a window.
  private static let leastAlong = 0.0025
  private static let leastTurning = 1e-5

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
  private var turning = Self.firstTurning
  private var turningAided = Self.firstAided
  private var gyroSquare = Self.fixedBoard
  private var gyroProduct = Self.fixedBoard

  /// How much of what the gyro turns its carrier turns, 0 to 1: next to nothing for a board in a hand.
  var gyroShare: Double { min(1, max(0, gyroProduct / gyroSquare)) }

  /// A part of the window had no measured turn.
  mutating func missTurn() { isAided = false }

  /// What a second adds to the doubt of a filter.
  ///
  /// - Parameter isTurning: Whether it is measured how the carrier turns.
  func noise(_ filter: PositionFilter, isTurning: Bool) -> PositionProcessNoise {
    let speed = filter.speed
    let along = speeds > 0 ? self.along : Self.believedAlong(speed)
    // A body that moves sideways does so by a few decimetres a second.
    return PositionProcessNoise(
      along: along,
      across: speed * speed * (isTurning ? turningAided : turning) + min(along, 0.01))
  }

  private static func believedAlong(_ speed: Double) -> Double {
    firstAlong.least + firstAlong.ofSpeed * speed * speed
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
    turned: Double
  ) {
    let now = Moment(
      time: time, speed: speed, speedVariance: speedVariance, course: course,
      courseVariance: courseVariance, turned: turned)
    guard let before = reference else { return begin(now) }
    let dt = time - before.time
    // Fixes that are a whole number of seconds apart are not so to the nanosecond.
    guard dt >= Self.window - 0.1 || dt < 0 else { return }
    defer { begin(now) }
    guard dt > 0, dt < 2 * Self.window else { return }
    // What the two measurements err by is not the carrier's.
    let change = speed - before.speed
    if speeds == 0 { along = Self.believedAlong(before.speed) }
    Self.learn(
      &along, (change * change - speedVariance - before.speedVariance) / dt, &speeds,
      least: Self.leastAlong)
    guard let course, let last = before.course else { return }
    learnTurn(
      (course - last).remainder(dividingBy: 2 * .pi), gyro: isAided ? turned - before.turned : nil,
      noise: courseVariance + before.courseVariance, dt)
  }

  private mutating func learnTurn(_ angle: Double, gyro: Double?, noise: Double, _ dt: Double) {
    Self.learn(&turning, (angle * angle - noise) / dt, &courses, least: Self.leastTurning)
    guard let gyro else { return }
    let rest = angle - gyroShare * gyro
    Self.learn(
      &turningAided, (rest * rest - noise) / dt, &aidedCourses, least: Self.leastTurning)
    // A noisy course teaches less: one of 6 degrees half as much.
    let weight = 0.01 / (0.01 + noise)
    let fade = exp(-1 / Self.memory)
    gyroSquare = Self.fixedBoard + fade * (gyroSquare - Self.fixedBoard) + weight * gyro * gyro
    gyroProduct = Self.fixedBoard + fade * (gyroProduct - Self.fixedBoard) + weight * gyro * angle
  }

  private mutating func begin(_ moment: Moment) {
    reference = moment
    isAided = true
  }

  private static func learn(
    _ value: inout Double, _ seen: Double, _ count: inout Double, least: Double
  ) {
    count = min(memory, count + 1)
    value = max(least, value + (max(0, seen) - value) / (count + belief))
  }
}
