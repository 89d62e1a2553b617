package import CalibrationCore
import Geomagnetism
import Lodestone
import SensorTypes

/// The earth's field at the board's place.
package struct LocalEarth: Sendable {
  package var earth: EarthField
  /// From true to magnetic north, radians; `nil` where it was not given and cannot be computed.
  package var declination: Double?
  /// Where it comes from, for people.
  package var source: String

  package init(earth: EarthField, declination: Double? = nil, source: String) {
    self.earth = earth; self.declination = declination; self.source = source
  }
}
