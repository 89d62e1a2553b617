// The words that the facades and the services exchange: requests one way, events the other.
//
// All of them are values that can be encoded, so that the services can move into a process of their own
// without a facade noticing.

internal import Geodesy
package import SensorTypes

/// Names one client of the services: one location manager, one altimeter.
package struct ClientID: RawRepresentable, Hashable, Codable, Sendable {
  /// A number that is not used twice in one run.
  package let rawValue: UInt64

  /// Makes the name out of its number.
  package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Which edge of the device a heading is measured from.
///
/// The body frame is x right, y up the screen (the top of the device in portrait), z out of the screen.
/// A heading is that of the edge which is on top when the device is held upright in this orientation.
package enum HeadingOrientation: String, Hashable, Codable, Sendable, CaseIterable {
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
package struct ClientSettings: Hashable, Codable, Sendable {
  /// Metres of horizontal movement between two locations; zero, negative or NaN delivers every one.
  package var distanceFilter: Double
  /// Metres; zero, negative or NaN for the SDK's "best". Decides how often the receiver is asked for a position, and
  /// what a request is answered with; updates are told whatever comes.
  package var desiredAccuracy: Double
  /// Degrees of turn between two headings; negative or NaN delivers every one.
  package var headingFilter: Double
  /// Which edge a heading is measured from.
  package var headingOrientation: HeadingOrientation
  /// How the client expects the board to move.
  package var activity: Activity
  /// Whether updates may pause while the board stands.
  package var pausesAutomatically: Bool
  /// Whether the client can be asked if the calibration prompt may be shown.
  package var answersQuestions: Bool
  /// Whether the client is told of regions: of those that all managers share, or of those of `monitor`.
  package var hearsRegions: Bool
  /// The name of the monitor whose regions the client is told of. Who begins to hear of a monitor is told what nobody was
  /// told.
  package var monitor: String?
  /// What is set of the motion services.
  package var motion: MotionSettings
  /// Whether updates that were started in the foreground go on in the background, which keeps the application in use.
  package var allowsBackground: Bool
  /// Whether updates that are started while the application is not in use wait until it is, instead of failing.
  package var waitsForUse: Bool

  /// Makes settings; the defaults are the SDK's.
  package init(
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
package enum Service: String, Hashable, Codable, Sendable, CaseIterable {
  /// Positions, through the distance filter.
  case location
  /// Headings, through the heading filter.
  case heading
  /// Relative altitudes, one a second.
  case altitude
  /// Positions, when the board is somewhere else: five hundred metres, five minutes.
  case significantChanges
  case visits
  /// Heights above the sea, one a second at most.
  case absoluteAltitude
  case accelerometer
  case gyro
  /// The field as it is measured.
  case magnetometer
  /// Attitude, gravity, and what moves the board.
  case deviceMotion
}

/// What a client asks for.
package struct ServiceRequest: Hashable, Codable, Sendable {
  package var client: ClientID
  package var action: ServiceAction

  package init(_ client: ClientID, _ action: ServiceAction) {
    self.client = client
    self.action = action
  }
}

/// How much of a position somebody gets at most.
package enum PositionLimit: String, Hashable, Codable, Sendable, CaseIterable {
  case exact, reduced, none
}

/// What a client that observes the board asks for.
package struct BoardRequest: Hashable, Codable, Sendable {
  package var demand: Demand
  /// Whether the client gets the samples of all chips as they measure them, before calibration and mount.
  package var hasReadings: Bool
  /// How much of the position the client wants at most.
  package var positions: PositionLimit

  package init(
    _ demand: Demand, hasReadings: Bool = false, positions: PositionLimit = .exact
  ) {
    self.demand = demand
    self.hasReadings = hasReadings
    self.positions = positions
  }
}

/// The kinds of request.
package enum ServiceAction: Hashable, Codable, Sendable {
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
  /// Passes the observations of the board on to the client, for what it asks for here; `nil` ends that. Losses and news of sensors come
  /// with them. What the application may not know is taken out of each.
  case observe(BoardRequest?)
  /// The application was told what `ServiceQuestion.keep` has kept: it may be forced to the disk now.
  case regionTold(RegionKey)
  /// The client is gone, and with it all that it had started but regions, which are everybody's.
  case release
}

/// A heading as a client gets it, measured from the edge that the client has asked for.
package struct HeadingReport: Hashable, Codable, Sendable {
  /// When it was true.
  package var time: Timestamp
  /// Degrees clockwise from magnetic north, 0 up to 360.
  package var magneticHeading: Double
  /// Degrees clockwise from true north, 0 up to 360; `nil` while declination is unknown.
  package var trueHeading: Double?
  /// Half the width of the 95 % interval, degrees; `nil` where the heading is not to be trusted.
  package var accuracy: Double?
  /// The field along body x, right, microtesla; `nil` where no magnetometer measures it.
  package var x: Double?
  /// The field along body y, to the top, microtesla; `nil` like `x`.
  package var y: Double?
  /// The field along body z, out of the screen, microtesla; `nil` like `x`.
  package var z: Double?
}

/// An altitude as a client gets it.
package struct AltitudeReport: Hashable, Codable, Sendable {
  /// When it was true.
  package var time: Timestamp
  /// Metres above the first report since the client has started the service.
  package var relativeAltitude: Double
  /// Static pressure, pascals.
  package var pressure: Double
}

/// Whether the calibration prompt may be shown, as it is asked of all clients that can answer.
package struct CalibrationQuestion: Hashable, Codable, Sendable {
  /// Names the question in the answer; not used twice in one run.
  package var number: UInt64
  /// What would be shown.
  package var prompt: CalibrationPrompt

  package init(number: UInt64, prompt: CalibrationPrompt) {
    self.number = number
    self.prompt = prompt
  }
}

/// What becomes of the one calibration prompt of the application.
package enum CalibrationPromptChange: Hashable, Codable, Sendable {
  /// It is to be shown.
  case show(CalibrationPrompt)
  /// It is to be taken down.
  case dismiss(CalibrationPromptEnd)
}

/// A service that cannot deliver at the moment, or may not; it goes on as soon as it can.
package struct ServiceFailure: Error, Hashable, Codable, Sendable {
  package var service: Service
  package var reason: String
  /// Of what kind the cause is.
  package var cause: FailureCause
  /// Whether it is because the application may not use the service.
  package var isDenied: Bool

  package init(
    service: Service, reason: String, cause: FailureCause = .unavailable, isDenied: Bool = false
  ) {
    self.service = service
    self.reason = reason
    self.cause = cause
    self.isDenied = isDenied
  }
}

/// The kinds of cause that a client may answer differently.
package enum FailureCause: String, Hashable, Codable, Sendable {
  /// Nothing comes at the moment.
  case unavailable
  /// The board has no chip for it: it was not started. Said of the motion services alone.
  case notEquipped
  /// True north is not known yet.
  case trueNorthUnknown
  /// The magnetometer is to be calibrated first.
  case needsMovement
  /// The application is not in use: the service was not started.
  case notInUse
}

/// What a client is told.
package struct ServiceEvent: Hashable, Codable, Sendable {
  package var client: ClientID
  package var content: EventContent

  package init(client: ClientID, content: EventContent) {
    self.client = client
    self.content = content
  }
}

/// The kinds of event.
package enum EventContent: Hashable, Codable, Sendable {
  case location(LocationReport)
  /// The positions that have waited, the oldest first, at least one.
  case deferredLocations([LocationReport])
  /// A deferral has ended, or did not begin; `nil`: its distance or its time was reached.
  case deferralEnded(DeferralProblem?)
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
  /// An observation of the board, for a client that observes it.
  indirect case observation(Observation)
  /// A sample of a chip, for a client that asks for them.
  indirect case reading(SensorReading)
}
