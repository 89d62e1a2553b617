// Position through short losses of the receiver, and a steadier course and speed.

import Geodesy
import LinearAlgebra
public import SensorTypes

/// Where the carrier is while its receiver is silent, how fast and which way it goes, each with its doubt.
///
/// A Kalman filter over place, velocity and the error of the turn rate (`PositionFilter`). Fixes say where it is and
/// how fast; a gyro, or else a compass, says how it turns, as far as it was seen to turn with its carrier
/// (`MotionHabits`); what fixes have shown of carried positions widens or narrows the circle (`TrialLosses`).
/// Accelerations have no part in it: integrated twice, what a degree of tilt leaves of gravity is 77 m after
/// 30 s, more than most of what a speed goes astray that is believed to last.
///
/// A receiver's errors hang together for about a minute (multipath) and for hours (ionosphere, orbits), so
/// that its accuracy is no white noise and is not averaged away. Three parts of what it states are told apart:
/// - a white one, `whiteShare` of it, is filtered;
/// - a first-order one, `receiverTime` long, moves the place that fixes give: two of them differ by
///   `2 r^2 (1 - exp(-dt / receiverTime))`, and the filter follows;
/// - all of it stays in the published circle: the square of its radius is that of the last fix and that of what
///   was added since.
///
/// Hostile input: fixes that are nowhere on earth, without an accuracy, out of order, or of a speed that nothing on
/// the ground has, are dropped and counted. Nothing here allocates after the first minute.
public struct PositionEstimator: Sendable {
  /// The standard deviation on one axis of an error whose 68 % radius is 1 (Rayleigh: 1 / sqrt(-2 ln 0.32)).
  static let deviationOfRadius = 0.6624

  /// The thresholds and noise parameters; the default in place of a number out of its range.
  public let params: PositionParameters
  /// Everything that changes.
  public private(set) var state: PositionState
  private var frame: LocalFrame?

  /// Makes an estimator, or resumes one from a saved state.
  public init(
    _ params: PositionParameters = PositionParameters(), state: PositionState? = nil
  ) {
    let params = params.sound
    self.params = params
    self.state = state ?? PositionState(params)
    frame = self.state.origin.map { LocalFrame(origin: $0) }
  }

  // MARK: Turns

  /// Takes how fast a gyro turns about the vertical, rad/s, clockwise seen from above.
  public mutating func update(turnRate rate: Double, at time: Timestamp) {
    guard rate.isFinite, abs(rate) < params.limits.turnRate else { return }
    let (last, before) = (state.rateTime, state.rate)
    state.rate = rate
    state.rateTime = time
    guard let last else { return }
    take(turn: 0.5 * (rate + before) * time.seconds(since: last), from: last, to: time)
  }

  /// Takes a heading, radians clockwise from any north; of use only while there is no gyro.
  public mutating func update(heading: Double, at time: Timestamp) {
    guard heading.isFinite else { return }
    if let gyro = state.rateTime,
      abs(time.seconds(since: gyro)) < params.limits.longestTurnGap
    {
      return
    }
    let (last, before) = (state.headingTime, state.heading)
    state.heading = heading
    state.headingTime = time
    guard let last else { return }
    take(turn: (heading - before).remainder(dividingBy: 2 * .pi), from: last, to: time)
  }

  private mutating func take(turn: Double, from last: Timestamp, to time: Timestamp) {
    let dt = time.seconds(since: last)
    guard dt > 0, dt <= params.limits.longestTurnGap else { return }
    state.turned += turn
    state.turnTime = time
    guard let now = state.time else { return }
    // Of a turn that began before the newest step only the rest is left.
    let rest = time.seconds(since: now)
    guard rest > 0 else { return }
    state.pendingTurn += turn * min(1, rest / dt)
    if rest >= params.limits.step { advance(to: time) }
  }

  /// Whether it is known at `time` how the carrier turns.
  private func isTurnMeasured(at time: Timestamp) -> Bool {
    let longest = params.limits.longestTurnGap
    return state.turnTime.map { abs(time.seconds(since: $0)) <= longest } ?? false
  }

