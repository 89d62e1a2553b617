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

  /// Silent for longer than this, it no longer aids, seconds.
  static let timeout = 0.25
  /// One that repeats one value for longer than this is dead, seconds.
  static let frozenTime = 0.3
  /// One that was found to lie is not believed for this long, seconds.
  static let distrustTime = 30.0

  /// Takes one acceleration and says what it moves: by which acceleration, and for how long; `nil` where
  /// it moves nothing.
  /// - Parameter last: The time of the newest pressure.
  mutating func update(
    _ value: Double, isTurning: Bool, at now: Timestamp, pressureAt last: Timestamp
  ) -> (dt: Double, acceleration: Double)? {
    if let time {
      // A second one of the same moment would move the state by the whole interval once more.
      let dt = now.seconds(since: time)
      if dt <= 0 && dt > -1 { return nil }
    }
    if isRefused(value, at: now) { return nil }
    self.isTurning = isTurning
    let before = newest
    newest = value
    guard let previous = time, previous > last, now.seconds(since: previous) > 0,
      now.seconds(since: previous) < Self.timeout
    else {
      // The first one after a pressure sample only marks where measuring begins.
      let pause = now.seconds(since: last)
      if pause > 0 && pause < RelativeAltitudeEstimator.longestGap { time = now }
      return pause > 0 && pause < Self.timeout ? (pause, value) : nil
    }
    let dt = now.seconds(since: previous)
    let share = dt / (1 + dt)
    let off = value - mean
    mean += share * off
    variance += share * (off * off - variance)
    time = now
    return (dt, (before + value) / 2)
  }

  /// Whether an acceleration is a dead chip's or a liar's.
  private mutating func isRefused(_ value: Double, at now: Timestamp) -> Bool {
    if value != newest {
      sameSince = nil
    } else if sameSince == nil {
      sameSince = now
    }
    if let since = sameSince, now.seconds(since: since) > Self.frozenTime { return true }
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
  func isAiding(at now: Timestamp) -> Bool {
    guard let time, moved > 0 else { return false }
    return abs(now.seconds(since: time)) < Self.timeout
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
  func isQuiet(bias: Double, slack: Double) -> Bool {
    !isTurning && variance < 0.05 * 0.05 && abs(mean + bias) < 0.05 * slack
  }

  /// Begins anew, after a gap.
  mutating func restart() {
    time = nil
    moved = 0
    gained = 0
  }

  /// It was found to lie.
  mutating func distrust(at now: Timestamp) {
    distrustedUntil = now.advanced(bySeconds: Self.distrustTime)
    time = nil
  }
}
