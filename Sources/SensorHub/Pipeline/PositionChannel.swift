// What the pipeline knows of position between two fixes, on a board whose file asks for it.

import FusionCore
import LinearAlgebra
import SensorTypes

/// Carries the position through short losses, and steadies course and speed.
///
/// A loss begins when the receiver says that it has no fix, or is lost itself; it ends with the next fix, or with the
/// reason that it began with, when a position is not carried for longer.
struct PositionChannel: Sendable {
  /// Between two carried positions, seconds.
  private static let interval = 1.0

  /// `nil` where positions are not carried.
  private var estimator: PositionEstimator?
  private var last: GNSSFix?
  /// Why there is no fix, while a position is carried.
  private var reason: NoData?
  private var published: Timestamp?
  /// The circle that was published last in this loss, m: without a fix none gets smaller.
  private var radius = 0.0

  /// - Parameter longestLoss: For how long a position is carried, seconds; zero for not at all.
  init(longestLoss: Double) {
    guard longestLoss > 0 else { return }
    var params = PositionParameters()
    params.longestLoss = longestLoss
    estimator = PositionEstimator(params)
  }

  /// Takes an angular rate, rad/s in the body frame, and the attitude that it was measured at.
  mutating func update(angularRate rate: Vector3, _ attitude: AttitudeEstimator, at time: Timestamp)
  {
    guard estimator != nil, let rotation = attitude.attitude else { return }
    let up = rotation.conjugate.rotate(Vector3(0, 0, 1))
    estimator?.update(turnRate: -(rate - attitude.gyroBias).dot(up), at: time)
  }

  /// Takes a heading that is to be trusted, where no gyro says how the board turns.
  mutating func update(_ heading: HeadingEstimate) {
    guard estimator != nil, heading.accuracy != nil else { return }
    estimator?.update(heading: heading.magneticHeading, at: heading.time)
  }

  /// Takes a fix whose accuracies are filled in, and gives it back with a steadier speed and course where these are
  /// known better than the receiver knows them. One that does not say how well it knows its speed is left alone: by an
  /// error that is assumed a speed-up would pass for one, and be smoothed away.
  mutating func take(_ fix: GNSSFix) -> GNSSFix {
    reason = nil
    published = nil
    guard estimator != nil else { return fix }
    last = fix
    let time = fix.moment()
    estimator?.update(fix, at: time)
    guard fix.speed != nil, fix.speedAccuracy != nil, let known = estimator?.estimate(at: time),
      known.fixTime == time
    else {
      return fix
    }
    var fix = fix
    if let accuracy = fix.speedAccuracy, known.speedAccuracy < accuracy {
      fix.speed = known.speed
      fix.speedAccuracy = known.speedAccuracy
    }
    if let accuracy = known.courseAccuracy, accuracy < fix.courseAccuracy ?? .infinity {
      fix.course = known.course
      fix.courseAccuracy = accuracy
    }
    return fix
  }

  /// The receiver has no fix any more, or is lost.
  ///
  /// - Parameter isWatched: Whether anything else of the board goes on, so that the end will be noticed.
  /// - Returns: `false` where no position is carried from here.
  mutating func lose(_ why: NoData, at time: Timestamp, isWatched: Bool) -> Bool {
    guard isWatched, estimator?.estimate(at: time) != nil else {
      reason = nil
      return false
    }
    if reason == nil { (published, radius) = (nil, 0) }
    reason = why
    return true
  }

  /// Nothing of the board speaks any more, and nobody will see the position's end.
  /// - Returns: Why there is no fix, where a position was carried.
  mutating func abandon() -> NoData? {
    defer { reason = nil }
    return reason
  }

  /// What is due at `time`; nothing as long as there are fixes.
  mutating func word(at time: Timestamp) -> PositionOutput? {
    guard let why = reason else { return nil }
    guard var known = estimator?.estimate(at: time), let last else {
      reason = nil
      return .unavailable(why)
    }
    if let published {
      // Chips on two buses are heard a little out of order.
      if abs(time.seconds(since: published)) < Self.interval { return nil }
    }
    published = time
    radius = max(radius, known.horizontalAccuracy)
    known.horizontalAccuracy = radius
    return .carried(
      Self.fix(known, after: last),
      DeadReckonedPosition(fixTime: known.fixTime, isTurnMeasured: known.isTurnMeasured))
  }

  /// What a fix would say that nobody has made: a place without a height, as good as `last` said and no better known.
  private static func fix(_ known: PositionEstimate, after last: GNSSFix) -> GNSSFix {
    var fix = GNSSFix(received: known.time, mode: .twoDimensional)
    fix.kind = .deadReckoning
    fix.utc = last.utc.map { $0 + known.time.seconds(since: last.moment()) }
    fix.latitude = known.latitude
    fix.longitude = known.longitude
    fix.horizontalAccuracy = known.horizontalAccuracy
    fix.accuracySource = last.accuracySource
    fix.speed = known.speed
    fix.speedAccuracy = known.speedAccuracy
    fix.course = known.course
    fix.courseAccuracy = known.courseAccuracy
    return fix
  }
}

/// What is to be published.
enum PositionOutput: Sendable {
  case carried(GNSSFix, DeadReckonedPosition)
  case unavailable(NoData)
}
