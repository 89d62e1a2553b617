// What a person says of the board's height, as a value.

/// What a person has said of the board's height: an elevation, a QNH, or both.
public struct KnownAltitude: Sendable, Hashable {
  /// The elevation of the place where the board was.
  public struct Elevation: Sendable, Hashable, Codable {
    /// Metres above mean sea level.
    public var elevation: Double
    /// One sigma of it, metres.
    public var accuracy: Double
    /// The system's clock when it was given, seconds since 1970: what tells it from others.
    public package(set) var given: Double
    /// UTC of it, seconds since 1970, where the clock was set by somebody who knows.
    public package(set) var utc: Double?
    /// What the barometer measured there, pascals.
    public package(set) var pressure: Double?
    /// Which barometer that was.
    package var barometer: String?
    /// What became of it.
    public package(set) var verdict = KnownAltitudeStatus.waiting
  }

  /// The pressure at sea level by a station that gives it.
  public struct QNH: Sendable, Hashable, Codable {
    /// Hectopascals, as it was given.
    public var qnh: Double
    /// One sigma of it, hectopascals.
    public var accuracy: Double
    /// How high the station lies, metres above mean sea level.
    public var stationElevation: Double
    /// How old it was when it was given, seconds.
    public var age: Double
    /// The system's clock when it was given, seconds since 1970.
    public package(set) var given: Double
    /// UTC of the moment when it was given, where the clock was set by somebody who knows.
    public package(set) var utc: Double?
    /// What became of it.
    public package(set) var verdict = KnownAltitudeStatus.waiting
  }

  /// The newest elevation.
  public package(set) var elevation: Elevation?
  /// The newest QNH.
  public package(set) var qnh: QNH?

  /// Makes what was said; nothing was, by default.
  public init(elevation: Elevation? = nil, qnh: QNH? = nil) {
    self.elevation = elevation
    self.qnh = qnh
  }
}

/// What a running program has made of it.
public enum KnownAltitudeStatus: String, Sendable, Hashable, Codable {
  /// No program has met it with a pressure yet.
  case waiting
  /// It is part of the altitude.
  case taken
  /// A receiver that had a fix was five sigma from it: the receiver was believed.
  case contradictsReceiver
  /// No weather has the pressure that was measured at that elevation.
  case contradictsPressure
  /// No pressure was measured within a minute of it.
  case tooLate
  /// It was given before the program began and while the clock was not set: nobody knows how old it is.
  case undated
  /// What was known already was as good: it changed nothing.
  case notBetter
  /// The board file says the altitude of a board that stays.
  case boardStays
}

/// A height or a pressure that no place on earth has, or that no barometer here measures.
public struct KnownAltitudeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The message, in one line.
  public let description: String

  package init(description: String) { self.description = description }
}

extension KnownAltitude {
  /// What an elevation may be, metres: 9000 has 308 hPa, and barometers go down to 300; no land is below -430.
  public static let elevations = -500.0...9_000
  /// What one sigma of an elevation may be, metres.
  public static let accuracies = 0.1...500.0
  /// What a QNH may be, hectopascals: about the lowest and the highest that were ever measured (870 hPa in typhoon Tip,
  /// 1979; 1084 hPa at Agata, Siberia, 1968; WMO's archive of extremes).
  public static let pressures = 870.0...1_085
  /// What one sigma of a QNH may be, hectopascals.
  public static let pressureAccuracies = 0.1...20.0
  /// How high a station may lie, metres: the highest airport has 4411.
  public static let stationElevations = -500.0...5_500
  /// How old a QNH may be when it is given, seconds: aerodromes give one at least every hour.
  public static let ages = 0.0...10_800

  /// Weather has forgotten what is older, seconds: a week makes 85 m, as much as the standard atmosphere is off.
  public static let longestAge = 7 * 86_400.0
  /// Clocks of one board may differ by this, seconds.
  public static let clockSlack = 60.0