  private mutating func advance(to time: Timestamp) {
    guard let last = state.time else {
      state.time = time
      return
    }
    let dt = time.seconds(since: last)
    guard dt > 0 else { return }
    state.time = time
    let isTurning = isTurnMeasured(at: time)
    let turn = isTurning ? state.habits.gyroShare * state.pendingTurn : 0
    state.pendingTurn = 0
    if !isTurning { state.habits.missTurn() }
    let noise = state.habits.noise(state.filter, isTurning: isTurning, params.motion)
    state.filter.advance(dt, turn: turn, isTurning: isTurning, noise)
    state.trials.advance(dt, turn: turn, isTurning: isTurning, state.habits, params.motion)
  }

  // MARK: Fixes

  /// Takes a fix whose accuracies are filled in, at the moment that it was true.
  ///
  /// - Returns: `false` for one that was dropped.
  @discardableResult public mutating func update(_ fix: GNSSFix, at time: Timestamp) -> Bool {
    guard let latitude = fix.latitude, let longitude = fix.longitude, abs(latitude) <= 90,
      abs(longitude) <= 180, let accuracy = fix.horizontalAccuracy,
      accuracy > params.limits.leastAccuracy, accuracy < params.limits.largestAccuracy,
      !isOutOfOrder(time)
    else {
      state.rejected &+= 1
      return false
    }
    if let last = state.fixTime, abs(time.seconds(since: last)) > 2 * params.limits.loss {
      forget()
    }
    let place = locate(GeodeticCoordinate(latitude: latitude, longitude: longitude, height: 0))
    advance(to: time)
    if let last = state.fixTime {
      // A fix comes a little after the turns of its moment: the filter stands later, and the place goes on to there.
      let late = max(0, (state.time ?? time).seconds(since: time))
      take(place + late * state.filter.velocity, fix, accuracy, at: time, since: last)
    } else {
      state.filter.begin(
        at: place, variance: white(accuracy), speed: params.test.initialSpeed,
        rate: params.rateDeviation)
      state.unfiltered = accuracy
      state.acceptedTime = time
      state.starts &+= 1
      takeVelocity(of: fix, accuracy, at: time)
    }
    state.fixTime = time
    guard state.acceptedTime == time, accuracy <= params.coarsest else { return true }
    state.carriedFrom = time
    state.fixSpeed = state.filter.speed
    if state.knowsSpeed {
      state.trials.begin(
        state.filter, accuracy: state.unfiltered, at: time, params.trials)
    }
    return true
  }

  private func isOutOfOrder(_ time: Timestamp) -> Bool {
    guard let last = state.fixTime else { return false }
    let dt = time.seconds(since: last)
    if let now = state.time, now.seconds(since: time) > params.limits.latency, dt > 0 {
      return true
    }
    return dt <= 0 && dt >= -params.limits.loss
  }

  private mutating func forget() {
    state.fixTime = nil
    state.acceptedTime = nil
    state.carriedFrom = nil
    state.time = nil
    state.turnTime = nil
    state.rateTime = nil
    state.headingTime = nil
    state.pendingTurn = 0
    state.knowsSpeed = false
    state.trials.end()
  }

  private mutating func locate(_ coordinate: GeodeticCoordinate) -> SIMD2<Double> {
    if let frame {
      let local = frame.toLocal(coordinate)
      let place = SIMD2(local.x, local.y)
      let farthest = params.limits.farthest * cos(coordinate.position.latitude * .pi / 180)
      guard abs(place.x) > farthest || abs(place.y) > farthest else { return place }
      state.filter.position -= place
      state.trials.shift(by: -place)
    }
    frame = LocalFrame(origin: coordinate)
    state.origin = coordinate
    return .zero
  }

