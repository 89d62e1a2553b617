import MapKit
import Testing

@Suite struct DistanceFormatterTests {
  private func formatter(
    _ units: MKDistanceFormatter.Units, _ style: MKDistanceFormatter.DistanceUnitStyle = .default,
    locale: String = "en_US"
  ) -> MKDistanceFormatter {
    let formatter = MKDistanceFormatter()
    formatter.units = units
    formatter.unitStyle = style
    formatter.locale = Locale(identifier: locale)
    return formatter
  }

  @Test("metres by one, by ten, and kilometres")
  func metric() {
    let formatter = formatter(.metric)
    let words = [0.4, 7.6, 99.4, 123, 994, 996, 1234, 9940, 9960, 12_345, 1_234_567]
      .map(formatter.string(fromDistance:))
    #expect(
      words == [
        "0 m", "8 m", "99 m", "120 m", "990 m", "1 km", "1.2 km", "9.9 km", "10 km", "12 km",
        "1,235 km",
      ])
    #expect(formatter.string(fromDistance: .nan) == "")
    #expect(formatter.string(fromDistance: -0.2) == "0 m")
  }

  @Test("feet or yards, and miles")
  func imperial() {
    // 30.48 m are 100 feet, 1609.344 m a mile.
    #expect(formatter(.imperial).string(fromDistance: 30.48) == "100 ft")
    #expect(formatter(.imperial).string(fromDistance: 1609.344) == "1 mi")
    #expect(formatter(.imperialWithYards).string(fromDistance: 91.44) == "100 yd")
    #expect(formatter(.imperialWithYards).string(fromDistance: 1.5 * 1609.344) == "1.5 mi")
  }

  @Test("the locale has its units, and writes its numbers")
  func locales() {
    #expect(formatter(.default).string(fromDistance: 16_093.44) == "10 mi")
    #expect(formatter(.default, locale: "en_GB").string(fromDistance: 91.44) == "100 yd")
    #expect(formatter(.default, locale: "de_DE").string(fromDistance: 1234) == "1,2 km")
    #expect(formatter(.metric, .abbreviated).string(fromDistance: 5) == "5 m")
    #expect(formatter(.metric, .full).string(fromDistance: 1) == "1 meter")
    #expect(formatter(.imperial, .full).string(fromDistance: 6.096) == "20 feet")
  }

  @Test("words become metres again, in whatever unit; others are none")
  func back() {
    let formatter = formatter(.metric)
    for (words, metres) in [
      ("1.2 km", 1200.0), ("1,234 m", 1234), ("2mi", 3218.688), (" 100 Feet ", 30.48),
      ("1 yard", 0.9144), ("-5 m", -5),
    ] {
      #expect(abs(formatter.distance(from: words) - metres) < 1e-9, "\(words)")
    }
    for words in ["", "12", "km", "twelve km", "3 parsecs"] {
      #expect(formatter.distance(from: words) == -1)
    }
    #expect(abs(self.formatter(.metric, locale: "de_DE").distance(from: "1,2 km") - 1200) < 1e-9)
  }

  @Test("a formatter says objects, and a copy is one's own")
  func objects() {
    let formatter = formatter(.metric, .full)
    #expect(formatter.string(for: NSNumber(value: 5)) == "5 meters")
    #expect(formatter.string(for: 5.0) == "5 meters" && formatter.string(for: 5) == "5 meters")
    #expect(formatter.string(for: "5") == nil && formatter.string(for: nil) == nil)
    let copy = formatter.copy() as? MKDistanceFormatter
    formatter.units = .imperial
    #expect(copy?.units == .metric && copy?.unitStyle == .full)
    #expect(copy?.locale.identifier == "en_US")
  }
}
