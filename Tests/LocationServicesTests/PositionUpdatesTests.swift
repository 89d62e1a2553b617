import CTestSupport
import Geodesy
import SensorTypes
import Testing

@testable import LocationServices

/// What two clients are told of a board that stands and moves; a millionth of a degree of latitude is a metre.
private struct Bench {
  var engine = LocationEngine { abs($1.latitude - $0.latitude) * 1e6 }
  var now = 0.0
  var accuracy: Double? = 5
  private(set) var heard: [String] = []

  init(_ settings: ClientSettings = ClientSettings()) {
    ask(.register)
    ask(.configure(settings))
    ask(.start(.location))
  }

  mutating func ask(_ action: ServiceAction, client: UInt64 = 1) {
    var new: [ServiceEvent] = []
    let request = ServiceRequest(ClientID(rawValue: client), action)
    engine.handle(request, at: Timestamp(seconds: now)) { new.append($0) }
    note(new)
  }

  mutating func say(_ observation: Observation) {
    var new: [ServiceEvent] = []
    engine.handle(observation) { new.append($0) }
    note(new)
  }

  mutating func fix(_ metres: Double, at seconds: Double) {
    now = seconds
    say(location(metres / 1e6, accuracy: accuracy, at: seconds))
  }

  /// Fixes a second apart, up to `seconds`, of a board that goes on at `speed` from the origin.
  mutating func go(until seconds: Double, speed: Double = 0) {
    let begin = now
    while now < seconds { fix((now + 1 - begin) * speed, at: now + 1) }
  }

  /// What was told since the last call: the kinds in a row, of equal ones in a row one.
  mutating func takeHeard() -> [String] {
    defer { heard = [] }
    return heard.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  private mutating func note(_ events: [ServiceEvent]) {
    for event in events {
      let client = event.client.rawValue == 1 ? "" : " \(event.client.rawValue)"
      switch event.content {
      case .location: heard.append("location" + client)
      case .paused: heard.append("paused" + client)
      case .resumed: heard.append("resumed" + client)
      case .failure: heard.append("failure" + client)
      default: heard.append("?")
      }
    }
  }
}

private func location(
  _ latitude: Double, accuracy: Double?, speed: Double? = nil, at seconds: Double
) -> Observation {
  var fix = GNSSFix(received: Timestamp(seconds: seconds), mode: .threeDimensional)
  fix.latitude = latitude
  fix.longitude = 13
  fix.horizontalAccuracy = accuracy
  fix.speed = speed
  return .location(LocationEstimate(fix: fix, isSimulated: false))
}

struct AutomaticPauseTests {
  @Test(
    "M16 D5: updates pause when the board has stood for as long as the activity says, and the receiver may rest",
    arguments: [
      (Activity.other, 600.0), (.automotiveNavigation, 300), (.fitness, 180),
      (.otherNavigation, 600), (.airborne, 900),
    ])
  func pause(activity: Activity, seconds: Double) {
    var bench = Bench(ClientSettings(activity: activity))
    bench.fix(0, at: 0)
    bench.go(until: seconds - 1)
    #expect(bench.takeHeard() == ["location"])
    #expect(bench.engine.demand.locationInterval == nil)
    bench.go(until: seconds)
    #expect(bench.takeHeard() == ["location", "paused"])
    #expect(bench.engine.demand.location)
    #expect(bench.engine.demand.locationInterval == 30)
    bench.go(until: 5_000)
    #expect(bench.takeHeard().isEmpty)
  }

  @Test("M16: a receiver's noise is no movement; a slow walk is, and is never paused")
  func movement() {
    var dice = Dice(seed: 7)
    var bench = Bench()
    // Within 7.5 m of the truth with an accuracy of 5: a uniform error of 4.3 m in sigma.
    for second in 0...600 { bench.fix(.random(in: -7.5...7.5, using: &dice), at: Double(second)) }
    #expect(bench.takeHeard() == ["location", "paused"])

    var walker = Bench(ClientSettings(activity: .fitness))
    walker.go(until: 7_200, speed: 0.3)
    #expect(walker.takeHeard() == ["location"])
  }

  @Test("M16: a first fix that was poor does not hide that the board leaves")
  func poorStart() {
    var bench = Bench(ClientSettings(activity: .fitness))
    bench.accuracy = 90
    bench.fix(0, at: 0)
    bench.accuracy = 5
    bench.go(until: 1_800, speed: 1)
    #expect(bench.takeHeard() == ["location"])
  }

