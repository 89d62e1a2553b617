// The newest of everything that a board publishes: what the output protocols are made from.

import LinearAlgebra
package import SensorTypes

/// The newest observations of a board, and what of them may be told as true at a moment.
///
/// Every protocol asks here, so that a value that is not to be trusted is told as not known by all of them alike. Observations
/// take a value back when it is lost. Should they stop, because the owner of the board hangs, every value ends by its age.
package struct PublishedState: Sendable {
  /// Ages in seconds beyond which a value is not the present one any more.
  private enum Age {
    static let heading = 2.0
    static let attitude = 2.0
    static let waves = 3.0
    static let altitude = 5.0
    static let absoluteAltitude = 15.0
    static let sky = 15.0
    /// The least age of a position, and the number of its intervals.
    static let position = (least: 5.0, intervals: 2.5)
  }

  /// The time in seconds between two positions that was asked for.
  package var positionInterval: Double

  private var newestHeading: HeadingEstimate?
  private var newestAttitude: AttitudeReading?
  private var newestMotion: MotionEstimate?
  private var newestWaves: WaveEstimate?
  /// Whether there ever were waves.
  package private(set) var hadWaves = false
  private var newestLocation: LocationEstimate?
  private var newestAltitude: AltitudeEstimate?
  private var newestAbsolute: AbsoluteAltitudeEstimate?
  private var newestSky: GNSSSky?
  /// Why there is no heading, no position, no altitude, nothing of the waves; `nil` while there is.
  private var reasons: (heading: NoData?, location: NoData?, altitude: NoData?, waves: NoData?) = (
    .notYet, .notYet, .notYet, .notYet
  )
  /// The sensors of the board by their place in the board file.
  package private(set) var sensors: [Int: SensorStatus] = [:]

  /// Makes the state of a board that has published nothing.
  ///
  /// - Parameter positionInterval: The time in seconds between two positions that is asked for.
  package init(positionInterval: Double = 1) { self.positionInterval = positionInterval }

  /// Takes what the board has published.
  package mutating func take(_ observation: Observation) {
    switch observation {
    case .heading(let heading): (newestHeading, reasons.heading) = (heading, nil)
    case .headingUnavailable(let reason, _): (newestHeading, reasons.heading) = (nil, reason)
    case .location(let location):
      (newestLocation, reasons.location) = (location.told, nil)
      // Whoever may know the place roughly is not told what would say more of it, and may have been before.
      if location.isCoarse { forgetPlace() }
    case .locationUnavailable(let reason, _):
      (newestLocation, reasons.location) = (nil, reason)
      forgetReceiver(reason)
    case .altitude(let altitude): (newestAltitude, reasons.altitude) = (altitude, nil)
    case .altitudeUnavailable(let reason, _):
      (newestAltitude, newestAbsolute, reasons.altitude) = (nil, nil, reason)
    case .absoluteAltitude(let altitude): newestAbsolute = altitude
    case .sky(let sky): newestSky = sky
    case .motion(let motion):
      newestMotion = motion
      if let attitude = AttitudeReading(motion) { newestAttitude = attitude }
    case .motionUnavailable(.gyro, _, _), .motionUnavailable(.accelerometer, _, _):
      (newestMotion, newestAttitude) = (nil, nil)
    case .motionUnavailable: break
    case .waves(let waves):
      (newestWaves, reasons.waves) = (waves, nil)
      hadWaves = hadWaves || waves.heave != nil || waves.sea?.condition == .waves
    case .wavesUnavailable(let reason, _): (newestWaves, reasons.waves) = (nil, reason)
    case .sensor(let status): sensors[status.index] = status
    case .diagnostic: break
    }
  }

  /// Ends what a receiver that is lost, or may not be told any more, has said besides the position.
  private mutating func forgetReceiver(_ reason: NoData) {
    switch reason {
    case .sensorLost, .noBoard: newestSky = nil
    case .notAuthorized: forgetPlace()
    default: break
    }
  }

  /// Ends what tells of the place besides the position.
  private mutating func forgetPlace() {
    newestSky = nil
    if newestAbsolute?.usesFix == true { newestAbsolute = nil }
  }

  // MARK: Heading

  /// The heading, whether or not it is to be trusted; `nil` where there is none.
  package func heading(at now: Timestamp) -> HeadingEstimate? {
    newestHeading.flatMap { Self.isFresh($0.time, at: now, Age.heading) ? $0 : nil }
  }

  /// A heading that is to be trusted, in radians.
  package struct TrustedHeading: Sendable, Hashable {
    /// Clockwise from magnetic north, 0 up to 2 pi.
    package var magnetic: Double
    /// Clockwise from true north, 0 up to 2 pi; `nil` where the declination is not known.
    package var trueNorth: Double?
    /// Radians east; `nil` where it is not known.
    package var declination: Double?
    /// Half the width of the 95 % interval.
    package var accuracy: Double
    package var time: Timestamp
    /// Whether the field is disturbed, so that the heading is the gyro's for the most part.
    package var isCarried: Bool
  }

  /// The heading where it is to be trusted. One without an accuracy is none.
  package func trustedHeading(at now: Timestamp) -> TrustedHeading? {
    guard let heading = heading(at: now), let accuracy = heading.accuracy, accuracy >= 0,
      accuracy.isFinite
    else { return nil }
    return TrustedHeading(
      magnetic: heading.magneticHeading, trueNorth: heading.trueHeading,
      declination: heading.declination, accuracy: accuracy, time: heading.time,
      isCarried: heading.reason != nil)
  }

  /// Half the width in radians of the widest 95 % interval of a bare heading. 20 degrees: chosen.
  package static let widestBareHeading = 20 * Double.pi / 180

  /// The heading for a message that has no field for its accuracy: a heading that is hardly known would look like any other there.
  package func bareHeading(at now: Timestamp) -> TrustedHeading? {
    trustedHeading(at: now).flatMap { heading in
      let isNarrow = (0...Self.widestBareHeading).contains(heading.accuracy)
      return isNarrow && heading.magnetic.isFinite ? heading : nil
    }
  }

  /// Why there is no heading that is to be trusted; `nil` where there is one.
  package func headingReason(at now: Timestamp) -> NoData? {
    if trustedHeading(at: now) != nil { return nil }
    return newestHeading.map { $0.reason ?? .notYet } ?? reasons.heading ?? .notYet
  }

  // MARK: Attitude

  /// The newest attitude: of the filter, else the one beside a heading; `nil` where there is none.
  package func attitude(at now: Timestamp) -> AttitudeReading? {
    if let attitude = newestAttitude, Self.isFresh(attitude.time, at: now, Age.attitude) {
      return attitude
    }
    return heading(at: now).map { AttitudeReading($0) }
  }

  /// How the board leans, in radians.
  package struct Tilt: Sendable, Hashable {
    /// Positive to starboard: the right side down, -pi up to pi.
    package var roll: Double
    /// Positive with the bow up, -pi/2 up to pi/2.
    package var pitch: Double
    /// The radius of the 95 % circle; `nil` where it is not known.
    package var accuracy: Double?
    package var time: Timestamp
  }

  /// How the board leans; `nil` where that is not measured.
  ///
  /// Without a gyro an angle of exactly zero is assumed: of a board that is declared level, and of antennas that give no tilt, or one of
  /// its angles. An accelerometer never measures it.
  package func tilt(at now: Timestamp) -> Tilt? {
    guard let reading = attitude(at: now), reading.reason != .tiltUnknown,
      let attitude = reading.north ?? reading.free
    else { return nil }
    let (right, forward, up) = attitude.matrix.columns
    let isAssumed = min(abs(right.z), abs(forward.z)) < Self.exactlyLevel
    if reading.angularRate == nil, reading.tiltAccuracy == nil, isAssumed { return nil }
    return Tilt(
      roll: atan2(-right.z, up.z), pitch: asin(max(-1, min(1, forward.z))),
      accuracy: reading.tiltAccuracy, time: reading.time)
  }

  /// The sine of an angle below which rounding alone makes it differ from zero.
  private static let exactlyLevel = 1e-9

  /// The rate of turn about the vertical in rad/s, positive to starboard; `nil` without a gyro, and where nobody knows which way is down.
  package func rateOfTurn(at now: Timestamp) -> Double? {
    guard let reading = attitude(at: now), reading.reason != .tiltUnknown,
      let attitude = reading.north ?? reading.free, let rate = reading.angularRate
    else { return nil }
    return -attitude.rotate(rate).z
  }

  /// The newest samples of the chips that feel motion; `nil` where there are none.
  package func motion(at now: Timestamp) -> MotionEstimate? {
    newestMotion.flatMap { Self.isFresh($0.time, at: now, Age.attitude) ? $0 : nil }
  }

  // MARK: Waves

  /// What the newest sample says of the waves; `nil` where nothing is known of them.
  package func waves(at now: Timestamp) -> WaveEstimate? {
    newestWaves.flatMap { Self.isFresh($0.time, at: now, Age.waves) ? $0 : nil }
  }

  /// The heave; `nil` where it is not known: see `heaveReason(at:)`.
  package func heave(at now: Timestamp) -> HeaveEstimate? { waves(at: now)?.heave }

  /// Why there is no heave, in words for a person; `nil` where there is one.
  package func heaveReason(at now: Timestamp) -> String? {
    guard let waves = waves(at: now) else { return (reasons.waves ?? .notYet).description }
    return waves.heave == nil ? waves.condition.description : nil
  }

  // MARK: Position, altitude, satellites

  /// The position, that of a receiver or one that is carried on; `nil` where there is none.
  package func location(at now: Timestamp) -> LocationEstimate? {
    let age = max(Age.position.least, Age.position.intervals * positionInterval)
    guard let location = newestLocation, location.fix.latitude != nil,
      location.fix.longitude != nil, Self.isFresh(location.fix.received, at: now, age)
    else { return nil }
    return location
  }

  /// Why there is no position; `nil` where there is one.
  package func locationReason(at now: Timestamp) -> NoData? {
    location(at: now) == nil ? reasons.location ?? .notYet : nil
  }

  /// Pressure, relative altitude, temperature and humidity; `nil` where there are none.
  package func altitude(at now: Timestamp) -> AltitudeEstimate? {
    newestAltitude.flatMap { Self.isFresh($0.time, at: now, Age.altitude) ? $0 : nil }
  }

  /// The altitude above the sea; `nil` where there is none.
  package func absoluteAltitude(at now: Timestamp) -> AbsoluteAltitudeEstimate? {
    newestAbsolute.flatMap { Self.isFresh($0.time, at: now, Age.absoluteAltitude) ? $0 : nil }
  }

  /// The satellites that the receiver hears; `nil` where nothing is known of them.
  package func sky(at now: Timestamp) -> GNSSSky? {
    newestSky.flatMap { Self.isFresh($0.received, at: now, Age.sky) ? $0 : nil }
  }

  /// Whether a value is the present one. A value from the future belongs to another clock.
  private static func isFresh(_ time: Timestamp, at now: Timestamp, _ age: Double) -> Bool {
    (-1...age).contains(now.seconds(since: time))
  }
}
