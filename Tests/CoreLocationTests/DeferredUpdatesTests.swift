import FacadeTestSupport
import LocationServices
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

/// Notes batches of locations and ends of deferrals, and asks again as programs of the time did.
private final class DeferralSpy: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  private let state = Mutex<(calls: [String], isDeferring: Bool)>(([], false))
  private let asksAgain: Bool

  init(asksAgain: Bool = false) { self.asksAgain = asksAgain }

  var calls: [String] { state.withLock { $0.calls } }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    let asks = state.withLock { state in
      state.calls.append("\(locations.map { Int($0.coordinate.latitude) })")
      defer { if asksAgain { state.isDeferring = true } }
      return asksAgain && !state.isDeferring
    }
    if asks { manager.allowDeferredLocationUpdates(untilTraveled: 500_000, timeout: 60) }
  }

  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) {
    state.withLock { state in
      state.calls.append((error as? CLError).map { "\($0.code)" } ?? "done")
      state.isDeferring = false
    }
  }
}

/// A manager, its spy, its board and its clock; belongs to one thread.
private final class DeferralBench {
  let time = ManualTime()
  let source = ScriptedSource()
  let runtime: LodestoneRuntime
  let manager: CLLocationManager
  let spy: DeferralSpy

  init(asksAgain: Bool = false) {
    runtime = LodestoneRuntime(source: source, clocks: time.clocks)
    runtime.follow(time.barrier)
    manager = CLLocationManager(port: runtime)
    spy = DeferralSpy(asksAgain: asksAgain)
    manager.delegate = spy
  }

  func fix(_ latitude: Double, at seconds: Double) {
    time.advance(to: seconds)
    source.publish(.location(latitude, 13, at: seconds))
  }

  func hears(_ count: Int) { turn { spy.calls.count >= count } }
}

struct DeferredUpdatesTests {
  @Test(
    "M15 D3 D1: a batch, then its end, and what comes afterwards by itself; asked again each time")
  func rounds() async {
    let calls = await onThread {
      let bench = DeferralBench(asksAgain: true)
      bench.manager.startUpdatingLocation()
      bench.fix(10, at: 1_001)
      bench.hears(1)
      // Five degrees are 553 km.
      for step in 11...15 { bench.fix(Double(step), at: 990 + Double(step) + 1) }
      bench.hears(3)
      bench.fix(16, at: 1_010)
      bench.hears(4)
      bench.fix(17, at: 1_020)
      bench.time.advance(to: 1_070)
      bench.hears(6)
      return bench.spy.calls
    }
    #expect(calls == ["[10]", "[11, 12, 13, 14, 15]", "done", "[16]", "[17]", "done"])
  }

  @Test("M15 D3: the errors of a deferral are the SDK's")
  func errors() async {
    let calls = await onThread {
      let bench = DeferralBench()
      let manager = bench.manager
      func allow() { manager.allowDeferredLocationUpdates(untilTraveled: 100, timeout: 60) }
      allow()
      manager.startUpdatingLocation()
      manager.desiredAccuracy = kCLLocationAccuracyHundredMeters
      allow()
      manager.desiredAccuracy = kCLLocationAccuracyBestForNavigation
      manager.distanceFilter = 10
      allow()
      manager.distanceFilter = kCLDistanceFilterNone
      allow()
      allow()
      manager.disallowDeferredLocationUpdates()
      manager.disallowDeferredLocationUpdates()
      manager.allowDeferredLocationUpdates(untilTraveled: .nan, timeout: 60)
      bench.hears(6)
      return bench.spy.calls
    }
    #expect(
      calls == [
        "deferredNotUpdatingLocation", "deferredAccuracyTooLow", "deferredDistanceFiltered",
        "deferredCanceled", "deferredCanceled", "deferredFailed",
      ])
  }

  @Test("M15 D3 M2: a stop takes what waits, also where it was on its way; the end is told")
  func stop() async {
    let calls = await onThread {
      let bench = DeferralBench()
      bench.manager.startUpdatingLocation()
      bench.manager.allowDeferredLocationUpdates(untilTraveled: 1_000_000, timeout: 60)
      bench.fix(10, at: 1_001)
      bench.manager.disallowDeferredLocationUpdates()
      bench.manager.stopUpdatingLocation()
      bench.manager.startUpdatingLocation()
      bench.manager.allowDeferredLocationUpdates(untilTraveled: 1_000_000, timeout: 60)
      bench.fix(11, at: 1_002)
      bench.manager.stopUpdatingLocation()
      bench.hears(2)
      return bench.spy.calls
    }
    #expect(calls == ["deferredCanceled", "deferredCanceled"])
  }

  @Test("M15 B4: what was deferred while the application was suspended comes when it runs again")
  func suspension() async {
    let calls = await onThread {
      let bench = DeferralBench()
      bench.manager.startUpdatingLocation()
      bench.manager.allowDeferredLocationUpdates(
        untilTraveled: .greatestFiniteMagnitude, timeout: 60)
      bench.runtime.applicationState = .suspended
      for step in 1...5 { bench.fix(Double(step), at: 1_000 + Double(step)) }
      bench.time.advance(to: 1_061)
      bench.fix(6, at: 1_062)
      _ = RunLoop.current.run(mode: .default, before: Date())
      let before = bench.spy.calls
      bench.runtime.applicationState = .foreground
      bench.hears(3)
      return before + bench.spy.calls
    }
    #expect(calls == ["[1, 2, 3, 4, 5]", "done", "[6]"])
  }
}
