import FacadeTestSupport
import LocationServices
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

/// A clock that a test moves; alarms go off when it passes them.
private final class ManualTime: Sendable {
  private struct State {
    var now = 1_000.0
    var alarms: [(seconds: Double, body: @Sendable () -> Void)] = []
  }

  private let state = Mutex(State())

  var clocks: RuntimeClocks {
    RuntimeClocks(
      now: { Timestamp(seconds: self.state.withLock { $0.now }) },
      wallTime: { 1_700_000_000 + self.state.withLock { $0.now } },
      alarm: { seconds, body in
        self.state.withLock { $0.alarms.append((seconds: $0.now + seconds, body: body)) }
      })
  }

  var waiting: Int { state.withLock { $0.alarms.count } }

  func advance(to seconds: Double) {
    let due = state.withLock { state in
      state.now = seconds
      let due = state.alarms.filter { $0.seconds <= seconds }
      state.alarms.removeAll { $0.seconds <= seconds }
      return due
    }
    for alarm in due { alarm.body() }
  }
}

/// A manager with its spy on a board and a clock of its own; belongs to one thread.
private final class Bench {
  let time = ManualTime()
  let source = ScriptedSource()
  let runtime: LodestoneRuntime
  let manager: CLLocationManager
  let spy: Spy

  init(onEvent: @escaping @Sendable (Spy) -> Void = { _ in }) {
    runtime = LodestoneRuntime(source: source, clocks: time.clocks)
    manager = CLLocationManager(runtime: runtime)
    spy = Spy(onEvent: onEvent)
    manager.delegate = spy
    turn { spy.log.authorizations.count == 1 }
  }

  func fix(_ latitude: Double, accuracy: Double = 5, at seconds: Double) {
    time.advance(to: seconds)
    source.publish(.location(latitude, 13, accuracy: accuracy, at: seconds))
  }

  /// Waits until a heading has come through that was published after everything else: what has not come by then does
  /// not come.
  func settle() {
    let before = spy.log.headings.count
    manager.headingFilter = kCLHeadingFilterNone
    manager.startUpdatingHeading()
    source.publish(.heading(degrees: 1, at: 1))
    turn { spy.log.headings.count > before }
    manager.stopUpdatingHeading()
  }

  var calls: [String] { spy.log.calls.filter { $0 != "authorization" && $0 != "heading" } }
  var latitudes: [[Double]] { spy.log.locations.map { $0.map(\.coordinate.latitude) } }
}

struct RequestLocationTests {
  @Test("M3: one location of the desired accuracy, and the service ends")
  func located() async {
    let result = await onThread {
      let bench = Bench()
      bench.manager.desiredAccuracy = kCLLocationAccuracyNearestTenMeters
      bench.manager.requestLocation()
      bench.fix(50, accuracy: 30, at: 1_001)
      bench.fix(51, accuracy: 8, at: 1_002)
      bench.fix(52, accuracy: 1, at: 1_003)
      bench.settle()
      let isOff = bench.source.waits(for: Demand())
      return (bench.calls, bench.latitudes, bench.source.demands, isOff)
    }
    #expect(result.0 == ["locations"])
    #expect(result.1 == [[51]])
    #expect(result.2.contains(Demand(location: true, locationInterval: 1)))
    #expect(result.3)
  }

