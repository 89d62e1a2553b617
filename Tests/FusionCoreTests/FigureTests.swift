// Every estimator's short runs come to the figures that they came to before.

import RecordedFigures
import Testing

@_spi(Tuning) import FusionCore

@Suite("the figures of the short runs are as they were")
struct FigureTests {
  /// Differences of the runs of one estimator, each in eight parts of its length.
  private func differences<Root>(_ name: String, _ runs: ParameterRuns<Root>) throws -> [String] {
    try runs.runs.enumerated().flatMap { place, run in
      var values: [Double] = []
      run(runs.usual) { value in
        values.append(value)
        return true
      }
      var summary = FigureSummary()
      for (index, value) in values.enumerated() {
        summary.add("part \(index * 8 / values.count + 1)", value)
      }
      #expect(values.count > 1_000)
      return try RecordedFigures("fusion").differences(of: "\(name) \(place + 1)", summary)
    }
  }

  @Test("attitude and heading") func attitude() throws {
    #expect(try differences("attitude", .attitude) == [])
  }

  @Test("relative altitude") func relativeAltitude() throws {
    #expect(try differences("relative altitude", .relativeAltitude) == [])
  }

  @Test("absolute altitude") func absoluteAltitude() throws {
    #expect(try differences("absolute altitude", .absoluteAltitude) == [])
  }

  @Test("position") func position() throws {
    #expect(try differences("position", .position) == [])
  }
}
