import LinearAlgebra
package import SensorTypes
package import TextForms

/// Turns observations into the JSON lines that `monitor`, `replay` and `decode` print.
///
/// The lines are an interface (`"v":1`): SDK property names as keys, degrees and metres, invalid values
/// negative as in the SDK, and a value that may itself be negative left out when it is not known.
package struct ObservationLines {
  package static let version = 1

  private var sequence = 0
  private let start: Timestamp?
  /// The reading of the system's clock at a moment, for observations without a time; `nil` if there is no such clock.
  package var clock: (Timestamp) -> ClockReading?
  private let hints: (String) -> String

  /// - Parameters:
  ///   - start: The moment that `monotonic` counts from; `nil` for the clock's own zero.
  ///   - clock: What the system's clock shows at a moment, for what carries no time of its own. Of a clock that is not set
  ///     every line says so, and none has its time.
  ///   - hints: Completes the commands that messages tell a person to run.
  package init(
    start: Timestamp? = nil, clock: @escaping (Timestamp) -> ClockReading?,
    hints: @escaping (String) -> String = { $0 }
  ) {
    (self.start, self.clock, self.hints) = (start, clock, hints)
  }

  /// Returns the line for an observation.
  ///
  /// - Parameters:
  ///   - skipped: The number of observations of its kind that were left out before it.
  ///   - truth: Fills in what was really so, on a simulated board.
  package mutating func line(
    for observation: Observation, skipped: Int = 0,
    truth: ((Timestamp, inout JSONLine) -> Void)? = nil
  ) -> String {
    var line: JSONLine
    let time: Timestamp
    switch observation {
    case .heading(let heading):
      time = heading.time
      line = begin("heading", at: time)
      Self.write(heading, into: &line)
    case .headingUnavailable(let reason, let at):
      time = at
      line = begin("heading", at: time)
      line.set("headingAccuracy", -1, digits: 0)
      line.set("trueHeading", -1, digits: 0)
      line.set("reason", reason.description)
    case .location(let location):
      time = epoch(of: location.fix)
      line = begin(
        "location", at: location.fix.moment(latency: 0), utc: location.fix.utc,
        isLeapSecond: location.fix.isLeapSecond)
      Self.write(location, into: &line)
    case .locationUnavailable(let reason, let at):
      time = at
      line = begin("location", at: time)
      line.set("horizontalAccuracy", -1, digits: 0)
      line.set("reason", reason.description)
    case .altitude(let altitude):
      time = altitude.time
      line = begin("altitude", at: time)
      Self.write(altitude, into: &line)
    case .altitudeUnavailable(let reason, let at):
      time = at
      line = begin("altitude", at: time)
      line.set("reason", reason.description)
    case .absoluteAltitude(let altitude):
      time = altitude.time
      line = begin("absoluteAltitude", at: time)
      Self.write(altitude, into: &line)
    case .sky(let sky):
      line = begin("sky", at: sky.received)
      Self.write(sky.satellites, into: &line)
      if skipped > 0 { line.set("skipped", skipped) }
      return line.line
    case .motion(let motion):
      time = motion.time
      line = begin("motion", at: time)
      Self.write(motion.force, as: "force", into: &line)
      Self.write(motion.angularRate, as: "rotationRate", into: &line)
      Self.write(motion.field, as: "field", into: &line)
    case .motionUnavailable(let sensor, let reason, let at):
      time = at
      line = begin("motion", at: time)
      line.set("sensor", sensor.rawValue)
      line.set("reason", reason.description)
    case .waves(let waves):
      (time, line) = (waves.time, begin("waves", at: waves.time))
      Self.write(waves, into: &line)
    case .wavesUnavailable(let reason, let at):
      (time, line) = (at, begin("waves", at: at))
      line.set("reason", reason.description)
    case .sensor(let status):
      line = begin("sensor", at: status.since)
      Self.write(status, into: &line)
      return line.line
    case .diagnostic(let message, let at):
      line = begin("error", at: at)
      line.set("message", hints(message))
      return line.line
    }
    if skipped > 0 { line.set("skipped", skipped) }
    if let truth {
      var nested = JSONLine()
      truth(time, &nested)
      line.set("truth", nested)
    }
    return line.line
  }

  // When a fix was true, which is a while before it has come: what the truth beside it is to be of.
  private func epoch(of fix: GNSSFix) -> Timestamp {
    guard let utc = fix.utc, let wall = clock(fix.received), wall.isSet, abs(utc - wall.seconds) < 2
    else { return fix.moment(latency: 0) }
    return fix.moment(latency: wall.seconds - utc)
  }

  package mutating func begin(
    _ kind: String, at time: Timestamp, utc: Double? = nil, isLeapSecond: Bool = false,
    in line: consuming JSONLine = JSONLine()
  ) -> JSONLine {
    line.set("v", Self.version)
    line.set("sequence", sequence)
    sequence += 1
    line.set("monotonic", start.map { time.seconds(since: $0) } ?? time.seconds, digits: 6)
    line.set("kind", kind)
    let reading = clock(time)
    line.set(
      "time", time: utc ?? reading.flatMap { $0.isSet ? $0.seconds : nil },
      isLeapSecond: isLeapSecond)
    if reading?.isSet == false { line.set("clockIsSet", false) }
    return line
  }

  private static func write(
    _ sample: Sample<Vector3>?, as name: String, into line: inout JSONLine
  ) {
    line.set(name, sample.map { [$0.value.x, $0.value.y, $0.value.z] }, digits: 5)
  }

  private static func write(_ heading: HeadingEstimate, into line: inout JSONLine) {
    let accuracy = heading.accuracy.map { $0 * degrees }
    line.set("magneticHeading", printed(heading: heading.magneticHeading), digits: 3)
    line.set("trueHeading", heading.trueHeading.map(printed) ?? -1, digits: 3)
    line.set("headingAccuracy", accuracy ?? -1, digits: 3)
    line.set("headingLimit", heading.limit?.rawValue)
    line.set("x", heading.field?.x, digits: 3)
    line.set("y", heading.field?.y, digits: 3)
    line.set("z", heading.field?.z, digits: 3)
    line.set("declination", heading.declination.map { $0 * degrees }, digits: 3)
    line.set("reason", heading.reason?.description)
    line.set("trueReason", heading.trueReason?.description)
  }

  private static func write(_ location: LocationEstimate, into line: inout JSONLine) {
    if location.fix.pulseTime != nil { line.set("pps", true) }
    write(location.fix, into: &line)
    line.set("pdop", location.fix.pdop, digits: 2)
    line.set("hdop", location.fix.hdop, digits: 2)
    line.set("vdop", location.fix.vdop, digits: 2)
    if let carried = location.carried {
      line.set(
        "carried", location.fix.received.seconds(since: carried.fixTime), digits: 1)
      line.set("turnMeasured", carried.isTurnMeasured)
    }
    if location.isSimulated { line.set("isSimulatedBySoftware", true) }
  }

  /// The receiver's epoch, as `decode` prints it too.
  static func write(_ fix: GNSSFix, into line: inout JSONLine) {
    if fix.weeksAdded != 0 { line.set("weeksAdded", fix.weeksAdded) }
    line.set("mode", Int(fix.mode.rawValue))
    line.set("fixKind", fix.kind?.rawValue)
    line.set("correctionAge", fix.corrections?.age, digits: 1)
    line.set("correctionStation", fix.corrections?.station)
    if !fix.isValid { line.set("valid", false) }
    line.set("latitude", fix.latitude, digits: 9)
    line.set("longitude", fix.longitude, digits: 9)
    line.set("altitude", fix.altitude, digits: 4)
    line.set("ellipsoidalAltitude", fix.ellipsoidalAltitude, digits: 4)
    line.set(
      "horizontalAccuracy", fix.latitude == nil ? -1 : fix.horizontalAccuracy ?? -1, digits: 3)
    line.set("verticalAccuracy", fix.altitude == nil ? -1 : fix.verticalAccuracy ?? -1, digits: 3)
    if fix.hasAssumedAccuracy { line.set("assumed", true) }
    line.set("course", fix.printedCourse ?? -1, digits: 4)
    line.set("courseAccuracy", fix.course == nil ? -1 : fix.courseAccuracy ?? -1, digits: 4)
    line.set("speed", fix.speed ?? -1, digits: 4)
    line.set("speedAccuracy", fix.speed == nil ? -1 : fix.speedAccuracy ?? -1, digits: 4)
    line.set("verticalSpeed", fix.verticalSpeed, digits: 4)
    line.set("satellites", fix.satellitesUsed)
    if fix.utc == nil { line.set("timeOfDay", fix.timeOfDay, digits: 3) }
  }

  private static func write(_ altitude: AltitudeEstimate, into line: inout JSONLine) {
    line.set("relativeAltitude", altitude.relativeAltitude, digits: 4)
    line.set("relativeAccuracy", altitude.relativeAccuracy, digits: 4)
    // Kilopascals, as CMAltitudeData.
    line.set("pressure", altitude.pressure / 1_000, digits: 6)
    line.set("verticalSpeed", altitude.verticalSpeed, digits: 4)
    line.set("temperature", altitude.temperature, digits: 2)
    line.set("humidity", altitude.humidity, digits: 2)
  }

  private static func write(_ altitude: AbsoluteAltitudeEstimate, into line: inout JSONLine) {
    line.set("altitude", altitude.altitude, digits: 3)
    line.set("altitudeAccuracy", altitude.accuracy, digits: 3)
    line.set("ellipsoidalAltitude", altitude.ellipsoidalAltitude, digits: 3)
    line.set("fixAge", altitude.fixTime.map { altitude.time.seconds(since: $0) }, digits: 1)
    line.set("knownAge", altitude.knownTime.map { altitude.time.seconds(since: $0) }, digits: 1)
    line.set("seaLevelPressure", altitude.seaLevelPressure.map { $0 / 1_000 }, digits: 5)
    line.set(
      "seaLevelPressureAccuracy", altitude.seaLevelPressureAccuracy.map { $0 / 1_000 }, digits: 5)
  }

  private static func write(_ status: SensorStatus, into line: inout JSONLine) {
    line.set("sensor", status.index)
    line.set("chip", status.chip)
    line.set("position", status.position)
    line.set("state", status.state.word)
    if case .failed(let reason) = status.state { line.set("reason", reason) }
    line.set("samples", Int(clamping: status.counters.samples))
    line.set("busErrors", Int(clamping: status.counters.busErrors))
    line.set("retries", Int(clamping: status.counters.retries))
    line.set("starts", Int(clamping: status.counters.starts))
    line.set("configurationsLost", Int(clamping: status.counters.configurationsLost))
    line.set("overflows", Int(clamping: status.counters.overflows))
    line.set("stalls", Int(clamping: status.counters.stalls))
    line.set("emptyEdges", Int(clamping: status.counters.emptyEdges))
    if let identity = status.identity {
      line.set("name", identity.name)
      line.set("firmware", identity.firmware)
      line.set("refusals", Int(clamping: status.counters.refusals))
    }
    if let link = status.link {
      line.set("baudRate", link.baudRate)
      line.set("protocol", link.language?.rawValue)
      line.set("interval", link.interval, digits: 3)
      if !link.notTaken.isEmpty { line.set("notTaken", link.notTaken) }
      if let condition = link.condition { write(condition, into: &line) }
      if let services = link.timeServices { line.set("chrony", services.map(\.words)) }
      // What a lost receiver's pulse was is of no use.
      if status.state == .running, let pulse = link.pulse {
        line.set("pps", pulse.word)
        if case .unusable(let reason) = pulse { line.set("ppsReason", reason) }
      }
      if let base = link.base { write(base, into: &line) }
      if let corrections = link.corrections { write(corrections, into: &line) }
    }
  }
}

