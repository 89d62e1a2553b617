// The words that the facades and the services exchange: requests one way, events the other.
//
// All of them are values that can be encoded, so that the services can move into a process of their own
// without a facade noticing.

public import Geodesy
public import SensorTypes

/// Names one client of the services: one location manager, one altimeter.
public struct ClientID: RawRepresentable, Hashable, Codable, Sendable {
  /// A number that is not used twice in one run.
  public let rawValue: UInt64

  /// Makes the name out of its number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Which edge of the device a heading is measured from.
///
/// The body frame is x right, y up the screen (the top of the device in portrait), z out of the screen.
/// A heading is that of the edge which is on top when the device is held upright in this orientation.
public enum HeadingOrientation: String, Hashable, Codable, Sendable, CaseIterable {
  /// The top edge, body +y.
  case portrait
  /// The bottom edge, body -y: the device stands on its head.
  case portraitUpsideDown
  /// The right edge, body +x. The SDK defines landscape left by the home button (the bottom edge) being
  /// on the right: the device has been turned a quarter to the left, and its right edge is on top.
  case landscapeLeft
  /// The left edge, body -x: turned a quarter to the right, the home button is on the left.
  case landscapeRight
}

/// What a client has set; the values are the SDK's, so that negative filters mean none.
public struct ClientSettings: Hashable, Codable, Sendable {
  /// Metres of horizontal movement between two locations; zero, negative or NaN delivers every one.
  public var distanceFilter: Double
  /// Metres; zero, negative or NaN for the SDK's "best". Decides how often the receiver is asked for a position, and
  /// what a request is answered with; updates are told whatever comes.
  public var desiredAccuracy: Double
  /// Degrees of turn between two headings; negative or NaN delivers every one.
  public var headingFilter: Double
  /// Which edge a heading is measured from.
  public var headingOrientation: HeadingOrientation
  /// How the client expects the board to move.
  public var activity: Activity
  /// Whether updates may pause while the board stands.
  public var pausesAutomatically: Bool
  /// Whether the client can be asked if the calibration prompt may be shown.
  public var answersQuestions: Bool
  /// Whether the client is told of regions: of those that all managers share, or of those of `monitor`.
  public var hearsRegions: Bool
  /// The name of the monitor whose regions the client is told of. Who begins to hear of a monitor is told what nobody was
  /// told.
  public var monitor: String?
  /// What is set of the motion services.
  public var motion: MotionSettings
  /// Whether updates that were started in the foreground go on in the background, which keeps the application in use.
  public var allowsBackground: Bool
  /// Whether updates that are started while the application is not in use wait until it is, instead of failing.
  public var waitsForUse: Bool

  /// Makes settings; the defaults are the SDK's.
  public init(
    distanceFilter: Double = -1, desiredAccuracy: Double = -1, headingFilter: Double = 1,
    headingOrientation: HeadingOrientation = .portrait, activity: Activity = .other,
    pausesAutomatically: Bool = true, answersQuestions: Bool = false,
    hearsRegions: Bool = false, monitor: String? = nil, motion: MotionSettings = MotionSettings(),
    allowsBackground: Bool = false, waitsForUse: Bool = false
  ) {
    self.distanceFilter = distanceFilter
    self.desiredAccuracy = desiredAccuracy
    self.headingFilter = headingFilter
    self.headingOrientation = headingOrientation
    self.activity = activity
    self.pausesAutomatically = pausesAutomatically
    self.answersQuestions = answersQuestions
    self.hearsRegions = hearsRegions
    self.monitor = monitor
    self.motion = motion
    self.allowsBackground = allowsBackground
    self.waitsForUse = waitsForUse
  }
}

/// One of the services that a client starts and stops.
public enum Service: String, Hashable, Codable, Sendable, CaseIterable {
  /// Positions, through the distance filter.
  case location
  /// Headings, through the heading filter.
  case heading
  /// Relative altitudes, one a second.
  case altitude
  /// Positions, when the board is somewhere else: five hundred metres, five minutes.
  case significantChanges
  /// Stays at places.
  case visits
  /// Heights above the sea, one a second at most.
  case absoluteAltitude
  /// Specific force.
  case accelerometer
  /// Angular rate.
  case gyro
  /// The field as it is measured.
  case magnetometer
  /// Attitude, gravity, and what moves the board.
  case deviceMotion
}

/// What a client asks for.
public struct ServiceRequest: Hashable, Codable, Sendable {
  /// Who asks.
  public var client: ClientID
  /// For what.
  public var action: ServiceAction

