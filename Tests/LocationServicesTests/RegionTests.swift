import CTestSupport
import Geodesy
import SensorTypes
import Testing

@testable import LocationServices

/// Regions in virtual time; a millionth of a degree of latitude is a metre.
private struct Bench {
  var engine = LocationEngine { abs($1.latitude - $0.latitude) * 1e6 }
  var now = 0.0
  private var heard: [String] = []

  init() {
    ask(.register)
    ask(.configure(ClientSettings(hearsRegions: true)))
  }

  mutating func ask(_ action: ServiceAction, client: UInt64 = 1) {
    var new: [ServiceEvent] = []
    let request = ServiceRequest(ClientID(rawValue: client), action)
    engine.handle(request, at: Timestamp(seconds: now)) { new.append($0) }
    note(new)
  }

  mutating func fix(_ metres: Double, at seconds: Double, accuracy: Double? = 5) {
    now = seconds
    var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.horizontalAccuracy) = (metres / 1e6, 13, accuracy)
    var new: [ServiceEvent] = []
    engine.handle(.location(LocationEstimate(fix: fix, isSimulated: false))) { new.append($0) }
    note(new)
  }

  mutating func advance(to seconds: Double) {
    now = seconds
    var new: [ServiceEvent] = []
    engine.advance(to: Timestamp(seconds: seconds)) { new.append($0) }
    note(new)
  }

  /// What was told since the last call.
  mutating func takeHeard() -> [String] {
    defer { heard = [] }
    return heard
  }

  private mutating func note(_ events: [ServiceEvent]) {
    for event in events {
      guard case .region(let region) = event.content else { continue }
      let client = event.client.rawValue == 1 ? "" : " \(event.client.rawValue)"
      let what =
        switch region.kind {
        case .started: "started"
        case .failed: "failed"
        case .crossed(let state): "crossed to \(state)"
        case .settled(let state): "settled \(state)"
        case .answered(let state): "answered \(state)"
        case .unkept: "unkept"
        }
      heard.append("\(region.region.identifier) \(what)\(client)")
    }
  }
}

private func region(
  _ identifier: String = "home", at metres: Double = 0, radius: Double = 100
) -> MonitoredRegion {
  MonitoredRegion(
    identifier: identifier, center: Position(latitude: metres / 1e6, longitude: 13), radius: radius)
}

struct RegionTests {
  @Test(
    "D9 D10: where the board is at first is no crossing; a crossing counts after twenty seconds")
  func crossing() {
    var bench = Bench()
    bench.ask(.startRegion(region()))
    #expect(bench.takeHeard() == ["home started"])
    bench.fix(500, at: 0)
    #expect(bench.takeHeard() == ["home settled outside"])
    bench.fix(50, at: 10)
    bench.fix(50, at: 29)
    #expect(bench.takeHeard().isEmpty)
    bench.fix(50, at: 30)
    #expect(bench.takeHeard() == ["home crossed to inside"])
    bench.fix(50, at: 90)
    bench.fix(120, at: 100)
    bench.fix(120, at: 160)
    #expect(bench.takeHeard() == ["home crossed to outside"])
  }

  @Test("a board that only looks in has not entered, and one near the boundary is nowhere else")
  func hysteresis() {
    var bench = Bench()
    bench.ask(.startRegion(region()))
    bench.fix(500, at: 0)
    for second in stride(from: 10.0, to: 100, by: 20) {
      bench.fix(50, at: second)
      bench.fix(200, at: second + 10)
    }
    // Within one and a half accuracies of the boundary, for an hour.
    for second in stride(from: 100.0, to: 3_700, by: 10) { bench.fix(95, at: second) }
    #expect(bench.takeHeard() == ["home started", "home settled outside"])
    bench.fix(50, at: 4_000)
    bench.fix(95, at: 4_030)
    bench.fix(50, at: 4_060)
    #expect(bench.takeHeard() == ["home crossed to inside"])
  }

  @Test("noise of its own accuracy makes no crossing of a board that stands on the boundary")
  func noise() {
    var dice = Dice(seed: 11)
    var bench = Bench()
    bench.ask(.startRegion(region()))
    bench.fix(0, at: 0)
    for second in stride(from: 5.0, to: 86_400, by: 5) {
      // A uniform error of 4.3 m in sigma: the radius of 68 % in one axis is 5 m.
      bench.fix(100 + .random(in: -7.5...7.5, using: &dice), at: second)
    }
    #expect(bench.takeHeard() == ["home started", "home settled inside"])
  }

  @Test("a region that is smaller than the accuracy can be entered, but only in its middle")
  func small() {
    var bench = Bench()
    bench.ask(.startRegion(region(radius: 20)))
    bench.fix(500, at: 0, accuracy: 50)
    bench.fix(15, at: 10, accuracy: 50)
    bench.fix(15, at: 40, accuracy: 50)
    #expect(bench.takeHeard() == ["home started", "home settled outside"])
    bench.fix(5, at: 50, accuracy: 50)
    bench.fix(5, at: 80, accuracy: 50)
    #expect(bench.takeHeard() == ["home crossed to inside"])
    bench.fix(90, at: 90, accuracy: 50)
    bench.fix(90, at: 120, accuracy: 50)
    bench.fix(90, at: 130, accuracy: nil)
    #expect(bench.takeHeard().isEmpty)
  }

