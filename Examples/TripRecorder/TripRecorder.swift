// A class as an application for a phone has it: nothing in it knows of a board. How it came here is told by the article
// "Port an iOS class in five minutes" in Sources/CoreLocation/CoreLocation.docc, which shows these lines.

import Combine
import CoreLocation

/// How far a trip has gone, how fast it goes, and where the nose points.
final class TripRecorder: NSObject, ObservableObject, CLLocationManagerDelegate {
  @Published private(set) var distance: CLLocationDistance = 0
  @Published private(set) var speed: CLLocationSpeed?
  @Published private(set) var heading: CLLocationDirection?
  @Published private(set) var problem: String?

  private let manager = CLLocationManager()
  private var last: CLLocation?

  func start() {
    manager.delegate = self
    manager.activityType = .fitness
    manager.desiredAccuracy = kCLLocationAccuracyBest
    manager.headingFilter = 5
    manager.requestWhenInUseAuthorization()
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    switch manager.authorizationStatus {
    case .authorizedAlways, .authorizedWhenInUse:
      manager.startUpdatingLocation()
      if CLLocationManager.headingAvailable() { manager.startUpdatingHeading() }
    case .denied, .restricted:
      problem = "Locations are not allowed."
    default:
      break
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations where location.horizontalAccuracy >= 0 {
      if let last {
        let step = location.distance(from: last)
        // What the accuracy explains is no way.
        guard step > location.horizontalAccuracy else { continue }
        distance += step
      }
      last = location
      speed = location.speed >= 0 ? location.speed : nil
      problem = nil
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    guard newHeading.headingAccuracy >= 0 else {
      heading = nil
      return
    }
    heading = newHeading.trueHeading >= 0 ? newHeading.trueHeading : newHeading.magneticHeading
  }

  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool { true }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    problem = error.localizedDescription
    if (error as? CLError)?.code == .denied { manager.stopUpdatingLocation() }
  }
}