  /// Makes a request.
  public init(_ client: ClientID, _ action: ServiceAction) {
    self.client = client
    self.action = action
  }
}

/// The kinds of request.
public enum ServiceAction: Hashable, Codable, Sendable {
  /// The client exists; it has the default settings and nothing started. Asked twice it changes
  /// nothing.
  case register
  /// Other settings; they act from the next event on.
  case configure(ClientSettings)
  /// Starts a service; nothing if it is started. A pause of location ends, a request for one location is
  /// cancelled.
  case start(Service)
  /// Stops a service; nothing if it is not started. A request for one location is cancelled.
  case stop(Service)
  /// Asks for one location. There is exactly one answer, `requestedLocation` or `requestFailed`, unless the request
  /// is cancelled; nothing while another one waits, or the service runs.
  case requestLocation
  /// Lets positions wait until the board is `distance` metres from the last one that the client has had, or `timeout`
  /// seconds are over; the greatest finite numbers for no limit. There is exactly one `deferralEnded` for it. A
  /// deferral that is under way is cancelled.
  case allowDeferral(distance: Double, timeout: Double)
  /// Ends a deferral: what waits is told. Nothing where none is under way.
  case disallowDeferral
  /// The client's application is frozen: regular events pause.
  case suspend
  /// The client's application runs again.
  case resume
  /// Answers a question: whether the calibration prompt may be shown.
  case answer(question: UInt64, display: Bool)
  /// Takes the calibration prompt down, whoever wanted it.
  case dismissPrompt
  /// Watches a region, for all clients that hear of it, in the place of one with the same name. Of one that was not
  /// watched before it is taken as known on which side of its boundary the board is.
  case startRegion(MonitoredRegion, assuming: RegionState = .unknown)
  /// Watches the region no longer.
  case stopRegion(RegionKey)
  /// Asks on which side of a region's boundary the board is, whether it is watched or not.
  case askRegion(MonitoredRegion)
  /// Ranges the beacons that fit; nothing where they are ranged by this client.
  case startRanging(BeaconConstraint)
  /// Ranges them no longer.
  case stopRanging(BeaconConstraint)
  /// Asks whoever decides about positions; `AuthorizationMachine` says when that does nothing.
  case requestAuthorization(AuthorizationRequest)
  /// Holds a session until the client is gone, in the place of one that it holds.
  case hold(ServiceSession)
  /// The application was told what `ServiceQuestion.keep` has kept: it may be forced to the disk now.
  case regionTold(RegionKey)
  /// The client is gone, and with it all that it had started but regions, which are everybody's.
  case release
}

/// A position as a client gets it; what is not known is `nil`.
public struct LocationReport: Hashable, Codable, Sendable {
  /// When it was true, on the monotonic clock.
  public var time: Timestamp
  /// UTC by the receiver, seconds since 1970.
  public var utc: Double?
  /// Where, WGS 84.
  public var position: Position
  /// Radius of the circle that holds the truth in 68 % of cases, metres.
  public var horizontalAccuracy: Double?
  /// Height above mean sea level, metres.
  public var altitude: Double?
  /// Height above the ellipsoid, metres.
  public var ellipsoidalAltitude: Double?
  /// One sigma of the heights, metres; `nil` says that the heights are not measured.
  public var verticalAccuracy: Double?
  /// Speed over ground, m/s.
  public var speed: Double?
  /// One sigma of the speed, m/s.
  public var speedAccuracy: Double?
  /// Direction of travel, degrees from true north, 0 up to 360.
  public var course: Double?
  /// One sigma of the course, degrees.
  public var courseAccuracy: Double?
  /// Whether the board that measured it is simulated or replayed.
  public var isSimulated: Bool

  /// Makes the report of an estimate, or `nil` where it holds no position on earth.
  public init?(_ estimate: LocationEstimate) {
    func finite(_ value: Double?) -> Double? { value.flatMap { $0.isFinite ? $0 : nil } }
    func positive(_ value: Double?) -> Double? { finite(value).flatMap { $0 >= 0 ? $0 : nil } }
    let fix = estimate.fix
    guard fix.isValid, let latitude = fix.latitude, let longitude = fix.longitude,
      abs(latitude) <= 90, abs(longitude) <= 180
    else { return nil }
    time = fix.moment(latency: 0)
    utc = finite(fix.utc)
    position = Position(latitude: latitude, longitude: longitude)
    horizontalAccuracy = positive(fix.horizontalAccuracy)
    altitude = finite(fix.altitude)
    ellipsoidalAltitude = finite(fix.ellipsoidalAltitude)
    // In a two-dimensional fix the receiver has assumed its height.
    let isMeasured = fix.mode == .threeDimensional && (altitude ?? ellipsoidalAltitude) != nil
    verticalAccuracy = isMeasured ? positive(fix.verticalAccuracy) : nil
    speed = positive(fix.speed)
    speedAccuracy = positive(fix.speedAccuracy)
    course = positive(fix.course)
    courseAccuracy = positive(fix.courseAccuracy)
    isSimulated = estimate.isSimulated
  }
}

/// A heading as a client gets it, measured from the edge that the client has asked for.
public struct HeadingReport: Hashable, Codable, Sendable {
  /// When it was true.
  public var time: Timestamp
  /// Degrees clockwise from magnetic north, 0 up to 360.
  public var magneticHeading: Double
  /// Degrees clockwise from true north, 0 up to 360; `nil` while declination is unknown.
  public var trueHeading: Double?
  /// Half the width of the 95 % interval, degrees; `nil` where the heading is not to be trusted.
  public var accuracy: Double?
  /// The field along body x, right, microtesla; `nil` where no magnetometer measures it.
  public var x: Double?
  /// The field along body y, to the top, microtesla; `nil` like `x`.
  public var y: Double?
  /// The field along body z, out of the screen, microtesla; `nil` like `x`.
  public var z: Double?
}

/// An altitude as a client gets it.
public struct AltitudeReport: Hashable, Codable, Sendable {
  /// When it was true.
  public var time: Timestamp
  /// Metres above the first report since the client has started the service.
  public var relativeAltitude: Double
  /// Static pressure, pascals.
  public var pressure: Double
}

/// Whether the calibration prompt may be shown, as it is asked of all clients that can answer.
public struct CalibrationQuestion: Hashable, Codable, Sendable {
  /// Names the question in the answer; not used twice in one run.
  public var number: UInt64
  /// What would be shown.
  public var prompt: CalibrationPrompt

