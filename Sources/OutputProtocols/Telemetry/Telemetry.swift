// The values of a board in the units that dashboards show, after the rules of trust and of positions.

package import SensorTypes

/// What a board knows at one moment, in degrees, metres, hectopascals and the like; `nil` for what is not known.
///
/// Dashboards, databases and home automation cannot carry doubt. They are therefore given a heading and a position only while these are to
/// be trusted, and never a number that is not finite.
package struct Telemetry: Sendable, Hashable {
  /// Degrees clockwise from magnetic north, 0 up to 360.
  package var magneticHeading: Double?
  /// Degrees clockwise from true north, 0 up to 360.
  package var trueHeading: Double?
  /// Half the width of the 95 % interval of both headings, in degrees.
  package var headingAccuracy: Double?
  /// Degrees east.
  package var declination: Double?
  /// Whether the field is disturbed, so that the heading is the gyro's for the most part.
  package var isHeadingCarried: Bool?
  /// When the heading was measured.
  package var headingTime: Timestamp?
  /// Why there is no heading; `nil` while there is one.
  package var headingReason: NoData?

  /// Degrees, positive with the right side down.
  package var roll: Double?
  /// Degrees, positive with the bow up.
  package var pitch: Double?
  /// The radius of the 95 % circle of roll and pitch, in degrees.
  package var tiltAccuracy: Double?
  /// Degrees a second, positive to starboard.
  package var rateOfTurn: Double?
  /// When roll, pitch and rate of turn were measured.
  package var tiltTime: Timestamp?

  /// The position; `nil` where there is none, or where positions may not be shown.
  package var position: TelemetryPosition?
  /// Why there is no position; `nil` while there is one.
  package var positionReason: NoData?

  /// Metres above mean sea level.
  package var altitude: Double?
  /// One sigma of `altitude`, in metres.
  package var altitudeAccuracy: Double?
  package var altitudeTime: Timestamp?
  /// Metres above the first sample of the run.
  package var relativeAltitude: Double?
  /// One sigma of `relativeAltitude`, in metres.
  package var relativeAltitudeAccuracy: Double?
  /// Metres a second, up positive.
  package var verticalSpeed: Double?

  /// Static pressure, in pascals.
  package var pressure: Double?
  /// Pressure at mean sea level, in pascals.
  package var seaLevelPressure: Double?
  /// One sigma of `seaLevelPressure`, in pascals.
  package var seaLevelPressureAccuracy: Double?
  /// Degrees Celsius, measured by the barometer.
  package var temperature: Double?
  /// Relative humidity at this temperature, in percent.
  package var humidity: Double?
  /// When pressure, temperature and humidity were measured.
  package var pressureTime: Timestamp?

  /// The number of satellites that the receiver names.
  package var satellitesInView: Int?
  /// The number of satellites that the position rests on.
  package var satellitesUsed: Int?
  /// When the receiver named the satellites.
  package var satellitesTime: Timestamp?

  /// A position and what is known of it.
  package struct TelemetryPosition: Sendable, Hashable {
    /// WGS 84, degrees north.
    package var latitude: Double
    /// WGS 84, degrees east.
    package var longitude: Double
    /// The 68 % radius in metres, at `time`.
    package var accuracy: Double?
    /// The 68 % radius in metres at the moment of asking: that of a carried position grows between two of them.
    package var presentAccuracy: Double?
    /// Whether `accuracy` is an assumption and not the receiver's word.
    package var isAccuracyAssumed: Bool
    /// Seconds since the fix that the position rests on.
    package var fixAge: Double
    /// Whether the position is dead-reckoned from the last fix, by the board or by the receiver itself.
    package var isCarried: Bool
    /// Whether a simulated or replayed board produced it, or a receiver's own simulator.
    package var isSimulated: Bool
    package var kind: FixKind?
    /// Metres a second over ground.
    package var speed: Double?
    /// One sigma of `speed`, in metres a second.
    package var speedAccuracy: Double?
    /// Degrees from true north, 0 up to 360.
    package var course: Double?
    /// One sigma of `course`, in degrees.
    package var courseAccuracy: Double?
    /// UTC in seconds since 1970, by the receiver.
    package var utc: Double?
    package var time: Timestamp
  }

  /// Reads what a board knows.
  ///
  /// - Parameters:
  ///   - showsPosition: Whether the owner lets this peer know where the board is. Without it there is no position, and nothing that tells
  ///     of the place: declination, true heading, an altitude that rests on a fix, satellites.
  package init(_ state: PublishedState, at now: Timestamp, showsPosition: Bool) {
    takeHeading(state, now, showsPosition)
    takeTilt(state, now)
    takePosition(state, now, showsPosition)
    takeAir(state, now, showsPosition)
    guard showsPosition, let sky = state.sky(at: now) else { return }
    satellitesInView = sky.satellites.count
    satellitesTime = sky.received
    if sky.satellites.isEmpty || sky.satellites.contains(where: { $0.isUsed != nil }) {
      satellitesUsed = sky.satellites.count { $0.isUsed == true }
    }
  }

  private mutating func takeHeading(
    _ state: PublishedState, _ now: Timestamp, _ showsPosition: Bool
  ) {
    let degrees = 180 / Double.pi
    guard let heading = state.trustedHeading(at: now), heading.magnetic.isFinite else {
      let reason = state.headingReason(at: now) ?? .notYet
      headingReason = showsPosition ? reason : reason.withoutPlace
      return
    }
    magneticHeading = Self.turn(heading.magnetic * degrees)
    headingAccuracy = heading.accuracy * degrees
    isHeadingCarried = heading.isCarried
    headingTime = heading.time
    guard showsPosition else { return }
    trueHeading = heading.trueNorth.finite.map { Self.turn($0 * degrees) }
    declination = heading.declination.finite.map { $0 * degrees }
  }

  private mutating func takeTilt(_ state: PublishedState, _ now: Timestamp) {
    let degrees = 180 / Double.pi
    // An attitude that is level by assumption is not measured.
    if case .tiltUnknown? = state.attitude(at: now)?.reason { return }
    rateOfTurn = state.rateOfTurn(at: now).finite.map { $0 * degrees }
    guard let tilt = state.tilt(at: now), tilt.roll.isFinite, tilt.pitch.isFinite else { return }
    (roll, pitch) = (tilt.roll * degrees, tilt.pitch * degrees)
    tiltAccuracy = tilt.accuracy.finite.map { $0 * degrees }
    tiltTime = tilt.time
  }

  private mutating func takePosition(
    _ state: PublishedState, _ now: Timestamp, _ showsPosition: Bool
  ) {
    guard showsPosition else {
      positionReason = .notAuthorized("positions are not shown here")
      return
    }
    // A fix that the receiver does not vouch for, or a place that is none, is not a position.
    guard let location = state.location(at: now), location.fix.isValid,
      let latitude = location.fix.latitude, let longitude = location.fix.longitude,
      (-90...90).contains(latitude), (-180...180).contains(longitude)
    else {
      positionReason = state.locationReason(at: now) ?? .noFix
      return
    }
    let fix = location.fix
    let epoch = location.carried?.fixTime ?? fix.moment(latency: 0)
    position = TelemetryPosition(
      latitude: latitude, longitude: longitude,
      accuracy: fix.horizontalAccuracy.finite.flatMap { $0 >= 0 ? $0 : nil },
      presentAccuracy: location.radius(at: now).finite.flatMap { $0 >= 0 ? $0 : nil },
      isAccuracyAssumed: fix.hasAssumedAccuracy, fixAge: max(0, now.seconds(since: epoch)),
      isCarried: location.isDeadReckoned,
      isSimulated: location.isSimulated || fix.kind == .simulated, kind: fix.kind,
      speed: fix.speed.finite,
      speedAccuracy: fix.speed.finite.flatMap { _ in fix.speedAccuracy.finite },
      course: fix.course.finite.map(Self.turn),
      courseAccuracy: fix.course.finite.flatMap { _ in fix.courseAccuracy.finite },
      utc: fix.utc.finite, time: fix.moment(latency: 0))
  }

  private mutating func takeAir(_ state: PublishedState, _ now: Timestamp, _ showsPosition: Bool) {
    if let air = state.altitude(at: now) {
      relativeAltitude = air.relativeAltitude.finite
      relativeAltitudeAccuracy = relativeAltitude.flatMap { _ in air.relativeAccuracy.finite }
      verticalSpeed = air.verticalSpeed.finite
      pressure = air.pressure.finite.flatMap { $0 > 0 ? $0 : nil }
      (temperature, humidity) = (air.temperature.finite, air.humidity.finite)
      pressureTime = air.time
    }
    guard let absolute = state.absoluteAltitude(at: now), showsPosition || !absolute.usesFix,
      absolute.altitude.isFinite, absolute.accuracy.isFinite
    else { return }
    (altitude, altitudeAccuracy) = (absolute.altitude, absolute.accuracy)
    altitudeTime = absolute.time
    seaLevelPressure = absolute.seaLevelPressure.finite
    seaLevelPressureAccuracy =
      seaLevelPressure.flatMap { _ in absolute.seaLevelPressureAccuracy.finite }
  }

  /// Degrees of 0 up to 360, which three decimals do not round up to a full turn.
  private static func turn(_ degrees: Double) -> Double {
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    let positive = rest < 0 ? rest + 360 : rest
    return positive >= 359.9995 ? 0 : positive
  }
}

extension Double {
  /// The number; `nil` where it is infinite or none.
  var finite: Double? { isFinite ? self : nil }
}

extension Optional where Wrapped == Double {
  /// The number; `nil` where it is infinite or none.
  var finite: Double? { flatMap(\.finite) }
}
