import SensorTypes
import Testing

@testable import LocationServices

struct BeaconRangingTests {
  private let all = BeaconConstraint(uuid: beaconUUID)

  @Test("D13 M13: a report a second, empty ones too; into range, another range, unknown, out of it")
  func rhythm() throws {
    var bench = BeaconBench()
    bench.ask(.startRanging(all))
    #expect(bench.engine.wantsBeacons && bench.engine.nextDeadline == nil)
    bench.listen(at: 0)
    #expect(bench.engine.nextDeadline == Timestamp(seconds: 1))
    bench.advance(to: 0.9)
    #expect(bench.takeReports().isEmpty)
    bench.advance(to: 1)
    #expect(bench.takeReports() == [[]])
    // At the measured power it is one metre away: near.
    bench.hear(1, -59, at: 1.5)
    bench.advance(to: 2)
    let heard = try #require(bench.takeReports().first?.first)
    #expect(heard.proximity == .near && heard.accuracy == 1 && heard.strength == -59)
    #expect(heard.time == Timestamp(seconds: 1.5))
    // Not heard in this second: its strength is not known, its distance still is.
    bench.advance(to: 3)
    let quiet = try #require(bench.takeReports().first?.first)
    #expect(quiet.strength == nil && quiet.accuracy == 1)
    // By 6.5 s nothing was heard for five seconds, by 11.5 s for ten.
    var proximities: [[BeaconProximity]] = []
    for second in 4...12 {
      bench.advance(to: Double(second))
      proximities += bench.takeReports().map { $0.map(\.proximity) }
    }
    #expect(
      proximities
        == Array(repeating: [.near], count: 3) + Array(repeating: [.unknown], count: 5) + [[]])
    bench.ask(.stopRanging(all), at: 12)
    bench.advance(to: 20)
    #expect(bench.takeReports().isEmpty && !bench.engine.wantsBeacons)
  }

  @Test(
    "distances by the published model, where 6 dB are a factor of two and 20 dB one of ten",
    arguments: [
      // By hand from d = 10^((P - R) / 20): 20 log10 of 2, 0.5, 10, 100.
      (-59, -65.0206, 2.0, BeaconProximity.near), (-59, -52.9794, 0.5, .immediate),
      (-59, -79, 10, .far), (-59, -99, 100, .far), (-72, -72, 1, .near),
      (-59, -39, 0.1, .immediate),
    ])
  func distance(power: Int, strength: Double, metres: Double, proximity: BeaconProximity) throws {
    var bench = BeaconBench()
    bench.ask(.startRanging(all))
    bench.listen(at: 0)
    // Whole decibels whose mean is the strength to a hundredth, in the fifty samples of five seconds.
    let (below, part) = (strength.rounded(.down), strength - strength.rounded(.down))
    for index in 0..<50 {
      let isHigh = Double(index) < (part * 50).rounded()
      bench.hear(1, Int(below) + (isHigh ? 1 : 0), at: 0.02 * Double(index), power: Int8(power))
    }
    bench.advance(to: 1)
    let beacon = try #require(bench.takeReports().first?.first)
    #expect(abs((beacon.accuracy ?? -1) / metres - 1) < 0.002)
    // At a boundary either is right.
    if metres != 0.5 { #expect(beacon.proximity == proximity) }
  }

  @Test("L: strengths of 0 and 127 and impossible powers are unknown, sorted last")
  func unknown() throws {
    var bench = BeaconBench()
    bench.ask(.startRanging(all))
    bench.listen(at: 0)
    for (minor, strength, power) in [
      (9, 0, -59), (8, 127, -59), (7, 21, -59), (6, -128, -59), (5, -50, 0), (4, -50, 127),
      (3, -80, -59), (2, -50, -59), (1, Int.min, -128),
    ] as [(UInt16, Int, Int8)] {
      bench.hear(minor, strength, at: 0.5, power: power)
    }
    bench.hear(10, nil, at: 0.5)
    bench.advance(to: 1)
    let beacons = try #require(bench.takeReports().first)
    #expect(beacons.map(\.identity.minor) == [2, 3, 1, 4, 5, 6, 7, 8, 9, 10])
    #expect(beacons.dropFirst(2).allSatisfy { $0.accuracy == nil && $0.proximity == .unknown })
    #expect(beacons.first { $0.identity.minor == 5 }?.strength == -50)
    #expect(beacons.first { $0.identity.minor == 9 }?.strength == nil)
  }

  @Test("the strength is the mean since the last report, the distance that of five seconds")
  func windows() throws {
    var bench = BeaconBench()
    bench.ask(.startRanging(all))
    bench.listen(at: 0)
    for tenth in 1...100 {
      let time = Double(tenth) / 10
      bench.hear(1, time <= 5 ? -79 : -59, at: time)
    }
    bench.advance(to: 11)
    let last = try #require(bench.takeReports().last?.first)
    // All of 6 to 10 s: only -59, at one metre.
    #expect(last.accuracy == 1 && last.strength == -59)
  }

  @Test("each constraint has its own reports; each client its own; a stop and a release end theirs")
  func clients() {
    var bench = BeaconBench()
    bench.ask(.register, client: 2)
    let one = BeaconConstraint(uuid: beaconUUID, major: 1, minor: 1)
    bench.ask(.startRanging(all))
    bench.ask(.startRanging(one))
    bench.ask(.startRanging(one))
    bench.ask(.startRanging(one), client: 2)
    bench.listen(at: 0)
    bench.hear(1, -59, at: 0.5)
    bench.hear(2, -59, at: 0.5)
    bench.hear(1, -59, at: 0.5, uuid: BeaconUUID(high: 0, low: 0))
    bench.advance(to: 1)
    #expect(bench.takeReports().map(\.count) == [2, 1, 1])
    bench.ask(.suspend, at: 1, client: 2)
    bench.ask(.stopRanging(all), at: 1)
    bench.advance(to: 2)
    #expect(bench.takeReports().map(\.count) == [1])
    bench.ask(.release, at: 2)
    bench.ask(.resume, at: 2, client: 2)
    bench.advance(to: 3)
    #expect(bench.takeReports().map(\.count) == [1])
    bench.ask(.release, at: 3, client: 2)
    #expect(!bench.engine.wantsBeacons)
  }

  @Test(
    "a loss is told once, and then nothing until the radio listens again; a new start hears of it")
  func failures() {
    func failed(_ events: [ServiceEvent]) -> [Bool] {
      events.compactMap {
        if case .rangingFailed(let told) = $0.content { told.failure.isUnavailable } else { nil }
      }
    }
    var bench = BeaconBench()
    bench.ask(.startRanging(all))
    let off = BeaconFailure(isUnavailable: true, reason: "off")
    bench.say(.failed(off, Timestamp(seconds: 0)))
    bench.say(.failed(off, Timestamp(seconds: 2)))
    #expect(failed(bench.take()) == [true])
    bench.ask(.startRanging(BeaconConstraint(uuid: beaconUUID, major: 3)), at: 2)
    #expect(failed(bench.take()) == [true])
    bench.hear(1, -59, at: 3)
    bench.advance(to: 5)
    #expect(bench.take().isEmpty && bench.engine.nextDeadline == nil)
    bench.listen(at: 6)
    bench.advance(to: 7)
    #expect(bench.takeReports() == [[], []])
    // D14: what no beacon can have, and one constraint too many.
    bench.ask(.startRanging(BeaconConstraint(uuid: beaconUUID, minor: 1)), at: 7)
    for major in 0..<70 {
      bench.ask(
        .startRanging(BeaconConstraint(uuid: beaconUUID, major: 100 + UInt16(major))), at: 7)
    }
    #expect(failed(bench.take()) == Array(repeating: false, count: 1 + 70 - 62))
  }

  @Test(
    "L: more beacons than are followed drop those that were silent for longest, and are counted")
  func flood() throws {
    var bench = BeaconBench()
    bench.ask(.startRanging(all))
    bench.listen(at: 0)
    for minor in 0..<1_000 { bench.hear(UInt16(minor), -59, at: 0.0005 * Double(minor)) }
    bench.advance(to: 1)
    let beacons = try #require(bench.takeReports().first)
    #expect(beacons.count == 256 && beacons.allSatisfy { $0.identity.minor >= 744 })
    #expect(bench.engine.droppedBeacons == 744)
  }

  @Test("after a standstill of the clock one report comes, not a burst")
  func standstill() {
    var bench = BeaconBench()
    bench.ask(.startRanging(all))
    bench.listen(at: 0)
    bench.advance(to: 60)
    bench.advance(to: 60.9)
    #expect(bench.takeReports().count == 1)
    bench.advance(to: 61)
    #expect(bench.takeReports().count == 1)
  }
}
