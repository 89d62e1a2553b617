// Observations of a board as messages of ROS 2 and of Foxglove.

import LinearAlgebra
package import SensorTypes

/// A message of a topic, with the time by which a log or a live view orders it.
package struct RobotMessage: Sendable, Hashable {
  package var topic: RobotMessages.Topic
  package var data: [UInt8]
  /// UTC in nanoseconds since 1970; since the boot while the clock is not set.
  package var logTime: UInt64
}

/// Makes messages of observations.
///
/// | topic | message | from |
/// |---|---|---|
/// | `imu/data` | `sensor_msgs/msg/Imu` | a motion estimate, in `imu_link`: x forward, y left, z up (REP-103, REP-145) |
/// | `imu/mag` | `sensor_msgs/msg/MagneticField` | its calibrated field |
/// | `gnss/fix` | `sensor_msgs/msg/NavSatFix`, and `foxglove.LocationFix` on `gnss/location` | a position |
/// | `heading/magnetic`, `heading/true` | `compass_interfaces/msg/Azimuth` | a heading that is to be trusted, else NaN |
/// | `pressure`, `temperature`, `humidity` | `FluidPressure`, `Temperature`, `RelativeHumidity` | the barometer |
/// | `log` | `rcl_interfaces/msg/Log`, or `foxglove.Log` | why a value is missing |
package struct RobotMessages: Sendable {
  package enum Topic: String, Sendable, CaseIterable {
    case imu = "imu/data"
    case field = "imu/mag"
    case fix = "gnss/fix"
    case location = "gnss/location"
    case magneticHeading = "heading/magnetic"
    case trueHeading = "heading/true"
    case pressure
    case temperature
    case humidity
    case log
  }

  /// Whom messages are for.
  package enum Audience: Sendable {
    /// ROS 2, whose tools refuse messages that are not of ROS. Foxglove reads them as well.
    case robots
    /// Foxglove: positions and reasons are its own messages, in JSON.
    case foxglove
  }

  /// What a reader needs to know of a topic.
  package struct Description: Sendable, Hashable {
    package var schemaName: String
    package var schemaEncoding: String
    package var schema: String
    /// The encoding of the messages: `cdr` or `json`.
    package var encoding: String
  }

  private let audience: Audience
  /// Whether the owner of the board lets the reader know where it is.
  private let showsPosition: Bool
  /// The satellite systems of the newest round, as bits of `NavSatStatus.service`, and when that was.
  private var service: (bits: UInt16, time: Timestamp)?
  /// Why there is no heading that is to be trusted; `nil` while there is one, and before anybody asked for one.
  private var headingReason: NoData?
  private var messages: [RobotMessage] = []

  /// - Parameters:
  ///   - audience: Robots, which refuse messages that are not of ROS, or Foxglove.
  ///   - showsPosition: Without it there is no position, and no orientation, which would tell of the declination.
  package init(_ audience: Audience, showsPosition: Bool) {
    (self.audience, self.showsPosition) = (audience, showsPosition)
  }

  /// The topics that there may be messages of.
  package var topics: [Topic] {
    Topic.allCases.filter { audience == .foxglove || $0 != .location }
  }

  /// Returns the messages of an observation, which may be none.
  ///
  /// - Parameter clock: The system's clock at a moment. While it is not set, messages have a stamp of zero, ROS's word for a time that is
  ///   not known, and a log time since the boot.
  package mutating func take(
    _ observation: Observation, clock: (Timestamp) -> ClockReading?
  ) -> [RobotMessage] {
    messages.removeAll(keepingCapacity: true)
    write(observation, clock)
    return messages
  }

  private mutating func write(
    _ observation: Observation, _ clock: (Timestamp) -> ClockReading?
  ) {
    switch observation {
    case .motion(let motion): write(motion, clock)
    case .location(let location) where showsPosition: write(location, clock)
    case .locationUnavailable(let reason, let time):
      if showsPosition {
        let header = header(time, clock, frame: "gnss_link")
        write(ROSNavSatFix(header: header, status: .noFix).bytes, .fix, time, clock)
      }
      write(reason, of: "location", time, clock)
    case .heading(let heading):
      write(heading, at: heading.time, clock)
      note(heading.accuracy == nil ? heading.reason ?? .notYet : nil, heading.time, clock)
    case .headingUnavailable(let reason, let time):
      write(HeadingEstimate?.none, at: time, clock)
      note(reason, time, clock)
    case .altitude(let air): write(air, clock)
    case .altitudeUnavailable(let reason, let time): write(reason, of: "altitude", time, clock)
    case .motionUnavailable(let sensor, let reason, let time):
      write(reason, of: sensor.rawValue, time, clock)
    case .wavesUnavailable(let reason, let time): write(reason, of: "heave", time, clock)
    case .sky(let sky):
      service = (Self.service(of: sky), sky.received)
    case .diagnostic(let message, let time):
      write(.warning, message, of: "lodestone", time, clock)
    case .sensor(let status):
      if case .failed(let reason) = status.state {
        write(.warning, reason, of: status.chip, status.since, clock)
      }
    // No schema of ROS or Foxglove has a heave.
    case .location, .absoluteAltitude, .waves: break
    }
  }

  // MARK: Messages

  private mutating func write(
    _ motion: MotionEstimate, _ clock: (Timestamp) -> ClockReading?
  ) {
    let header = header(motion.time, clock, frame: "imu_link")
    var imu = ROSImu(header: header)
    imu.linearAcceleration = Self.present(motion.force, at: motion.time).flatMap(Self.robotAxes)
    imu.angularVelocity =
      (motion.attitude?.angularRate ?? Self.present(motion.angularRate, at: motion.time))
      .flatMap(Self.robotAxes)
    // Without positions there is no declination either, and ROS's north is the true one. The filter has north for a while after a chip is
    // lost: the orientation is told only while the heading is.
    if showsPosition, headingReason == nil, let reading = AttitudeReading(motion),
      let covariance = reading.covariance,
      let north = reading.north, let declination = reading.declination,
      covariance.allSatisfy(\.isFinite)
    {
      imu.orientation = Self.orientation(north, declination: declination)
      imu.orientationCovariance = covariance
    }
    write(imu.bytes, .imu, motion.time, clock)
    guard let attitude = motion.attitude, attitude.fieldTrust != .uncalibrated,
      let field = attitude.field.flatMap(Self.robotAxes)
    else { return }
    write(
      ROSMagneticField(header: header, field: field * 1e-6).bytes, .field, motion.time, clock)
  }

  private mutating func write(
    _ heading: HeadingEstimate?, at time: Timestamp, _ clock: (Timestamp) -> ClockReading?
  ) {
    let header = header(time, clock, frame: "base_link")
    let magnetic = ROSAzimuth(
      header: header, heading: heading?.magneticHeading, accuracy: heading?.accuracy,
      reference: .magnetic)
    write(magnetic.bytes, .magneticHeading, time, clock)
    guard showsPosition else { return }
    let geographic = ROSAzimuth(
      header: header, heading: heading?.trueHeading, accuracy: heading?.accuracy,
      reference: .geographic)
    write(geographic.bytes, .trueHeading, time, clock)
  }

  // Once a loss: headings come many times a second.
  private mutating func note(
    _ reason: NoData?, _ time: Timestamp, _ clock: (Timestamp) -> ClockReading?
  ) {
    // The text of a reason may hold a number that changes.
    if let reason, reason.metricState != headingReason?.metricState {
      write(reason, of: "heading", time, clock)
    }
    headingReason = reason
  }

  private mutating func write(
    _ location: LocationEstimate, _ clock: (Timestamp) -> ClockReading?
  ) {
    let location = location.told
    let fix = location.fix
    let time = fix.moment(latency: 0)
    var header = header(time, clock, frame: "gnss_link")
    if let utc = fix.utc.flatMap(Self.nanoseconds) { header.nanoseconds = utc }
    var message = ROSNavSatFix(header: header, status: .noFix)
    guard fix.isValid, let latitude = fix.latitude, let longitude = fix.longitude,
      (-90...90).contains(latitude), (-180...180).contains(longitude)
    else { return write(message.bytes, .fix, time, clock) }
    message.status = Self.status(of: location)
    if let service, abs(time.seconds(since: service.time)) < 15 { message.service = service.bits }
    (message.latitude, message.longitude) = (latitude, longitude)
    let altitude = fix.ellipsoidalAltitude.finite
    message.altitude = altitude ?? .nan
    if let radius = fix.horizontalAccuracy.finite, radius >= 0 {
      let sigma = radius / Self.radius68
      let up = altitude.flatMap { _ in fix.verticalAccuracy.finite }
      let (level, height) = (sigma * sigma, up.map { $0 * $0 } ?? .nan)
      message.covariance = [level, 0, 0, 0, level, 0, 0, 0, height]
      message.covarianceType = fix.accuracySource.isAssumed ? .approximated : .diagonalKnown
    }
    write(message.bytes, .fix, time, clock)
    // Foxglove's message has no word for a position that no satellites have a part in.
    guard message.status != .noFix else { return }
    // JSON has no NaN: of a height that is not known any on earth can be.
    var (covariance, type) = (message.covariance, message.covarianceType)
    if let up = covariance.last, !up.isFinite {
      covariance[covariance.count - 1] = Self.unknownHeightVariance
      if type == .diagonalKnown { type = .approximated }
    }
    let shown = FoxgloveLocationFix(
      nanoseconds: header.nanoseconds, frame: header.frame, latitude: latitude,
      longitude: longitude, altitude: altitude, covariance: type == .unknown ? nil : covariance,
      covarianceType: type)
    write(shown.bytes, .location, time, clock)
  }

  private mutating func write(
    _ air: AltitudeEstimate, _ clock: (Timestamp) -> ClockReading?
  ) {
    let header = header(air.time, clock, frame: "imu_link")
    let values: [(Topic, Double?)] = [
      (.pressure, air.pressure), (.temperature, air.temperature),
      (.humidity, air.humidity.map { $0 / 100 }),
    ]
    for (topic, value) in values {
      guard let value = value.finite else { continue }
      write(ROSScalar(header: header, value: value).bytes, topic, air.time, clock)
    }
  }

  private mutating func write(
    _ reason: NoData, of name: String, _ time: Timestamp, _ clock: (Timestamp) -> ClockReading?
  ) {
    let shown = showsPosition ? reason : reason.withoutPlace
    write(.info, "no \(name): \(shown.description)", of: name, time, clock)
  }

  private mutating func write(
    _ level: FoxgloveLog.Level, _ message: String, of name: String, _ time: Timestamp,
    _ clock: (Timestamp) -> ClockReading?
  ) {
    let stamp = Self.stamp(time, clock)
    let data =
      switch audience {
      case .robots:
        ROSLog(
          header: ROSHeader(nanoseconds: stamp ?? 0, frame: ""),
          level: level == .info ? .info : .warning, name: name, message: message
        ).bytes
      case .foxglove:
        FoxgloveLog(nanoseconds: stamp ?? 0, level: level, message: message, name: name).bytes
      }
    write(data, .log, time, clock)
  }

  private mutating func write(
    _ data: [UInt8], _ topic: Topic, _ time: Timestamp, _ clock: (Timestamp) -> ClockReading?
  ) {
    guard audience == .foxglove || topic != .location else { return }
    let logTime = Self.stamp(time, clock) ?? UInt64(clamping: time.nanoseconds)
    messages.append(RobotMessage(topic: topic, data: data, logTime: logTime))
  }
}

