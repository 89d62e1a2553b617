// The accelerometer's part in relative altitude: which of its samples are believed, what they move, and
// whether they are quiet.

import SensorTypes

/// Vertical acceleration as it comes in between two samples of pressure.
///
/// One that repeats one value is dead, one that is silent no longer aids, and one that was found to lie
/// is not believed for a while.
struct VerticalAccelerometer: Sendable, Hashable, Codable {
  /// The newest acceleration, m/s^2.
  private(set) var newest = 0.0
  /// When the newest one was that moved the height.
  private var time: Timestamp?
  /// Seconds of the current pressure interval that measured acceleration has already moved the
  /// state, and the climb rate that it has gained.
  private(set) var moved = 0.0
  private var gained = 0.0
  /// Low-passed acceleration and its spread.
  private var mean = 0.0
  private(set) var variance = 1.0
  private var isTurning = false
  /// Since when one value repeats.
  private var sameSince: Timestamp?
  private var distrustedUntil: Timestamp?

  /// Takes one acceleration and says what it moves: by which acceleration, and for how long; `nil` where
  /// it moves nothing.
  /// - Parameter last: The time of the newest pressure.
  mutating func update(
    _ value: Double, isTurning: Bool, at now: Timestamp, pressureAt last: Timestamp,
    _ params: RelativeAltitudeParameters
  ) -> (dt: Double, acceleration: Double)? {
    let p = params.accelerometer
    if let time {
      // A second one of the same moment would move the state by the whole interval once more.
      let dt = now.seconds(since: time)
      if dt <= 0 && dt > -1 { return nil }
    }
    if isRefused(value, at: now, p) { return nil }
    self.isTurning = isTurning
    let before = newest
    newest = value
    guard let previous = time, previous > last, now.seconds(since: previous) > 0,
      now.seconds(since: previous) < p.timeout
    else {
      // The first one after a pressure sample only marks where measuring begins.
      let pause = now.seconds(since: last)
      if pause > 0 && pause < params.limits.longestGap { time = now }
      return pause > 0 && pause < p.timeout ? (pause, value) : nil
    }
    let dt = now.seconds(since: previous)
    let share = dt / (p.timeConstant + dt)
    let off = value - mean
    mean += share * off
    variance += share * (off * off - variance)
    time = now
    return (dt, (before + value) / 2)
  }

  /// Whether an acceleration is a dead chip's or a liar's.
  private mutating func isRefused(
    _ value: Double, at now: Timestamp, _ p: VerticalAccelerometerParameters
  ) -> Bool {
    if value != newest {
      sameSince = nil
    } else if sameSince == nil {
      sameSince = now
    }
    if let since = sameSince, now.seconds(since: since) > p.frozenTime { return true }
    guard let until = distrustedUntil else { return false }
    let rest = until.seconds(since: now)
    if rest > 0 && rest < 60 {
      newest = value
      return true
    }
    distrustedUntil = nil
    return false
  }

  /// Notes that the height was moved by an acceleration for `dt`.
  mutating func noteMove(_ dt: Double, _ acceleration: Double) {
    moved += dt
    gained += dt * acceleration
  }

  /// Whether it has said enough of the pressure interval that ends now.
  func isAiding(at now: Timestamp, _ p: VerticalAccelerometerParameters) -> Bool {
    guard let time, moved > 0 else { return false }
    return abs(now.seconds(since: time)) < p.timeout
  }

  /// Ends a pressure interval of `dt` and gives the mean acceleration in it, without its sign.
  mutating func endInterval(_ dt: Double) -> Double {
    let mean = abs(gained) / dt
    moved = 0
    gained = 0
    return mean
  }

  /// Whether it feels nothing, and the gyro neither.
  /// - Parameters:
  ///   - bias: What the filter adds to what is measured, m/s^2.
  ///   - slack: How much more is allowed.
  func isUnaccelerated(
    bias: Double, slack: Double, _ p: VerticalAccelerometerParameters
  ) -> Bool {
    !isTurning && variance < p.unacceleratedDeviation * p.unacceleratedDeviation
      && abs(mean + bias) < p.unacceleratedMean * slack
  }

  /// Begins anew, after a gap.
  mutating func restart() {
    time = nil
    moved = 0
    gained = 0
  }

  /// It was found to lie.
  mutating func distrust(at now: Timestamp, _ p: VerticalAccelerometerParameters) {
    distrustedUntil = now.advanced(bySeconds: p.distrustTime)
    time = nil
  }
}
