import Testing

@testable import CalibrationUI

/// Parts and names of the compass.
struct CompassTests {
  private static let degree = Double.pi / 180

  @Test("a part begins with its first heading and ends before the next part's, all around")
  func sectors() {
    for sector in 0..<36 {
      let first = Double(sector) * 10
      for turn in [-720.0, 0, 360] {
        #expect(Compass.sector((first + turn + 0.001) * Self.degree) == sector)
        #expect(Compass.sector((first + turn + 9.999) * Self.degree) == sector)
      }
    }
    #expect(Compass.sector(0.75 * 2 * .pi, of: 8) == 6)
  }

  @Test("a heading that is a hair left of north lies in the last part")
  func hair() {
    // The fraction of such a turn is rounded to a whole one.
    #expect(Compass.sector(-1e-17) == 35)
    #expect(Compass.sector(-1e-17, of: 4) == 3)
  }

  @Test("eight headings have a name")
  func names() {
    let all = (0..<8).map { Compass.name(Double($0) * 45) }
    #expect(all == ["N", "NE", "E", "SE", "S", "SW", "W", "NW"])
    for degrees in [-45, 22.5, 44.9, 360, 405] { #expect(Compass.name(degrees).isEmpty) }
  }
}
