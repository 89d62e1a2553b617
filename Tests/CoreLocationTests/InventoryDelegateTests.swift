import CoreLocation
import FacadeTestSupport
import Lodestone
import SensorBus
import SensorTypes
import Synchronization
import Testing

// The inventory of Core Location, the delegate: every method is called in each of its spellings. The compiler would take a method
// that is not the protocol's for one of the class's own, and nobody would call it.

/// What a delegate of today implements.
private final class Modern: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  private let state = Mutex<[String]>([])

  var calls: [String] { state.withLock { $0 } }

  private func note(_ name: String = #function) { state.withLock { $0.append(name) } }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    note()
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) { note() }
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) { note() }
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) { note() }
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    note()
  }
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    note()
    return true
  }
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) { note() }
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) { note() }
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) { note() }
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { note() }
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) { note() }
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { note() }
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { note() }
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    note()
  }
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { note() }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) { note() }
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { note() }
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) { note() }
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) { note() }
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

/// Calls each method of a delegate as code does that stands in for a manager, and knows that the SDK's methods are optional.
private func callAll(_ delegate: (any CLLocationManagerDelegate)?, from manager: CLLocationManager)
{
  let place = CLLocation(latitude: 50, longitude: 13)
  let region = CLRegion()
  let beacons = CLBeaconRegion(uuid: UUID(), identifier: "shop")
  let constraint = beacons.beaconIdentityConstraint
  let error = CLError(.denied)
  delegate?.locationManager?(manager, didUpdateLocations: [place])
  delegate?.locationManager?(manager, didFailWithError: error)
  delegate?.locationManager?(manager, didUpdateHeading: CLHeading())
  delegate?.locationManager?(manager, didChangeAuthorization: .denied)
  delegate?.locationManager?(manager, didFinishDeferredUpdatesWithError: nil)
  delegate?.locationManager?(manager, didEnterRegion: region)
  delegate?.locationManager?(manager, didExitRegion: region)
  delegate?.locationManager?(manager, didDetermineState: .inside, for: region)
  delegate?.locationManager?(manager, monitoringDidFailFor: nil, withError: error)
  delegate?.locationManager?(manager, didStartMonitoringFor: region)
  delegate?.locationManager?(manager, didRange: [], satisfying: constraint)
  delegate?.locationManager?(manager, didFailRangingFor: constraint, error: error)
  delegate?.locationManager?(manager, didRangeBeacons: [], in: beacons)
  delegate?.locationManager?(manager, rangingBeaconsDidFailFor: beacons, withError: error)
  delegate?.locationManager?(manager, didVisit: CLVisit())
  delegate?.locationManagerDidPauseLocationUpdates?(manager)
  delegate?.locationManagerDidResumeLocationUpdates?(manager)
  _ = delegate?.locationManagerShouldDisplayHeadingCalibration?(manager)
  delegate?.locationManagerDidChangeAuthorization?(manager)
  delegate?.locationManager?(manager, didUpdateTo: place, from: place)
  delegate?.locationManager?(manager, didUpdateToLocation: place, fromLocation: nil)
  delegate?.locationManager?(manager, didChangeAuthorizationStatus: .denied)
  delegate?.locationManager?(manager, didDetermineState: .inside, forRegion: region)
  delegate?.locationManager?(manager, monitoringDidFailForRegion: nil, withError: error)
  delegate?.locationManager?(manager, didStartMonitoringForRegion: region)
  delegate?.locationManager?(manager, didRangeBeacons: [], inRegion: beacons)
  delegate?.locationManager?(manager, rangingBeaconsDidFailForRegion: beacons, withError: error)
}

/// A delegate that has a manager under the name that its methods have, as much code does, and calls itself.
private final class Namesake: NSObject, CLLocationManagerDelegate {
  let locationManager: CLLocationManager
  var places = 0

  init(_ manager: CLLocationManager) { locationManager = manager }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    places += manager === locationManager ? locations.count : 0
  }

  func call() {
    locationManager(locationManager, didUpdateLocations: [CLLocation(latitude: 1, longitude: 2)])
    self.locationManager(locationManager, didUpdateLocations: [])
  }
}

private protocol OldRanging {
  func startRangingBeacons(in region: CLBeaconRegion)
}
extension CLLocationManager: OldRanging {}

struct InventoryDelegateTests {
  @Test("inventory: the extension that pushes would wake may leave out how it ends")
  func extensions() {
    var isDone = false
    let woken: any CLLocationPushServiceExtension = Extension()
    woken.didReceiveLocationPushPayload([:]) { isDone = true }
    woken.serviceExtensionWillTerminate()
    #expect(isDone)
  }

  @Test("D: a question mark before a delegate's method calls it, whichever it is")
  func questionMark() async {
    let (modern, documented, mac, places) = await onThread {
      let manager = CLLocationManager(port: quiet())
      let (modern, documented, mac) = (Modern(), Documented(), Mac())
      callAll(modern, from: manager)
      callAll(documented, from: manager)
      callAll(mac, from: manager)
      callAll(nil, from: manager)
      callAll(SilentDelegate(), from: manager)
      let namesake = Namesake(manager)
      namesake.call()
      (namesake as any CLLocationManagerDelegate).locationManager?(
        manager, didUpdateLocations: [CLLocation(), CLLocation()])
      return (modern.calls, documented.calls, mac.calls, namesake.places)
    }
    // What a delegate of today has not, comes to its own method of the same meaning, or to nothing.
    #expect(
      modern.prefix(19) == [
        "locationManager(_:didUpdateLocations:)", "locationManager(_:didFailWithError:)",
        "locationManager(_:didUpdateHeading:)", "locationManager(_:didChangeAuthorization:)",
        "locationManager(_:didFinishDeferredUpdatesWithError:)",
        "locationManager(_:didEnterRegion:)", "locationManager(_:didExitRegion:)",
        "locationManager(_:didDetermineState:for:)",
        "locationManager(_:monitoringDidFailFor:withError:)",
        "locationManager(_:didStartMonitoringFor:)", "locationManager(_:didRange:satisfying:)",
        "locationManager(_:didFailRangingFor:error:)", "locationManager(_:didRangeBeacons:in:)",
        "locationManager(_:rangingBeaconsDidFailFor:withError:)", "locationManager(_:didVisit:)",
        "locationManagerDidPauseLocationUpdates(_:)",
        "locationManagerDidResumeLocationUpdates(_:)",
        "locationManagerShouldDisplayHeadingCalibration(_:)",
        "locationManagerDidChangeAuthorization(_:)",
      ])
    for call in ["location 50.0", "status 2", "state 1 ", "failed - 1", "started "] {
      #expect(documented.contains(call))
    }
    #expect(documented.contains { $0.hasPrefix("range shop") })
    #expect(documented.contains { $0.hasPrefix("no range shop") })
    #expect(mac.contains("50.0 50.0"))
    #expect(places == 3)
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
      runtime.follow(clock.barrier)
      let said = Transcript<String>()
      runtime.diagnosticHandler = { said.add($0) }
      runtime.install(beacons: radio)
      let manager = CLLocationManager(port: runtime)
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
      let manager = CLLocationManager(port: LodestoneRuntime(source: source))
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