extension RobotMessages {
  /// The 68 % radius of a distribution that is alike in two directions, in deviations: 1 - exp(-r^2 / 2) = 0.68.
  static let radius68 = 1.509_592_1
  /// The variance of a height of which nothing is known, in m²: 10 km, one sigma.
  static let unknownHeightVariance = 1e8

  /// The age in seconds beyond which a sample is not of the moment of a message: of a chip that is silent the last one stays in the
  /// estimate. Chosen: several intervals of the slowest chips.
  private static let sampleAge = 0.5

  /// The value of a sample that is of the moment; `nil` of an older one.
  static func present(_ sample: Sample<Vector3>?, at time: Timestamp) -> Vector3? {
    sample.flatMap { abs(time.seconds(since: $0.time)) <= sampleAge ? $0.value : nil }
  }

  /// A vector of the body frame (x right, y forward, z up) in the robot's (x forward, y left, z up).
  static func robotAxes(_ vector: Vector3) -> Vector3? {
    vector.isFinite ? Vector3(vector.y, -vector.x, vector.z) : nil
  }

  /// The orientation of the robot's axes in a frame with x east, y to true north and z up: a robot that looks east has none.
  ///
  /// - Parameters:
  ///   - north: The body frame in a frame whose y axis points to magnetic north.
  ///   - declination: Radians east.
  static func orientation(_ north: Quaternion, declination: Double) -> Quaternion? {
    // Magnetic north lies clockwise of true north by the declination.
    let toTrue = Quaternion(rotationVector: Vector3(0, 0, -declination))
    let axes = Quaternion(rotationVector: Vector3(0, 0, Double.pi / 2))
    let turned = (toTrue * north * axes).normalized
    return turned.w.isFinite && turned.vector.isFinite ? turned : nil
  }

