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
    bench.ask(.observe(BoardRequest(Demand(heading: true))))
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
    bench.ask(.observe(BoardRequest(Self.everything)))
    #expect(
      observations(&bench) == [
        .headingUnavailable(.uncalibrated, at: bench.now),
        .locationUnavailable(.noFix, at: bench.now),
      ])
  }

  @Test("who comes later hears the state of each chip")
  func states() {
    var bench = EngineBench()
    func status(_ index: Int, _ state: SensorState, at seconds: Double) -> Observation {
      .sensor(
        SensorStatus(
          index: index, chip: "chip \(index)", position: "1", state: state,
          since: Timestamp(seconds: seconds)))
    }
    bench.ask(.register)
    bench.say(status(1, .running, at: 1))
    bench.say(status(0, .failed("no answer"), at: 2))
    bench.say(status(0, .running, at: 3))
    bench.ask(.observe(BoardRequest(Demand(heading: true))))
    #expect(observations(&bench) == [status(0, .running, at: 3), status(1, .running, at: 1)])
    // Another board has other chips.
    bench.engine.forgetObservations()
    bench.ask(.observe(BoardRequest(Demand(heading: true))))
    #expect(observations(&bench).isEmpty)
  }

  @Test("an application without authorization learns nothing of the place")
  func withheld() {
    var bench = EngineBench()
    decide(&bench, AuthorizationDecision(.denied))
    bench.ask(.register)
    bench.ask(.observe(BoardRequest(Self.everything)))
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
    bench.ask(.observe(BoardRequest(Self.everything)))
    bench.say(.fix(50, at: 1))
    #expect(observations(&bench) == [.fix(50, at: 1)])
    decide(&bench, AuthorizationDecision(.denied))
    bench.say(.fix(50, at: 2))
    #expect(observations(&bench).isEmpty)
    decide(&bench, .unasked)
    bench.say(.fix(50, at: 3))
    #expect(observations(&bench) == [.fix(50, at: 3)])
  }

  @Test("samples of the chips are for who asks for them, and tell no place")
  func readings() {
    var bench = EngineBench()
    decide(&bench, AuthorizationDecision(.denied))
    for client in 1...2 { bench.ask(.register, client: UInt64(client)) }
    bench.ask(.observe(BoardRequest(Demand(heading: true))), client: 1)
    #expect(!bench.engine.wantsReadings)
    bench.ask(.observe(BoardRequest(Demand(heading: true), hasReadings: true)), client: 2)
    #expect(bench.engine.wantsReadings)
    let reading = SensorReading(
      sensor: 0, sample: Sample(time: Timestamp(seconds: 1), value: .magneticField(.zero)),
      edge: nil, outputRate: 80)
    var events: [ServiceEvent] = []
    bench.engine.handle(reading) { events.append($0) }
    #expect(events == [ServiceEvent(client: ClientID(rawValue: 2), content: .reading(reading))])
    bench.ask(.observe(nil), client: 2)
    #expect(!bench.engine.wantsReadings)
  }

  @Test("waves go to who asks for them, and one that comes later is told what is missing")
  func waves() {
    var bench = EngineBench()
    for client in 1...3 { bench.ask(.register, client: UInt64(client)) }
    bench.ask(.observe(BoardRequest(Demand(waves: true), positions: .none)), client: 1)
    bench.ask(.observe(BoardRequest(Demand(heading: true))), client: 2)
    #expect(bench.engine.demand == Demand(heading: true, waves: true))
    let time = Timestamp(seconds: 1)
    let waves = Observation.waves(WaveEstimate(time: time, condition: .learning))
    bench.say(waves)
    #expect(bench.heard(by: 1) == [.observation(waves)] && bench.heard(by: 2).isEmpty)
    _ = bench.heard()
    bench.say(.wavesUnavailable(.sensorLost("LSM6DSOX: a wire"), at: time))
    _ = bench.heard()
    bench.ask(.observe(BoardRequest(Demand(waves: true))), client: 3)
    let told = bench.heard(by: 3).contains {
      if case .observation(.wavesUnavailable(.sensorLost, _)) = $0 { true } else { false }
    }
    #expect(told)
  }

  @Test("a refusal is told to an observer that nothing else would be told")
  func refusal() {
    var bench = EngineBench()
    decide(&bench, AuthorizationDecision(.denied))
    bench.ask(.register)
    bench.ask(.observe(BoardRequest(Demand(location: true))))
    guard case .locationUnavailable(.notAuthorized, _)? = observations(&bench).first else {
      Issue.record("no reason")
      return
    }
    decide(&bench, .unasked)
    var events: [ServiceEvent] = []
    bench.engine.authorize(.decided(AuthorizationDecision(.denied), UsageDescriptions())) {
      events.append($0)
    }
    let losses = events.filter {
      if case .observation(.locationUnavailable(.notAuthorized, _)) = $0.content {
        true
      } else {
        false
      }
    }
    #expect(losses.count == 1)
  }

  @Test("an observer may ask for less than the application may know")
  func limits() {
    var bench = EngineBench()
    for client in 1...2 { bench.ask(.register, client: UInt64(client)) }
    bench.ask(.observe(BoardRequest(Self.everything, positions: .none)), client: 1)
    #expect(!bench.engine.demand.location)
    bench.ask(.observe(BoardRequest(Self.everything, positions: .reduced)), client: 2)
    _ = bench.heard()
    bench.say(.fix(50.123, at: 1))
    bench.say(Self.heading)
    let first = bench.heard(by: 1)
    guard first.count == 1, case .observation(.heading(let heading))? = first.first else {
      Issue.record("\(first)")
      return
    }
    #expect(heading.trueHeading == nil)
    guard case .observation(.location(let place))? = bench.heard(by: 2).first else {
      Issue.record("no position")
      return
    }
    #expect(place.fix.latitude != 50.123 && abs((place.fix.latitude ?? 0) - 50.123) < 0.06)
  }

  @Test("numbers that are no intervals ask for nothing", arguments: [Double.nan, -1, 0, .infinity])
  func intervals(seconds: Double) {
    var bench = EngineBench()
    bench.ask(.register)
    let demand = Demand(
      location: true, locationInterval: seconds,
      motion: MotionDemand(samples: true, interval: seconds))
    bench.ask(.observe(BoardRequest(demand)))
    #expect(bench.engine.demand == Demand(location: true, motion: MotionDemand(samples: true)))
  }

  @Test("with reduced accuracy a true heading says no more of the place than its cell")
  func reducedHeading() {
    var bench = EngineBench()
    decide(&bench, AuthorizationDecision(.whenInUse, accuracy: .reduced))
    bench.ask(.register)
    bench.ask(.start(.heading))
    bench.say(
      .heading(
        HeadingEstimate(
          time: Timestamp(seconds: 1), magneticHeading: 0, accuracy: 0.1,
          trueHeading: 5.191446 * .pi / 180, declination: 5.191446 * .pi / 180, field: nil,
          attitude: .identity)))
    let headings = bench.heard().compactMap {
      if case .heading(let report) = $0 { report.trueHeading } else { nil }
    }
    #expect(headings.count == 1 && abs((headings.first ?? 0) - 5.2) < 1e-9)
  }
}
