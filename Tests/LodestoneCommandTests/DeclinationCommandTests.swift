import Testing

@testable import LodestoneCommand

/// The date of `lodestone declination`.
struct DeclinationCommandTests {
  @Test("a date is a day that exists, or a decimal year")
  func dates() throws {
    #expect(DeclinationCommand.decimalYear(of: "2026.5") == 2026.5)
    // 181 days are in the first half of a common year: 2 July is day 182, counted from 0.
    let middle = try #require(DeclinationCommand.decimalYear(of: "2026-07-02"))
    #expect(abs(middle - (2026 + 182.0 / 365)) < 1e-9)
    #expect(DeclinationCommand.decimalYear(of: "2026-01-01") == 2026)
    for text in ["2026-02-30", "2026-13-01", "26-01-01", "today", ""] {
      #expect(DeclinationCommand.decimalYear(of: text) == nil, "\(text)")
    }
  }
}
