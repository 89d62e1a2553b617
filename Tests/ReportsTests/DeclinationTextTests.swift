import Foundation
import Geomagnetism
import Reports
import Testing

import TextForms

/// The earth's field in words and as JSON, by the first row of NOAA's test values for WMM2025: 2025.0, 80 N, 0 E, 0 km.
struct DeclinationTextTests {
  private func field(_ year: Double = 2025) throws -> MagneticField {
    try MagneticModel.wmm2025.field(latitude: 80, longitude: 0, altitude: 0, decimalYear: year)
  }

  @Test("the lines have NOAA's values with their rates")
  func lines() throws {
    let lines = DeclinationText.lines(try field(), model: "WMM2025", year: 2025)
    #expect(
      lines == [
        "WMM2025 at 2025",
        "declination           1.281 deg  (0.524 deg a year)  +- 0.87 deg",
        "inclination           83.211 deg  (0.011 deg a year)",
        "horizontal intensity  6523.2 nT  (-7 nT a year)",
        "north                 6521.6 nT  (-8.3 nT a year)",
        "east                  145.9 nT  (59.5 nT a year)",
        "down                  54791.5 nT  (31.1 nT a year)",
        "total intensity       55178.5 nT  (30.1 nT a year)",
      ])
  }

  @Test("beyond the model's years the first line says so")
  func extrapolated() throws {
    let lines = DeclinationText.lines(try field(2031), model: "WMM2025", year: 2031)
    #expect(lines.first == "WMM2025 at 2031, extrapolated: uncertainty doubled")
  }

  @Test("a program reads the same values")
  func json() throws {
    let line = DeclinationText.line(try field()).line
    let object = try #require(
      JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(object["v"] as? Int == 1 && object["kind"] as? String == "declination")
    for (key, value, tolerance) in [
      ("declination", 1.28, 0.005), ("inclination", 83.21, 0.005), ("north", 6521.6, 0.05),
      ("east", 145.9, 0.05), ("down", 54791.5, 0.05), ("horizontalIntensity", 6523.2, 0.05),
      ("totalIntensity", 55178.5, 0.05), ("northRate", -8.3, 0.05), ("eastRate", 59.5, 0.05),
      ("downRate", 31.1, 0.05), ("totalIntensityRate", 30.1, 0.05),
    ] {
      let found = try #require(object[key] as? Double, "\(key)")
      #expect(abs(found - value) <= tolerance, "\(key) is \(found)")
    }
    #expect(object.count == 17)
  }
}
