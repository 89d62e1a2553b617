import SensorTypes
import Testing

@testable import SensorHub

/// What chrony is told: the numbers and the bytes.
struct TimeSampleTests {
  private func clocks(_ monotonic: Double, _ system: Double) throws -> ClockPair {
    let time = Timestamp(seconds: monotonic)
    return try #require(ClockPair(before: time, system: system, after: time))
  }

  @Test("the offset is what the system's clock is behind, at the moment of the epoch")
  func offset() throws {
    // The clock shows 1000.25 s when 100 s have passed, and an epoch of 999.5 s was at 99.25 s: the clock showed 999.5 s.
    let right = try #require(
      TimeSample(utc: 999.5, moment: Timestamp(seconds: 99.25), clocks: clocks(100, 1_000.25)))
    #expect(right.seconds == 999 && right.microseconds == 500_000 && abs(right.offset) < 1e-9)
    let late = try #require(
      TimeSample(utc: 999.75, moment: Timestamp(seconds: 99.25), clocks: clocks(100, 1_000.25)))
    #expect(abs(late.offset - 0.25) < 1e-9 && late.seconds == 999)
    // A clock of 1970, and one that is 30 years ahead.
    let utc = 1_795_000_000.0
    for error in [-1_795_000_000.0 + 77, 946_080_000] {
      let sample = try #require(
        TimeSample(utc: utc, moment: Timestamp(seconds: 5), clocks: clocks(5.5, utc + error + 0.5)))
      #expect(abs(sample.offset + error) < 1e-6)
      #expect(sample.seconds == Int64(utc + error))
    }
  }

  @Test("a step of the clock between epoch and reading is as if it had been before")
  func step() throws {
    let moment = Timestamp(seconds: 99.5)
    let before = try #require(TimeSample(utc: 1_000, moment: moment, clocks: clocks(100, 990.5)))
    let after = try #require(TimeSample(utc: 1_000, moment: moment, clocks: clocks(100, 1_000.5)))
    #expect(abs(before.offset - 10) < 1e-9 && abs(after.offset) < 1e-9)
  }

  @Test("microseconds are cut off, and the offset knows it")
  func resolution() throws {
    for fraction in [0.000_000_4, 0.123_456_7, 0.999_999_6] {
      let sample = try #require(
        TimeSample(utc: 500, moment: Timestamp(seconds: 1), clocks: clocks(1, 500 + fraction)))
      let time = Double(sample.seconds) + Double(sample.microseconds) * 1e-6
      #expect((0..<1_000_000).contains(sample.microseconds) && time <= 500 + fraction)
      #expect(abs(time + sample.offset - 500) < 1e-9)
    }
  }

  @Test("what no clock shows is no sample, and an interrupted reading no pair")
  func refused() throws {
    for (utc, system) in [(-1.0, 5.0), (5, -1), (.nan, 5), (5, 1e11), (.infinity, 5)] {
      guard
        let pair = ClockPair(
          before: Timestamp(seconds: 1), system: system, after: Timestamp(seconds: 1))
      else { continue }
      #expect(TimeSample(utc: utc, moment: Timestamp(seconds: 1), clocks: pair) == nil)
    }
    let begin = Timestamp(seconds: 1)
    let slow = try #require(
      ClockPair(before: begin, system: 5, after: begin.advanced(bySeconds: 150e-6)))
    #expect(abs(slow.monotonic.seconds(since: begin) - 75e-6) < 1e-8)
    #expect(ClockPair(before: begin, system: 5, after: begin.advanced(bySeconds: 250e-6)) == nil)
    #expect(ClockPair(before: begin, system: .nan, after: begin) == nil)
  }

  @Test("a leap second is announced on its day, and neither before nor after it")
  func leapSecond() throws {
    let midnight = 1_798_761_600.0
    func leap(_ change: Int, before: Double) throws -> Int32 {
      let clocks = try clocks(1, midnight - before)
      return try #require(
        TimeSample(
          utc: midnight - before, moment: Timestamp(seconds: 1), clocks: clocks,
          leapSecond: .init(change: change, midnight: midnight))
      ).leap
    }
    #expect(try leap(1, before: 1) == 1 && leap(-1, before: 1) == 2)
    #expect(try leap(1, before: 86_399) == 1 && leap(1, before: 86_401) == 0)
    #expect(try leap(1, before: -1) == 0)
  }

  // The layout is held against Python's struct in Tests/time-to-chrony.py.
  @Test("the bytes are chrony's structure")
  func bytes() throws {
    var sample = try #require(
      TimeSample(utc: 1_000.5, moment: Timestamp(seconds: 1), clocks: clocks(1, 1_000.25)))
    sample.leap = 1
    let bytes = sample.withBytes { Array($0) }
    #expect(bytes.count == 40)
    #expect(bytes[0..<8].elementsEqual([0xE8, 3, 0, 0, 0, 0, 0, 0]))
    #expect(bytes[8..<16].elementsEqual([0x90, 0xD0, 3, 0, 0, 0, 0, 0]))
    // 0.25 is 0x3FD0000000000000.
    #expect(bytes[16..<24].elementsEqual([0, 0, 0, 0, 0, 0, 0xD0, 0x3F]))
    #expect(bytes[24..<36].elementsEqual([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]))
    // "SOCK" as a number, 0x534f434b.
    #expect(bytes[36..<40].elementsEqual([0x4B, 0x43, 0x4F, 0x53]))
  }

  @Test("only a date by satellites that the receiver itself has said may set a clock")
  func trusted() {
    var good = GNSSFix(received: Timestamp(seconds: 1), mode: .threeDimensional)
    good.utc = 1_795_000_000
    #expect(good.trustedUTC() == good.utc)
    func changed(_ change: (inout GNSSFix) -> Void) -> Double? {
      var fix = good
      change(&fix)
      return fix.trustedUTC()
    }
    for kind in FixKind.allCases {
      #expect((changed { $0.kind = kind } != nil) == kind.isMeasured, "\(kind)")
    }
    var base = good
    base.kind = .manual
    #expect(
      base.trustedUTC(isBase: true) == good.utc,
      "a base station's place is given, its time is measured")
    base.kind = .simulated
    #expect(base.trustedUTC(isBase: true) == nil)
    #expect(changed { $0.utc = nil } == nil && changed { $0.mode = .none } == nil)
    #expect(changed { $0.isValid = false } == nil && changed { $0.weeksAdded = 1_024 } == nil)
    #expect(
      changed { $0.timeOfDay = 86_400.5 } == nil && changed { $0.timeOfDay = 86_399.5 } != nil)
  }
}
