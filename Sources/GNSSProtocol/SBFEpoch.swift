import SensorTypes

/// An epoch that comes in several SBF blocks of one time, and the heading beside it.
///
/// It is given out with the last of the blocks that the epoch before had, or when another one begins.
struct SBFEpoch: Sendable {
  /// The blocks of an epoch.
  struct SBFParts: OptionSet {
    let rawValue: UInt8
    static let position = SBFParts(rawValue: 1)
    static let positionCovariance = SBFParts(rawValue: 2)
    static let velocityCovariance = SBFParts(rawValue: 4)
    static let dilution = SBFParts(rawValue: 8)
    static let end = SBFParts(rawValue: 16)
  }

  /// A time stamp: milliseconds of the week, and the week; each may be a value that stands for none.
  struct Stamp: Hashable {
    let timeOfWeek: UInt32
    let week: UInt16

    /// Seconds of GPS time since 1980-01-06; `nil` where the receiver does not know it.
    var gpsTime: Double? {
      timeOfWeek < 604_800_000 && week != .max
        ? Double(week) * 604_800 + Double(timeOfWeek) * 1e-3 : nil
    }
  }

  /// Variances of a velocity, m2/s2.
  struct VelocityCovariance {
    var north, east, both: Double
  }

  private var stamp: Stamp?
  private var fix = GNSSFix(received: Timestamp(nanoseconds: 0))
  /// Velocity to the north and to the east, m/s.
  private var velocity: (north: Double, east: Double)?
  private var velocityCovariance: VelocityCovariance?
  private var parts: SBFParts = []
  private var expected: SBFParts = []
  private var isOut = false
  /// GPS time minus UTC, as the receiver has said it.
  private var leapSeconds: Double?
  /// One block may end two epochs: the one before, and its own.
  private var finished: (GNSSFix?, GNSSFix?)

  /// A heading, and its time stamp. It waits for its accuracies once these come.
  private var heading: (said: ReceiverHeading, stamp: Stamp)?
  private var expectsAccuracy = false
  private var finishedHeadings: (ReceiverHeading?, ReceiverHeading?)

  /// Takes a part of the epoch at a time.
  private mutating func begin(_ part: SBFParts, _ stamp: Stamp, _ received: Timestamp) {
    // Before a receiver knows the time, each position is another epoch.
    if stamp != self.stamp || stamp.gpsTime == nil && parts.contains(part) {
      close()
      self.stamp = stamp
      fix = GNSSFix(received: received)
    }
    parts.insert(part)
  }

  mutating func take(
    position: SBFDecoder.SBFPosition, _ stamp: Stamp, received: Timestamp
  ) {
    begin(.position, stamp, received)
    guard !isOut else { return }
    let before = fix
    fix = position.fix
    fix.received = before.received
    (fix.hdop, fix.vdop, fix.pdop) = (before.hdop, before.vdop, before.pdop)
    if fix.latitude != nil, before.accuracySource == .receiver {
      (fix.horizontalAccuracy, fix.verticalAccuracy) = (
        before.horizontalAccuracy, before.verticalAccuracy
      )
      fix.accuracySource = .receiver
    }
    velocity = position.velocity
    settle()
  }

  /// Takes the variances of a position to the north, to the east and upward, square meters.
  mutating func take(
    variances: SIMD3<Double>, _ stamp: Stamp, received: Timestamp
  ) {
    begin(.positionCovariance, stamp, received)
    // It is finer than the accuracies of the position itself, which are rounded to centimeters.
    if variances.x + variances.y > 0 { fix.setHorizontal(variances: variances.x, variances.y) }
    if variances.z > 0 { fix.verticalAccuracy = variances.z.squareRoot() }
    settle()
  }

  mutating func take(velocity: VelocityCovariance, _ stamp: Stamp, received: Timestamp) {
    begin(.velocityCovariance, stamp, received)
    velocityCovariance = velocity
    settle()
  }

  mutating func takeDilution(
    position: Double?, horizontal: Double?, vertical: Double?, _ stamp: Stamp, received: Timestamp
  ) {
    begin(.dilution, stamp, received)
    (fix.pdop, fix.hdop, fix.vdop) = (position, horizontal, vertical)
    settle()
  }

