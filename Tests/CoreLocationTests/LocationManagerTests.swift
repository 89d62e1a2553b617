import FacadeTestSupport
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

/// A manager with its spy on a board of its own; belongs to one thread.
private final class Bench {
  /// The machine's clocks on which nothing becomes due: no heading grows old while the machine is busy.
  static let withoutAlarms = RuntimeClocks(
    now: RuntimeClocks.system.now, wallTime: RuntimeClocks.system.wallTime, alarm: { _, _ in })

  let source: ScriptedSource
  let runtime: LodestoneRuntime
  let manager: CLLocationManager
  let spy: Spy

  init(
    clocks: RuntimeClocks = Bench.withoutAlarms,
    onEvent: @escaping @Sendable (Spy) -> Void = { _ in }
  ) {
    source = ScriptedSource()
    runtime = LodestoneRuntime(source: source, clocks: clocks)
    manager = CLLocationManager(port: runtime)
    spy = Spy(onEvent: onEvent)
    manager.delegate = spy
    turn { spy.log.authorizations.count == 1 }
  }

  /// Waits until a mark has come through that was published after everything else: what has not come
  /// by then does not come.
  func settle() {
    let before = spy.log.errors.count
    source.publish(.location(1, 1))
    source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 0)))
    turn { spy.log.errors.count > before }
  }
}

struct LocationManagerTests {
  @Test(
    "M1 D16: a new manager tells its authorization once, asks nothing of the board, and has nothing"
  )
  func birth() async {
    let result = await onThread {
      let bench = Bench()
      bench.manager.delegate = nil
      bench.manager.delegate = bench.spy
      bench.manager.startUpdatingLocation()
      bench.settle()
      return (log: bench.spy.log, demands: bench.source.demands)
    }
    #expect(result.log.authorizations == [.authorizedAlways])
    #expect(result.log.calls.first == "authorization")
    #expect(result.demands == [Demand(), Demand(location: true)])
  }

  @Test("M1: a delegate that is set late still hears the authorization")
  func lateDelegate() async {
    let statuses = await onThread {
      let manager = CLLocationManager(port: LodestoneRuntime(source: ScriptedSource()))
      // The loop turns once without a delegate.
      _ = RunLoop.current.run(mode: .default, before: Date())
      let spy = Spy()
      manager.delegate = spy
      turn { !spy.log.authorizations.isEmpty }
      return spy.log.authorizations
    }
    #expect(statuses == [.authorizedAlways])
  }

  @Test("D1: locations that came in faster than they were taken arrive together, the oldest first")
  func batch() async {
    let log = await onThread {
      let bench = Bench()
      bench.manager.startUpdatingLocation()
      for step in 0..<3 { bench.source.publish(.location(50 + Double(step), 13)) }
      turn { !bench.spy.log.locations.isEmpty }
      return bench.spy.log
    }
    #expect(log.locations.map { $0.map(\.coordinate.latitude) } == [[50, 51, 52]])
    #expect(log.wasCurrent == [true])
  }

  @Test("D1: of locations that nobody takes the newest 256 are kept, the others are counted")
  func overflow() async {
    let result = await onThread {
      let bench = Bench()
      bench.manager.startUpdatingLocation()
      for step in 0..<300 { bench.source.publish(.location(Double(step) / 10, 13)) }
      turn { !bench.spy.log.locations.isEmpty }
      return (bench.spy.log.locations, bench.runtime.droppedLocations)
    }
    let latitudes = result.0.flatMap { $0.map(\.coordinate.latitude) }
    #expect(latitudes == (44..<300).map { Double($0) / 10 })
    #expect(result.1 == 44)
  }

