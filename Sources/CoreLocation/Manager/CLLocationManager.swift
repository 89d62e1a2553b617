// The manager: what a program sets, starts and stops. It is all in one class body, because subclasses override it, and what
// stands in an extension cannot be overridden.

public import Foundation
package import LocationServices
import SensorTypes

/// Starts and stops the location services, and tells its delegate what they say.
///
/// The delegate is called on the run loop of the thread that made the manager; a manager of the main thread
/// is also served where only the main dispatch queue runs. Like the SDK's, a manager is to be used from the
/// thread that made it. Several may exist; all share the one board of the process, and what none of them
/// uses is powered down. A manager that is released counts as stopped.
///
/// Authorization: where the machine's owner has written no rule for the program, and the program has set no
/// `LodestoneRuntime.shared.authorizationAgent`, there is nobody to ask. The status is `authorizedAlways` with full accuracy
/// then, and requests do nothing.
open class CLLocationManager: NSObject {
  let port: any ServicePort
  let delivery: RunLoopDelivery
  let client: ClientID
  private var settings = ClientSettings(answersQuestions: true, hearsRegions: true)

  /// Who is told. Set it at once: the authorization is reported as soon as the run loop turns.
  open weak var delegate: (any CLLocationManagerDelegate)? {
    didSet { if delegate != nil { delivery.delegateWasSet() } }
  }

  /// The newest location of this board, whichever manager has asked for it; `nil` before the first of the process.
  /// Reading it starts nothing.
  ///
  /// It is a location as it was measured: `timestamp` says when it was true, `horizontalAccuracy` how exact it was
  /// then. Neither grows with age; where the board may be now is what `LodestoneRuntime.shared.knownPosition` says.
  /// While the delegate is told of locations it is the last of these, and it is `nil` where the application may not use the
  /// services. Other than the SDK's it keeps nothing from an earlier run.
  open var location: CLLocation? {
    if isDelivering { return delivered }
    let isReduced = desiredAccuracy >= kCLLocationAccuracyReduced
    let position = port.ask(.position(isReduced: isReduced))
    guard position.isGranted else { return nil }
    guard let report = position.known?.report else { return delivered }
    if report != known?.report {
      known = (report, CLLocation(report, timestamp: date(utc: report.utc, report.time)))
    }
    return known?.location
  }
  // The newest that was delivered, and the newest that is known: an object stays the same as long as its values do.
  var delivered: CLLocation?
  var known: (report: LocationReport, location: CLLocation)?
  var isDelivering = false
  /// The newest heading that was delivered; `nil` before the first, and, while headings are updated, once the board has
  /// said nothing of its compass for two seconds, or for three of its periods. Its `timestamp` says how old it is.
  open internal(set) var heading: CLHeading?
  /// What this manager ranges.
  var ranged = RangedBeacons()
  /// What its delegate does not hear.
  var unheard = Unheard()
  /// What the delegate was told last of the authorization.
  var authorizationTold: AuthorizationReport?
  // The location before those that are being delivered.
  var locationBefore: CLLocation?

  /// Makes a manager that has started nothing.
  public override init() {
    port = processPort
    delivery = RunLoopDelivery(port: port)
    client = port.connect(delivery.inbox)
    super.init()
    begin()
  }

  /// A manager on services of its own, for tests.
  package init(port: any ServicePort) {
    self.port = port
    delivery = RunLoopDelivery(port: port)
    client = port.connect(delivery.inbox)
    super.init()
    begin()
  }

  private func begin() {
    delivery.attach(self)
    port.send(ServiceRequest(client, .configure(settings)))
  }

  deinit {
    port.send(ServiceRequest(client, .release))
    delivery.invalidate()
  }

  /// Metres of horizontal movement from the last location that was delivered before the next one is,
  /// unless it is more accurate; `kCLDistanceFilterNone`, the default, delivers all. It does not make the receiver
  /// slower: `desiredAccuracy` does.
  open var distanceFilter: CLLocationDistance {
    get { settings.distanceFilter }
    set { configure { $0.distanceFilter = newValue } }
  }