  @Test(
    "M16: what is worse than a hundred metres says neither that the board stands nor that it moves")
  func worthless() {
    var bench = Bench(ClientSettings(activity: .fitness))
    for accuracy in [101, nil] as [Double?] {
      bench.accuracy = accuracy
      bench.go(until: bench.now + 1_000)
      #expect(bench.takeHeard() == ["location"])
    }
    bench.accuracy = 5
    bench.fix(0, at: 3_000)
    bench.accuracy = 101
    bench.fix(5_000, at: 3_001)
    bench.accuracy = 5
    bench.fix(0, at: 3_180)
    #expect(bench.takeHeard() == ["location", "paused"])
  }

  @Test("D6: movement is told before the location that shows it")
  func resumption() {
    var bench = Bench()
    bench.go(until: 700)
    _ = bench.takeHeard()
    // Three times both accuracies together are 21.2 m.
    bench.fix(21.2, at: 730)
    #expect(bench.takeHeard().isEmpty)
    bench.fix(21.3, at: 760)
    #expect(bench.takeHeard() == ["resumed", "location"])
    #expect(bench.engine.demand == Demand(location: true))
    // A new place, a new while.
    bench.now = 760
    while bench.now < 1_359 { bench.fix(21.3, at: bench.now + 1) }
    #expect(bench.takeHeard() == ["location"])
    bench.fix(21.3, at: 1_360)
    #expect(bench.takeHeard() == ["location", "paused"])
  }

  @Test("M5 M16: a pause does not change from where the distance filter counts")
  func filter() {
    var bench = Bench(ClientSettings(distanceFilter: 1_000))
    bench.go(until: 700)
    #expect(bench.takeHeard() == ["location", "paused"])
    bench.fix(500, at: 730)
    #expect(bench.takeHeard() == ["resumed"])
    bench.fix(1_001, at: 760)
    #expect(bench.takeHeard() == ["location"])
  }

  @Test("a pause ends by start, and where it is not allowed any more; stop ends it without a word")
  func ends() {
    var bench = Bench()
    bench.go(until: 700)
    #expect(bench.takeHeard() == ["location", "paused"])
    bench.ask(.start(.location))
    #expect(bench.takeHeard() == ["resumed", "location"])
    bench.go(until: 1_300)
    #expect(bench.takeHeard() == ["location"])
    bench.go(until: 1_400)
    #expect(bench.takeHeard() == ["location", "paused"])
    bench.ask(.configure(ClientSettings(pausesAutomatically: false)))
    #expect(bench.takeHeard() == ["resumed"])
    bench.go(until: 5_000)
    #expect(bench.takeHeard() == ["location"])
    bench.ask(.configure(ClientSettings()))
    bench.go(until: 5_700)
    #expect(bench.takeHeard() == ["location", "paused"])
    bench.ask(.stop(.location))
    bench.fix(500, at: 6_000)
    #expect(bench.takeHeard().isEmpty)
    #expect(bench.engine.demand == Demand())
  }

  @Test("while there is no position nobody knows whether the board stands: the while begins anew")
  func loss() {
    var bench = Bench()
    bench.go(until: 590)
    bench.say(.locationUnavailable(.noFix, at: Timestamp(seconds: 591)))
    bench.go(until: 1_190)
    #expect(bench.takeHeard() == ["location", "failure", "location"])
    bench.go(until: 1_200)
    #expect(bench.takeHeard() == ["location", "paused"])
    // Who is told of no positions is not told of their loss.
    bench.say(.locationUnavailable(.noFix, at: Timestamp(seconds: 1_300)))
    #expect(bench.takeHeard().isEmpty)
  }

