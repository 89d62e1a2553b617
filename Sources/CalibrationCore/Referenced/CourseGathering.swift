// Headings from a receiver's course, on a drive with a few bends.

public import LinearAlgebra
public import SensorTypes

/// Puts field samples together with a receiver's course, for something that points the way it goes.
///
/// A course says where the vehicle goes, not where it points: only steady stretches count, above a speed at
/// which the course is good, and what is left of sideslip is an error that a stretch shares. Forces of bends
/// and of braking, which an accelerometer takes for tilt, are taken out by the receiver's own velocities.
/// Memory is bounded: the oldest stretches go first.
public struct CourseGathering: Sendable {
  /// Slower than this a course says little, m/s.
  public static let leastSpeed = 2.0
  /// Faster turning than this is no steady stretch, rad/s.
  static let fastestTurn = 8 * Double.pi / 180
  /// A course less certain than this is not used, degrees.
  static let worstCourse = 5.0
  /// What sideslip, wind and the placing of the antenna leave between course and heading, radians.
  static let sideslip = 2 * Double.pi / 180
  /// A stretch is over after this long, seconds, or after this much of a turn, radians.
  static let stretchLength = 10.0
  static let stretchTurn = 20 * Double.pi / 180
  /// Two fixes that make an epoch are so far apart, seconds.
  static let epochLengths = 0.8...2.5
  /// How uncertain the receiver's latency is, seconds.
  static let latencyDoubt = 0.1
  /// How much a vehicle that goes straight wanders between two fixes, radians.
  static let yawing = 1 * Double.pi / 180
  private static let limit = 6_000
  private static let stretchLimit = 300

  private struct Course: Sendable {
    var time: Timestamp
    var heading: Double
    var deviation: Double
    var speed: Double
  }

  private struct Stretch: Sendable {
    var start: Timestamp
    var heading: Double
    var number: Int
    var deviation: Double
  }

  /// The angle from true to magnetic north, radians.
  public var declination: Double
  private let toBody: Matrix3
  private let latency: Double
  private var samples: [CalibrationSample] = []
  private var last: Course?
  private var stretch: Stretch?
  private var stretches = 0
  /// What was gathered so far.
  public private(set) var sightings: [ReferencedFitter.Sighting] = []
  /// Seconds of steady course so far.
  public private(set) var seconds = 0.0

  /// Makes an empty gathering.
  ///
  /// - Parameters:
  ///   - mount: How the magnetometer sits on the board.
  ///   - level: How the board sits in the vehicle, as its level record says.
  ///   - declination: From true to magnetic north, radians.
  ///   - latency: How old a fix is when it arrives, seconds.
  public init(
    mount: Mount, level: Quaternion = .identity, declination: Double,
    latency: Double = GNSSFix.usualLatency
  ) {
    toBody = level.matrix * mount.matrix
    self.declination = declination
    self.latency = latency
  }

  /// Takes a sample.
  public mutating func take(_ sample: CalibrationSample) {
    samples.append(sample)
    if samples.count > Self.limit { samples.removeFirst(Self.limit / 2) }
  }

  /// Takes a fix. Returns why it was not used; `nil` for one that was.
  @discardableResult
  public mutating func take(_ fix: GNSSFix) -> String? {
    guard fix.mode > .none, fix.isValid, fix.kind?.isMeasured ?? true, let speed = fix.speed,
      let course = fix.course, speed.isFinite, course.isFinite
    else { return forget("no course yet") }
    guard speed >= Self.leastSpeed else {
      return forget("too slow for a course: \(Int(Self.leastSpeed * 3.6)) km/h at least")
    }
    // A receiver that does not say how good its course is: half a metre a second across.
    let deviation = max(
      fix.courseAccuracy ?? 0,
      (fix.speedAccuracy ?? (fix.courseAccuracy == nil ? 0.5 : 0)) / speed * 180 / .pi)
    guard deviation <= Self.worstCourse else {
      // What a receiver says may be anything; beyond half a circle a course says nothing.
      guard deviation <= 180 else { return forget("the course is good for nothing") }
      return forget("the course is only good to \(Int(deviation.rounded())) deg")
    }
    let now = Course(
      time: fix.moment(latency: latency),
      heading: course * .pi / 180 - declination, deviation: deviation * .pi / 180, speed: speed)
    guard let before = last else {
      last = now
      return nil
    }
    let step = now.time.seconds(since: before.time)
    if step > 0, step < Self.epochLengths.lowerBound { return nil }
    last = now
    guard Self.epochLengths.contains(step) else { return forget("the course was interrupted") }
    let rate = (now.heading - before.heading).remainder(dividingBy: 2 * .pi) / step
    let meanwhile = samples.filter {
      $0.time > before.time && $0.time <= now.time
    }
    samples.removeAll { $0.time <= now.time }
    guard abs(rate) < Self.fastestTurn else {
      stretch = nil
      return "turning"
    }
    guard !meanwhile.isEmpty else { return "no field sample" }
    let heading = before.heading + rate * step / 2
    let acceleration = Vector3(
      rate * (now.speed + before.speed) / 2, (now.speed - before.speed) / step, 0)
    let turn = toBody.transposed
    let epoch = meanwhile.map { sample in
      var sample = sample
      sample.force = sample.force.map { $0 - turn * acceleration }
      // Force is taken at its word then: what a gyro would carry on are the forces of the last bend.
      sample.angularRate = nil
      return sample
    }
    add(
      epoch, rate: rate, middle: heading,
      deviation: (now.deviation + before.deviation) / 2, now: now, step: step)
    return nil
  }

  private mutating func add(
    _ epoch: [CalibrationSample], rate: Double, middle: Double, deviation: Double, now: Course,
    step: Double
  ) {
    seconds += step
    if let open = stretch,
      now.time.seconds(since: open.start) > Self.stretchLength
        || abs((middle - open.heading).remainder(dividingBy: 2 * .pi)) > Self.stretchTurn
    {
      stretch = nil
    }
    let open: Stretch
    if let stretch {
      open = stretch
    } else {
      stretches += 1
      // A receiver's filter makes half of its course's error last.
      open = Stretch(
        start: now.time.advanced(bySeconds: -step), heading: middle, number: stretches,
        deviation: (Self.sideslip * Self.sideslip + deviation * deviation / 2).squareRoot())
      stretch = open
    }
    let (late, still) = (rate * Self.latencyDoubt, Self.yawing)
    sightings.append(
      ReferencedFitter.Sighting(
        samples: epoch, heading: middle, deviation: open.deviation,
        ownDeviation: (deviation * deviation / 2 + late * late + still * still).squareRoot(),
        reference: open.number))
    if sightings.count > Self.stretchLimit { sightings.removeFirst() }
  }

  private mutating func forget(_ reason: String) -> String {
    last = nil
    stretch = nil
    samples.removeAll(keepingCapacity: true)
    return reason
  }
}
