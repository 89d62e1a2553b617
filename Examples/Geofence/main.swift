// Says when the board leaves the circle around where it was at first, and ends. Without hardware:
// LODESTONE_BOARD=Examples/walk.yaml swift run -c release geofence 50

import CoreLocation

final class Geofence: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private let radius: Double

  init(radius: Double) { self.radius = radius }

  func start() {
    manager.delegate = self
    manager.requestLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    guard let here = locations.last else { return }
    manager.startMonitoring(
      for: CLCircularRegion(center: here.coordinate, radius: radius, identifier: "here"))
  }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    print("watching \(Int(radius)) m around here")
    manager.requestState(for: region)
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    // Not yet known is no side: a boundary is believed after twenty seconds.
    print("now", ["not known yet", "inside", "outside"][state.rawValue])
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    print("left")
    // A region outlives the program: the next run would go on with it.
    manager.stopMonitoring(for: region)
    exit(0)
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error
  ) {
    print("not watched:", error.localizedDescription)
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    print("no position:", error.localizedDescription)
  }
}

let geofence = Geofence(radius: CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 50)
geofence.start()
RunLoop.main.run()
