import Geodesy
import SensorTypes
import Testing

@testable import LocationServices

struct LocationServiceTests {
  @Test(
    "M5: the distance filter counts from the last delivered location, and better accuracy passes")
  func distanceFilter() {
    var bench = EngineBench()
    // A distance of a metre for each millionth of a degree, so that the filter alone is seen.
    bench.engine = LocationEngine { abs($1.latitude - $0.latitude) * 1e6 }
    bench.ask(.register)
    bench.ask(.configure(ClientSettings(distanceFilter: 10)))
    bench.ask(.start(.location))
    bench.say(.fix(50.000_000))
    bench.say(.fix(50.000_006))
    bench.say(.fix(50.000_009))
    bench.say(.fix(50.000_011))
    bench.say(.fix(50.000_018))
    #expect(bench.latitudes() == [50, 50.000_011])
    bench.say(.fix(50.000_012, accuracy: 3))
    bench.say(.fix(50.000_012, accuracy: 3))
    bench.say(.fix(50.000_012, accuracy: 20))
    #expect(bench.latitudes() == [50.000_012])
    bench.ask(.configure(ClientSettings(distanceFilter: -1)))
    bench.say(.fix(50.000_012, accuracy: 20))
    bench.say(.fix(50.000_012, accuracy: 20))
    #expect(bench.latitudes().count == 2)
  }

  @Test("the distance filter's metres are the geodesic's")
  func distanceFilterMetres() {
    var bench = EngineBench()
    let step = 0.000_1
    let metres = Geodesic.inverse(
      from: Position(latitude: 50, longitude: 13), to: Position(latitude: 50 + step, longitude: 13)
    ).distance
    for (filter, count) in [(metres - 1e-6, 2), (metres + 1e-6, 1)] {
      bench.engine = LocationEngine()
      bench.ask(.register)
      bench.ask(.configure(ClientSettings(distanceFilter: filter)))
      bench.ask(.start(.location))
      bench.say(.fix(50))
      bench.say(.fix(50 + step))
      #expect(bench.latitudes().count == count)
    }
  }

  @Test("D2: no fix yet is said once a loss, also to a client that starts during it")
  func locationUnknown() {
    var bench = EngineBench()
    let time = Timestamp(seconds: 0)
    bench.ask(.register)
    bench.ask(.start(.location))
    #expect(bench.heard().isEmpty)
    bench.say(.locationUnavailable(.noFix, at: time))
    bench.say(.locationUnavailable(.noFix, at: time))
    #expect(bench.failures() == [.location])
    bench.ask(.register, client: 2)
    bench.ask(.start(.location), client: 2)
    #expect(bench.failures() == [.location])
    bench.say(.fix(50))
    #expect(bench.latitudes().count == 2)
    bench.say(.locationUnavailable(.sensorLost("unplugged"), at: time))
    #expect(bench.failures() == [.location, .location])
  }

  @Test("a position that is not one is not delivered, and what is missing stays missing")
  func validity() throws {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.location))
    bench.say(.fix(.nan))
    bench.say(.fix(91))
    #expect(bench.heard().isEmpty)
    bench.say(.fix(50, accuracy: .infinity, mode: .twoDimensional))
    guard case .location(let report) = try #require(bench.heard().first) else {
      Issue.record("no location")
      return
    }
    #expect(report.horizontalAccuracy == nil)
    #expect(report.verticalAccuracy == nil, "a two-dimensional fix has assumed its height")
    #expect(report.speed == nil && report.course == nil)
  }
}