  /// All blocks of an epoch were sent.
  mutating func takeEnd(_ stamp: Stamp, received: Timestamp) {
    guard stamp == self.stamp else { return }
    parts.insert(.end)
    settle()
  }

  mutating func take(leapSeconds: Double) { self.leapSeconds = leapSeconds }

  mutating func take(heading: ReceiverHeading, _ stamp: Stamp) {
    giveHeading()
    self.heading = (heading, stamp)
    if !expectsAccuracy { giveHeading() }
  }

  /// Takes the accuracies of an attitude, one sigma in degrees.
  mutating func takeAccuracy(
    heading: Double?, pitch: Double?, roll: Double?, _ stamp: Stamp
  ) {
    expectsAccuracy = true
    guard var said = self.heading?.said, self.heading?.stamp == stamp else { return }
    said.accuracy = heading
    said.pitchAccuracy = said.pitch.flatMap { _ in pitch }
    said.rollAccuracy = said.roll.flatMap { _ in roll }
    self.heading = (said, stamp)
    giveHeading()
  }

  private mutating func giveHeading() {
    guard let (said, _) = heading else { return }
    heading = nil
    if finishedHeadings.0 == nil { finishedHeadings.0 = said } else { finishedHeadings.1 = said }
  }

  /// Whether `nextHeading` has a heading, and `next` an epoch: answers that cost less than their places.
  var hasHeading: Bool { if case .some = finishedHeadings.0 { true } else { false } }
  var hasEnded: Bool { if case .some = finished.0 { true } else { false } }

  mutating func nextHeading() -> ReceiverHeading? {
    guard let heading = finishedHeadings.0 else { return nil }
    finishedHeadings = (finishedHeadings.1, nil)
    return heading
  }

  mutating func next() -> GNSSFix? {
    guard let fix = finished.0 else { return nil }
    finished = (finished.1, nil)
    return fix
  }

  /// Gives an epoch out that is of a time before `timeOfDay`, by another protocol's word.
  mutating func finish(before timeOfDay: Double) {
    if let time = date?.timeOfDay, secondsOfDay(from: time, to: timeOfDay) > 1e-3 { finish() }
  }

  /// Ends the epoch under way, and the heading that waits: nothing more will come.
  mutating func close() {
    finish()
    if !parts.isEmpty { expected = parts }
    (stamp, velocity, velocityCovariance) = (nil, nil, nil)
    (parts, isOut) = ([], false)
  }

  mutating func end() {
    close()
    giveHeading()
  }

  private mutating func settle() {
    if parts.isSuperset(of: expected) { finish() }
  }

  private var date: (utc: Double, timeOfDay: Double)? {
    stamp?.gpsTime.map { gpsTime in
      let utc = LeapSeconds.utc(gpsTime: gpsTime, leapSeconds: leapSeconds)
      return (utc, utc - (utc / 86_400).rounded(.down) * 86_400)
    }
  }

  private mutating func finish() {
    guard parts.contains(.position), !isOut else { return }
    isOut = true
    var fix = self.fix
    if let date { (fix.utc, fix.timeOfDay) = (date.utc, date.timeOfDay) }
    if fix.latitude == nil {
      (fix.horizontalAccuracy, fix.verticalAccuracy) = (nil, nil)
      fix.accuracySource = .worstCase
    } else if let velocityCovariance, let velocity, let speed = fix.speed {
      velocityCovariance.apply(to: &fix, velocity, speed)
    }
    if finished.0 == nil { finished.0 = fix } else { finished.1 = fix }
  }
}

extension SBFEpoch.VelocityCovariance {
  /// The slowest speed at which its direction counts, m/s.
  private static let slowest = 0.1

  /// Gives a fix the accuracies of its speed and course.
  fileprivate func apply(
    to fix: inout GNSSFix, _ velocity: (north: Double, east: Double), _ speed: Double
  ) {
    guard speed > Self.slowest else {
      fix.speedAccuracy = ((north + east) / 2).squareRoot()
      return
    }
    let (n, e) = (velocity.north / speed, velocity.east / speed)
    let along = n * n * north + e * e * east + 2 * n * e * both
    let across = e * e * north + n * n * east - 2 * n * e * both
    if along > 0 { fix.speedAccuracy = along.squareRoot() }
    if across > 0, fix.course != nil {
      fix.courseAccuracy = min(across.squareRoot() / speed * 180 / .pi, 180)
    }
  }
}
