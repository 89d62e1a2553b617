/// A position as the hub publishes it: the receiver's epoch, judged, or one that is carried on from the last.
public struct LocationEstimate: Sendable, Hashable, Codable {
  /// The epoch it comes from; latitude and longitude are present in one that is published. Of a carried position it
  /// has what is known of the moment: time, place, speed and course with their accuracies, and no height.
  public var fix: GNSSFix
  /// Whether the board that produced it is simulated or replayed.
  public var isSimulated: Bool
  /// What a position is carried on from while there is no fix; `nil` for a receiver's own.
  public var carried: DeadReckonedPosition?

  /// Makes an estimate.
  public init(fix: GNSSFix, isSimulated: Bool, carried: DeadReckonedPosition? = nil) {
    self.fix = fix
    self.isSimulated = isSimulated
    self.carried = carried
  }
}

/// Where a position comes from that no receiver has said.
public struct DeadReckonedPosition: Sendable, Hashable, Codable {
  /// The moment of the last fix.
  public var fixTime: Timestamp
  /// Whether a gyro or a compass says how the board has turned since; else it is taken to go straight on.
  public var isTurnMeasured: Bool

  /// Makes it.
  public init(fixTime: Timestamp, isTurnMeasured: Bool) {
    self.fixTime = fixTime
    self.isTurnMeasured = isTurnMeasured
  }
}

/// How one sensor is doing.
public enum SensorState: Sendable, Hashable, Codable {
  /// Being identified and configured.
  case starting
  /// Delivering.
  case running
  /// Not delivering; the text is the last error. It is retried with growing pauses.
  case failed(String)
  /// Powered down because nobody asks for what it measures.
  case idle
}

/// Counters of one sensor; they only grow.
public struct SensorCounters: Sendable, Hashable, Codable {
  /// Samples or epochs published.
  public var samples: UInt64 = 0
  /// Transfers that failed.
  public var busErrors: UInt64 = 0
  /// Transfers that were repeated because noise or another master on the bus had disturbed them; each repetition counts.
  public var retries: UInt64 = 0
  /// Times it was identified and configured.
  public var starts: UInt64 = 0
  /// Times its configuration was found lost (a brown-out).
  public var configurationsLost: UInt64 = 0
  /// Samples with a value beyond the range. Those of a gyro with an accelerometer are published with their clipped axes
  /// marked; all others are not published.
  public var overflows: UInt64 = 0
  /// Times it kept repeating one value, or fell silent.
  public var stalls: UInt64 = 0
  /// Edges on its interrupt line that announced nothing: many of them mean another chip's line.
  public var emptyEdges: UInt64 = 0
  /// Commands that a receiver did not answer, or refused.
  public var refusals: UInt64 = 0

  /// Makes counters at zero.
  public init() {}

  /// What was counted since earlier counters; all of it if any of them was larger, because the sensor's owner has begun anew.
  package func counted(since earlier: SensorCounters) -> SensorCounters {
    let counts: [WritableKeyPath<SensorCounters, UInt64>] = [
      \.samples, \.busErrors, \.retries, \.starts, \.configurationsLost, \.overflows, \.stalls,
      \.emptyEdges, \.refusals,
    ]
    guard counts.allSatisfy({ self[keyPath: $0] >= earlier[keyPath: $0] }) else { return self }
    var since = self
    for count in counts { since[keyPath: count] -= earlier[keyPath: count] }
    return since
  }
}

/// One sensor of the board and how it is doing.
public struct SensorStatus: Sendable, Hashable, Codable {
  /// The place in the board file, from 0.
  public var index: Int
  /// The chip's name, as in the board file.
  public var chip: String
  /// Where it is: `/dev/i2c-1:0x1e` or `/dev/serial0`.
  public var position: String
  /// How it is doing.
  public var state: SensorState
  /// When `state` was entered.
  public var since: Timestamp
  /// What it has done so far.
  public var counters: SensorCounters
  /// What it says that it is; `nil` for one that does not say, or has not yet.
  public var identity: SensorIdentity?
  /// How a receiver is connected and set; `nil` for any other sensor, and before it was opened.
  public var link: ReceiverLink?

  /// Makes a status.
  public init(
    index: Int, chip: String, position: String, state: SensorState, since: Timestamp,
    counters: SensorCounters = .init()
  ) {
    self.index = index
    self.chip = chip
    self.position = position
    self.state = state
    self.since = since
    self.counters = counters
  }
}

