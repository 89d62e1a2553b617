// The earth's field against NOAA's published test values.

import CalibrationCore
import Geomagnetism
import Testing

/// A row of NOAA's table of test values for WMM2025 (public domain, published with the model), in km, degrees and
/// microtesla; the two sigmas were worked out by hand from it: the report's 138 nT and 0.20 deg and as many of
/// the neighbourhood as `EarthField` says, through the derivatives of F cos I and F sin I.
struct Published: Sendable {
  var year, height, latitude, longitude: Double
  var h, z, f: Double
  var hSigma, zSigma: Double
}

struct EarthFieldTests {
  @Test(
    "the field of a place is the one that is published for it",
    arguments: [
      Published(
        year: 2025.0, height: 65, latitude: 43, longitude: 93, h: 24.300764692, z: 50.037923998,
        f: 55.626621348, hSigma: 0.522042, zSigma: 0.519486),
      Published(
        year: 2025.0, height: 51, latitude: -33, longitude: 109, h: 21.838046477, z: -52.71000392,
        f: 57.054752538, hSigma: 0.533715, zSigma: 0.521304),
      Published(
        year: 2025.5, height: 69, latitude: 38, longitude: -144, h: 23.096337032, z: 35.525990264,
        f: 42.373774537, hSigma: 0.437520, zSigma: 0.486042),
      Published(
        year: 2025.0, height: 66, latitude: 14, longitude: 143, h: 35.003635649, z: 7.966315182,
        f: 35.898700342, hSigma: 0.511274, zSigma: 0.348549),
    ])
  func published(row: Published) throws {
    let field = EarthField(
      try MagneticModel.wmm2025.field(
        latitude: row.latitude, longitude: row.longitude, altitude: row.height * 1_000,
        decimalYear: row.year))
    #expect(abs(field.horizontal - row.h) < 1e-5)
    #expect(abs(field.vertical - row.z) < 1e-5)
    #expect(abs(field.strength - row.f) < 1e-5)
    #expect(abs(field.horizontalDeviation - row.hSigma) < 1e-4)
    #expect(abs(field.verticalDeviation - row.zSigma) < 1e-4)
    #expect(field.isUsable)
  }

  @Test("strength and dip make the two components; what is no field is not used")
  func components() {
    // 3, 4, 5.
    let field = EarthField(strength: 50, dip: 0.927_295_218_001_612_2)
    #expect(abs(field.horizontal - 30) < 1e-9 && abs(field.vertical - 40) < 1e-9)
    #expect(EarthField(strength: 50, dip: -0.927_295_218_001_612_2).vertical < 0)
    // At a magnetic pole nothing points; nor does what is no number.
    #expect(!EarthField(strength: 60, dip: 1.57).isUsable)
    #expect(!EarthField(strength: .nan, dip: 1).isUsable)
    #expect(!EarthField(strength: 50, dip: .infinity).isUsable)
    #expect(!EarthField(strength: 300, dip: 1).isUsable)
  }
}
