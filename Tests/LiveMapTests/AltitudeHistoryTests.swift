@testable import LiveMap
import Testing

@Suite struct AltitudeHistoryTests {
  @Test func aRowASecondForTenMinutes() {
    var history = AltitudeHistory()
    for tenth in 0..<12_000 {
      _ = history.add(.init(time: Double(tenth) / 10, relative: 1, relativeAccuracy: 0.2))
    }
    #expect((600...601).contains(history.rows.count))
    #expect(history.rows.last?.time == 1199)
    #expect(history.rows.first.map { $0.time >= 599 } == true)
  }

  @Test func aGapIsARowWithoutValues() {
    var history = AltitudeHistory()
    #expect(history.breakOff(at: 0) == nil)
    _ = history.add(.init(time: 1, relative: 1))
    #expect(history.breakOff(at: 2) == .init(time: 2))
    #expect(history.breakOff(at: 3) == nil)
    // Behind a gap the first value counts, however soon it comes.
    #expect(history.add(.init(time: 2.1, relative: 5)) != nil)
    #expect(history.rows.map(\.relative) == [1, nil, 5])
  }
}