  @Test("D2: no fix yet and interference arrive as the SDK's errors, with the reason in words")
  func errors() async {
    let log = await onThread {
      let bench = Bench()
      bench.manager.startUpdatingLocation()
      bench.manager.startUpdatingHeading()
      bench.source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 0)))
      turn { bench.spy.log.errors.count == 1 }
      for second in [0, 5.1] {
        bench.source.publish(
          .heading(
            degrees: 30, at: second, reason: .magneticInterference("93 uT where 49 are expected")))
      }
      turn { bench.spy.log.errors.count == 2 }
      return bench.spy.log
    }
    #expect(log.errors == [.locationUnknown, .headingFailure])
    #expect(log.reasons == ["no fix", "93 uT where 49 are expected"])
    #expect(log.headings.map(\.headingAccuracy) == [-1])
  }

  @Test("D4: a delegate of the old spelling hears each location, the first without a former one")
  func oldDelegate() async {
    let result = await onThread {
      let source = ScriptedSource()
      let manager = CLLocationManager(port: LodestoneRuntime(source: source))
      let spy = OldSpy()
      manager.delegate = spy
      manager.startUpdatingLocation()
      source.publish(.location(50, 13))
      source.publish(.location(51, 13))
      turn { spy.steps.count == 2 }
      source.publish(.location(52, 13))
      turn { spy.steps.count == 3 }
      return (spy.steps, spy.statuses)
    }
    #expect(
      result.0 == [
        .init(new: 50, old: nil, current: 50), .init(new: 51, old: 50, current: 51),
        .init(new: 52, old: 51, current: 52),
      ])
    #expect(result.1 == [.authorizedAlways])
  }

  @Test("a delegate that implements nothing is served without harm")
  func silentDelegate() async {
    let latitude = await onThread {
      let source = ScriptedSource()
      let manager = CLLocationManager(port: LodestoneRuntime(source: source))
      let delegate = SilentDelegate()
      manager.delegate = delegate
      manager.startUpdatingLocation()
      manager.startUpdatingHeading()
      source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 0)))
      source.publish(.heading(degrees: 10))
      source.publish(.location(50, 13))
      turn { manager.location != nil }
      delegate.locationManagerDidPauseLocationUpdates(manager)
      delegate.locationManagerDidResumeLocationUpdates(manager)
      let mayPrompt = delegate.locationManagerShouldDisplayHeadingCalibration(manager)
      return mayPrompt ? -1 : manager.location?.coordinate.latitude
    }
    #expect(latitude == 50)
  }

  @Test(
    "D7 M6 M7: headings pass the filter, carry the field, and have no true north until it is known")
  func headings() async {
    let log = await onThread {
      let bench = Bench()
      bench.manager.startUpdatingHeading()
      for degrees in [30, 30.5, 31.5] {
        bench.source.publish(.heading(degrees: degrees))
        if degrees != 30.5 {
          let before = bench.spy.log.headings.count
          turn { bench.spy.log.headings.count > before || degrees == 30 && before == 1 }
        }
      }
      bench.source.publish(.heading(degrees: 31.5, declination: 4))
      turn { bench.spy.log.headings.count == 3 }
      bench.manager.headingFilter = kCLHeadingFilterNone
      bench.source.publish(.heading(degrees: 31.5, declination: 4))
      turn { bench.spy.log.headings.count == 4 }
      return bench.spy.log
    }
    let expected = [30, 31.5, 31.5, 31.5]
    #expect(log.headings.count == 4)
    for (heading, degrees) in zip(log.headings, expected) {
      #expect(abs(heading.magneticHeading - degrees) < 1e-9)
      #expect(abs(heading.headingAccuracy - 2) < 1e-9)
    }
    #expect(log.headings.map { $0.trueHeading < 0 } == [true, true, false, false])
    #expect(abs((log.headings.last?.trueHeading ?? 0) - 35.5) < 1e-9)
    #expect(log.headings.first.map { [$0.x, $0.y, $0.z] } == [1, 20, -43])
    #expect(log.wasCurrent == [true, true, true, true])
  }

  @Test("M6: an orientation that says nothing about the edges leaves the reference where it was")
  func orientations() async {
    let headings = await onThread {
      let bench = Bench()
      bench.manager.headingFilter = kCLHeadingFilterNone
      bench.manager.startUpdatingHeading()
      var seen: [Double] = []
      let all: [CLDeviceOrientation] = [
        .portrait, .landscapeLeft, .faceUp, .unknown, .landscapeRight, .faceDown,
        .portraitUpsideDown,
      ]
      for orientation in all {
        bench.manager.headingOrientation = orientation
        bench.source.publish(.heading(degrees: 30))
        turn { bench.spy.log.headings.count > seen.count }
        seen.append((bench.manager.heading?.magneticHeading ?? -1).rounded())
      }
      return seen
    }
    #expect(headings == [30, 120, 120, 120, 300, 300, 210])
  }

  @Test("M2: start and stop are idempotent, and the demand is set once a change")
  func idempotence() async {
    let result = await onThread {
      let bench = Bench()
      for _ in 0..<3 { bench.manager.startUpdatingHeading() }
      bench.source.publish(.heading(degrees: 30))
      turn { bench.spy.log.headings.count == 1 }
      for _ in 0..<3 { bench.manager.startUpdatingHeading() }
      for _ in 0..<3 { bench.manager.stopUpdatingHeading() }
      return (bench.spy.log.headings.count, bench.source.demands)
    }
    #expect(result.0 == 1)
    #expect(result.1 == [Demand(), Demand(heading: true), Demand()])
  }

  @Test("M2: after stop nothing that waited is delivered, also from within a delegate's method")
  func stopDiscards() async {
    let log = await onThread {
      let bench = Bench()
      bench.manager.startUpdatingHeading()
      bench.manager.startUpdatingLocation()
      bench.source.publish(.heading(degrees: 30))
      bench.manager.stopUpdatingHeading()
      bench.source.publish(.heading(degrees: 60))
      bench.settle()
      return bench.spy.log
    }
    #expect(log.headings.isEmpty)
    #expect(log.calls == ["authorization", "locations", "error"])
  }

  @Test("M1 M2: a manager that is released counts as stopped; what another uses stays on")
  func release() async {
    let demands = await onThread {
      let bench = Bench()
      bench.manager.startUpdatingLocation()
      do {
        let other = CLLocationManager(port: bench.runtime)
        other.startUpdatingLocation()
        other.startUpdatingHeading()
      }
      bench.manager.stopUpdatingLocation()
      return bench.source.demands
    }
    #expect(
      demands == [
        Demand(), Demand(location: true), Demand(heading: true, location: true),
        Demand(location: true), Demand(),
      ])
  }

  @Test("M1 M5: several managers each have their own filter")
  func severalManagers() async {
    let counts = await onThread {
      let bench = Bench()
      let other = CLLocationManager(port: bench.runtime)
      let otherSpy = Spy()
      other.delegate = otherSpy
      other.distanceFilter = 1_000
      other.startUpdatingLocation()
      bench.manager.startUpdatingLocation()
      // 0.001 degrees of latitude are 111 m; the eleventh is 1.1 km from the first.
      for step in 0...10 {
        bench.source.publish(.location(50 + Double(step) / 1_000, 13))
      }
      bench.source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 0)))
      turn { bench.spy.log.errors.count == 1 && otherSpy.log.errors.count == 1 }
      return (
        bench.spy.log.locations.reduce(0) { $0 + $1.count },
        otherSpy.log.locations.flatMap { $0.map(\.coordinate.latitude) }
      )
    }
    #expect(counts.0 == 11)
    #expect(counts.1 == [50, 50.009])
  }

  @Test("L: times are the receiver's where it says one, else the wall clock's at that moment")
  func times() async {
    let clocks = RuntimeClocks(
      now: { Timestamp(seconds: 100) }, wallTime: { 1_700_000_000 })
    let log = await onThread {
      let bench = Bench(clocks: clocks)
      bench.manager.startUpdatingLocation()
      bench.manager.startUpdatingHeading()
      bench.source.publish(.location(50, 13, at: 99, utc: 1_600_000_000.25, isSimulated: true))
      bench.source.publish(.location(51, 13, at: 98))
      bench.source.publish(.heading(degrees: 30, at: 99.5))
      turn { bench.spy.log.headings.count == 1 }
      return bench.spy.log
    }
    let locations = log.locations.flatMap { $0 }
    #expect(locations.map(\.timestamp.timeIntervalSince1970) == [1_600_000_000.25, 1_699_999_998])
    #expect(locations.map { $0.sourceInformation?.isSimulatedBySoftware } == [true, false])
    #expect(log.headings.map(\.timestamp.timeIntervalSince1970) == [1_699_999_999.5])
  }

  @Test("a heading that nothing follows is taken away after 2 s, and the delegate hears why")
  func headingExpires() async {
    let result = await onThread {
      let clock = AlarmClock()
      let bench = Bench(clocks: clock.clocks)
      bench.runtime.follow(clock.barrier)
      bench.manager.startUpdatingHeading()
      for step in 0...40 {
        clock.move(to: Double(step) / 20)
        bench.source.publish(.heading(degrees: 73.6, at: Double(step) / 20))
      }
      turn { bench.manager.heading != nil }
      clock.move(to: 3.9)
      bench.settle()
      let fresh = bench.manager.heading
      let errors = bench.spy.log.errors.count
      clock.move(to: 4.1)
      turn { bench.spy.log.errors.count > errors }
      let old = bench.manager.heading
      bench.source.publish(.heading(degrees: 120, at: 4.2))
      turn { bench.manager.heading != nil }
      return (fresh, old, bench.spy.log.errors.last, bench.manager.heading)
    }
    #expect(result.0.map { ($0.magneticHeading * 10).rounded() } == 736)
    #expect(result.1 == nil)
    #expect(result.2 == .headingFailure)
    #expect(result.3.map { $0.magneticHeading.rounded() } == 120)
  }

  @Test("a manager that has stopped keeps its last heading, whose time says how old it is")
  func headingAfterStop() async {
    let heading = await onThread {
      let clock = AlarmClock()
      let bench = Bench(clocks: clock.clocks)
      bench.runtime.follow(clock.barrier)
      bench.manager.startUpdatingHeading()
      bench.source.publish(.heading(degrees: 30, at: 0))
      turn { bench.manager.heading != nil }
      bench.manager.stopUpdatingHeading()
      clock.move(to: 60)
      bench.manager.startUpdatingLocation()
      bench.settle()
      return bench.manager.heading
    }
    #expect(heading.map { $0.magneticHeading.rounded() } == 30)
  }

  @Test("B4: locations of a suspended application arrive in one batch when it runs again")
  func suspension() async {
    let result = await onThread {
      let bench = Bench()
      bench.manager.startUpdatingLocation()
      bench.manager.startUpdatingHeading()
      bench.runtime.applicationState = .suspended
      for step in 0..<3 { bench.source.publish(.location(50 + Double(step), 13)) }
      bench.source.publish(.heading(degrees: 30))
      // The source is signalled: the loop turns, and must hand out nothing.
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
      let during = bench.spy.log.calls
      bench.runtime.applicationState = .foreground
      bench.source.publish(.heading(degrees: 40))
      turn { bench.spy.log.headings.count == 1 }
      return (during, bench.spy.log)
    }
    #expect(result.0 == ["authorization"])
    #expect(result.1.locations.map { $0.map(\.coordinate.latitude) } == [[50, 51, 52]])
    #expect(result.1.headings.map { $0.magneticHeading.rounded() } == [40])
  }
}
