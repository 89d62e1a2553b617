// Beacons as a program of CoreLocation hears them: for the rig below Tests/Hardware/uml.
//
// beacon-listener UUID SECONDS: prints a line for each that is ranged, for entering and leaving the region of that UUID, and
// for what fails.

import CoreLocation
import Foundation

final class BeaconDelegate: NSObject, CLLocationManagerDelegate {
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    if beacons.isEmpty { say("nobody") }
    for beacon in beacons {
      let distance = String(format: "%.2f", beacon.accuracy)
      say("beacon \(beacon.major) \(beacon.minor) \(beacon.rssi) \(distance)")
    }
  }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) { say("failed \(error.localizedDescription)") }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    say("entered \(region.identifier)")
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    say("left \(region.identifier)")
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    say(
      "\(state == .inside ? "inside" : state == .outside ? "outside" : "unknown") \(region.identifier)"
    )
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { say("unwatched \(error.localizedDescription)") }

  private func say(_ line: String) {
    print(line)
    fflush(nil)
  }
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let uuid = UUID(uuidString: arguments[1]),
  let seconds = Double(arguments[2])
else {
  print("usage: beacon-listener UUID SECONDS")
  exit(64)
}
let (manager, listener) = (CLLocationManager(), BeaconDelegate())
manager.delegate = listener
print("available \(CLLocationManager.isRangingAvailable())")
fflush(nil)
manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
manager.startMonitoring(for: CLBeaconRegion(uuid: uuid, identifier: "boat"))
RunLoop.main.run(until: Date(timeIntervalSinceNow: seconds))