  /// Makes a question.
  public init(number: UInt64, prompt: CalibrationPrompt) {
    self.number = number
    self.prompt = prompt
  }
}

/// What becomes of the one calibration prompt of the application.
public enum CalibrationPromptChange: Hashable, Codable, Sendable {
  /// It is to be shown.
  case show(CalibrationPrompt)
  /// It is to be taken down.
  case dismiss(CalibrationPromptEnd)
}

/// A service that cannot deliver at the moment, or may not; it goes on as soon as it can.
public struct ServiceFailure: Error, Hashable, Codable, Sendable {
  /// Which one.
  public var service: Service
  /// Why, in words.
  public var reason: String
  /// Of what kind the cause is.
  public var cause: FailureCause
  /// Whether it is because the application may not use the service.
  public var isDenied: Bool

  /// Makes a failure.
  public init(
    service: Service, reason: String, cause: FailureCause = .unavailable, isDenied: Bool = false
  ) {
    self.service = service
    self.reason = reason
    self.cause = cause
    self.isDenied = isDenied
  }
}

/// The kinds of cause that a client may answer differently.
public enum FailureCause: String, Hashable, Codable, Sendable {
  /// Nothing comes at the moment.
  case unavailable
  /// The board has no chip for it: it was not started. Said of the motion services alone.
  case notEquipped
  /// True north is not known yet.
  case trueNorthUnknown
  /// The magnetometer is to be calibrated first.
  case needsMovement
}

/// What a client is told.
public struct ServiceEvent: Hashable, Codable, Sendable {
  /// Who is told.
  public var client: ClientID
  /// What.
  public var content: EventContent

  /// Makes an event.
  public init(client: ClientID, content: EventContent) {
    self.client = client
    self.content = content
  }
}

/// The kinds of event.
public enum EventContent: Hashable, Codable, Sendable {
  /// A new position.
  case location(LocationReport)
  /// The positions that have waited, the oldest first, at least one.
  case deferredLocations([LocationReport])
  /// A deferral has ended, or did not begin; `nil`: its distance or its time was reached.
  case deferralEnded(DeferralProblem?)
  /// A new heading.
  case heading(HeadingReport)
  /// The newest heading no longer stands for now: nothing was heard of the compass for two seconds, or for three of its
  /// periods.
  case headingExpired
  /// A position far from the last one that was told so; not where the client is told of it by `location`.
  case significantChange(LocationReport)
  /// A stay has begun, or is over.
  case visit(VisitReport)
  /// What there is to tell of a region.
  case region(RegionEvent)
  /// What earlier runs have watched cannot be read, and why, for a person: it is watched no longer. Told once.
  case regionsUnreadable(String)
  /// The beacons of this second.
  case beacons(BeaconReport)
  /// Beacons cannot be ranged; said once a loss.
  case rangingFailed(RangingFailure)
  /// The altitude of this second.
  case altitude(AltitudeReport)
  /// A height above the sea.
  case absoluteAltitude(AbsoluteAltitudeReport)
  /// What the motion services have measured.
  case motion(MotionEvent)
  /// The one position that was requested.
  case requestedLocation(LocationReport)
  /// There is none: the time is over.
  case requestFailed(ServiceFailure)
  /// The board stands: no positions come until it moves, or the client starts the service again.
  case paused
  /// Positions are about to come again.
  case resumed
  /// A service cannot deliver; said once a loss.
  case failure(ServiceFailure)
  /// May the calibration prompt be shown? The answer is a request.
  case question(CalibrationQuestion)
  /// The question of this number need not be answered any more.
  case questionClosed(UInt64)
  /// What the application may have has changed; told at a start too, and when a session begins.
  case authorization(AuthorizationReport)
  /// What has become of the request for exact positions: `nil` says that they are allowed.
  case fullAccuracyAnswered(AuthorizationProblem?)
}
