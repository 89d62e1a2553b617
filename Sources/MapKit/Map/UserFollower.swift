// Where the board is, for a map that shows or follows it.

import CoreLocation

/// Asks the location services for what a map needs, and hands it on.
final class UserFollower: NSObject, CLLocationManagerDelegate {
  private let manager: CLLocationManager
  private weak var map: MKMapView?
  private var isLocating = false
  private var isTurning = false

  init(_ map: MKMapView, manager: CLLocationManager) {
    self.map = map
    self.manager = manager
    super.init()
    manager.desiredAccuracy = kCLLocationAccuracyBest
    manager.headingFilter = kCLHeadingFilterNone
    // A map that is looked at wants to know that the board has stood still.
    manager.pausesLocationUpdatesAutomatically = false
    manager.delegate = self
  }

  /// Starts and stops what is wanted.
  func want(location: Bool, heading: Bool) {
    if location != isLocating {
      isLocating = location
      location ? manager.startUpdatingLocation() : manager.stopUpdatingLocation()
    }
    if heading != isTurning {
      isTurning = heading
      heading ? manager.startUpdatingHeading() : manager.stopUpdatingHeading()
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    guard isLocating, let newest = locations.last else { return }
    map?.userIs(at: newest)
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    guard isTurning else { return }
    map?.userPoints(newHeading)
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    map?.userIsLost(error)
  }
}
