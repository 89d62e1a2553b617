// Fewer lines, and no event less: with time as an argument.

import LinearAlgebra
import SensorTypes
import Testing

@testable import OutputProtocols

@Suite struct LineThinningTests {
  private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 1_000 + seconds) }

  private func altitude(_ seconds: Double) -> Observation {
    .altitude(
      AltitudeEstimate(
        time: at(seconds), relativeAltitude: seconds, relativeAccuracy: 0.1, pressure: 101_325))
  }

  private func location(_ seconds: Double, isCarried: Bool = false) -> Observation {
    var fix = GNSSFix(received: at(seconds), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.utc) = (48, 11, 1_795_219_200 + seconds)
    return .location(
      LocationEstimate(
        fix: fix, isSimulated: false,
        carried: isCarried ? DeadReckonedPosition(fixTime: at(0), isTurnMeasured: true) : nil))
  }

  private func heading(_ seconds: Double, _ reason: NoData? = nil) -> Observation {
    .heading(
      HeadingEstimate(
        time: at(seconds), magneticHeading: 1, accuracy: 0.05, reason: reason, field: nil,
        attitude: .identity))
  }

  private func state(_ seconds: Double) -> Observation {
    .sensor(
      SensorStatus(index: 0, chip: "LIS3MDL", position: "x", state: .running, since: at(seconds)))
  }

  /// What comes out of observations, each with how many were left out before it.
  private func thinned(
    _ arrivals: [(Double, Observation)], every interval: Double = 10
  ) -> [(Observation, Int)] {
    var thinning = LineThinning(every: interval, from: at(0))
    var out: [LineThinning.ThinnedObservation] = []
    for (seconds, observation) in arrivals {
      out += thinning.take(observation)
      out += thinning.drain(at: at(seconds))
    }
    out += thinning.drainAll()
    return out.map { ($0.observation, $0.skipped) }
  }

  @Test("of each kind the newest of an interval comes out, and says how many it stands for")
  func newest() {
    let arrivals = (0...25).map { (Double($0), altitude(Double($0))) }
    let out = thinned(arrivals)
    #expect(out.map(\.0) == [0, 10, 20, 25].map { altitude($0) })
    #expect(out.map(\.1) == [0, 9, 9, 4])
    #expect(out.reduce(0) { $0 + 1 + $1.1 } == arrivals.count, "none is lost silently")
  }

  @Test("kinds do not count for each other, and keep their order")
  func kinds() {
    let out = thinned([
      (0, altitude(0)), (0, heading(0)), (1, heading(1)), (2, altitude(2)), (3, heading(3)),
      (10, location(10)), (11, location(11)),
    ])
    #expect(
      out.map(\.0) == [
        altitude(0), heading(0), location(10), altitude(2), heading(3), location(11),
      ])
    #expect(out.map(\.1) == [0, 0, 0, 0, 1, 0])
  }

  @Test("a loss comes out at once, behind the last position before it; so does its end")
  func loss() {
    let lost = Observation.locationUnavailable(.noFix, at: at(3))
    let out = thinned([
      (0, location(0)), (1, location(1)), (2, location(2)), (3, lost), (4, location(4)),
      (5, location(5)),
    ])
    #expect(out.map(\.0) == [location(0), location(2), lost, location(4), location(5)])
    #expect(out.map(\.1) == [0, 1, 0, 0, 0])
  }

  @Test("a loss that goes on for the same reason is thinned; another reason is an event")
  func reasons() {
    func lost(_ seconds: Double, _ reason: NoData) -> Observation {
      .headingUnavailable(reason, at: at(seconds))
    }
    // The figures in a reason's text change all the time.
    let out = thinned([
      (0, lost(0, .magneticInterference("71 uT"))), (1, lost(1, .magneticInterference("72 uT"))),
      (2, lost(2, .magneticInterference("73 uT"))), (3, lost(3, .sensorLost("no answer"))),
    ])
    #expect(out.count == 3 && out.map(\.1) == [0, 1, 0])
  }

  @Test("a doubt about heading, and a position that is carried on, are events")
  func changes() {
    let doubt = NoData.magneticInterference("71 uT")
    let out = thinned([
      (0, heading(0)), (1, heading(1, doubt)), (2, heading(2, doubt)), (3, heading(3)),
      (4, location(4)), (5, location(5, isCarried: true)), (6, location(6, isCarried: true)),
      (7, location(7)),
    ])
    #expect(out.allSatisfy { $0.1 == 0 } && out.count == 8)
  }

  @Test("a sensor's state and an error are never thinned")
  func events() {
    let error = Observation.diagnostic("text", at: at(0))
    let out = thinned([(0, state(0)), (0.1, state(0)), (0.2, error), (0.3, error)])
    #expect(out.count == 4)
  }

  @Test("the ends of intervals stay where they are when the clock jumps over some of them")
  func late() {
    var thinning = LineThinning(every: 10, from: at(0))
    #expect(thinning.left(at: at(4)) == 6)
    #expect(thinning.drain(at: at(47)).isEmpty)
    #expect(thinning.left(at: at(47)) == 3)
  }

  @Test(
    "a line's kind is that of its observation, and skipped is written where lines were left out")
  func lines() {
    var lines = ObservationLines { _ in nil }
    let observations = [
      heading(0), .headingUnavailable(.notYet, at: at(0)), location(0),
      .locationUnavailable(.noFix, at: at(0)), altitude(0),
      .altitudeUnavailable(.notYet, at: at(0)),
      state(0), .diagnostic("text", at: at(0)),
    ]
    for observation in observations {
      let line = lines.line(for: observation)
      #expect(line.contains("\"kind\":\"\(LineKind(observation).rawValue)\""))
      #expect(!line.contains("skipped"))
    }
    #expect(lines.line(for: heading(0), skipped: 7).hasSuffix("\"skipped\":7}"))
  }
}