extension ObservationLines {
  /// What a receiver reports of its antenna, of the signals and of the next leap second.
  private static func write(_ condition: ReceiverCondition, into line: inout JSONLine) {
    line.set("antenna", condition.antenna?.rawValue)
    line.set("interference", condition.interference?.rawValue)
    line.set("spoofing", condition.spoofing?.rawValue)
    guard let leapSecond = condition.leapSecond else { return }
    line.set("leapSecondChange", leapSecond.change)
    line.set("leapSecondBefore", time: leapSecond.midnight)
  }

  private static func write(_ base: BaseStatus, into line: inout JSONLine) {
    line.set("base", base.phase.rawValue)
    line.set("baseSurveySeconds", base.surveySeconds)
    line.set("baseAccuracy", base.accuracy, digits: 4)
  }

  private static func write(_ corrections: CorrectionStatus, into line: inout JSONLine) {
    line.set("corrections", corrections.phase.rawValue)
    line.set("correctionSource", corrections.source)
    line.set("correctionReason", corrections.failure)
    line.set("correctionConnections", Int(clamping: corrections.connections))
    line.set("correctionFrames", Int(clamping: corrections.frames))
    line.set("correctionBytes", Int(clamping: corrections.bytes))
    line.set("correctionsRejected", Int(clamping: corrections.rejected))
    line.set("correctionsDropped", Int(clamping: corrections.dropped))
    line.set("correctionsRefused", corrections.refusals.map { Int(clamping: $0) })
  }
}

extension SensorState {
  /// The state as one word.
  package var word: String {
    switch self {
    case .starting: "starting"
    case .running: "running"
    case .failed: "failed"
    case .idle: "idle"
    }
  }
}

extension PulseUse {
  /// The use as one word.
  var word: String {
    switch self {
    case .waiting: "waiting"
    case .inUse: "used"
    case .unusable: "unused"
    }
  }
}

extension GNSSFix {
  /// The course, which four decimals do not round up to a full turn.
  package var printedCourse: Double? { course.map { $0 >= 359.99995 ? 0 : $0 } }
}

/// Degrees in a radian.
private let degrees = 180 / Double.pi
