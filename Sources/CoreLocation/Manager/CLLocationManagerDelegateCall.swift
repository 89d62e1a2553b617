// Calls of a delegate that ask first whether the method is there.

/// What `delegate.locationManager?(manager, didUpdateLocations: locations)` calls, as code has it that stands in for a manager.
///
/// In the SDK the methods are optional, so that such code has to write the question mark, and Swift on Linux knows no optional
/// methods: with this it compiles. Every method is there; where the delegate does not implement one, what the call comes to is
/// nothing, or the older form of the method.
public struct CLLocationManagerDelegateCall {
  let delegate: any CLLocationManagerDelegate

  /// Calls `locationManager(_:didUpdateLocations:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) { delegate.locationManager(manager, didUpdateLocations: locations) }

  /// Calls `locationManager(_:didFailWithError:)`.
  public func callAsFunction(_ manager: CLLocationManager, didFailWithError error: any Error) {
    delegate.locationManager(manager, didFailWithError: error)
  }

  /// Calls `locationManager(_:didUpdateHeading:)`.
  public func callAsFunction(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    delegate.locationManager(manager, didUpdateHeading: newHeading)
  }

  /// Calls `locationManager(_:didChangeAuthorization:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) { delegate.locationManager(manager, didChangeAuthorization: status) }

  /// Calls `locationManager(_:didUpdateToLocation:fromLocation:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didUpdateToLocation newLocation: CLLocation,
    fromLocation oldLocation: CLLocation?
  ) {
    delegate.locationManager(manager, didUpdateToLocation: newLocation, fromLocation: oldLocation)
  }

  /// Calls `locationManager(_:didFinishDeferredUpdatesWithError:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) { delegate.locationManager(manager, didFinishDeferredUpdatesWithError: error) }

  /// Calls `locationManager(_:didEnterRegion:)`.
  public func callAsFunction(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    delegate.locationManager(manager, didEnterRegion: region)
  }

  /// Calls `locationManager(_:didExitRegion:)`.
  public func callAsFunction(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    delegate.locationManager(manager, didExitRegion: region)
  }

  /// Calls `locationManager(_:didDetermineState:for:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { delegate.locationManager(manager, didDetermineState: state, for: region) }

  /// Calls `locationManager(_:monitoringDidFailFor:withError:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { delegate.locationManager(manager, monitoringDidFailFor: region, withError: error) }

  /// Calls `locationManager(_:didStartMonitoringFor:)`.
  public func callAsFunction(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    delegate.locationManager(manager, didStartMonitoringFor: region)
  }

  /// Calls `locationManager(_:didRange:satisfying:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { delegate.locationManager(manager, didRange: beacons, satisfying: beaconConstraint) }

  /// Calls `locationManager(_:didFailRangingFor:error:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) { delegate.locationManager(manager, didFailRangingFor: beaconConstraint, error: error) }

  /// Calls `locationManager(_:didRangeBeacons:in:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { delegate.locationManager(manager, didRangeBeacons: beacons, in: region) }

  /// Calls `locationManager(_:rangingBeaconsDidFailFor:withError:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) { delegate.locationManager(manager, rangingBeaconsDidFailFor: region, withError: error) }

  /// Calls `locationManager(_:didVisit:)`.
  public func callAsFunction(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    delegate.locationManager(manager, didVisit: visit)
  }

  /// Calls `locationManager(_:didUpdateTo:from:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) { delegate.locationManager(manager, didUpdateTo: newLocation, from: oldLocation) }

  /// Calls `locationManager(_:didChangeAuthorizationStatus:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didChangeAuthorizationStatus status: CLAuthorizationStatus
  ) { delegate.locationManager(manager, didChangeAuthorizationStatus: status) }

  /// Calls `locationManager(_:didDetermineState:forRegion:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, forRegion region: CLRegion
  ) { delegate.locationManager(manager, didDetermineState: state, forRegion: region) }

  /// Calls `locationManager(_:monitoringDidFailForRegion:withError:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, monitoringDidFailForRegion region: CLRegion?,
    withError error: any Error
  ) { delegate.locationManager(manager, monitoringDidFailForRegion: region, withError: error) }

  /// Calls `locationManager(_:didStartMonitoringForRegion:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didStartMonitoringForRegion region: CLRegion
  ) { delegate.locationManager(manager, didStartMonitoringForRegion: region) }

  /// Calls `locationManager(_:didRangeBeacons:inRegion:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon],
    inRegion region: CLBeaconRegion
  ) { delegate.locationManager(manager, didRangeBeacons: beacons, inRegion: region) }

  /// Calls `locationManager(_:rangingBeaconsDidFailForRegion:withError:)`.
  public func callAsFunction(
    _ manager: CLLocationManager, rangingBeaconsDidFailForRegion region: CLBeaconRegion,
    withError error: any Error
  ) { delegate.locationManager(manager, rangingBeaconsDidFailForRegion: region, withError: error) }
}

extension CLLocationManagerDelegate {
  /// Calls the method whose labels follow; never `nil`. A delegate's own property of this name hides it.
  public var locationManager: CLLocationManagerDelegateCall? {
    CLLocationManagerDelegateCall(delegate: self)
  }

  /// Calls the method; never `nil`.
  public var locationManagerDidPauseLocationUpdates: ((CLLocationManager) -> Void)? {
    { self.locationManagerDidPauseLocationUpdates($0) }
  }

  /// Calls the method; never `nil`.
  public var locationManagerDidResumeLocationUpdates: ((CLLocationManager) -> Void)? {
    { self.locationManagerDidResumeLocationUpdates($0) }
  }

  /// Calls the method; never `nil`.
  public var locationManagerShouldDisplayHeadingCalibration: ((CLLocationManager) -> Bool)? {
    { self.locationManagerShouldDisplayHeadingCalibration($0) }
  }

  /// Calls the method; never `nil`.
  public var locationManagerDidChangeAuthorization: ((CLLocationManager) -> Void)? {
    { self.locationManagerDidChangeAuthorization($0) }
  }
}