  private mutating func take(
    _ place: SIMD2<Double>, _ fix: GNSSFix, _ accuracy: Double, at time: Timestamp,
    since last: Timestamp
  ) {
    let pause = time.seconds(since: last)
    if accuracy <= params.coarsest {
      let duration = params.receiverTime
      state.trials.take(place: place, accuracy: accuracy, at: time, params.trials) {
        Self.drift(of: $0, $1, apart: $2, duration) + ($0 - $1) * ($0 - $1)
      }
    }
    takeVelocity(of: fix, accuracy, at: time)
    if follow(place, accuracy, after: pause) {
      state.acceptedTime = time
    } else if time.seconds(since: state.acceptedTime ?? last) > params.test.recoveryTime
      || pause > params.test.recoveryTime
    {
      state.filter.move(to: place, variance: white(accuracy))
      state.unfiltered = accuracy
      state.acceptedTime = time
    }
  }

  /// By how much two fixes of the same accuracy, or nearly so, differ for their errors alone, the square of a 68 %
  /// radius: errors hang together for `duration`.
  private static func drift(
    of first: Double, _ second: Double, apart: Double, _ duration: Double
  ) -> Double {
    2 * first * second * (1 - exp(-abs(apart) / duration))
  }

  /// The variance on each axis of what a fix's error has that no other fix's has.
  private func white(_ accuracy: Double) -> Double {
    let deviation = params.whiteShare * accuracy * Self.deviationOfRadius
    return deviation * deviation
  }

  /// Takes a place; `false` for one that is beyond belief.
  private mutating func follow(
    _ place: SIMD2<Double>, _ accuracy: Double, after pause: Double
  ) -> Bool {
    // What a worse fix is worse by is its own error; what a better one is better by was the filter's. Their drift
    // moves what fixes say.
    let known = state.unfiltered
    let axis = Self.deviationOfRadius * Self.deviationOfRadius
    let more = accuracy - known
    let drift = Self.drift(of: accuracy, known, apart: pause, params.receiverTime)
    let moved = min(drift, 2 * known * known) + (more < 0 ? more * more : 0)
    let own = white(accuracy) + axis * (drift + more * more - moved)
    state.filter.addPlaceDoubt(axis * moved)
    let (worst, best) = state.filter.placeVariances
    let spread = 0.5 * (worst + best)
    let offset = place - state.filter.position
    let ratio = (offset * offset).sum() / (spread + own)
    // 68 % of all ratios are below 2.3. If errors are as stated, one in 10^11 is above the gate, and one in 10^4 above the
    // velocity's gate: that is a jump of the position, which must not change the velocity.
    guard ratio <= params.test.gate else { return false }
    if ratio > params.test.velocityGate { state.filter.forgetPlace(spread) }
    state.filter.take(place: place, variance: own)
    // Errors that hang together do not get smaller by being averaged.
    state.unfiltered += spread / (spread + own) * more
    return true
  }

  private mutating func takeVelocity(of fix: GNSSFix, _ accuracy: Double, at time: Timestamp) {
    guard accuracy <= params.coarsest, let speed = fix.speed, speed >= 0,
      speed < params.limits.speed
    else { return }
    let stated = fix.speedAccuracy.flatMap { $0.isFinite ? $0 : nil } ?? params.speedDeviation
    let deviation = max(params.leastSpeedDeviation, stated)
    var course: Double?
    var courseVariance = 0.0
    if let degrees = fix.course, degrees.isFinite, speed > deviation {
      let angle = degrees * .pi / 180
      // A course of no stated accuracy is as good as the speed.
      let accuracy = fix.courseAccuracy.flatMap { $0.isFinite ? $0 * .pi / 180 : nil } ?? 0
      let across = max(deviation, speed * min(1, accuracy))
      let way = SIMD2(sin(angle), cos(angle))
      state.filter.take(speed: speed, along: way, variance: deviation * deviation)
      state.filter.take(speed: 0, along: SIMD2(way.y, -way.x), variance: across * across)
      courseVariance = across * across / (speed * speed)
      course = courseVariance < params.test.largestCourseVariance ? angle : nil
    } else if speed <= params.test.standstillSigmas * deviation {
      // Next to nothing, in whatever direction.
      let variance = max(deviation, speed) * max(deviation, speed)
      state.filter.take(speed: 0, along: SIMD2(1, 0), variance: variance)
      state.filter.take(speed: 0, along: SIMD2(0, 1), variance: variance)
    } else {
      return
    }
    state.habits.take(
      time: time.seconds, speed: speed, speedVariance: deviation * deviation, course: course,
      courseVariance: courseVariance, turned: state.turned, params.motion)
    state.knowsSpeed = true
  }