  @Test(
    "M3: the best of ten seconds, by the clock alone; after forty without any an error with the reason"
  )
  func timeouts() async {
    let result = await onThread {
      let bench = Bench()
      bench.manager.requestLocation()
      bench.fix(50, accuracy: 30, at: 1_001)
      bench.time.advance(to: 1_009.9)
      bench.settle()
      let early = bench.calls
      bench.time.advance(to: 1_010)
      turn { bench.calls.count == 1 }
      bench.time.advance(to: 2_000)
      bench.manager.requestLocation()
      bench.source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 2_001)))
      bench.time.advance(to: 2_039)
      bench.settle()
      let waiting = bench.calls
      bench.time.advance(to: 2_040)
      turn { bench.calls.count == 2 }
      return (early, waiting, bench.spy.log, bench.latitudes, bench.source.waits(for: Demand()))
    }
    #expect(result.0.isEmpty)
    #expect(result.1 == ["locations"])
    #expect(result.2.errors == [.locationUnknown])
    #expect(result.2.reasons == ["no fix"])
    #expect(result.3 == [[50]])
    #expect(result.4)
  }

  @Test("M3: stop cancels, also an answer that waits; start does, and updates take its place")
  func cancellation() async {
    let result = await onThread {
      let bench = Bench()
      bench.manager.desiredAccuracy = 100
      bench.manager.requestLocation()
      bench.manager.stopUpdatingLocation()
      bench.fix(50, at: 1_001)
      bench.manager.requestLocation()
      bench.fix(51, at: 1_002)
      // The answer is in the letter box.
      bench.manager.stopUpdatingLocation()
      bench.settle()
      let stopped = bench.calls
      bench.manager.requestLocation()
      bench.manager.startUpdatingLocation()
      bench.fix(52, at: 1_003)
      bench.settle()
      bench.time.advance(to: 1_100)
      bench.settle()
      bench.manager.requestLocation()
      bench.fix(53, at: 1_101)
      bench.settle()
      return (stopped, bench.latitudes)
    }
    #expect(result.0.isEmpty)
    // What is known comes with the start; the request before it had the same answer ready.
    #expect(result.1.flatMap { $0 } == [51, 52, 53])
  }

  @Test("M3: a request that waits for its delegate is one with the next; each answer comes alone")
  func repetition() async {
    let result = await onThread {
      let bench = Bench()
      bench.manager.desiredAccuracy = 100
      for step in 0..<3 {
        bench.manager.requestLocation()
        bench.fix(50 + Double(step), at: 1_001 + Double(step))
      }
      bench.settle()
      let once = bench.latitudes
      bench.manager.requestLocation()
      bench.settle()
      return (once, bench.latitudes)
    }
    #expect(result.0 == [[50]])
    // The newest is two seconds old: it answers at once.
    #expect(result.1 == [[50], [52]])
  }

  @Test("M3: asked again by each answer, a delegate is answered as often, whatever comes between")
  func fromDelegate() async {
    let latitudes = await onThread {
      final class Asker: NSObject, CLLocationManagerDelegate {
        var latitudes: [[Double]] = []
        func locationManager(
          _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
        ) {
          latitudes.append(locations.map(\.coordinate.latitude))
          if latitudes.count < 3 { manager.requestLocation() }
        }
      }
      let bench = Bench()
      let asker = Asker()
      bench.manager.desiredAccuracy = 100
      bench.manager.delegate = asker
      bench.manager.requestLocation()
      bench.fix(50, at: 1_001)
      turn { asker.latitudes.count == 3 }
      bench.fix(51, at: 1_002)
      bench.manager.delegate = bench.spy
      bench.settle()
      return (asker.latitudes, bench.calls)
    }
    #expect(latitudes.0 == [[50], [50], [50]])
    #expect(latitudes.1.isEmpty)
  }

  @Test("a client that asks and stops for ever leaves a handful of alarms behind")
  func alarms() async {
    let waiting = await onThread {
      let bench = Bench()
      for step in 0..<1_000 {
        bench.manager.requestLocation()
        bench.fix(50, accuracy: 500, at: 1_000 + Double(step) / 100)
        bench.manager.stopUpdatingLocation()
      }
      return bench.time.waiting
    }
    #expect(waiting < 5)
  }
}

struct PositionTests {
  @Test("M17: the newest position of the board, whoever asked for it, as it was measured")
  func location() async {
    let result = await onThread {
      let bench = Bench()
      let other = CLLocationManager(runtime: bench.runtime)
      let nothing = other.location
      bench.manager.distanceFilter = 1_000_000
      bench.manager.startUpdatingLocation()
      bench.fix(50, at: 1_001)
      bench.fix(50.1, accuracy: 7, at: 1_002)
      bench.settle()
      bench.time.advance(to: 1_500)
      let (one, two) = (other.location, other.location)
      return (
        nothing, one, one === two, bench.manager.location?.coordinate.latitude, bench.latitudes,
        bench.runtime.knownPosition, bench.spy.log.wasCurrent
      )
    }
    #expect(result.0 == nil)
    #expect(result.1?.coordinate.latitude == 50.1)
    #expect(result.1?.horizontalAccuracy == 7)
    #expect(result.1?.timestamp.timeIntervalSince1970 == 1_700_001_002)
    #expect(result.2, "the same object while nothing newer is known")
    #expect(result.3 == 50.1, "newer than what the filter has let through")
    #expect(result.4 == [[50]])
    #expect(result.6.allSatisfy { $0 }, "in a delegate's method the one that it is told of")
    // No speed: 310 m/s for 498 s, on top of 7 m.
    #expect(abs((result.5?.uncertainty ?? 0) - 154_387) < 0.01)
    #expect(abs((result.5?.age ?? 0) - 498) < 1e-6)
  }

