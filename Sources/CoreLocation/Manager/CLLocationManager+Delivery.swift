// What a manager's delegate is told, on the manager's own thread.

import Foundation
import Geodesy
import LocationServices
import SensorTypes

extension CLLocationManager {
  /// Asks the delegate, and answers.
  func deliver(_ question: CalibrationQuestion) {
    guard let delegate else { return }
    let display = delegate.locationManagerShouldDisplayHeadingCalibration(self)
    port.send(ServiceRequest(client, .answer(question: question.number, display: display)))
  }

  func tell(_ delivery: DelegateCall) {
    switch delivery {
    case .locations(let reports):
      let locations = reports.map { report in
        CLLocation(report, timestamp: date(utc: report.utc, report.time))
      }
      locationBefore = delivered
      delivered = locations.last
      if let report = reports.last, let delivered { known = (report, delivered) }
      isDelivering = true
      defer { isDelivering = false }
      delegate?.locationManager(self, didUpdateLocations: locations)
    case .heading(let report):
      let heading = CLHeading(report, timestamp: date(utc: nil, report.time))
      self.heading = heading
      delegate?.locationManager(self, didUpdateHeading: heading)
    case .headingExpired: heading = nil
    case .paused: delegate?.locationManagerDidPauseLocationUpdates(self)
    case .resumed: delegate?.locationManagerDidResumeLocationUpdates(self)
    case .visit(let report): delegate?.locationManager(self, didVisit: visit(report))
    case .region(let event): deliver(event)
    case .regionsUnreadable(let reason): failMonitoring(of: nil, reason)
    case .beacons(let report): deliver(report)
    case .rangingFailed(let failure): deliver(failure)
    case .deferralEnded(let problem):
      delegate?.locationManager(
        self, didFinishDeferredUpdatesWithError: problem.map { CLError($0) })
    case .failure(let failure):
      let code: CLError.Code =
        failure.isDenied
        ? .denied : failure.service == .heading ? .headingFailure : .locationUnknown
      let error = CLError(code, userInfo: [NSLocalizedDescriptionKey: failure.reason])
      delegate?.locationManager(self, didFailWithError: error)
    }
  }

  /// Plays a batch to a delegate that knows one location at a time; to it each is the newest in turn.
  func replay(_ locations: [CLLocation], _ body: (CLLocation, CLLocation?) -> Void) {
    for new in locations {
      delivered = new
      body(new, locationBefore)
      locationBefore = new
    }
  }

  private func deliver(_ event: RegionEvent) {
    // A crossing of which nobody is told is left to the next run; where the board is at first is told nobody anyway.
    if case .crossed = event.kind, delegate == nil { return }
    guard event.state != nil else { return tell(event) }
    // Kept before the delegate hears of it and forced to the disk afterwards: a program that is killed meanwhile hears it
    // neither twice nor never.
    guard port.ask(.keep(event)) else { return }
    tell(event)
    port.send(ServiceRequest(client, .regionTold(event.region.key)))
  }

  private func tell(_ event: RegionEvent) {
    guard let delegate else { return }
    let region = event.region.region
    switch event.kind {
    case .started: delegate.locationManager(self, didStartMonitoringFor: region)
    case .failed(let reason):
      var code = CLError.Code.regionMonitoringFailure
      if case .denied = reason { code = .regionMonitoringDenied }
      let error = CLError(code, userInfo: [NSLocalizedDescriptionKey: reason.description])
      delegate.locationManager(self, monitoringDidFailFor: region, withError: error)
    case .unkept(let reason):
      failMonitoring(of: region, "monitored until the program ends: \(reason)")
    case .settled: break
    case .answered(let state):
      delegate.locationManager(self, didDetermineState: CLRegionState(state), for: region)
    case .crossed(let state):
      delegate.locationManager(self, didDetermineState: CLRegionState(state), for: region)
      if state == .inside, event.region.notifiesOnEntry {
        delegate.locationManager(self, didEnterRegion: region)
      }
      if state == .outside, event.region.notifiesOnExit {
        delegate.locationManager(self, didExitRegion: region)
      }
    }
  }

