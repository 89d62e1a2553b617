import Geodesy
import SensorTypes
import Testing

@testable import LocationServices

/// Significant changes and visits in virtual time; a millionth of a degree of latitude is a metre.
private struct Bench {
  var engine = LocationEngine { abs($1.latitude - $0.latitude) * 1e6 }
  var now = 0.0
  private(set) var changes: [(metres: Double, time: Double)] = []
  private(set) var visits: [VisitReport] = []
  private(set) var locations = 0

  init(_ services: Service..., settings: ClientSettings = ClientSettings()) {
    ask(.register)
    ask(.configure(settings))
    for service in services { ask(.start(service)) }
  }

  mutating func ask(_ action: ServiceAction) {
    var new: [ServiceEvent] = []
    let request = ServiceRequest(ClientID(rawValue: 1), action)
    engine.handle(request, at: Timestamp(seconds: now)) { new.append($0) }
    note(new)
  }

  mutating func fix(_ metres: Double, at seconds: Double, accuracy: Double = 5) {
    now = seconds
    var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: .threeDimensional)
    (fix.latitude, fix.longitude, fix.utc) = (metres / 1e6, 13, 1e9 + seconds)
    (fix.horizontalAccuracy, fix.altitude) = (accuracy, 40)
    var new: [ServiceEvent] = []
    engine.handle(.location(LocationEstimate(fix: fix, isSimulated: false))) { new.append($0) }
    note(new)
  }

  private mutating func note(_ events: [ServiceEvent]) {
    for event in events {
      switch event.content {
      case .significantChange(let report):
        changes.append(
          ((report.position.latitude * 1e6).rounded(), report.time.seconds.rounded()))
      case .visit(let report): visits.append(report)
      case .location: locations += 1
      default: break
      }
    }
  }
}

struct SignificantChangeTests {
  @Test("M11: the first, and then no nearer than 500 m and no sooner than 5 minutes")
  func changes() {
    var bench = Bench(.significantChanges)
    // 10 m/s: 500 m take 50 s, so that the five minutes count.
    for second in stride(from: 0.0, through: 1_000, by: 10) { bench.fix(10 * second, at: second) }
    #expect(bench.changes.map(\.time) == [0, 300, 600, 900])
    // 1 m/s: the five minutes are over long before the 500 m.
    bench = Bench(.significantChanges)
    for second in stride(from: 0.0, through: 2_000, by: 10) { bench.fix(second, at: second) }
    #expect(bench.changes.map(\.metres) == [0, 500, 1_000, 1_500, 2_000])
  }

  @Test("M11: neither the distance filter nor the desired accuracy counts")
  func settings() {
    var bench = Bench(
      .significantChanges, settings: ClientSettings(distanceFilter: 10_000, desiredAccuracy: 3_000))
    for second in stride(from: 0.0, through: 700, by: 100) { bench.fix(10 * second, at: second) }
    #expect(bench.changes.map(\.time) == [0, 300, 600])
  }

  @Test("a position that tells no 500 metres from none is no change")
  func vague() {
    var bench = Bench(.significantChanges)
    bench.fix(0, at: 0, accuracy: 800)
    bench.fix(0, at: 1, accuracy: 400)
    bench.fix(5_000, at: 400, accuracy: 800)
    #expect(bench.changes.map(\.time) == [1])
  }

  @Test("what the updates tell is not told twice, and what is stopped tells nothing")
  func once() {
    var bench = Bench(.significantChanges, .location)
    for second in stride(from: 0.0, through: 700, by: 100) { bench.fix(10 * second, at: second) }
    #expect(bench.changes.isEmpty && bench.locations == 8)
    bench.ask(.stop(.location))
    bench.fix(20_000, at: 2_000)
    #expect(bench.changes.map(\.time) == [2_000])
    bench.ask(.stop(.significantChanges))
    bench.fix(40_000, at: 4_000)
    #expect(bench.changes.count == 1)
  }

  @Test(
    "B2: the receiver is asked once a minute, once there is a position, and not at all after a stop"
  )
  func demand() {
    var bench = Bench(.significantChanges)
    #expect(bench.engine.demand.location && bench.engine.demand.locationInterval == 1)
    bench.fix(0, at: 0)
    #expect(bench.engine.demand.locationInterval == 60)
    bench.ask(.start(.location))
    #expect(bench.engine.demand.locationInterval == nil)
    bench.ask(.stop(.location))
    bench.ask(.stop(.significantChanges))
    #expect(!bench.engine.demand.location)
  }
}

struct VisitTests {
  /// A fix a minute from one second to another, where the board is then.
  private func go(
    _ bench: inout Bench, _ from: Double, _ to: Double, _ place: (Double) -> Double
  ) {
    for second in stride(from: from, to: to, by: 60) { bench.fix(place(second), at: second) }
  }

  @Test(
    "M14: an arrival after five minutes, dated to the first position there; a departure when it has left"
  )
  func stay() throws {
    var bench = Bench(.visits)
    go(&bench, 0, 600) { 10 * $0 }
    #expect(bench.visits.isEmpty)
    go(&bench, 600, 1_800) { _ in 10_000 }
    let arrival = try #require(bench.visits.first)
    #expect(bench.visits.count == 1)
    #expect(arrival.arrival?.time == Timestamp(seconds: 600) && arrival.arrival?.utc == 1e9 + 600)
    #expect(arrival.departure == nil && (arrival.position.latitude * 1e6).rounded() == 10_000)
    go(&bench, 1_800, 2_400) { 10_000 + 10 * ($0 - 1_740) }
    #expect(bench.visits.count == 2)
    let departure = try #require(bench.visits.last)
    #expect(departure.arrival == arrival.arrival)
    #expect(departure.departure?.time == Timestamp(seconds: 1_740))
  }

  @Test("M14: where the board stood already the arrival is not known")
  func unknownArrival() {
    var bench = Bench(.visits)
    go(&bench, 0, 900) { _ in 0 }
    #expect(bench.visits.count == 1 && bench.visits.first?.arrival == nil)
  }

  @Test("a traffic light is no visit, and a poor fix is no departure")
  func noVisit() {
    var bench = Bench(.visits)
    go(&bench, 0, 600) { 10 * $0 }
    go(&bench, 600, 840) { _ in 6_000 }
    go(&bench, 840, 1_200) { 10 * $0 }
    #expect(bench.visits.isEmpty)
    go(&bench, 1_200, 1_800) { _ in 12_000 }
    #expect(bench.visits.count == 1)
    bench.fix(20_000, at: 1_800, accuracy: 5_000)
    bench.fix(12_000, at: 1_860)
    #expect(bench.visits.count == 1)
  }

  @Test("the place is the most accurate position of the stay so far")
  func place() {
    var bench = Bench(.visits)
    bench.fix(0, at: 0)
    bench.fix(1_000, at: 60, accuracy: 20)
    bench.fix(1_005, at: 120, accuracy: 3)
    go(&bench, 180, 600) { _ in 1_002 }
    #expect(bench.visits.map { ($0.position.latitude * 1e6).rounded() } == [1_005])
    #expect(bench.visits.first?.horizontalAccuracy == 3)
  }

  @Test("another board has no visits of this one's, and a stop forgets")
  func forgetting() {
    var bench = Bench(.visits)
    go(&bench, 0, 240) { _ in 0 }
    bench.engine.forgetObservations()
    go(&bench, 240, 480) { _ in 0 }
    #expect(bench.visits.isEmpty)
    bench.ask(.stop(.visits))
    go(&bench, 480, 1_000) { _ in 0 }
    #expect(bench.visits.isEmpty && !bench.engine.demand.location)
  }
}