  // MARK: What is known

  /// Where the carrier is; `nil` without a fix to carry on from, before any has told a speed, and when the last is
  /// longer ago than a position is carried.
  public func estimate(at time: Timestamp) -> PositionEstimate? {
    guard let frame, let fixTime = state.carriedFrom, state.knowsSpeed else { return nil }
    let age = time.seconds(since: fixTime)
    guard age >= -params.limits.lead,
      age < min(params.limits.loss, params.longestLoss) + 0.001
    else { return nil }
    var filter = state.filter
    if let last = state.time, time > last {
      let isTurning = isTurnMeasured(at: time)
      filter.advance(
        time.seconds(since: last), turn: isTurning ? state.habits.gyroShare * state.pendingTurn : 0,
        isTurning: isTurning, state.habits.noise(filter, isTurning: isTurning, params.motion))
    }
    let doubt =
      filter.radius
      * state.trials.multiple(
        age, speed: state.fixSpeed, params.trials)
    let place = frame.toGeodetic(SIMD3(filter.position.x, filter.position.y, 0)).position
    let radius = (state.unfiltered * state.unfiltered + doubt * doubt).squareRoot()
    guard place.latitude.isFinite, place.longitude.isFinite, radius.isFinite else { return nil }
    let speed = filter.speed
    let way = speed > 0 ? filter.velocity / speed : SIMD2(0, 1)
    let along = filter.velocityVariance(along: way).squareRoot()
    let across = filter.velocityVariance(along: SIMD2(way.y, -way.x)).squareRoot()
    var estimate = PositionEstimate(
      time: time, latitude: place.latitude, longitude: place.longitude, horizontalAccuracy: radius,
      speed: speed, speedAccuracy: along, fixTime: fixTime,
      isTurnMeasured: isTurnMeasured(at: time))
    // Of a direction that the velocity's error can turn round nothing is said.
    if across < speed {
      let angle = atan2(filter.velocity.x, filter.velocity.y) * 180 / .pi
      estimate.course = angle < 0 ? angle + 360 : angle
      estimate.courseAccuracy = atan2(across, speed) * 180 / .pi
    }
    return estimate
  }
}

/// Everything that changes; save it, and a run resumes bit for bit.
public struct PositionState: Sendable, Hashable, Codable {
  /// Fixes that were dropped: nowhere, absurd, or out of order.
  public internal(set) var rejected: UInt64 = 0
  /// Times that the filter began anew.
  public internal(set) var starts: UInt64 = 0
  var origin: GeodeticCoordinate?
  var filter = PositionFilter()
  var habits: MotionHabits
  var trials: TrialLosses
  /// The moment that the filter stands at.
  var time: Timestamp?
  var fixTime: Timestamp?
  /// The newest fix that the filter has followed, and the newest of them that can be carried on from.
  var acceptedTime: Timestamp?
  var carriedFrom: Timestamp?
  /// The part of the receiver's errors that is never filtered, a 68 % radius, m.
  var unfiltered = 0.0
  /// Whether any fix has said how fast the carrier is, and how fast it was at the newest.
  var knowsSpeed = false
  var fixSpeed = 0.0
  /// The newest turn rate of a gyro, rad/s clockwise, and the newest heading of a compass, radians.
  var rate = 0.0
  var rateTime: Timestamp?
  var heading = 0.0
  var headingTime: Timestamp?
  /// What was turned since the start, and since the moment that the filter stands at, radians clockwise.
  var turned = 0.0
  var pendingTurn = 0.0
  /// Until when turns were measured.
  var turnTime: Timestamp?

  /// Makes the state before the first sample, with the priors of an estimator's parameters.
  public init(_ params: PositionParameters = PositionParameters()) {
    habits = MotionHabits(params.motion)
    trials = TrialLosses(params.trials)
  }
}
