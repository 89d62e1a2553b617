// Tells a pressure transient (a door, a fan) from height. Only detects; the estimator decides what follows.

import SensorTypes

/// Tells steps of the air's pressure from steps of height, by time.
///
/// It keeps the filter as it was one to two seconds ago (a fifth of that by the barometer alone) and what
/// the accelerometer has made of it since. Where the pressure has left that track by more than the
/// acceleration explains, in two samples running, it was a door. Many doors in one direction are none.
struct DoorDetector: Sendable, Hashable, Codable {
  /// The filter at one moment, and what the accelerometer alone makes of it since.
  struct Track: Sendable, Hashable, Codable {
    var time: Timestamp
    var filter: VerticalFilter
    /// Whether the board was known to lie still.
    var isStill: Bool
    /// By how much the pressure had left the filter already, m.
    var lag: Double
    /// First and second integral of measured acceleration since then, m/s and m.
    var gained = 0.0
    var moved = 0.0

    mutating func move(_ dt: Double, _ acceleration: Double) {
      moved += dt * (gained + 0.5 * dt * acceleration)
      gained += dt * acceleration
    }
  }

  private var older: Track?
  private var newer: Track?
  /// Until when the disturbance is free to take the rest of a step.
  private var openUntil: Timestamp?
  /// The sign of a step that one sample has shown and the next has to confirm, or 0.
  private var candidate = 0.0
  /// The innovation, low-passed: a step stands out from it.
  private var usualInnovation = 0.0
  /// The disturbance before the newest steps in one direction, and their number, fading.
  private var disturbanceBefore = 0.0
  private var stepCount = 0.0

  /// Whether a door has just begun to open.
  func isOpen(at time: Timestamp) -> Bool {
    guard let until = openUntil else { return false }
    let rest = until.seconds(since: time)
    return rest > 0 && rest < 10
  }

  /// Judges whether the pressure has left what the acceleration explains. Only where it was a door `filter`
  /// changes: it becomes the dead-reckoned one.
  mutating func update(
    _ sample: PressureSample, _ filter: inout VerticalFilter, _ noise: VerticalProcessNoise,
    isAided: Bool, _ p: DoorDetectorParameters
  ) -> PressureClass {
    guard let track = older else { return .usual }
    let age = sample.time.seconds(since: track.time)
    let longest = p.longestTrack * (isAided ? p.trackTime : p.trackTimeAlone)
    guard age > 0, age <= longest else {
      older = nil
      return .usual
    }
    // By the barometer alone, whatever has begun to move already goes on.
    guard isAided || abs(track.filter.speed) < p.fastestAlone else { return .usual }
    let least = isAided ? p.leastStep * max(1, age) : p.leastStepAlone
    let x = track.filter.reckoned(age, gained: track.gained, moved: track.moved, noise)
    let step = VerticalFilter.innovation(sample.measured, x, rise: sample.rise)
    // A slow rise has been going on for longer than the track.
    let lag = isAided ? track.lag : 0
    guard abs(step) > least, abs(step - lag) > least else {
      candidate = 0
      return .usual
    }
    var reckoned = VerticalFilter(x: x, p: track.filter.p)
    reckoned.addDoubt(age, noise, acceleration: abs(track.gained) / age, isOpen: false)
    let seen = reckoned.p.seen(rise: sample.rise)
    let expected = VerticalFilter.variance(seen, rise: sample.rise) + sample.variance
    guard step * step > p.gate * expected else {
      candidate = 0
      return .usual
    }
    let sign = step > 0 ? 1.0 : -1
    guard candidate == sign else {
      candidate = sign
      return .unconfirmed
    }
    candidate = 0
    let way = reckoned.height - track.filter.height
    let jump = sample.innovation - usualInnovation
    let isSharp = abs(jump) > p.sharpStep && jump * jump > p.sharpGate * sample.spread
    guard isSharp || way * step >= 0 || abs(way) < p.opposedShare * abs(step) else {
      // The pressure stays and the acceleration goes away: then it is the acceleration that is wrong.
      guard isAided else { return .usual }
      forgetTracks()
      let time = max(age, p.leastAgeShare * p.trackTime)
      return .wrongAcceleration(speed: step / time, acceleration: step / (time * time))
    }
    filter = reckoned
    return .door(step: step, wasStill: track.isStill)
  }