  static func status(of location: LocationEstimate) -> ROSNavSatFix.NavSatFixStatus {
    // ROS has no word for a position that is carried on: one without a fix is the nearest.
    guard location.carried == nil, location.fix.kind ?? .autonomous >= .combined else {
      return .noFix
    }
    return switch location.fix.kind {
    case .differential?, .precisePoint?: .satelliteAugmented
    case .rtkFloat?, .rtkFixed?: .groundAugmented
    default: .fix
    }
  }

  static func service(of sky: GNSSSky) -> UInt16 {
    var bits: UInt16 = 0
    for satellite in sky.satellites where satellite.isUsed == true {
      switch satellite.system {
      case .gps: bits |= 1
      case .glonass: bits |= 2
      case .beidou: bits |= 4
      case .galileo: bits |= 8
      case .sbas, .imes, .qzss, .navic: break
      }
    }
    return bits
  }

  /// UTC in nanoseconds; `nil` before 1970, and beyond what 63 bits hold.
  static func nanoseconds(_ utc: Double) -> UInt64? {
    guard (0..<9.2e9).contains(utc) else { return nil }
    // In two parts, which keeps the whole precision of the number.
    let whole = utc.rounded(.down)
    return UInt64(whole) * 1_000_000_000 + UInt64(((utc - whole) * 1e9).rounded())
  }

