// When a file of a series is full, and how the files are named: pure values, with the clock as an argument.

import Testing

@testable import TerminalUI

@Suite struct SeriesNameTests {
  /// 2026-11-29T02:00:00Z
  private static let second: Int64 = 1_795_917_600

  @Test(
    "a size or a duration is a limit",
    arguments: [
      ("64k", RotationLimit.bytes(65_536)), ("100M", .bytes(104_857_600)), ("2G", .bytes(2 << 30)),
      ("90s", .seconds(90)), ("5m", .seconds(300)), ("1h", .seconds(3_600)),
      ("7d", .seconds(604_800)),
    ])
  func limits(text: String, limit: RotationLimit) {
    #expect(RotationLimit(text) == limit)
  }

  @Test(
    "nothing else is one",
    arguments: [
      "", "M", "100", "100MB", "0M", "-1h", "+1h", "1.5h", "63k", "2000G", "999999999999999999G",
      "400d", "1w", " 1h",
      "٣h",
    ])
  func wrongLimits(text: String) { #expect(RotationLimit(text) == nil) }

  @Test("a file is full at the first of its limits")
  func rule() {
    let both = RotationRule([.bytes(1 << 20), .seconds(3_600)])
    #expect(!both.isReached(bytes: (1 << 20) - 1, seconds: 3_599.9))
    #expect(both.isReached(bytes: 1 << 20, seconds: 0))
    #expect(both.isReached(bytes: 1, seconds: 3_600) && !both.isReached(bytes: 0, seconds: 3_600))
    #expect(!RotationRule([.seconds(60)]).isReached(bytes: .max, seconds: 59))
  }

  @Test(
    "the time stands between name and ending",
    arguments: [
      ("drive.jsonl", "drive-20261129T020000Z.jsonl"), ("drive", "drive-20261129T020000Z"),
      ("a.b.trace", "a.b-20261129T020000Z.trace"), (".hidden", ".hidden-20261129T020000Z"),
    ])
  func names(series: String, file: String) {
    let name = SeriesName(series)
    #expect(name.name(Self.second) == file)
    #expect(name.entry(file)?.second == Self.second && name.entry(file)?.form == .plain)
    #expect(name.entry(file + ".gz")?.form == .compressed)
    #expect(name.entry(file + ".gz.part")?.form == .partial)
  }

  @Test(
    "a name that the series would not give does not belong to it",
    arguments: [
      "drive.jsonl", "drive-.jsonl", "drive-20261129T020000Z.json",
      "drive-20261129T020000Z.jsonl.bak",
      "drive-20261329T020000Z.jsonl", "drive-20260229T020000Z.jsonl",
      "drive-20261129T240000Z.jsonl",
      "drive-20261129T020060Z.jsonl", "drive-20261129t020000Z.jsonl", "drive-20261129T020000.jsonl",
      "drive-20261129T02000٣Z.jsonl", "xdrive-20261129T020000Z.jsonl",
      "drive-2-20261129T020000Z.jsonl",
      "drive-20261129T020000Z.jsonl.gz.gz", "drive-19691231T235959Z.jsonl",
      "Drive-20261129T020000Z.jsonl", "",
    ])
  func foreign(name: String) { #expect(SeriesName("drive.jsonl").entry(name) == nil) }

  @Test("a name that only looks alike, in other bytes, does not belong to the series")
  func lookalike() {
    let series = SeriesName("caf\u{E9}")
    #expect(series.entry("caf\u{E9}-20261129T020000Z") != nil)
    #expect(series.entry("cafe\u{301}-20261129T020000Z") == nil)
  }

  @Test("every second that has a name is found again in it")
  func roundTrip() {
    let name = SeriesName("drive.jsonl")
    // A step that meets all months, hours and leap days of some centuries.
    for second in stride(from: Int64(0), to: 16_725_225_600, by: 1_234_567) {
      #expect(name.entry(name.name(second))?.second == second)
    }
    for second: Int64 in [951_782_400, 951_868_799, 4_107_542_399, 253_402_300_798] {
      #expect(name.entry(name.name(second))?.second == second)
    }
  }

  @Test("names stay in order when the clock is not set, or is set back")
  func order() {
    let newest = Self.second
    #expect(SeriesName.next(at: Double(newest) + 60.9, after: nil) == newest + 60)
    #expect(SeriesName.next(at: Double(newest) + 60.9, after: newest) == newest + 60)
    #expect(SeriesName.next(at: Double(newest) + 0.5, after: newest) == newest + 1)
    #expect(SeriesName.next(at: 17, after: newest) == newest + 1)
    #expect(SeriesName.next(at: -5e12, after: nil) == 0)
    #expect(SeriesName.next(at: .nan, after: newest) == newest + 1)
    #expect(SeriesName.next(at: 1e300, after: nil) == 253_402_300_798)
    #expect(SeriesName.next(at: 0, after: 253_402_300_798) == nil)
  }
}