  /// A door begins to open.
  /// - Parameter before: The disturbance before it, m.
  mutating func open(
    _ step: Double, before: Double, isAided: Bool, at time: Timestamp,
    _ p: DoorDetectorParameters
  ) {
    openUntil = time.advanced(bySeconds: isAided ? p.openTime : p.openTimeAlone)
    usualInnovation = 0
    forgetTracks()
    guard isAided else { return }
    if stepCount * step <= 0 || abs(stepCount) < p.leastCount {
      stepCount = 0
      disturbanceBefore = before
    }
    stepCount += step > 0 ? 1 : -1
  }

  /// So many doors in one direction are a lift, and an accelerometer that does not feel it: how far it
  /// went, m, or `nil` if it is none.
  /// - Parameters:
  ///   - disturbance: After the newest door, m.
  ///   - slope: Metres per pascal.
  mutating func findLift(
    disturbance: Double, slope: Double, _ p: DoorDetectorParameters
  ) -> Double? {
    let taken = disturbance - disturbanceBefore
    guard abs(taken) > p.largestStep * slope || abs(stepCount) > p.liftCount else { return nil }
    stepCount = 0
    return taken
  }

  /// What measured acceleration moves the tracks, too.
  mutating func move(by dt: Double, acceleration: Double) {
    older?.move(dt, acceleration)
    newer?.move(dt, acceleration)
  }

  /// Takes a sample's innovation, `dt` after the one before.
  mutating func follow(_ innovation: Double, _ dt: Double, _ p: DoorDetectorParameters) {
    stepCount *= p.countMemory / (p.countMemory + dt)
    usualInnovation += dt / (p.innovationTime + dt) * (innovation - usualInnovation)
  }

  /// Climb rate that acceleration has made since the older track, m/s; `bias` is what the filter adds to
  /// the measured one, m/s^2.
  func gained(until time: Timestamp, bias: Double) -> Double {
    // Bound as a whole, a track would be copied.
    guard let gained = older?.gained, let since = older?.time else { return 0 }
    return gained + time.seconds(since: since) * bias
  }

  /// Keeps the filter for later, every now and then.
  mutating func keep(
    _ filter: VerticalFilter, isStill: Bool, isAided: Bool, at time: Timestamp,
    _ p: DoorDetectorParameters
  ) {
    guard !isOpen(at: time) else { return }
    if let since = newer?.time {
      let period = isAided ? p.trackTime : p.trackTimeAlone
      guard time.seconds(since: since) >= period else { return }
      older = newer
    }
    newer = Track(time: time, filter: filter, isStill: isStill, lag: usualInnovation)
    if older == nil { older = newer }
  }

  /// The board has set off; see `VerticalCovariance.setOff`.
  mutating func setOff(swallowed: Double, _ p: VerticalStationaryParameters) {
    older?.filter.p.setOff(swallowed: swallowed, p)
    newer?.filter.p.setOff(swallowed: swallowed, p)
  }

  private mutating func forgetTracks() {
    older = nil
    newer = nil
  }

  /// The accelerometer comes or goes: what was kept was kept under other rules.
  mutating func renew() {
    forgetTracks()
    openUntil = nil
  }

  /// Begins anew, after a gap.
  mutating func restart() {
    renew()
    usualInnovation = 0
    candidate = 0
    stepCount = 0
  }
}

/// What a sample is.
enum PressureClass {
  /// Nothing that the filter does not explain.
  case usual
  /// A step that the next sample has to confirm: this one may be noise and is to move nothing.
  case unconfirmed
  /// It is the acceleration that is wrong: by how much in the climb rate and in itself.
  case wrongAcceleration(speed: Double, acceleration: Double)
  /// A door, `step` metres away from the dead-reckoned filter; and whether the board lay still before it.
  case door(step: Double, wasStill: Bool)
}

/// One sample of pressure, as the filter sees it.
struct PressureSample {
  var time: Timestamp
  /// Measured height, m, and the variance of that, m^2.
  var measured: Double
  var variance: Double
  /// By how much that is off what the filter expects, m, and the variance of that, m^2.
  var innovation: Double
  var spread: Double
  /// How much the chip has warmed up, K.
  var rise: Double
}