  /// The accuracy that is wanted, metres or one of the constants; `kCLLocationAccuracyBest` by default.
  ///
  /// It decides how often the receiver is asked for a fix, and no location is kept back for being worse. The
  /// best two leave the receiver as fast as the board file says. In metres it is the time in which the board gets so
  /// far at 30 m/s (`fitness` 5, `airborne` 250), 1 to 60 seconds: ten metres 1 s, a hundred 3.3, a kilometre 33,
  /// three kilometres and `kCLLocationAccuracyReduced` 60. The most demanding of all managers counts, and the first
  /// location is not kept waiting. Nothing is blurred but by `kCLLocationAccuracyReduced`, with which a manager gets what
  /// it would with `accuracyAuthorization` reduced: the middle of a cell of 5.6 km, always the same, without altitude, course
  /// and speed.
  open var desiredAccuracy: CLLocationAccuracy {
    get { settings.desiredAccuracy }
    set { configure { $0.desiredAccuracy = newValue } }
  }

  /// Degrees that the heading must turn by before the next one is delivered, 1 by default;
  /// `kCLHeadingFilterNone` delivers all.
  open var headingFilter: CLLocationDegrees {
    get { settings.headingFilter }
    set { configure { $0.headingFilter = newValue } }
  }

  /// How the device is held: decides which edge later headings are measured from. `unknown`, `faceUp` and
  /// `faceDown` may be set and leave the edge as it was.
  open var headingOrientation: CLDeviceOrientation = .portrait {
    didSet {
      guard let orientation = HeadingOrientation(headingOrientation) else { return }
      configure { $0.headingOrientation = orientation }
    }
  }

  /// The kind of movement that is expected. `automotiveNavigation`, `otherNavigation` and `maritime` (boats, trains) say
  /// that the board's y axis points the way it goes: the receiver's course is then a measurement of
  /// heading, also on a board without a magnetometer. It takes a gyro; on a board without one this changes
  /// nothing. The other activities declare no vehicle, unless the board file does (`vehicle: true`).
  ///
  /// It decides as well how long the board has to stand before updates pause (`other`, `otherNavigation` and `maritime`
  /// 10 minutes, `automotiveNavigation` 5, `fitness` 3, `airborne` 15), and what speed `desiredAccuracy` reckons with.
  open var activityType: CLActivityType = .other {
    didSet { configure { $0.activity = Activity(activityType) } }
  }

  /// Whether updates pause while the board stands; true by default, as in the SDK.
  ///
  /// It stands while no location is farther from where it was than the accuracies explain (three times both
  /// together, ten metres at least), for as long as `activityType` says. Then the delegate is told, no location
  /// comes, and the receiver is asked for no more than a fix every 30 seconds, so that it may rest. Other than on a
  /// phone, where the application has to start again, such a fix ends the pause: if the board is somewhere else, the
  /// delegate is told and the location follows. `startUpdatingLocation()` ends a pause at once, as does
  /// setting this to false. A board that must not lose the first half minute of a trip sets it to false.
  open var pausesLocationUpdatesAutomatically: Bool {
    get { settings.pausesAutomatically }
    set { configure { $0.pausesAutomatically = newValue } }
  }

  /// Whether locations that were started in the foreground go on in the background, which counts as being in use; false by
  /// default. It makes a difference where the authorization is *when in use*: with *always* a program in the background
  /// has its services as before, and a suspended one none. Without `location` among the `UIBackgroundModes` of the
  /// program it works all the same, other than in the SDK, which traps; `LodestoneRuntime.shared.authorizationProblem`
  /// says so.
  open var allowsBackgroundLocationUpdates: Bool {
    get { settings.allowsBackground }
    set { configure { $0.allowsBackground = newValue } }
  }

  /// Whether locations in the background are shown to a user; false by default. It is kept: a board has no display of
  /// its own.
  open var showsBackgroundLocationIndicator = false

  /// What the application wants locations for; it is kept, and asks nobody: usage descriptions do.
  @available(*, deprecated, message: "use NSLocationWhenInUseUsageDescription in Info.plist")
  open var purpose: String?

  /// The view, or another body, whose top headings are to be measured from; `nil` by default. It is kept, as long as somebody
  /// else holds it: a board shows no views, and headings are measured from the edge that `headingOrientation` says.
  open weak var headingBody: (any CLBodyIdentifiable)?

