// The oldest spellings of what a delegate hears: who has none of the newer ones and none of these hears nothing.

import Foundation

extension CLLocationManagerDelegate {
  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) {
    manager.isMissing(.locations, of: self)
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didChangeAuthorizationStatus status: CLAuthorizationStatus
  ) {}

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, forRegion region: CLRegion
  ) {
    manager.isMissing(.regionState, of: self)
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, monitoringDidFailForRegion region: CLRegion?,
    withError error: any Error
  ) {
    manager.isMissing(.regionFailure, of: self)
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didStartMonitoringForRegion region: CLRegion
  ) {}

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon],
    inRegion region: CLBeaconRegion
  ) {
    manager.isMissing(.ranging, of: self)
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailForRegion region: CLBeaconRegion,
    withError error: any Error
  ) {
    manager.isMissing(.rangingFailure, of: self)
  }
}
