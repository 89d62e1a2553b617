import Geodesy
import SensorTypes
import Testing

@testable import LocationServices

struct BeaconRegionTests {
  private func region(_ name: String = "door", minor: UInt16? = nil) -> MonitoredRegion {
    MonitoredRegion(
      identifier: name,
      beacons: MonitoredBeacons(
        BeaconConstraint(uuid: beaconUUID, major: minor == nil ? nil : 1, minor: minor)))
  }

  @Test(
    "D9 D10: unknown, then a side without a crossing, then crossings; left after 30 s of silence")
  func crossings() {
    var bench = BeaconBench()
    bench.ask(.startRegion(region()))
    #expect(bench.engine.wantsBeacons && !bench.engine.demand.location)
    bench.listen(at: 0)
    #expect(bench.takeRegions() == [.started])
    #expect(bench.engine.nextDeadline == Timestamp(seconds: 30))
    bench.advance(to: 29.9)
    #expect(bench.takeRegions().isEmpty)
    bench.advance(to: 30)
    #expect(bench.takeRegions() == [.settled(.outside)] && bench.engine.nextDeadline == nil)
    bench.hear(1, nil, at: 40)
    bench.hear(1, -59, at: 41)
    #expect(bench.takeRegions() == [.crossed(to: .inside)])
    bench.ask(.askRegion(region()), at: 42)
    #expect(bench.takeRegions() == [.answered(.inside)])
    bench.advance(to: 70.9)
    #expect(bench.takeRegions().isEmpty)
    bench.advance(to: 71)
    #expect(bench.takeRegions() == [.crossed(to: .outside)])
  }

  @Test("silence says nothing while the radio does not listen; the loss is told, once")
  func deafness() {
    var bench = BeaconBench()
    bench.ask(.startRegion(region()))
    bench.listen(at: 0)
    bench.hear(1, -59, at: 1)
    #expect(bench.takeRegions() == [.started, .settled(.inside)])
    bench.say(
      .failed(BeaconFailure(isUnavailable: false, reason: "gone"), Timestamp(seconds: 5)))
    #expect(bench.takeRegions() == [.failed(.unheard("gone"))])
    bench.advance(to: 100)
    bench.listen(at: 100)
    bench.advance(to: 129)
    #expect(bench.takeRegions().isEmpty)
    bench.advance(to: 130)
    #expect(bench.takeRegions() == [.crossed(to: .outside)])
    bench.say(
      .failed(BeaconFailure(isUnavailable: true, reason: "off"), Timestamp(seconds: 131)))
    bench.ask(.startRegion(region("late")), at: 132)
    #expect(bench.takeRegions() == [.failed(.unheard("off")), .started, .failed(.unheard("off"))])
  }

  @Test("circles and beacons share the limit of 20, and names: the later replaces the earlier")
  func limit() {
    var bench = BeaconBench()
    for index in 0..<10 {
      bench.ask(.startRegion(region("beacon \(index)", minor: UInt16(index))))
      bench.ask(
        .startRegion(
          MonitoredRegion(
            identifier: "\(index)", center: .init(latitude: 0, longitude: 0), radius: 9)))
    }
    _ = bench.take()
    bench.ask(.startRegion(region("one more")))
    #expect(bench.takeRegions() == [.failed(.tooMany(20))])
    bench.ask(.startRegion(region("3")))
    #expect(bench.takeRegions() == [.started])
    #expect(bench.engine.monitoredRegions.count == 20)
    #expect(bench.engine.monitoredRegions.count { $0.beacons != nil } == 11)
    bench.ask(
      .startRegion(
        MonitoredRegion(
          identifier: "minor",
          beacons: MonitoredBeacons(BeaconConstraint(uuid: beaconUUID, minor: 1))
        )))
    #expect(bench.takeRegions() == [.failed(.unfit("it has a minor and no major"))])
  }
}
