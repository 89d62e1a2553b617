// Clients that get the board's observations as they are.

import LinearAlgebra
import SensorTypes
import Testing

@testable import LocationServices

struct ObserverTests {
  private static let everything = Demand(
    heading: true, location: true, altitude: true, satellites: true)

  private func observations(_ bench: inout EngineBench) -> [Observation] {
    bench.heard().compactMap { if case .observation(let value) = $0 { value } else { nil } }
  }

  private func decide(_ bench: inout EngineBench, _ decision: AuthorizationDecision) {
    bench.engine.authorize(.decided(decision, UsageDescriptions())) { _ in }
  }

  private static let heading = Observation.heading(
    HeadingEstimate(
      time: Timestamp(seconds: 1), magneticHeading: 1, accuracy: 0.1, trueHeading: 1.2,
      declination: 0.2, field: nil, attitude: .identity))

  @Test("an observer gets what it asks for, and the news of sensors")
  func choice() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.observe(Demand(heading: true)))
    #expect(bench.engine.demand == Demand(heading: true))
    let status = SensorStatus(
      index: 0, chip: "LIS3MDL", position: "1", state: .running, since: Timestamp(seconds: 0))
    for observation in [Self.heading, .fix(50), .sensor(status)] { bench.say(observation) }
    #expect(observations(&bench) == [Self.heading, .sensor(status)])
    bench.ask(.observe(nil))
    #expect(bench.engine.demand == Demand())
    bench.say(Self.heading)
    #expect(observations(&bench).isEmpty)
  }

  @Test("who comes later hears what is missing")
  func losses() {
    var bench = EngineBench()
    bench.say(.headingUnavailable(.uncalibrated, at: Timestamp(seconds: 1)))
    bench.say(.locationUnavailable(.noFix, at: Timestamp(seconds: 1)))
    bench.ask(.register)
    bench.now = Timestamp(seconds: 9)
    bench.ask(.observe(Self.everything))
    #expect(
      observations(&bench) == [
        .headingUnavailable(.uncalibrated, at: bench.now),
        .locationUnavailable(.noFix, at: bench.now),
      ])
  }

  @Test("an application without authorization learns nothing of the place")
  func withheld() {
    var bench = EngineBench()
    decide(&bench, AuthorizationDecision(.denied))
    bench.ask(.register)
    bench.ask(.observe(Self.everything))
    #expect(!bench.engine.demand.location && !bench.engine.demand.satellites)
    bench.say(.fix(50))
    bench.say(Self.heading)
    bench.say(.sky(GNSSSky(received: Timestamp(seconds: 1), satellites: [])))
    bench.say(.diagnostic("the sea is 40 m below", at: Timestamp(seconds: 1)))
    let heard = observations(&bench)
    #expect(heard.count == 2)
    guard case .locationUnavailable(.notAuthorized, _)? = heard.first,
      case .heading(let heading)? = heard.last
    else {
      Issue.record("\(heard)")
      return
    }
    #expect(heading.trueHeading == nil && heading.declination == nil)
    #expect(heading.magneticHeading == 1)
  }

  @Test("what is decided later holds for the next observation")
  func changes() {
    var bench = EngineBench()
    bench.ask(.register)
    bench.ask(.observe(Self.everything))
    bench.say(.fix(50, at: 1))
    #expect(observations(&bench) == [.fix(50, at: 1)])
    decide(&bench, AuthorizationDecision(.denied))
    bench.say(.fix(50, at: 2))
    guard case .locationUnavailable? = observations(&bench).last else {
      Issue.record("no loss")
      return
    }
    decide(&bench, .unasked)
    bench.say(.fix(50, at: 3))
    #expect(observations(&bench) == [.fix(50, at: 3)])
  }
}