  func failMonitoring(of region: CLRegion?, _ reason: String) {
    let error = CLError(.regionMonitoringFailure, userInfo: [NSLocalizedDescriptionKey: reason])
    delegate?.locationManager(self, monitoringDidFailFor: region, withError: error)
  }

  private func visit(_ report: VisitReport) -> CLVisit {
    func date(_ moment: VisitPhase) -> Date { self.date(utc: moment.utc, moment.time) }
    return CLVisit(
      arrivalDate: report.arrival.map(date) ?? .distantPast,
      departureDate: report.departure.map(date) ?? .distantFuture,
      coordinate: CLLocationCoordinate2D(
        latitude: report.position.latitude, longitude: report.position.longitude),
      horizontalAccuracy: report.horizontalAccuracy ?? -1)
  }

  func date(utc: Double?, _ time: Timestamp) -> Date { port.date(utc: utc, time) }
}

extension ServicePort {
  /// The receiver's own time where it says one; else the wall clock at that moment, as it is set now.
  func date(utc: Double?, _ time: Timestamp) -> Date {
    Date(timeIntervalSince1970: utc ?? wallTime(of: time))
  }
}

extension CLError {
  /// Why a deferral has ended.
  fileprivate init(_ problem: DeferralProblem) {
    switch problem {
    case .notUpdating: self.init(.deferredNotUpdatingLocation)
    case .accuracyTooLow: self.init(.deferredAccuracyTooLow)
    case .distanceFiltered: self.init(.deferredDistanceFiltered)
    case .canceled: self.init(.deferredCanceled)
    case .failed(let reason):
      self.init(.deferredFailed, userInfo: [NSLocalizedDescriptionKey: reason])
    }
  }
}

extension CLCircularRegion {
  convenience init(_ region: MonitoredRegion) {
    self.init(
      center: CLLocationCoordinate2D(
        latitude: region.center.latitude, longitude: region.center.longitude),
      radius: region.radius, identifier: region.identifier)
    (notifyOnEntry, notifyOnExit) = (region.notifiesOnEntry, region.notifiesOnExit)
  }
}

extension MonitoredRegion {
  /// The region as applications know it.
  var region: CLRegion {
    guard let beacons else { return CLCircularRegion(self) }
    let region = CLBeaconRegion(
      beaconIdentityConstraint: CLBeaconIdentityConstraint(beacons.constraint),
      identifier: identifier)
    (region.notifyOnEntry, region.notifyOnExit) = (notifiesOnEntry, notifiesOnExit)
    region.notifyEntryStateOnDisplay = beacons.notifiesOnDisplay
    return region
  }

  /// A region as the services know it; `nil` for one that is neither a circle nor beacons.
  init?(_ region: CLRegion) {
    if let region = region as? CLBeaconRegion {
      self.init(
        identifier: region.identifier,
        beacons: MonitoredBeacons(
          BeaconConstraint(region.beaconIdentityConstraint),
          notifiesOnDisplay: region.notifyEntryStateOnDisplay),
        notifiesOnEntry: region.notifyOnEntry, notifiesOnExit: region.notifyOnExit)
      return
    }
    guard let circle = region.shape else { return nil }
    self.init(
      identifier: circle.identifier,
      center: Position(latitude: circle.center.latitude, longitude: circle.center.longitude),
      radius: circle.radius, notifiesOnEntry: circle.notifyOnEntry,
      notifiesOnExit: circle.notifyOnExit)
  }
}

extension CLRegionState {
  fileprivate init(_ state: RegionState) {
    switch state {
    case .unknown: self = .unknown
    case .inside: self = .inside
    case .outside: self = .outside
    }
  }
}
