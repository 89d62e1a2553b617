// What a program says of the board's altitude, as `lodestone altitude` does.

import LocationServices
public import SensorTypes

extension LodestoneRuntime {
  /// The altitude of the board cannot be set.
  public struct NothingToTell: Error, Sendable, CustomStringConvertible {
    /// The reason, in one line.
    public let description: String
  }

  /// Sets the elevation of the board as it is now.
  ///
  /// `CMAltimeter`, and whatever asks for an altitude, then has an elevation above the sea whose accuracy fades as the weather drifts, by
  /// 6.6 m in the first hour. The elevation takes effect within two seconds, once the barometer measures. It is kept for the next run, which
  /// uses it if the date was known when it took effect. It has no effect without a barometer, if no client wants an altitude for a minute, or
  /// if the board file says at which altitude the board stays; a diagnostic then says so.
  ///
  /// Opens the board if necessary.
  ///
  /// - Parameters:
  ///   - elevation: The elevation above mean sea level in meters, -500 to 9000.
  ///   - accuracy: One sigma of it in meters, 0.1 to 500.
  /// - Throws: `KnownAltitudeError` for a value out of range, `NothingToTell` if it cannot be set.
  public func setKnownElevation(_ elevation: Double, accuracy: Double) throws {
    try set(.elevation(elevation, accuracy: accuracy))
  }

  /// Sets the pressure at sea level, as an aerodrome or a harbor reports it.
  ///
  /// - Parameters:
  ///   - qnh: The pressure by the ICAO standard atmosphere in hectopascals, 870 to 1085. A whole number is taken as rounded down, as METAR
  ///     does.
  ///   - accuracy: One sigma of it in hectopascals. The chip's own error, 1 hPa, is added.
  ///   - stationElevation: The elevation of the station in meters. The error by the temperature of the air grows with the height between the
  ///     station and the board.
  ///   - age: The age of the report in seconds, three hours at most.
  /// - Throws: `KnownAltitudeError` for a value out of range, `NothingToTell` if it cannot be set.
  public func setQNH(
    _ qnh: Double, accuracy: Double = KnownAltitude.usualPressureAccuracy,
    stationElevation: Double = 0, age: Double = 0
  ) throws {
    try set(.qnh(qnh, accuracy: accuracy, stationElevation: stationElevation, age: age))
  }

  /// Forgets elevation and pressure.
  ///
  /// - Throws: `NothingToTell` if there is no board, or nothing can be stored.
  public func clearKnownAltitude() throws { try set(.unknown) }

  private func set(_ statement: AltitudeStatement) throws {
    switch ask(.setAltitude(statement)) {
    case .unfit(let reason): throw KnownAltitudeError(description: reason)
    case .impossible(let reason): throw NothingToTell(description: reason)
    case nil: break
    }
  }
}
