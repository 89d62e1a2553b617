// What a location manager tells; every method is optional.

public import Foundation

/// Hears what a location manager has to tell, on the run loop of the thread that made the manager.
///
/// Every method has an implementation that does nothing (or that calls the older form of itself), which is
/// what "optional" is on Linux. So a misspelt method compiles and is never called, nor is one of a subclass where the
/// class that names the protocol has none. The first event that goes nowhere so is said, with the declaration that was
/// expected, by `LodestoneRuntime.shared.diagnosticHandler`: once for each method and class.
public protocol CLLocationManagerDelegate: NSObjectProtocol {
  /// New locations, at least one, the oldest first. `manager.location` is the newest already.
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])

  /// No location or heading at the moment (`CLError.locationUnknown`, `CLError.headingFailure`): the
  /// service keeps trying. Said once a loss. `CLError.denied`: the application may not have locations, or may not start
  /// them in the background; it should stop. After `requestLocation()` it is the answer: nothing is tried any more.
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)

  /// The board has not moved for a while, and `pausesLocationUpdatesAutomatically` is true: no locations come, and
  /// the receiver may rest, until it moves or `startUpdatingLocation()` is called again.
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager)

  /// Locations are about to come again.
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager)

  /// A new heading. `manager.heading` is it already.
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)

  /// Whether the calibration prompt may be shown; without an implementation it is not.
  ///
  /// Every manager is asked once: when heading is wanted and the magnetometer has no calibration record, and when
  /// the field has changed significantly and stays so for ten seconds. If any says `true` the one prompt is shown
  /// at once, by what `LodestoneRuntime.shared.calibrationPresenter` is set to, until a calibration is completed
  /// or `dismissHeadingCalibrationDisplay()`. A manager without a delegate is asked as soon as it has one, if the
  /// question still stands. Whatever is answered, headings have a negative accuracy as long as they are
  /// uncalibrated or disturbed.
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool

  /// The authorization: told once after the manager was made, and after every change of its status or accuracy. Of several
  /// changes that follow one another faster than they are told, the last alone is.
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)

  /// The older form of `locationManagerDidChangeAuthorization`: heard only by delegates that do not
  /// implement that one.
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)

  /// The older form of `didUpdateLocations`, deprecated long ago: heard only by delegates that do not
  /// implement that one, once a location. `oldLocation` is nil at the first.
  func locationManager(
    _ manager: CLLocationManager, didUpdateToLocation newLocation: CLLocation,
    fromLocation oldLocation: CLLocation?)

  /// Deferral has ended, for whatever reason; the error says why, `nil` where the distance or the time was reached.
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?)

  /// A region was entered, whichever manager has asked for it. Regions are told apart by their identifiers.
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)

  /// A region was left.
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion)

  /// On which side of its boundary the board is: at every crossing, and in answer to `requestState(for:)`.
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion)

  /// A region cannot be monitored, or not be kept for later runs; without a region: what earlier runs have kept cannot
  /// be read.
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error)

  /// A region is monitored from now on: told to the manager that has asked for it.
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion)

  /// Beacons that fit a constraint, once a second: the nearest first, those of unknown distance last. An empty array says
  /// that none is in range.
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint)

  /// Beacons cannot be ranged at the moment; said once a loss.
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error)

  /// The older form of `didRange:satisfying:`, for what was started with `startRangingBeacons(in:)`. Of what was started
  /// by a constraint it is heard only by delegates that do not implement the newer one, with a region that has the
  /// beacons' identifier for its own.
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion)

  /// The older form of `didFailRangingFor:error:`, as `didRangeBeacons:in:` is of the other.
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error)

  /// A stay at a place has begun, or is over: see `startMonitoringVisits()`.
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)

  // MARK: The spellings of 2014, and of macOS

  /// What macOS calls `didUpdateToLocation:fromLocation:`, and heard only by delegates that do not implement that one. At the
  /// first `oldLocation` is none: its accuracy is negative.
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation)

  /// The spelling of 2014 for `didChangeAuthorization:`; heard only by delegates that do not implement that one.
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorizationStatus status: CLAuthorizationStatus)

  /// The spelling of 2014 for `didDetermineState:for:`; heard only by delegates that do not implement that one.
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState,
    forRegion region: CLRegion)

  /// The spelling of 2014 for `monitoringDidFailFor:withError:`; heard only by delegates that do not implement that one.
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailForRegion region: CLRegion?,
    withError error: any Error)

  /// The spelling of 2014 for `didStartMonitoringFor:`; heard only by delegates that do not implement that one.
  func locationManager(
    _ manager: CLLocationManager, didStartMonitoringForRegion region: CLRegion)

  /// The spelling of 2014 for `didRangeBeacons:in:`; heard only by delegates that do not implement that one.
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon],
    inRegion region: CLBeaconRegion)

  /// The spelling of 2014 for `rangingBeaconsDidFailFor:withError:`; heard only by delegates that do not implement that
  /// one.
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailForRegion region: CLBeaconRegion,
    withError error: any Error)
}

extension CLLocationManagerDelegate {
  /// Calls the older form, once for each location.
  public func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) {
    manager.replay(locations) { new, old in
      self.locationManager(manager, didUpdateToLocation: new, fromLocation: old)
    }
  }

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    manager.isMissing(.failure, of: self)
  }

  /// Does nothing.
  public func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {}

  /// Does nothing.
  public func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {}

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)
  {
    manager.isMissing(.heading, of: self)
  }

  /// No prompt.
  public func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    false
  }

  /// Calls the older form, unless it is the accuracy alone that has changed.
  public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    let status = manager.authorizationStatus
    guard manager.isStatusNews(status) else { return }
    locationManager(manager, didChangeAuthorization: status)
  }

  /// Calls the spelling of 2014.
  public func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) { locationManager(manager, didChangeAuthorizationStatus: status) }

  /// Calls macOS's spelling.
  public func locationManager(
    _ manager: CLLocationManager, didUpdateToLocation newLocation: CLLocation,
    fromLocation oldLocation: CLLocation?
  ) { locationManager(manager, didUpdateTo: newLocation, from: oldLocation ?? CLLocation()) }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) {
    manager.isMissing(.deferral, of: self)
  }

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    manager.isMissing(.entry, of: self)
  }

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    manager.isMissing(.exit, of: self)
  }

  /// Calls the spelling of 2014.
  public func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { locationManager(manager, didDetermineState: state, forRegion: region) }

  /// Calls the spelling of 2014.
  public func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error
  ) { locationManager(manager, monitoringDidFailForRegion: region, withError: error) }

  /// Calls the spelling of 2014.
  public func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion)
  {
    locationManager(manager, didStartMonitoringForRegion: region)
  }

  /// Calls the older form.
  public func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    locationManager(manager, didRangeBeacons: beacons, in: CLBeaconRegion(beaconConstraint))
  }

  /// Calls the older form.
  public func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    locationManager(
      manager, rangingBeaconsDidFailFor: CLBeaconRegion(beaconConstraint), withError: error)
  }

  /// Calls the spelling of 2014.
  public func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { locationManager(manager, didRangeBeacons: beacons, inRegion: region) }

  /// Calls the spelling of 2014.
  public func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) { locationManager(manager, rangingBeaconsDidFailForRegion: region, withError: error) }

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    manager.isMissing(.visit, of: self)
  }
}