  /// One sigma of a QNH, hectopascals, where nothing is said: 0.3 for what is lost by whole hectopascals, 0.5 for the
  /// station's barometer (ICAO Annex 3, attachment A, wants no more), and 0.7 for its distance: what 50 km make of a wind
  /// of 10 m/s at 50 degrees of latitude. All chosen of what those bounds leave open.
  public static let usualPressureAccuracy = 0.9

  /// The QNH in hectopascals as it was before it was rounded, on the average: METAR gives whole hectopascals, rounded down
  /// (ICAO Annex 3, appendix 3; WMO-No. 306, FM 15).
  public static func unrounded(_ qnh: Double) -> Double {
    qnh == qnh.rounded() ? qnh + 0.5 : qnh
  }

  static func check(_ value: Double, _ range: ClosedRange<Double>, _ what: String, _ unit: String)
    throws(KnownAltitudeError)
  {
    guard !range.contains(value) else { return }
    func shown(_ number: Double) -> String {
      number == number.rounded() && abs(number) < 1e9 ? "\(Int(number))" : "\(number)"
    }
    throw KnownAltitudeError(
      description: "\(what) is \(shown(range.lowerBound)) to \(shown(range.upperBound)) \(unit), "
        + "not \(shown(value))")
  }
}

extension KnownAltitude.Elevation {
  /// An elevation that is given now; throws for what no place has, and no barometer measures.
  public init(_ elevation: Double, accuracy: Double, now: ClockReading) throws(KnownAltitudeError) {
    try KnownAltitude.check(elevation, KnownAltitude.elevations, "an elevation", "m")
    try KnownAltitude.check(accuracy, KnownAltitude.accuracies, "an elevation's accuracy", "m")
    self.init(
      elevation: elevation, accuracy: accuracy, given: now.seconds,
      utc: now.isSet ? now.seconds : nil)
  }

  package var problem: KnownAltitudeError? {
    do throws(KnownAltitudeError) {
      _ = try Self(elevation, accuracy: accuracy, now: ClockReading(seconds: given, isSet: true))
      try KnownAltitude.check(pressure ?? 100_000, 30_000...120_000, "a pressure", "Pa")
    } catch { return error }
    return given.isFinite && (utc ?? 0).isFinite ? nil : .time
  }
}

extension KnownAltitude.QNH {
  /// A QNH that is given now; throws for what was never measured anywhere.
  public init(
    _ qnh: Double, accuracy: Double = KnownAltitude.usualPressureAccuracy,
    stationElevation: Double = 0, age: Double = 0, now: ClockReading
  ) throws(KnownAltitudeError) {
    // 870 hPa are 25.7 inches.
    if (25.6...32.1).contains(qnh) {
      throw KnownAltitudeError(
        description: "a QNH is given in hectopascals: \(qnh) inHg are "
          + "\((qnh * 338.6389).rounded() / 10) hPa")
    }
    try KnownAltitude.check(qnh, KnownAltitude.pressures, "a QNH", "hPa")
    try KnownAltitude.check(
      accuracy, KnownAltitude.pressureAccuracies, "a QNH's accuracy", "hPa")
    try KnownAltitude.check(
      stationElevation, KnownAltitude.stationElevations, "a station's elevation", "m")
    try KnownAltitude.check(age, KnownAltitude.ages, "a QNH's age", "s")
    self.init(
      qnh: qnh, accuracy: accuracy, stationElevation: stationElevation, age: age,
      given: now.seconds, utc: now.isSet ? now.seconds : nil)
  }

  package var problem: KnownAltitudeError? {
    do throws(KnownAltitudeError) {
      _ = try Self(
        qnh, accuracy: accuracy, stationElevation: stationElevation, age: age,
        now: ClockReading(seconds: given, isSet: true))
    } catch { return error }
    return given.isFinite && (utc ?? 0).isFinite ? nil : .time
  }
}

extension KnownAltitudeError {
  fileprivate static let time = KnownAltitudeError(description: "its time is none")
}
