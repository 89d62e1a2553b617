// The manager: what a program sets, starts and stops.

public import Foundation
import LocationServices
import Lodestone
import SensorTypes

/// Starts and stops the location services, and tells its delegate what they say.
///
/// The delegate is called on the run loop of the thread that made the manager; a manager of the main thread
/// is also served where only the main dispatch queue runs. Like the SDK's, a manager is to be used from the
/// thread that made it. Several may exist; all share the one board of the process, and what none of them
/// uses is powered down. A manager that is released counts as stopped.
///
/// Authorization: on a board there is no user to ask yet, so the policy is `authorizedAlways` with full
/// accuracy. That is a determined status, and requests do nothing.
open class CLLocationManager: NSObject {
  let runtime: LodestoneRuntime
  private let delivery: RunLoopDelivery
  private let client: ClientID
  private var settings = ClientSettings(answersQuestions: true)

  /// Who is told. Set it at once: the authorization is reported as soon as the run loop turns.
  open weak var delegate: (any CLLocationManagerDelegate)? {
    didSet { if delegate != nil { delivery.delegateWasSet() } }
  }

  /// The newest location that was delivered; `nil` before the first.
  open private(set) var location: CLLocation?
  /// The newest heading that was delivered; `nil` before the first.
  open private(set) var heading: CLHeading?
  // The location before those that are being delivered.
  private var locationBefore: CLLocation?

  /// Makes a manager that has started nothing.
  public override init() {
    runtime = .shared
    delivery = RunLoopDelivery(runtime: runtime)
    client = runtime.register(delivery)
    super.init()
    delivery.attach(self)
    runtime.send(ServiceRequest(client, .configure(settings)))
  }

  /// A manager on a runtime of its own, for tests.
  init(runtime: LodestoneRuntime) {
    self.runtime = runtime
    delivery = RunLoopDelivery(runtime: runtime)
    client = runtime.register(delivery)
    super.init()
    delivery.attach(self)
    runtime.send(ServiceRequest(client, .configure(settings)))
  }

  deinit {
    runtime.send(ServiceRequest(client, .release))
    delivery.invalidate()
  }

  /// Metres of horizontal movement from the last location that was delivered before the next one is,
  /// unless it is more accurate; `kCLDistanceFilterNone`, the default, delivers all.
  open var distanceFilter: CLLocationDistance {
    get { settings.distanceFilter }
    set { configure { $0.distanceFilter = newValue } }
  }

  /// The accuracy that is wanted, metres or one of the constants. The boards of today have one way to
  /// find a position and use it whatever is set here.
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

  /// The kind of movement that is expected. `automotiveNavigation` and `otherNavigation` (boats, trains) say
  /// that the board's y axis points the way it goes: the receiver's course is then a measurement of
  /// heading, also on a board without a magnetometer. It takes a gyro; on a board without one this changes
  /// nothing. The other activities declare no vehicle, unless the board file does (`vehicle: true`). Updates are
  /// not paused yet.
  open var activityType: CLActivityType = .other {
    didSet {
      let follows = activityType == .automotiveNavigation || activityType == .otherNavigation
      configure { $0.followsCourse = follows }
    }
  }

  /// Whether the application may use the services; see the class's note.
  open var authorizationStatus: CLAuthorizationStatus { .authorizedAlways }