  @Test("M12: twenty regions, none without size or place; the same name is the same region")
  func limits() {
    var bench = Bench()
    for number in 0..<20 { bench.ask(.startRegion(region("\(number)", at: Double(number)))) }
    #expect(bench.takeHeard() == (0..<20).map { "\($0) started" })
    bench.ask(.startRegion(region("20")))
    bench.ask(.startRegion(region("3", radius: 50)))
    #expect(bench.takeHeard() == ["20 failed", "3 started"])
    #expect(bench.engine.monitoredRegions.count == 20)
    bench.ask(.stopRegion(RegionKey("3")))
    for bad in [
      region(radius: 0), region(radius: -1), region(radius: .nan), region(radius: .infinity),
      region(radius: 1e8), region(at: 100e6), region(at: .nan),
      region(String(repeating: "x", count: 257)),
    ] { bench.ask(.startRegion(bad)) }
    #expect(bench.takeHeard().allSatisfy { $0.hasSuffix("failed") })
    #expect(bench.engine.monitoredRegions.count == 19)
  }

  @Test("what is known stays when the same circle is started again, and not of another circle")
  func again() {
    var bench = Bench()
    bench.ask(.startRegion(region()))
    bench.fix(0, at: 0)
    bench.ask(.startRegion(region()))
    bench.fix(0, at: 30)
    #expect(bench.takeHeard() == ["home started", "home settled inside", "home started"])
    bench.ask(.startRegion(region(radius: 120)))
    bench.fix(0, at: 60)
    #expect(bench.takeHeard() == ["home started", "home settled inside"])
    bench.engine.forgetObservations()
    bench.fix(500, at: 70)
    bench.fix(500, at: 100)
    #expect(bench.takeHeard() == ["home crossed to outside"])
  }

  @Test("a region of an earlier run goes on from where it was")
  func restored() {
    var bench = Bench()
    bench.engine.restore(region(), state: .inside)
    bench.fix(500, at: 0)
    bench.fix(500, at: 30)
    #expect(bench.takeHeard() == ["home crossed to outside"])
    bench.engine.restore(region(), state: .inside)
    bench.engine.restore(region("broken", radius: -1), state: .inside)
    bench.fix(500, at: 60)
    #expect(bench.takeHeard().isEmpty && bench.engine.monitoredRegions.count == 1)
  }

  @Test(
    "D9: all that hear of regions are told, whoever has asked; nobody is, and nothing is asked, without one"
  )
  func shared() {
    var bench = Bench()
    bench.ask(.register, client: 2)
    bench.ask(.configure(ClientSettings(hearsRegions: true)), client: 2)
    bench.ask(.register, client: 3)
    bench.ask(.startRegion(region()), client: 2)
    bench.fix(0, at: 0)
    #expect(
      bench.takeHeard() == ["home started 2", "home settled inside", "home settled inside 2"])
    bench.ask(.release, client: 2)
    bench.ask(.release)
    #expect(!bench.engine.demand.location)
    bench.fix(500, at: 30)
    bench.fix(500, at: 60)
    #expect(bench.takeHeard().isEmpty)
    // Whoever comes hears of the crossing that nobody was told of.
    bench.ask(.register, client: 4)
    bench.ask(.configure(ClientSettings(hearsRegions: true)), client: 4)
    #expect(bench.engine.demand.location)
    bench.fix(500, at: 90)
    bench.fix(500, at: 120)
    #expect(bench.takeHeard() == ["home crossed to outside 4"])
  }

  @Test("D10: a question is answered by what is known, by the next position, or after ten seconds")
  func questions() {
    var bench = Bench()
    bench.ask(.askRegion(region("a")))
    #expect(bench.takeHeard().isEmpty && bench.engine.demand.location)
    #expect(bench.engine.nextDeadline == Timestamp(seconds: 10))
    bench.fix(0, at: 5)
    #expect(bench.takeHeard() == ["a answered inside"] && !bench.engine.demand.location)
    bench.ask(.askRegion(region("b", at: 1_000)))
    #expect(bench.takeHeard() == ["b answered outside"])
    // Too near to say.
    bench.ask(.askRegion(region("c", at: 100)))
    bench.fix(0, at: 6)
    #expect(bench.takeHeard() == ["c answered unknown"])
    bench.now = 100
    bench.ask(.askRegion(region("d")))
    bench.advance(to: 109.9)
    #expect(bench.takeHeard().isEmpty)
    bench.advance(to: 110)
    #expect(bench.takeHeard() == ["d answered unknown"] && bench.engine.nextDeadline == nil)
    for number in 0..<110 { bench.ask(.askRegion(region("q\(number)"))) }
    #expect(bench.takeHeard().count == 10)
    bench.ask(.release)
    #expect(bench.engine.nextDeadline == nil)
  }

  @Test(
    "B2: the nearer the boundary, the more often the receiver is asked, and every 5 s for a crossing"
  )
  func demand() {
    var bench = Bench()
    bench.ask(.startRegion(region()))
    #expect(bench.engine.demand.locationInterval == 1)
    for (metres, interval) in [(100_000.0, 60.0), (1_000, 30), (400, 10), (120, 5)] {
      bench.fix(metres, at: bench.now + 60)
      #expect(bench.engine.demand.locationInterval == interval, "\(metres)")
    }
    bench.ask(.startRegion(region("far", at: 50_000)))
    bench.fix(25_000, at: 1_000)
    #expect(bench.engine.demand.locationInterval == 60)
    bench.fix(0, at: 1_060)
    #expect(bench.engine.demand.locationInterval == 5)
    bench.ask(.stopRegion(RegionKey("home")))
    bench.ask(.stopRegion(RegionKey("far")))
    #expect(!bench.engine.demand.location)
  }
}