  @Test("D5 D6 M16: pause and movement reach the delegate, movement before the location")
  func pause() async {
    let result = await onThread {
      let bench = Bench()
      let isOn = bench.manager.pausesLocationUpdatesAutomatically
      bench.manager.activityType = .fitness
      bench.manager.startUpdatingLocation()
      for second in [0.0, 90, 180] { bench.fix(50, at: 1_001 + second) }
      turn { bench.calls.last == "paused" }
      let isResting = bench.source.waits(for: Demand(location: true, locationInterval: 30))
      bench.fix(50, at: 1_211)
      bench.fix(50.001, at: 1_241)
      turn { bench.calls.last == "locations" }
      return (isOn, bench.calls, isResting, bench.source.waits(for: Demand(location: true)))
    }
    #expect(result.0)
    #expect(result.1 == ["locations", "paused", "resumed", "locations"])
    #expect(result.2)
    #expect(result.3)
  }

  @Test("M16: updates that may not pause do not; a start ends a pause")
  func noPause() async {
    let calls = await onThread {
      let bench = Bench()
      bench.manager.pausesLocationUpdatesAutomatically = false
      bench.manager.startUpdatingLocation()
      for second in stride(from: 0.0, through: 3_600, by: 60) { bench.fix(50, at: 1_001 + second) }
      bench.settle()
      let before = bench.calls
      bench.manager.pausesLocationUpdatesAutomatically = true
      bench.fix(50, at: 5_001)
      turn { bench.calls.last == "paused" }
      bench.manager.startUpdatingLocation()
      turn { bench.calls.last == "locations" }
      return (Set(before), Array(bench.calls.suffix(3)))
    }
    #expect(calls.0 == ["locations"])
    #expect(calls.1 == ["paused", "resumed", "locations"])
  }

  @Test("M4: what is set here is what the receiver is asked for")
  func accuracy() async {
    let demands = await onThread {
      let bench = Bench()
      bench.manager.startUpdatingLocation()
      bench.fix(50, at: 1_001)
      for accuracy in [
        kCLLocationAccuracyBestForNavigation, kCLLocationAccuracyBest,
        kCLLocationAccuracyNearestTenMeters, kCLLocationAccuracyHundredMeters,
        kCLLocationAccuracyKilometer, kCLLocationAccuracyThreeKilometers,
        kCLLocationAccuracyReduced,
      ] {
        bench.manager.desiredAccuracy = accuracy
      }
      return bench.source.demands.map(\.locationInterval)
    }
    // Nothing, a start, and what changed: 10 m, 100 m, 1 km, 3 km.
    let expected: [Double?] = [nil, nil, 1, 100.0 / 30, 1_000.0 / 30, 60]
    #expect(demands == expected)
  }
}

struct MailboxTests {
  private func report(_ latitude: Double) throws -> LocationReport {
    guard case .location(let estimate) = Observation.location(latitude, 13) else {
      throw CancellationError()
    }
    return try #require(LocationReport(estimate))
  }

  @Test("the answer to a request is not batched with updates, nor dropped for them")
  func answers() throws {
    var mailbox = Mailbox()
    let failure = ServiceFailure(service: .location, reason: "no fix")
    _ = mailbox.append(.requestedLocation(try report(1)))
    for step in 0..<300 { _ = mailbox.append(.location(try report(2 + Double(step) / 10))) }
    _ = mailbox.append(.requestFailed(failure))
    _ = mailbox.append(.failure(failure))
    #expect(mailbox.holdsAnswer)
    #expect(mailbox.next() == .locations([try report(1)]))
    guard case .locations(let batch)? = mailbox.next() else {
      Issue.record("no batch")
      return
    }
    #expect(batch.count == Mailbox.locationLimit)
    #expect(mailbox.next() == .failure(failure))
    #expect(!mailbox.holdsAnswer)
    #expect(mailbox.next() == .failure(failure))
    #expect(mailbox.isEmpty)
  }

  @Test("of pauses that nobody hears of the newest wait, each with its end")
  func pauses() {
    var mailbox = Mailbox()
    for _ in 0..<1_000 {
      _ = mailbox.append(.paused)
      _ = mailbox.append(.resumed)
    }
    _ = mailbox.append(.paused)
    #expect(mailbox.count <= Mailbox.pauseLimit)
    var heard: [Delivery] = []
    while let delivery = mailbox.next() { heard.append(delivery) }
    #expect(heard.last == .paused)
    for (index, delivery) in heard.enumerated() {
      #expect(delivery == (index % 2 == 0 ? .paused : .resumed))
    }
  }

  @Test("a stop leaves nothing of location, a start no answer")
  func discarding() throws {
    var mailbox = Mailbox()
    for content in [
      ServiceEvent.Content.location(try report(1)), .paused, .resumed,
      .requestedLocation(try report(2)),
    ] { _ = mailbox.append(content) }
    mailbox.discardAnswer()
    #expect(mailbox.count == 3)
    mailbox.discard(.location)
    #expect(mailbox.isEmpty)
  }
}
