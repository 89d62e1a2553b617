// Pressure and height in the International Standard Atmosphere, below 11 km.

import LinearAlgebra

/// The troposphere of the International Standard Atmosphere (ISO 2533:1975, section 2.7): 288.15 K
/// and 101325 Pa at sea level, 6.5 K/km, 9.80665 m/s^2, dry air of 287.05287 J/(kg K).
///
/// Heights are geopotential metres; up to 2 km they differ from geometric ones by less than 0.04 %.
/// The air's real temperature is unknown to a barometer (the chip measures its own, which its own
/// heat and its box raise), so the standard one is used: a height *difference* comes out wrong by
/// the ratio of the absolute temperatures, 3.5 % for air 10 K from standard.
public enum StandardAtmosphere {
  /// Pressure at sea level, pascals.
  public static let seaLevelPressure = 101_325.0
  /// Height at which the formula's pressure would be zero: 288.15 K / 6.5 K/km, metres.
  static let scale = 288.15 / 0.0065
  /// `R L / g`, no unit.
  static let exponent = 287.05287 * 0.0065 / 9.80665

  /// Pressure altitude in metres for a pressure in pascals, 22 632 Pa (11 km) and above.
  ///
  /// 89 874.6 Pa is 1000 m.
  public static func altitude(pressure: Double) -> Double {
    scale * (1 - pow(pressure / seaLevelPressure, exponent))
  }

  /// Pressure in pascals at a pressure altitude in metres, up to 11 000.
  public static func pressure(altitude: Double) -> Double {
    seaLevelPressure * pow(1 - altitude / scale, 1 / exponent)
  }

  /// Pressure in pascals that a station `elevation` metres above the sea measures which gives a QNH in pascals.
  ///
  /// QNH is what an altimeter's scale is set to so that it shows the elevation of the aerodrome that it stands on; an
  /// altimeter turns pressure to height as this atmosphere does (ICAO Doc 8896, "altimeter settings"; ICAO Doc 7488
  /// for the atmosphere). At 1000 m and a QNH of 1013.25 hPa it is 898.75 hPa.
  public static func stationPressure(qnh: Double, elevation: Double) -> Double {
    pressure(altitude: altitude(pressure: qnh) + elevation)
  }

  /// QNH in pascals of a station's pressure, likewise.
  public static func qnh(stationPressure: Double, elevation: Double) -> Double {
    pressure(altitude: altitude(pressure: stationPressure) - elevation)
  }
}
