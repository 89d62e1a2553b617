public import LinearAlgebra

/// What the fusion core knows about heading at one moment.
public struct HeadingEstimate: Sendable, Hashable, Codable {
  /// The moment it is true for.
  public var time: Timestamp
  /// The body's y axis clockwise from magnetic north, radians, 0 up to 2 pi.
  public var magneticHeading: Double
  /// Half the width of the 95 % interval, radians; `nil`, with a `reason`, where heading is not to be trusted.
  public var accuracy: Double?
  /// The body's y axis clockwise from true north, radians; `nil` with a `trueReason`.
  public var trueHeading: Double?
  /// Declination that leads from magnetic to true heading, radians east.
  public var declination: Double?
  /// Why `accuracy` is missing; beside an accuracy, what is wrong with the field, so that heading is the gyro's for the
  /// most part.
  public var reason: NoData?
  /// Why `trueHeading` is missing.
  public var trueReason: NoData?
  /// The calibrated field in the body frame, microtesla; `nil` for a heading that no magnetometer has a part in:
  /// there is none, or it is silent, and a receiver's course says where north is.
  public var field: Vector3?
  /// The attitude, body to earth (ENU with y to *magnetic* north).
  public var attitude: Quaternion
  /// What the field is judged by; `nil` where no magnetometer has a part in the heading.
  public var fieldCheck: FieldCheck?
  /// The largest source of error in `accuracy`; `nil` without an accuracy.
  public var limit: HeadingLimit?

  /// Makes an estimate.
  @inlinable public init(
    time: Timestamp, magneticHeading: Double, accuracy: Double?, trueHeading: Double? = nil,
    declination: Double? = nil, reason: NoData? = nil, trueReason: NoData? = nil, field: Vector3?,
    attitude: Quaternion, fieldCheck: FieldCheck? = nil, limit: HeadingLimit? = nil
  ) {
    self.time = time
    self.magneticHeading = magneticHeading
    self.accuracy = accuracy
    self.trueHeading = trueHeading
    self.declination = declination
    self.reason = reason
    self.trueReason = trueReason
    self.field = field
    self.attitude = attitude
    self.fieldCheck = fieldCheck
    self.limit = limit
  }
}

/// What the barometer says about height at one moment.
public struct AltitudeEstimate: Sendable, Hashable, Codable {
  /// The moment it is true for.
  public var time: Timestamp
  /// Height above the first sample of this run, metres.
  public var relativeAltitude: Double
  /// One sigma of the relative altitude, metres: 1.96 of it hold the truth in 95 % of the time.
  public var relativeAccuracy: Double
  /// Smoothed static pressure, pascals.
  public var pressure: Double
  /// Climb rate, m/s, up positive; `nil` while unknown.
  public var verticalSpeed: Double?
  /// The temperature that the barometer measures, degrees Celsius: that of the air and what the board adds to it. `nil` while unknown.
  public var temperature: Double?
  /// The relative humidity that the barometer measures, percent, at its own temperature; `nil` for a chip that does not measure it.
  public var humidity: Double?

  /// Makes an estimate.
  public init(
    time: Timestamp, relativeAltitude: Double, relativeAccuracy: Double, pressure: Double,
    verticalSpeed: Double? = nil, temperature: Double? = nil, humidity: Double? = nil
  ) {
    self.time = time
    self.relativeAltitude = relativeAltitude
    self.relativeAccuracy = relativeAccuracy
    self.pressure = pressure
    self.verticalSpeed = verticalSpeed
    self.temperature = temperature
    self.humidity = humidity
  }
}

/// Height above the sea at one moment, from a barometer with a receiver, a known height or both.
public struct AbsoluteAltitudeEstimate: Sendable, Hashable, Codable {
  /// The moment it is true for.
  public var time: Timestamp
  /// Height above mean sea level, metres, by the receiver's geoid, or by the datum of the known height.
  public var altitude: Double
  /// One sigma of the height, metres: 1.96 of it hold the truth in 95 % of the time.
  public var accuracy: Double
  /// Height above the WGS 84 ellipsoid, metres; `nil` where the receiver does not say both.
  public var ellipsoidalAltitude: Double?
  /// The newest fix that is part of it; `nil` where none is.
  public var fixTime: Timestamp?
  /// The moment of the newest known height, an elevation or a QNH, that is part of it; it may be before the start of
  /// the run. `nil` where none is.
  public var knownTime: Timestamp?
  /// The pressure at mean sea level that belongs to this height and to the pressure that was measured there, by the standard atmosphere
  /// (QNH), pascals; `nil` where no weather has it.
  public var seaLevelPressure: Double?
  /// One sigma of the pressure at sea level, pascals, with that of the height and an assumed 100 Pa of the barometer.
  public var seaLevelPressureAccuracy: Double?

  /// Whether a fix is part of it, so that it tells of the place.
  package var usesFix: Bool { fixTime != nil }

  /// Makes an estimate.
  public init(
    time: Timestamp, altitude: Double, accuracy: Double, ellipsoidalAltitude: Double? = nil,
    fixTime: Timestamp? = nil, knownTime: Timestamp? = nil, seaLevelPressure: Double? = nil,
    seaLevelPressureAccuracy: Double? = nil
  ) {
    self.time = time
    self.altitude = altitude
    self.accuracy = accuracy
    self.ellipsoidalAltitude = ellipsoidalAltitude
    self.fixTime = fixTime
    self.knownTime = knownTime
    self.seaLevelPressure = seaLevelPressure
    self.seaLevelPressureAccuracy = seaLevelPressureAccuracy
  }
}

/// Where the carrier is and how it goes, from a receiver's fixes and what has happened since the newest of them.
public struct PositionEstimate: Sendable, Hashable {
  /// The moment it is true for.
  public var time: Timestamp
  /// Geodetic latitude, WGS 84, degrees north.
  public var latitude: Double
  /// Longitude, WGS 84, degrees east, -180 to 180.
  public var longitude: Double
  /// Horizontal 68 % radius, metres; it grows from fix to fix.
  public var horizontalAccuracy: Double
  /// Speed over ground, m/s.
  public var speed: Double
  /// One sigma of the speed, m/s.
  public var speedAccuracy: Double
  /// Direction of travel, degrees from true north, 0 up to 360; `nil` where the speed is no more than its error.
  public var course: Double?
  /// One sigma of the course, degrees.
  public var courseAccuracy: Double?
  /// The fix that it is carried on from.
  public var fixTime: Timestamp
  /// Whether it was measured how the carrier turns; else it is taken to go straight on.
  public var isTurnMeasured: Bool

  /// Makes an estimate.
  public init(
    time: Timestamp, latitude: Double, longitude: Double, horizontalAccuracy: Double,
    speed: Double, speedAccuracy: Double, course: Double? = nil, courseAccuracy: Double? = nil,
    fixTime: Timestamp, isTurnMeasured: Bool
  ) {
    self.time = time
    self.latitude = latitude
    self.longitude = longitude
    self.horizontalAccuracy = horizontalAccuracy
    self.speed = speed
    self.speedAccuracy = speedAccuracy
    self.course = course
    self.courseAccuracy = courseAccuracy
    self.fixTime = fixTime
    self.isTurnMeasured = isTurnMeasured
  }
}
