import Glibc
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct QNHTests {
  /// ICAO standard atmosphere (Doc 7488; the same in ISO 2533:1975, table 1): geopotential metres and hectopascals.
  static let table: [(height: Double, pressure: Double)] = [
    (-500, 1074.77), (0, 1013.25), (500, 954.61), (1000, 898.75), (2000, 794.95), (3000, 701.09),
    (4000, 616.40), (5000, 540.20), (8000, 356.00),
  ]

  @Test(arguments: table)
  func theStandardAtmosphereIsTheTables(height: Double, pressure: Double) {
    #expect(abs(StandardAtmosphere.pressure(altitude: height) / 100 - pressure) < 0.006)
    #expect(abs(StandardAtmosphere.altitude(pressure: pressure * 100) - height) < 0.2)
    // In the standard atmosphere every station gives the standard QNH.
    let qnh = StandardAtmosphere.qnh(stationPressure: pressure * 100, elevation: height)
    #expect(abs(qnh - 101_325) < 2.5)
    let back = StandardAtmosphere.stationPressure(qnh: 101_325, elevation: height)
    #expect(abs(back / 100 - pressure) < 0.006)
  }

  /// The National Weather Service's formula for the altimeter setting (Smithsonian Meteorological Tables, 6th edition,
  /// table 65), hectopascals; without its 0.3 hPa for an altimeter that sits 3 m above the ground.
  private func altimeterSetting(_ station: Double, _ elevation: Double) -> Double {
    let n = 0.190284
    let k = pow(1013.25, n) * 0.0065 / 288
    return station * pow(1 + k * elevation / pow(station, n), 1 / n)
  }

  @Test(arguments: [(1031.2, 12.0), (975, 150), (901.4, 1100), (834.2, 1707), (760, 2440)])
  func aStationsQNHIsItsAltimeterSetting(station: Double, elevation: Double) {
    let ours = StandardAtmosphere.qnh(stationPressure: station * 100, elevation: elevation) / 100
    let theirs = altimeterSetting(station, elevation)
    print("QNH at \(elevation) m: \(text(ours)), by the altimeter setting \(text(theirs)) hPa")
    // Their 288 K and rounded exponent make 0.2 hPa at 2440 m.
    #expect(abs(ours - theirs) < 0.05 + elevation * 1e-4)
    let back = StandardAtmosphere.stationPressure(qnh: ours * 100, elevation: elevation)
    #expect(abs(back / 100 - station) < 1e-6)
  }
}
