// What a barometer must read where the board is.

package import BoardFile
import FusionCore

extension Board {
  /// Altitude above mean sea level and one sigma of it, metres, of a board that stays where its file says; `nil` where the
  /// file does not say how well it knows.
  var fixedAltitude: (altitude: Double, accuracy: Double)? {
    position.flatMap { place in place.altitudeAccuracy.map { (place.altitude, $0) } }
  }

  /// Pascals in the standard atmosphere at the altitude that the board file says; `nil` where it says none, or 0, which is
  /// what it holds when only the place is said. Weather and a place that is some hundred metres off make less than a fifth
  /// of it.
  package var usualPressure: Double? {
    guard let altitude = position?.altitude, altitude != 0, altitude < 11_000 else { return nil }
    return StandardAtmosphere.pressure(altitude: altitude)
  }
}