  /// No: a board has no widgets.
  open var isAuthorizedForWidgetUpdates: Bool { false }

  /// Whether the application may use the services; see the class's note. What was allowed provisionally is `authorizedAlways`.
  open var authorizationStatus: CLAuthorizationStatus {
    CLAuthorizationStatus(port.ask(.authorization).status)
  }

  /// How exact its locations may be. Reduced, a location is the middle of a cell of 5.6 km that is always the same, its
  /// accuracy covers the cell, and it has no altitude, course and speed; regions and beacons are not told, visits with the
  /// cell for their place, headings as before.
  open var accuracyAuthorization: CLAccuracyAuthorization {
    port.ask(.authorization).accuracy == .full ? .fullAccuracy : .reducedAccuracy
  }

  /// Whether the application may use the services.
  @available(*, deprecated, message: "use the instance property authorizationStatus")
  open class func authorizationStatus() -> CLAuthorizationStatus {
    CLAuthorizationStatus(processPort.ask(.authorization).status)
  }

  /// Has somebody asked whether the application may have locations while it is in use, and returns at once; the delegate is
  /// told where that changes the status. Nothing where the status is determined.
  ///
  /// It takes the foreground, and `NSLocationWhenInUseUsageDescription` in an `Info.plist` beside the executable or in the
  /// authorization file. Without them nobody is asked, `LodestoneRuntime.shared.authorizationProblem` says why, and a later
  /// request is heard; the SDK ends the program.
  open func requestWhenInUseAuthorization() {
    port.send(ServiceRequest(client, .requestAuthorization(.whenInUse)))
  }

