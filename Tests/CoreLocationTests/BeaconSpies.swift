import CoreLocation
import Synchronization

/// Notes what it is told of beacons.
class BeaconSpy: NSObject, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  struct Log: Sendable {
    var calls: [String] = []
    var beacons: [[CLBeacon]] = []
  }

  private let state = Mutex(Log())
  var log: Log { state.withLock { $0 } }
  var calls: [String] { log.calls }

  func note(_ text: String, _ beacons: [CLBeacon]? = nil) {
    state.withLock { log in
      log.calls.append(text)
      if let beacons { log.beacons.append(beacons) }
    }
  }

  func text(_ beacons: [CLBeacon]) -> String {
    beacons.map { "\($0.minor)" }.joined(separator: ",")
  }

  func code(_ error: any Error) -> Int { (error as? CLError)?.errorCode ?? -1 }
}

/// A delegate of today, which hears of regions too.
final class NewSpy: BeaconSpy, CLLocationManagerDelegate, @unchecked Sendable {
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { note("range \(text(beacons))", beacons) }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) { note("fail \(code(error)) \(error.localizedDescription)") }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    note("entered \(region.identifier)")
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    note("left \(region.identifier)")
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { note("state \(state.rawValue) \(region.identifier)") }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    note("started \(region.identifier)")
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { note("failed \(code(error)) \(region?.identifier ?? "-")") }
}

/// A delegate of 2014.
final class OldBeaconSpy: BeaconSpy, CLLocationManagerDelegate, @unchecked Sendable {
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { note("\(region.identifier) \(text(beacons))", beacons) }

  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) { note("\(region.identifier) failed \(code(error))") }
}
