import FacadeTestSupport
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

/// What an author gets wrong: a label, and a method in a subclass of the class that names the protocol.
private final class Misspelt: NSObject, CLLocationManagerDelegate {
  func locationManager(_ manager: CLLocationManager, didUpdateLocation locations: [CLLocation]) {}
  func locationManager(_ manager: CLLocationManager, didUpdateHeading heading: CLHeading?) {}
}

private class Base: NSObject, CLLocationManagerDelegate {}
private final class Derived: Base {
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {}
}

/// Wants to know of arrivals, and of nothing else.
private final class EntryOnly: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  private let state = Mutex(0)
  var entries: Int { state.withLock { $0 } }
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    state.withLock { $0 += 1 }
  }
}

/// Passes on what it hears, as wrappers do.
private final class Multicast: NSObject, CLLocationManagerDelegate {
  let listeners: [any CLLocationManagerDelegate] = [SilentDelegate(), SilentDelegate()]
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for listener in listeners { listener.locationManager(manager, didUpdateLocations: locations) }
  }
}

/// A runtime whose diagnostics are kept; belongs to one thread.
private final class Bench {
  let source = ScriptedSource()
  let runtime: LodestoneRuntime
  private let lines = Transcript<String>()
  private var now = 0.0

  init() {
    runtime = LodestoneRuntime(source: source)
    let lines = lines
    runtime.diagnosticHandler = { lines.add($0) }
  }

  var said: [String] { lines.elements }

  func manager(_ delegate: any CLLocationManagerDelegate) -> CLLocationManager {
    let manager = CLLocationManager(port: runtime)
    manager.delegate = delegate
    return manager
  }

  /// Positions at a latitude, for long enough to be believed.
  func go(_ latitude: Double) {
    for _ in 0..<2 {
      now += 30
      source.publish(.location(latitude, 13, at: now))
    }
  }

  /// Turns the loop until a spy has heard a heading that was published after everything else.
  func settle() {
    let spy = Spy()
    let manager = self.manager(spy)
    manager.startUpdatingHeading()
    source.publish(.heading(degrees: 10))
    turn { !spy.log.headings.isEmpty }
  }
}

private func expected(_ event: String, _ kind: String, _ declaration: String) -> String {
  "\(event), and \(kind) has no func locationManager(_ manager: CLLocationManager, \(declaration)): "
    + "is it misspelt, or not in the class that names the protocol?"
}

struct UnheardTests {
  @Test(
    "D1 D2 D7: what a delegate has started and does not hear is said once, with what was expected")
  func misspelt() async {
    let said = await onThread {
      let bench = Bench()
      let delegates: [any CLLocationManagerDelegate] = [Misspelt(), Misspelt(), Derived()]
      let managers = delegates.map { bench.manager($0) }
      for manager in managers { manager.startUpdatingHeading() }
      managers[0].startUpdatingLocation()
      for step in 0..<3 {
        bench.source.publish(.location(Double(step), 13))
        bench.source.publish(.heading(degrees: Double(step) * 20))
        bench.source.publish(.locationUnavailable(.noFix, at: Timestamp(seconds: 0)))
        bench.settle()
      }
      return withExtendedLifetime((delegates, managers)) { bench.said }
    }
    #expect(
      Set(said) == [
        expected("locations arrive", "Misspelt", "didUpdateLocations locations: [CLLocation]"),
        expected("an error arrives", "Misspelt", "didFailWithError error: any Error"),
        expected("a heading arrives", "Misspelt", "didUpdateHeading newHeading: CLHeading"),
        expected("a heading arrives", "Derived", "didUpdateHeading newHeading: CLHeading"),
      ])
    #expect(said.count == 4)
  }

  @Test(
    "D1 D4: a delegate that hears all, one of the old spelling, and one that passes on are left alone"
  )
  func heard() async {
    let said = await onThread {
      let bench = Bench()
      let delegates: (Spy, OldSpy, Multicast) = (Spy(), OldSpy(), Multicast())
      let managers: [CLLocationManager] = [
        bench.manager(delegates.0), bench.manager(delegates.1), bench.manager(delegates.2),
      ]
      for manager in managers { manager.startUpdatingLocation() }
      bench.source.publish(.location(1, 13))
      turn { managers.allSatisfy { $0.delivered != nil } }
      bench.settle()
      // Nobody has asked for these.
      let silent = SilentDelegate()
      let idle = bench.manager(silent)
      bench.source.publish(.location(2, 13))
      bench.settle()
      return withExtendedLifetime((idle, silent, delegates)) { bench.said }
    }
    #expect(said == [])
  }

  @Test(
    "D9 D10: of a crossing one method will do; who has none is told of, and so is an answer that goes nowhere"
  )
  func regions() async {
    let result = await onThread {
      let bench = Bench()
      let (entryOnly, silent) = (EntryOnly(), SilentDelegate())
      let one = bench.manager(entryOnly)
      let region = CLCircularRegion(
        center: CLLocationCoordinate2DMake(50, 13), radius: 100, identifier: "home")
      one.startMonitoring(for: region)
      for latitude in [51.0, 50, 51, 50] { bench.go(latitude) }
      turn { entryOnly.entries == 2 }
      bench.settle()
      let before = bench.said
      let two = bench.manager(silent)
      bench.go(51)
      two.requestState(for: region)
      bench.settle()
      return withExtendedLifetime((one, two, silent)) { (before, bench.said) }
    }
    #expect(result.0 == [])
    #expect(
      result.1 == [
        expected("a region is left", "SilentDelegate", "didExitRegion region: CLRegion"),
        expected(
          "the state of a region arrives", "SilentDelegate",
          "didDetermineState state: CLRegionState, for region: CLRegion"),
      ])
  }

  @Test("D3 D13 D14 D15: deferrals, beacons and visits that nobody hears of")
  func rare() async {
    let said = await onThread {
      let bench = Bench()
      let silent = SilentDelegate()
      let manager = bench.manager(silent)
      manager.allowDeferredLocationUpdates(untilTraveled: 1, timeout: 1)
      manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: UUID()))
      manager.startMonitoring(for: CLBeaconRegion(uuid: UUID(), identifier: "beacon"))
      manager.startMonitoringVisits()
      for minute in 0..<8 { bench.source.publish(.location(50, 13, at: Double(minute) * 60)) }
      bench.settle()
      return withExtendedLifetime((manager, silent)) { bench.said }
    }
    #expect(said.count == 4)
    for event in [
      "a deferral ends", "beacons cannot be ranged", "a region cannot be monitored",
      "a visit arrives",
    ] {
      #expect(said.contains { $0.hasPrefix("\(event), and SilentDelegate has no func ") })
    }
  }

  @Test("what is remembered as said has a limit")
  func limit() {
    let lines = Transcript<String>()
    let runtime = LodestoneRuntime(source: ScriptedSource())
    runtime.diagnosticHandler = { lines.add($0) }
    for step in 0..<2_000 { runtime.note("line \(step)") }
    #expect(lines.elements.count == 1_000)
  }
}
