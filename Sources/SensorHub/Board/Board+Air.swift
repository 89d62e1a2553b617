// What a barometer must read where the board is.

import FusionCore

extension Board {
  /// Pascals in the standard atmosphere at the altitude that the board file says; `nil` where it says none, or 0, which is
  /// what it holds when only the place is said. Weather and a place that is some hundred metres off make less than a fifth
  /// of it.
  public var usualPressure: Double? {
    guard let altitude = position?.altitude, altitude != 0, altitude < 11_000 else { return nil }
    return StandardAtmosphere.pressure(altitude: altitude)
  }
}