  /// How exact its locations may be.
  open var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }

  /// Whether the application may use the services.
  @available(*, deprecated, message: "use the instance property authorizationStatus")
  open class func authorizationStatus() -> CLAuthorizationStatus { .authorizedAlways }

  /// Nothing: the status is determined.
  open func requestWhenInUseAuthorization() {}

  /// Nothing: the status is determined.
  open func requestAlwaysAuthorization() {}

  /// Whether a magnetometer answers on this board, or a gyro and a receiver do and a vehicle is declared: in the
  /// board file, or by any manager's `activityType`. The first answer may take two seconds.
  open class func headingAvailable() -> Bool { LodestoneRuntime.shared.equipment.heading }

  /// Whether a receiver answers on this board. The first answer may take two seconds.
  open class func locationServicesEnabled() -> Bool { LodestoneRuntime.shared.equipment.location }

  /// No: this version has no such service on any board.
  open class func significantLocationChangeMonitoringAvailable() -> Bool { false }

  /// No: this version monitors no regions.
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool { false }

  /// No: this version ranges no beacons.
  open class func isRangingAvailable() -> Bool { false }

  /// No: this version does not defer.
  open class func deferredLocationUpdatesAvailable() -> Bool { false }

  /// Starts locations and returns at once; nothing if they are started. What is known and fresh is
  /// delivered first.
  open func startUpdatingLocation() { runtime.send(ServiceRequest(client, .start(.location))) }

  /// Stops locations: none is delivered any more, nor what waited. Nothing if they are stopped.
  open func stopUpdatingLocation() {
    runtime.send(ServiceRequest(client, .stop(.location)))
    delivery.discard(.location)
  }

  /// Starts headings and returns at once; nothing if they are started, or on a board without a
  /// magnetometer. `trueHeading` needs a position: locations that run, or one in the board file.
  open func startUpdatingHeading() { runtime.send(ServiceRequest(client, .start(.heading))) }

  /// Stops headings: none is delivered any more, nor what waited. Nothing if they are stopped.
  open func stopUpdatingHeading() {
    runtime.send(ServiceRequest(client, .stop(.heading)))
    delivery.discard(.heading)
  }

  /// Takes the calibration prompt down at once, whichever manager's delegate has allowed it; nothing if there is
  /// none. It does not come back while its cause lasts.
  open func dismissHeadingCalibrationDisplay() {
    runtime.send(ServiceRequest(client, .dismissPrompt))
  }

  private func configure(_ change: (inout ClientSettings) -> Void) {
    change(&settings)
    runtime.send(ServiceRequest(client, .configure(settings)))
  }

  func deliverAuthorization() {
    delegate?.locationManagerDidChangeAuthorization(self)
  }

  /// Asks the delegate, and answers.
  func deliver(_ question: CalibrationQuestion) {
    guard let delegate else { return }
    let display = delegate.locationManagerShouldDisplayHeadingCalibration(self)
    runtime.send(ServiceRequest(client, .answer(question: question.number, display: display)))
  }

  func deliver(_ delivery: Delivery) {
    switch delivery {
    case .locations(let reports):
      let locations = reports.map { report in
        CLLocation(report, timestamp: date(utc: report.utc, report.time))
      }
      locationBefore = location
      location = locations.last
      delegate?.locationManager(self, didUpdateLocations: locations)
    case .heading(let report):
      let heading = CLHeading(report, timestamp: date(utc: nil, report.time))
      self.heading = heading
      delegate?.locationManager(self, didUpdateHeading: heading)
    case .failure(let failure):
      let code: CLError.Code = failure.service == .heading ? .headingFailure : .locationUnknown
      let error = CLError(code, userInfo: [NSLocalizedDescriptionKey: failure.reason])
      delegate?.locationManager(self, didFailWithError: error)
    }
  }

  /// Plays a batch to a delegate that knows one location at a time; to it each is the newest in turn.
  func replay(_ locations: [CLLocation], _ body: (CLLocation, CLLocation?) -> Void) {
    for new in locations {
      location = new
      body(new, locationBefore)
      locationBefore = new
    }
  }

  // The receiver's own time where it says one; else the wall clock at that moment, as it is set now.
  private func date(utc: Double?, _ time: Timestamp) -> Date {
    Date(timeIntervalSince1970: utc ?? runtime.wallTime(of: time))
  }
}

extension HeadingOrientation {
  /// The edge that an orientation puts on top; `nil` for those that say nothing about it.
  fileprivate init?(_ orientation: CLDeviceOrientation) {
    switch orientation {
    case .portrait: self = .portrait
    case .portraitUpsideDown: self = .portraitUpsideDown
    case .landscapeLeft: self = .landscapeLeft
    case .landscapeRight: self = .landscapeRight
    case .unknown, .faceUp, .faceDown: return nil
    }
  }
}
