import SensorTypes
import Testing

@testable import LocationServices

struct AltitudeServiceTests {
  @Test(
    "A2: one event a second from 25 samples, whether or not the value changed; the first is zero")
  func rhythm() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    for step in 0...250 { bench.say(.altitude(step < 120 ? 7 : 9, at: 100 + Double(step) * 0.04)) }
    let reports = bench.altitudes()
    #expect(reports.count == 11)
    #expect(reports.map(\.relativeAltitude) == [0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2])
    let gaps = zip(reports.dropFirst(), reports).map { $0.time.seconds(since: $1.time) }
    #expect(gaps.allSatisfy { abs($0 - 1) < 0.041 })
  }

  @Test("A2: a barometer of one hertz that is never quite on time loses no second")
  func jitter() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    for step in 0..<60 {
      bench.say(.altitude(0, at: Double(step) + (step % 2 == 0 ? 0.04 : -0.04)))
    }
    #expect(bench.altitudes().count == 60)
  }

  @Test("A2: after a gap the rhythm begins anew, without a burst")
  func gap() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    bench.say(.altitude(0, at: 0))
    for step in 0..<26 { bench.say(.altitude(3, at: 30.5 + Double(step) * 0.04)) }
    #expect(bench.altitudes().map { ($0.time.seconds * 1_000).rounded() } == [0, 30_500, 31_500])
  }

  @Test("A4 A2: each start has its own zero")
  func zero() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    bench.say(.altitude(5, at: 0))
    bench.say(.altitude(8, at: 1))
    bench.ask(.stop(.altitude))
    bench.say(.altitude(9, at: 2))
    bench.ask(.start(.altitude))
    bench.say(.altitude(10, at: 3))
    bench.say(.altitude(12, at: 4))
    #expect(bench.altitudes().map(\.relativeAltitude) == [0, 3, 0, 2])
  }

  @Test("A5: a suspended client hears no altitudes; afterwards they go on from the same zero")
  func suspension() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.start(.altitude))
    bench.ask(.start(.location))
    bench.ask(.start(.heading))
    bench.say(.altitude(5, at: 0))
    bench.ask(.suspend)
    bench.say(.altitude(6, at: 1))
    bench.say(.altitude(7, at: 2))
    bench.say(.heading(30))
    bench.ask(.resume)
    bench.say(.altitude(8, at: 3))
    #expect(bench.altitudes().map(\.relativeAltitude) == [0, 3])
  }

  @Test("A3: a lost barometer is one error; a board without one says nothing")
  func loss() {
    var bench = EngineBench()
    let time = Timestamp(seconds: 0)
    bench.ask(.register)
    bench.ask(.start(.altitude))
    bench.say(.altitudeUnavailable(.notEquipped("barometer"), at: time))
    #expect(bench.heard().isEmpty)
    bench.say(.altitudeUnavailable(.sensorLost("bus"), at: time))
    bench.say(.altitudeUnavailable(.sensorLost("bus"), at: time))
    #expect(bench.failures() == [.altitude])
    bench.say(.altitude(5, at: 1))
    bench.say(.altitudeUnavailable(.sensorLost("bus"), at: time))
    #expect(bench.heard().count == 2)
  }
}
