// When sentences of NMEA 0183 are due.

import SensorTypes
import Testing

@testable import OutputProtocols

@Suite("schedule of NMEA 0183") struct NMEA0183ScheduleTests {
  private static func at(_ milliseconds: Int64) -> Timestamp {
    Timestamp(nanoseconds: milliseconds * 1_000_000)
  }

  @Test("headings come ten times a second, a position once") func rates() {
    var schedule = SentenceSchedule(.standard, from: Self.at(0))
    var counts: [OutputSentence: Int] = [:]
    var milliseconds: Int64 = 0
    while milliseconds < 10_000 {
      for sentence in schedule.take(at: Self.at(milliseconds)) { counts[sentence, default: 0] += 1 }
      milliseconds += 10
    }
    #expect(counts[.hdg] == 100 && counts[.hdt] == 100 && counts[.ths] == 100)
    #expect(counts[.rot] == 100 && counts[.rmc] == 10 && counts[.xdr] == 10)
    #expect(counts[.hdm] == nil && counts[.mda] == nil && counts[.gll] == nil)
  }

  @Test("a late listener gets each sentence once and stays in the rhythm") func late() {
    var configuration = NMEAConfiguration()
    configuration.set(.hdg, interval: 0.1)
    configuration.set(.rmc, interval: 1)
    var schedule = SentenceSchedule(configuration, from: Self.at(0))
    #expect(schedule.next == Self.at(0))
    #expect(schedule.take(at: Self.at(0)) == [.hdg, .rmc])
    #expect(schedule.next == Self.at(100) && schedule.take(at: Self.at(99)) == [])
    #expect(schedule.take(at: Self.at(3_650)) == [.hdg, .rmc])
    #expect(schedule.next == Self.at(3_700))
    #expect(schedule.take(at: Self.at(4_000)) == [.hdg, .rmc])
    // A clock that is another one.
    #expect(schedule.take(at: Self.at(-50_000)) == [.hdg, .rmc])
    #expect(schedule.take(at: Self.at(-49_900)) == [.hdg])
  }

  @Test("nothing configured is never due") func nothing() {
    var schedule = SentenceSchedule(NMEAConfiguration(), from: Self.at(0))
    #expect(schedule.next == nil && schedule.take(at: Self.at(10)) == [])
  }

  @Test("talkers and intervals are checked") func rules() {
    var configuration = NMEAConfiguration()
    for interval in [0, -1, 0.001, 4_000, .nan, .infinity] {
      let isSet = configuration.set(.hdg, interval: interval)
      #expect(!isSet)
    }
    for talker in ["", "G", "GPS", "g1", "1A", "P1", "G*", "é", "\r\n"] {
      let isSet = configuration.set(.hdg, interval: 1, talker: talker)
      #expect(!isSet, "\(talker)")
    }
    #expect(configuration.rules.isEmpty)
    for talker in ["II", "GP", "HC", "HE", "U0"] {
      let isSet = configuration.set(.hdg, interval: 1, talker: talker)
      #expect(isSet, "\(talker)")
    }
    configuration.set(.hdg, interval: 1, talker: "HE")
    let encoder = NMEAEncoder(configuration)
    #expect(NMEA0183Board.body(.hdg, of: PublishedState(), encoder: encoder) == "$HEHDG,,,,,")
    configuration.remove(.hdg)
    #expect(configuration.rules.isEmpty && configuration.bytesPerSecond == 0)
  }

  // 4,800 baud are 480 bytes a second.
  @Test("the slow configuration fits a line of 4,800 baud") func load() {
    #expect(NMEAConfiguration.slow.bytesPerSecond < 480)
    #expect(NMEAConfiguration.standard.bytesPerSecond < 3_840)
  }
}
