import CoreLocation
import FacadeTestSupport
import Lodestone
import SensorBus
import SensorTypes
import Synchronization
import Testing

// The inventory of Core Location, the delegate: every method in each of its spellings. Only the compiler sees the first two
// classes: a method that is not the protocol's would not override the one that the protocol stands for.

/// What a delegate of today implements.
private final class Modern: NSObject, CLLocationManagerDelegate {
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {}
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {}
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {}
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool { true }
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) {}
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) {}
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {}
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {}
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {}
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {}
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {}
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {}
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {}
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) {}
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) {}
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {}
}

/// The extension that pushes would wake.
private final class Extension: NSObject, CLLocationPushServiceExtension {
  func didReceiveLocationPushPayload(
    _ payload: [String: Any], completion: @escaping () -> Void
  ) { completion() }
}

/// A delegate with the spellings that the pages of 2014 declare.
private final class Documented: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  private let state = Mutex<[String]>([])

  var calls: [String] { state.withLock { $0 } }

  private func note(_ text: String) { state.withLock { $0.append(text) } }

  private func code(_ error: any Error) -> Int { (error as? CLError)?.errorCode ?? -1 }

  func locationManager(
    _ manager: CLLocationManager, didUpdateToLocation newLocation: CLLocation,
    fromLocation oldLocation: CLLocation?
  ) { note("location \(newLocation.coordinate.latitude)") }

  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorizationStatus status: CLAuthorizationStatus
  ) { note("status \(status.rawValue)") }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, forRegion region: CLRegion
  ) { note("state \(state.rawValue) \(region.identifier)") }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailForRegion region: CLRegion?,
    withError error: any Error
  ) { note("failed \(region?.identifier ?? "-") \(code(error))") }

  func locationManager(
    _ manager: CLLocationManager, didStartMonitoringForRegion region: CLRegion
  ) { note("started \(region.identifier)") }

  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon],
    inRegion region: CLBeaconRegion
  ) { note("range \(region.identifier) \(beacons.map(\.minor))") }

  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailForRegion region: CLBeaconRegion,
    withError error: any Error
  ) { note("no range \(region.identifier) \(code(error))") }
}

/// A delegate with the spelling that macOS has for what came before `didUpdateLocations`.
private final class Mac: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  private let state = Mutex<[String]>([])

  var calls: [String] { state.withLock { $0 } }

  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) {
    let old = oldLocation.horizontalAccuracy < 0 ? "none" : "\(oldLocation.coordinate.latitude)"
    state.withLock { $0.append("\(newLocation.coordinate.latitude) \(old)") }
  }
}

private protocol OldRanging {
  func startRangingBeacons(in region: CLBeaconRegion)
}
extension CLLocationManager: OldRanging {}

struct InventoryDelegateTests {
  @Test("inventory: a delegate may have every method, and every one of its spellings, or none")
  func methods() {
    let delegates: [any CLLocationManagerDelegate] = [
      Modern(), Documented(), Mac(), SilentDelegate(), OldSpy(),
    ]
    #expect(delegates.count == 5)
    var isDone = false
    let woken: any CLLocationPushServiceExtension = Extension()
    woken.didReceiveLocationPushPayload([:]) { isDone = true }
    woken.serviceExtensionWillTerminate()
    #expect(isDone)
  }

  @Test("D9-D16: a delegate with the spellings of 2014 hears what one of today does")
  func documented() async throws {
    // That of the scripted beacons.
    let uuid = try #require(UUID(uuidString: "92AB49BE-4127-42F4-B532-90FAF1E26491"))
    let (calls, said) = await onThread {
      let clock = AlarmClock()
      let source = ScriptedSource()
      let radio = ScriptedBeacons()
      let runtime = LodestoneRuntime(source: source, clocks: clock.clocks)
      let said = Transcript<String>()
      runtime.diagnosticHandler = { said.add($0) }
      runtime.install(beacons: radio)
      let manager = CLLocationManager(runtime: runtime)
      let spy = Documented()
      manager.delegate = spy
      turn { spy.calls.count >= 1 }
      let center = CLLocationCoordinate2DMake(50, 13)
      manager.startMonitoring(
        for: CLCircularRegion(center: center, radius: 100, identifier: "home"))
      manager.startMonitoring(
        for: CLCircularRegion(center: center, radius: 0, identifier: "point"))
      turn { spy.calls.count >= 3 }
      for second in [30.0, 60, 90, 120] {
        source.publish(.location(second > 60 ? 50 : 51, 13, at: second))
      }
      turn { spy.calls.count >= 4 }
      let region = CLBeaconRegion(uuid: uuid, identifier: "shop")
      (manager as any OldRanging).startRangingBeacons(in: region)
      radio.say(.listening(clock.now))
      radio.hear(major: 1, minor: 7, strength: -60, at: clock.now.seconds)
      clock.move(to: 1)
      turn { spy.calls.count >= 5 }
      radio.say(.failed(.failed("gone"), clock.now))
      turn { spy.calls.count >= 6 }
      return (spy.calls, said.elements)
    }
    #expect(calls.first == "status 3")
    #expect(Set(calls[1...2]) == ["started home", "failed point 5"])
    #expect(calls[3...] == ["state 1 home", "range shop [7]", "no range shop 17"])
    #expect(said.isEmpty)
  }

  @Test("D4: a delegate with the spelling of macOS hears each location, the first after none")
  func mac() async {
    let calls = await onThread {
      let source = ScriptedSource()
      let manager = CLLocationManager(runtime: LodestoneRuntime(source: source))
      let spy = Mac()
      manager.delegate = spy
      manager.startUpdatingLocation()
      source.publish(.location(50, 13, at: 1))
      source.publish(.location(51, 13, at: 2))
      turn { spy.calls.count >= 2 }
      return spy.calls
    }
    #expect(calls == ["50.0 none", "51.0 50.0"])
  }
}