/// What the hub tells its subscribers.
public enum Observation: Sendable, Hashable, Codable {
  /// A new heading. It can still be one that is not to be trusted: see its `accuracy`.
  case heading(HeadingEstimate)
  /// Heading cannot be given any more, or not yet.
  case headingUnavailable(NoData, at: Timestamp)
  /// A new position.
  case location(LocationEstimate)
  /// There is no position any more, or not yet; said once a loss.
  case locationUnavailable(NoData, at: Timestamp)
  /// A new altitude.
  case altitude(AltitudeEstimate)
  /// Altitude cannot be given any more, or not yet.
  case altitudeUnavailable(NoData, at: Timestamp)
  /// A new height above the sea; at most once a second.
  case absoluteAltitude(AbsoluteAltitudeEstimate)
  /// A new round of satellites, of the receiver that positions come from; only where `Demand.satellites` says so.
  case sky(GNSSSky)
  /// The newest samples of the chips that feel motion; only where `Demand.motion` says so, at its interval.
  case motion(MotionEstimate)
  /// A chip that feels motion, and is asked for, gives nothing any more, or is not there.
  case motionUnavailable(MotionSensor, NoData, at: Timestamp)
  /// Heave and sea state; only where `Demand.waves` says so. Ten times a second with a heave, once a second without one.
  case waves(WaveEstimate)
  /// Heave and sea state cannot be given: the chips that they need are lost, or not there.
  case wavesUnavailable(NoData, at: Timestamp)
  /// A sensor's state has changed.
  case sensor(SensorStatus)
  /// Something a person should know, in one line.
  case diagnostic(String, at: Timestamp)
}

/// What all clients together ask for.
public struct Demand: Sendable, Hashable, Codable {
  /// Somebody wants heading.
  public var heading: Bool
  /// Somebody wants position.
  public var location: Bool
  /// Seconds that may lie between two positions, by the most demanding of those that want them; `nil`: as fast as it
  /// goes. It says nothing where nobody wants position.
  public var locationInterval: Double?
  /// Somebody wants altitude.
  public var altitude: Bool
  /// Somebody has declared that the board is in a vehicle and points the way it goes: its course is then a
  /// measurement of heading.
  public var followsCourse: Bool
  /// The board carries positions through losses, which takes its gyro too.
  public var carriesPosition: Bool
  /// Somebody wants the satellites that the receiver hears.
  public var satellites: Bool
  /// What is wanted of the chips that feel motion, beside heading.
  public var motion: MotionDemand
  /// Whether somebody wants heave and sea state.
  public var waves: Bool {
    get { asksForWaves ?? false }
    set { asksForWaves = newValue ? true : nil }
  }
  // Absent in what programs of before there was heave send.
  private var asksForWaves: Bool?

  /// Makes a demand.
  public init(
    heading: Bool = false, location: Bool = false, locationInterval: Double? = nil,
    altitude: Bool = false, followsCourse: Bool = false, carriesPosition: Bool = false,
    satellites: Bool = false, motion: MotionDemand = MotionDemand(), waves: Bool = false
  ) {
    self.heading = heading
    self.location = location
    self.locationInterval = locationInterval
    self.altitude = altitude
    self.followsCourse = followsCourse
    self.carriesPosition = carriesPosition
    self.satellites = satellites
    self.motion = motion
    self.waves = waves
  }

  /// Returns what serves both.
  package func merged(with other: Demand) -> Demand {
    var interval: Double?
    switch (location, other.location) {
    case (true, true):
      // No interval is the shortest one.
      if let mine = locationInterval, let theirs = other.locationInterval {
        interval = min(mine, theirs)
      }
    case (true, false): interval = locationInterval
    case (false, true): interval = other.locationInterval
    case (false, false): break
    }
    return Demand(
      heading: heading || other.heading, location: location || other.location,
      locationInterval: interval,
      altitude: altitude || other.altitude, followsCourse: followsCourse || other.followsCourse,
      carriesPosition: carriesPosition || other.carriesPosition,
      satellites: satellites || other.satellites,
      motion: motion.merged(with: other.motion), waves: waves || other.waves)
  }

  /// Everything that the board says of itself and where it is. The satellites are for whoever looks at the receiver
  /// itself, the samples of motion for whoever names their rate, and heave for vessels.
  public static let everything = Demand(heading: true, location: true, altitude: true)
}

/// What the board really has: chips that were found and identified, asked of the hardware.
public struct HardwareCapabilities: Sendable, Hashable, Codable {
  /// A magnetometer that answers, or a declared vehicle's gyro and receiver.
  public var heading: Bool
  /// A receiver that sends.
  public var location: Bool
  /// A barometer that answers.
  public var relativeAltitude: Bool
  /// A gyro and a receiver that answer: heading for a vehicle that points the way it goes, once it is declared. Not
  /// with a gyro that the kernel owns and that has no buffer: it cannot be used.
  public var vehicleHeading: Bool
  /// A barometer that answers, and a receiver or a known height that says how high the sea is below.
  public var absoluteAltitude: Bool
  /// What feels motion.
  public var motion: MotionCapabilities

  /// Makes a list of what there is.
  public init(
    heading: Bool, location: Bool, relativeAltitude: Bool, vehicleHeading: Bool = false,
    absoluteAltitude: Bool = false, motion: MotionCapabilities = MotionCapabilities()
  ) {
    self.heading = heading
    self.location = location
    self.relativeAltitude = relativeAltitude
    self.vehicleHeading = vehicleHeading
    self.absoluteAltitude = absoluteAltitude
    self.motion = motion
  }
}