  @Test("another board ends a pause with its first position; each client has its own")
  func others() {
    var bench = Bench()
    bench.ask(.register, client: 2)
    bench.ask(.configure(ClientSettings(pausesAutomatically: false)), client: 2)
    bench.ask(.start(.location), client: 2)
    bench.go(until: 700)
    #expect(bench.takeHeard().filter { $0 == "paused" } == ["paused"])
    #expect(bench.engine.demand == Demand(location: true))
    bench.go(until: 701)
    #expect(bench.takeHeard() == ["location 2"])
    bench.engine.forgetObservations()
    bench.go(until: 702)
    #expect(bench.takeHeard() == ["resumed", "location", "location 2"])
  }
}

struct LocationDemandTests {
  // The interval is the accuracy over 30 m/s (5 on foot, 250 by air), 1 s at least and 60 at most.
  @Test(
    "M4: the accuracy that is wanted decides how often the receiver is asked",
    arguments: [
      (-2, .other, nil), (-1, .other, nil), (0, .other, nil), (Double.nan, .other, nil),
      (5, .other, 1), (10, .other, 1), (100, .other, 100.0 / 30), (1_000, .other, 1_000.0 / 30),
      (3_000, .other, 60), (6_380_000, .other, 60), (.infinity, .other, 60),
      (100, .automotiveNavigation, 100.0 / 30), (100, .otherNavigation, 100.0 / 30),
      (10, .fitness, 2), (100, .fitness, 20), (1_000, .fitness, 60), (100, .airborne, 1),
      (1_000, .airborne, 4),
    ] as [(Double, Activity, Double?)])
  func interval(desired: Double, activity: Activity, expected: Double?) {
    var bench = Bench(ClientSettings(desiredAccuracy: desired, activity: activity))
    // Nobody waits a minute for the first.
    #expect(bench.engine.demand.locationInterval == (expected == nil ? nil : 1))
    bench.fix(0, at: 0)
    #expect(bench.engine.demand.location)
    #expect(bench.engine.demand.locationInterval == expected)
  }

  @Test("B2: all clients together get what the most demanding wants, as they come and go")
  func together() {
    var bench = Bench(ClientSettings(desiredAccuracy: 3_000))
    bench.fix(0, at: 0)
    #expect(bench.engine.demand == Demand(location: true, locationInterval: 60))
    bench.ask(.register, client: 2)
    bench.ask(.configure(ClientSettings(desiredAccuracy: 600)), client: 2)
    #expect(bench.engine.demand.locationInterval == 60, "it has started nothing")
    bench.ask(.start(.location), client: 2)
    #expect(bench.engine.demand.locationInterval == 20, "what is known was its first")
    bench.ask(.register, client: 3)
    bench.ask(.start(.heading), client: 3)
    #expect(bench.engine.demand == Demand(heading: true, location: true, locationInterval: 20))
    bench.ask(.start(.location), client: 3)
    #expect(bench.engine.demand == Demand(heading: true, location: true))
    bench.ask(.release, client: 3)
    bench.ask(.requestLocation, client: 4)
    #expect(bench.engine.demand.locationInterval == 20, "it has not registered")
    bench.ask(.stop(.location))
    #expect(bench.engine.demand.locationInterval == 20)
    bench.ask(.stop(.location), client: 2)
    #expect(bench.engine.demand == Demand())
  }

  @Test("a client that is paused has the board looked for, never more often than it would be told")
  func paused() {
    for (desired, expected) in [(100.0, 30.0), (3_000, 60)] {
      var bench = Bench(ClientSettings(desiredAccuracy: desired))
      bench.go(until: 601)
      #expect(bench.takeHeard() == ["location", "paused"])
      #expect(bench.engine.demand.locationInterval == expected)
    }
  }

  #if DEBUG
    private static let isOptimised = false
  #else
    private static let isOptimised = true
  #endif

  @Test(
    "an observation allocates nothing, whatever clients do",
    .enabled(if: isOptimised, "only an optimised build says something"))
  func allocations() {
    var engine = LocationEngine()
    for client in UInt64(1)...4 {
      for action in [
        ServiceAction.register, .start(.heading),
        client == 1 ? .requestLocation : .start(.location),
        .configure(ClientSettings(desiredAccuracy: 0.001, activity: .fitness)),
      ] {
        let request = ServiceRequest(ClientID(rawValue: client), action)
        engine.handle(request, at: Timestamp(seconds: 0)) { _ in }
      }
    }
    // It stands long enough for a pause, then it leaves.
    let observations = (0..<3_000).map { second in
      location(
        50 + (second < 1_000 ? 0 : Double(second) / 1e5), accuracy: 5, speed: 1,
        at: Double(second) / 2)
    }
    var (events, pauses) = (0, 0)
    let before = test_allocations()
    for observation in observations {
      engine.handle(observation) {
        events += 1
        if case .paused = $0.content { pauses += 1 }
      }
    }
    let allocated = test_allocations() - before
    #expect(events > 6_000)
    #expect(pauses == 3)
    #expect(allocated == 0)
  }
}