  private static func stamp(_ time: Timestamp, _ clock: (Timestamp) -> ClockReading?) -> UInt64? {
    clock(time).flatMap { $0.isSet ? nanoseconds($0.seconds) : nil }
  }

  private func header(
    _ time: Timestamp, _ clock: (Timestamp) -> ClockReading?, frame: String
  ) -> ROSHeader {
    ROSHeader(nanoseconds: Self.stamp(time, clock) ?? 0, frame: frame)
  }

  /// Returns the schema of a topic, and the encoding of its messages.
  package func description(of topic: Topic) -> Description {
    let ros: ROSSchema
    switch topic {
    case .imu: ros = .imu
    case .field: ros = .magneticField
    case .fix: ros = .navSatFix
    case .pressure: ros = .fluidPressure
    case .temperature: ros = .temperature
    case .humidity: ros = .relativeHumidity
    case .magneticHeading, .trueHeading: ros = .azimuth
    case .log where audience == .robots: ros = .log
    case .location, .log:
      let schema = topic == .log ? FoxgloveSchema.log : .locationFix
      return Description(
        schemaName: schema.rawValue, schemaEncoding: FoxgloveSchema.encoding, schema: schema.text,
        encoding: "json")
    }
    return Description(
      schemaName: ros.rawValue, schemaEncoding: ROSSchema.encoding, schema: ros.text,
      encoding: "cdr")
  }
}
