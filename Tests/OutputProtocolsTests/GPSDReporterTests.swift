// When gpsd's reports are made, and which.

import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

/// Which reports are made when.
struct GPSDReporterTests {
  private static func heading(_ seconds: Double, accuracy: Double? = 0.05) -> Observation {
    .heading(
      HeadingEstimate(
        time: GPSDBoard.at(seconds), magneticHeading: 1, accuracy: accuracy,
        reason: accuracy == nil ? .uncalibrated : nil, field: nil, attitude: .identity))
  }

  @Test("a heading is reported ten times a second, a loss at once")
  func rate() {
    var (reporter, state) = (GPSDReporter(), PublishedState())
    let reports = GPSDBoard.reports()
    func take(_ observation: Observation, at seconds: Double) -> [GPSDReportKind] {
      state.take(observation)
      return reporter.reports(after: observation, reports, state: state, at: GPSDBoard.at(seconds))
        .map(\.kind)
    }
    var count = 0
    for index in 0..<100 {
      count += take(Self.heading(0.01 * Double(index)), at: 0.01 * Double(index)).count
    }
    #expect((10...13).contains(count))
    #expect(take(Self.heading(0.991, accuracy: nil), at: 0.991) == [.attitude])
    #expect(take(Self.heading(0.992), at: 0.992) == [.attitude])
    #expect(take(.headingUnavailable(.notYet, at: GPSDBoard.at(0.993)), at: 0.993) == [.attitude])
  }

  @Test("a value that ends by its age is reported as lost, and once a second from then on")
  func silence() throws {
    var (reporter, state) = (GPSDReporter(), PublishedState())
    let reports = GPSDBoard.reports()
    var fix = GNSSFix(received: GPSDBoard.at(0), mode: .twoDimensional)
    (fix.latitude, fix.longitude) = (1, 2)
    for observation in [
      Observation.location(LocationEstimate(fix: fix, isSimulated: false)), Self.heading(0),
    ] {
      state.take(observation)
      _ = reporter.reports(after: observation, reports, state: state, at: GPSDBoard.at(0))
    }
    #expect(reporter.due(reports, state: state, at: GPSDBoard.at(1.5)).isEmpty)
    #expect(reporter.due(reports, state: state, at: GPSDBoard.at(2.5)).map(\.kind) == [.attitude])
    #expect(reporter.due(reports, state: state, at: GPSDBoard.at(3)).isEmpty)
    let late = reporter.due(reports, state: state, at: GPSDBoard.at(6))
    #expect(late.map(\.kind) == [.position, .attitude])
    #expect(try GPSDBoard.object(late[0].bytes)["mode"] as? Int == 1)
  }

  @Test("a board without a compass has no ATT, a receiver without satellites its dilutions")
  func without() throws {
    var (reporter, state) = (GPSDReporter(), PublishedState())
    let reports = GPSDBoard.reports()
    let sky = Observation.sky(GNSSSky(received: GPSDBoard.at(-10), satellites: []))
    state.take(sky)
    _ = reporter.reports(after: sky, reports, state: state, at: GPSDBoard.at(-10))
    let lost = Observation.headingUnavailable(.notEquipped("compass"), at: GPSDBoard.at(0))
    state.take(lost)
    #expect(reporter.reports(after: lost, reports, state: state, at: GPSDBoard.at(0)).isEmpty)
    let due = reporter.due(reports, state: state, at: GPSDBoard.at(9))
    #expect(due.map(\.kind) == [.position, .sky])
    #expect(reporter.due(reports, state: state, at: GPSDBoard.at(9.5)).isEmpty)
    var fix = GNSSFix(received: GPSDBoard.at(10), mode: .twoDimensional)
    (fix.latitude, fix.longitude, fix.hdop) = (1, 2, 1.5)
    let found = Observation.location(LocationEstimate(fix: fix, isSimulated: false))
    state.take(found)
    let first = reporter.reports(after: found, reports, state: state, at: GPSDBoard.at(10))
    #expect(first.map(\.kind) == [.position, .sky])
    let noFix = Observation.locationUnavailable(.noFix, at: GPSDBoard.at(11))
    state.take(noFix)
    // The dilutions end with the fix.
    let ended = reporter.reports(after: noFix, reports, state: state, at: GPSDBoard.at(11))
    #expect(ended.map(\.kind) == [.position, .sky])
    #expect(try GPSDBoard.object(try #require(ended.last).bytes)["hdop"] == nil)
    let later = reporter.reports(after: noFix, reports, state: state, at: GPSDBoard.at(12))
    #expect(later.map(\.kind) == [.position])
  }
}