  /// Has somebody asked for exact locations until the application is no longer in use, and returns at once; nothing where they
  /// are exact.
  open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) {
    requestTemporaryFullAccuracyAuthorization(withPurposeKey: purposeKey, completion: nil)
  }

  /// Has somebody asked for exact locations until the application is no longer in use, and returns at once. The completion is
  /// called on the manager's run loop, without an error where they are exact now.
  ///
  /// The errors are `CLError.promptDeclined` where the answer was no, or none came, and `CLError.denied` where nobody is asked:
  /// the application may not use the services, is not in the foreground, or has not described the purpose in its
  /// `NSLocationTemporaryUsageDescriptionDictionary`.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)?
  ) {
    // It goes to the manager's thread, and nobody else has it from here on.
    nonisolated(unsafe) let handler = completion
    FullAccuracyRequest(purposeKey, port).send { [weak delivery] problem in
      guard handler != nil else { return }
      delivery?.answer { _ in handler?(problem.map { CLError($0) }) }
    }
  }

  /// Has somebody asked whether the application may have locations at all times, and returns at once.
  ///
  /// While the status is `authorizedWhenInUse` that is one question, and the delegate is told if the answer is yes. While it
  /// is not determined it takes two steps: *while using* gives `authorizedAlways` provisionally, and when a location or
  /// another event is due while the application is not in use it is kept back, and somebody is asked whether to stay with it
  /// as soon as the application is in the foreground. Else, and once somebody was asked for Always, it does nothing; also
  /// as long as *allow once* lasts.
  ///
  /// It takes the foreground, `NSLocationWhenInUseUsageDescription`, and `NSLocationAlwaysUsageDescription` or
  /// `NSLocationAlwaysAndWhenInUseUsageDescription`.
  open func requestAlwaysAuthorization() {
    port.send(ServiceRequest(client, .requestAuthorization(.always)))
  }

  /// Whether a magnetometer answers on this board, or a gyro and a receiver do and a vehicle is declared: in the
  /// board file, or by any manager's `activityType`. The first answer may take two seconds.
  open class func headingAvailable() -> Bool { processPort.ask(.capabilities).heading }

  /// Whether a receiver answers on this board. The first answer may take two seconds.
  open class func locationServicesEnabled() -> Bool { processPort.ask(.capabilities).location }

  /// Whether a receiver answers on this board. The first answer may take two seconds.
  open class func significantLocationChangeMonitoringAvailable() -> Bool {
    locationServicesEnabled()
  }

  /// Starts locations and returns at once; nothing if they are started. A pause ends, and a request is cancelled.
  ///
  /// Where somebody has said no the delegate is told `CLError.denied`, and locations come if that changes; while nothing is
  /// decided they wait. In the background, without a `CLBackgroundActivitySession`, they are not started, and the delegate is
  /// told `CLError.denied` as well.
  ///
  /// What is known is delivered first where it is of use: up to ten seconds old, or, where `desiredAccuracy` is in
  /// metres, as long as the board cannot be farther from it. Its `timestamp` says how old it is.
  open func startUpdatingLocation() {
    port.send(ServiceRequest(client, .start(.location)))
    // An answer that waits would be taken for an update, or for a failure of what begins now.
    delivery.discardAnswer()
  }

  /// Asks for one location and returns at once. The delegate is called exactly once, with one location or with
  /// `CLError.locationUnknown`; then the service ends.
  ///
  /// The location is the first that has the `desiredAccuracy`; where the best is desired, one within ten metres that
  /// three seconds have not bettered; after ten seconds the best that was had by then, or else the first that comes.
  /// The failure is told after forty seconds without any: other than a phone a board that was just switched on has
  /// nothing but its receiver, which may need thirty to find the sky.
  ///
  /// While one request waits, another does nothing; nor does any while locations are started. It is cancelled, and
  /// not answered, by `startUpdatingLocation()` and `stopUpdatingLocation()`.
  open func requestLocation() {
    // As long as the delegate was not called the request waits.
    guard !delivery.holdsAnswer else { return }
    port.send(ServiceRequest(client, .requestLocation))
  }

  /// Stops locations: none is delivered any more, nor what waited. A request and a deferral are cancelled. Nothing if
  /// they are stopped.
  open func stopUpdatingLocation() {
    port.send(ServiceRequest(client, .stop(.location)))
    delivery.discard(.location)
  }

  /// Starts headings and returns at once; nothing if they are started, or on a board without a
  /// magnetometer. `trueHeading` needs a position: locations that run, or one in the board file.
  open func startUpdatingHeading() { port.send(ServiceRequest(client, .start(.heading))) }

  /// Stops headings: none is delivered any more, nor what waited. Nothing if they are stopped.
  open func stopUpdatingHeading() {
    port.send(ServiceRequest(client, .stop(.heading)))
    delivery.discard(.heading)
  }

  /// Takes the calibration prompt down at once, whichever manager's delegate has allowed it; nothing if there is
  /// none. It does not come back while its cause lasts.
  open func dismissHeadingCalibrationDisplay() {
    port.send(ServiceRequest(client, .dismissPrompt))
  }

  // MARK: Whether it is somewhere else, and where it stays

  /// Starts significant changes and returns at once; nothing if they are started.
  ///
  /// The delegate gets a location (`locationManager(_:didUpdateLocations:)`) at the start, and then when the board is
  /// 500 metres or more from the last that was told so, no oftener than every five minutes. `desiredAccuracy` and
  /// `distanceFilter` do not count. Other than on a phone, which has its cells for that, it is the receiver that is
  /// asked, once a minute; and nothing wakes a program that does not run.
  open func startMonitoringSignificantLocationChanges() {
    port.send(ServiceRequest(client, .start(.significantChanges)))
  }

  /// Stops significant changes: none is delivered any more, nor what waited. Nothing if they are stopped.
  open func stopMonitoringSignificantLocationChanges() {
    port.send(ServiceRequest(client, .stop(.significantChanges)))
    delivery.discard(.significantChanges)
  }

  /// Starts visits and returns at once; nothing if they are started.
  ///
  /// The delegate is told (`locationManager(_:didVisit:)`) when the board has stayed at a place for five minutes, and
  /// again, with the departure, when it has left. It has left when it is farther from where it came to stay than a
  /// hundred metres, or than the accuracies explain. Where the board stood already when visits were started the arrival is
  /// not known. The receiver is asked once a minute, so that dates are that exact.
  open func startMonitoringVisits() {
    port.send(ServiceRequest(client, .start(.visits)))
  }

  /// Stops visits: none is delivered any more, nor what waited. Nothing if they are stopped.
  open func stopMonitoringVisits() {
    port.send(ServiceRequest(client, .stop(.visits)))
    delivery.discard(.visits)
  }

  // MARK: Regions

  /// The regions that are watched, of all managers of the application, also those of earlier runs.
  open var monitoredRegions: Set<CLRegion> {
    Set(port.ask(.regions(of: nil)).records.map(\.region.region))
  }

  /// The largest radius, metres: 10,000 km.
  open var maximumRegionMonitoringDistance: CLLocationDistance { MonitoredRegion.largestRadius }

  /// Watches a region and returns at once, in the place of one with the same identifier. The delegates of all
  /// managers are told of its crossings; the region stays, over restarts of the program, until `stopMonitoring(for:)`.
  ///
  /// A boundary is crossed when a position is farther beyond it than one and a half times its accuracy (inwards half of
  /// the radius at most), and another one twenty seconds later or more says the same. At most 20 regions are watched,
  /// with those of all monitors; more, or one that has no size, are a `CLError.regionMonitoringFailure`. Positions are
  /// asked for as often as 30 m/s bring the board to the nearest boundary, 5 to 60 seconds. Nothing wakes a program that
  /// does not run: what it has missed is told when it runs again, as far as the board is then on the other side.
  ///
  /// A `CLBeaconRegion` is entered as soon as one of its beacons is heard, and left when none was for 30 seconds of
  /// listening. Other than on a phone, whose radio does that by itself, a board listens all the time for it. While
  /// Bluetooth is off or missing the region is neither left nor given up: the delegates are told a
  /// `CLError.regionMonitoringFailure`, once, and it goes on as soon as there is Bluetooth again.
  open func startMonitoring(for region: CLRegion) {
    guard let watched = MonitoredRegion(region) else {
      return delivery.answer { manager in
        manager.failMonitoring(of: region, "only circular and beacon regions are monitored")
      }
    }
    port.send(ServiceRequest(client, .startRegion(watched)))
  }

  /// Watches a region no longer, by its identifier; nothing where it is not watched. No delegate is told of it any
  /// more.
  open func stopMonitoring(for region: CLRegion) {
    port.send(ServiceRequest(client, .stopRegion(RegionKey(region.identifier))))
  }

  /// Asks on which side of a region's boundary the board is, and returns at once; the region need not be watched. The
  /// delegate is told as soon as a position says, within ten seconds: `unknown` where none does, or it is too near to
  /// the boundary. Of a `CLBeaconRegion` it is told at once, and is `unknown` where it is not watched.
  open func requestState(for region: CLRegion) {
    guard let asked = MonitoredRegion(region) else {
      return delivery.answer { manager in
        manager.delegate?.locationManager(manager, didDetermineState: .unknown, for: region)
      }
    }
    port.send(ServiceRequest(client, .askRegion(asked)))
  }

  /// Whether a receiver answers on this board, for circular regions; whether beacons can be heard, for beacon regions;
  /// for others no. The first answer may take two seconds.
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
    if regionClass is CLBeaconRegion.Type { return isRangingAvailable() }
    return regionClass is CLCircularRegion.Type && locationServicesEnabled()
  }

  // MARK: Beacons

  /// Whether a Bluetooth adapter is there and powered, and this user may use it; `LodestoneRuntime.shared.beaconProblem`
  /// says what is missing. It is asked of the system each time, which may take two seconds.
  open class func isRangingAvailable() -> Bool { processPort.ask(.beacons) == nil }

  /// What this manager ranges by constraint.
  open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> { ranged.constraints }

  /// What this manager ranges by region.
  @available(*, deprecated, message: "use rangedBeaconConstraints")
  open var rangedRegions: Set<CLRegion> { Set(ranged.regions) }

  /// Starts ranging and returns at once; nothing if it is started.
  ///
  /// The delegate is told once a second which beacons are in range, the nearest first, and with an empty array that
  /// none is. A beacon's distance is reckoned from the mean strength of five seconds; after five without a word it is
  /// unknown, after ten the beacon is out of range. At most 64 constraints are ranged by a manager. What fails is told once,
  /// as `CLError.rangingUnavailable` (no adapter, off, not permitted) or `CLError.rangingFailure`, and nothing is told then
  /// until beacons can be heard again: an empty array would say that there are none. Other than on a phone it goes on in
  /// the background.
  open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    ranged.constraints.insert(constraint)
    port.send(ServiceRequest(client, .startRanging(BeaconConstraint(constraint))))
  }

  /// Stops ranging: nothing is told of these beacons any more, nor what waited. Nothing if it is stopped.
  open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    ranged.constraints.remove(constraint)
    stopUnlessRanged(constraint)
  }

  /// Starts ranging and tells the delegate by the older methods, `locationManager(_:didRangeBeacons:in:)` and
  /// `locationManager(_:rangingBeaconsDidFailFor:withError:)`. A region with the same identifier is replaced.
  @available(*, deprecated, message: "use startRangingBeacons(satisfying:)")
  open func startRangingBeacons(in region: CLBeaconRegion) {
    endRanging(in: region)
    ranged.regions.append(region)
    let constraint = BeaconConstraint(region.beaconIdentityConstraint)
    port.send(ServiceRequest(client, .startRanging(constraint)))
  }

  /// Stops ranging of the region with that identifier; nothing where it is not ranged.
  @available(*, deprecated, message: "use stopRangingBeacons(satisfying:)")
  open func stopRangingBeacons(in region: CLBeaconRegion) { endRanging(in: region) }

  // MARK: Deferral

  /// Whether there are locations to defer: a receiver answers on this board. The first answer may take two seconds.
  open class func deferredLocationUpdatesAvailable() -> Bool { locationServicesEnabled() }

  /// Lets locations wait, and returns at once: they are delivered together, the oldest first, when the board is
  /// `distance` metres from where it was, or `timeout` seconds are over. `CLLocationDistanceMax` and `CLTimeIntervalMax`
  /// are no limits.
  ///
  /// The delegate is told the end, `locationManager(_:didFinishDeferredUpdatesWithError:)`, exactly once for each call,
  /// after the locations: without an error where the distance or the time was reached, else with one of
  /// - `CLError.deferredNotUpdatingLocation`: locations are not started, or are paused;
  /// - `CLError.deferredAccuracyTooLow`: the `desiredAccuracy` is neither of the best two;
  /// - `CLError.deferredDistanceFiltered`: there is a `distanceFilter`;
  /// - `CLError.deferredCanceled`: by another call of this, by `disallowDeferredLocationUpdates()`, or by
  ///   `stopUpdatingLocation()`, which throws away what waits;
  /// - `CLError.deferredFailed`: the receiver has no fix, or 3600 locations wait, an hour at one a second. They are
  ///   delivered; asking again goes on.
  ///
  /// Other than on a phone it also holds in the foreground, and the receiver works on: it is the program that rests. The
  /// distance is the straight one from the last location that was delivered.
  open func allowDeferredLocationUpdates(
    untilTraveled distance: CLLocationDistance, timeout: TimeInterval
  ) {
    port.send(
      ServiceRequest(client, .allowDeferral(distance: distance, timeout: timeout)))
  }

  /// Ends a deferral: the locations that wait are delivered, then `CLError.deferredCanceled`. Nothing where none waits.
  open func disallowDeferredLocationUpdates() {
    port.send(ServiceRequest(client, .disallowDeferral))
  }

  private func configure(_ change: (inout ClientSettings) -> Void) {
    change(&settings)
    port.send(ServiceRequest(client, .configure(settings)))
  }
}

extension Activity {
  fileprivate init(_ type: CLActivityType) {
    switch type {
    case .other: self = .other
    case .automotiveNavigation: self = .automotiveNavigation
    case .fitness: self = .fitness
    case .otherNavigation, .maritime: self = .otherNavigation
    case .airborne: self = .airborne
    }
  }
}

extension HeadingOrientation {
  /// The edge that an orientation puts on top; `nil` for those that say nothing about it.
  init?(_ orientation: CLDeviceOrientation) {
    switch orientation {
    case .portrait: self = .portrait
    case .portraitUpsideDown: self = .portraitUpsideDown
    case .landscapeLeft: self = .landscapeLeft
    case .landscapeRight: self = .landscapeRight
    case .unknown, .faceUp, .faceDown: return nil
    }
  }
}
