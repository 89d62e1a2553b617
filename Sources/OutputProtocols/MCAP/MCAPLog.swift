// Observations of a board as a log for robots: MCAP with messages of ROS 2 and of Foxglove.

import LinearAlgebra
package import SensorTypes

/// Writes observations to an MCAP file.
///
/// | topic | message | from |
/// |---|---|---|
/// | `imu/data` | `sensor_msgs/msg/Imu` | a motion estimate, in `imu_link`: x forward, y left, z up (REP-103, REP-145) |
/// | `imu/mag` | `sensor_msgs/msg/MagneticField` | its calibrated field |
/// | `gnss/fix` | `sensor_msgs/msg/NavSatFix`, and `foxglove.LocationFix` on `gnss/location` | a position |
/// | `heading/magnetic`, `heading/true` | `compass_interfaces/msg/Azimuth` | a heading that is to be trusted, else NaN |
/// | `pressure`, `temperature`, `humidity` | `FluidPressure`, `Temperature`, `RelativeHumidity` | the barometer |
/// | `log` | `rcl_interfaces/msg/Log`, or `foxglove.Log` | why a value is missing |
package struct MCAPLog: Sendable {
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

  /// Whom a file is for.
  package enum Audience: Sendable {
    /// ROS 2: the profile `ros2`, which allows nothing but its own messages. Foxglove reads them as well.
    case robots
    /// Foxglove: positions and reasons are its own messages, in JSON.
    case foxglove
  }

  private let audience: Audience
  /// Whether the owner of the log lets it tell where the board is.
  private let showsPosition: Bool
  private var writer: MCAPWriter
  private var channels: [Topic: UInt16] = [:]
  /// The satellite systems of the newest round, as bits of `NavSatStatus.service`, and when that was.
  private var service: (bits: UInt16, time: Timestamp)?
  /// Why there was no heading when that was written last.
  private var headingReason: NoData?

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - program: The program that writes it, with its version.
  ///   - audience: Robots, which refuse a file with messages that are not of ROS, or Foxglove.
  ///   - showsPosition: Without it there is no position, and no orientation, which would tell of the declination.
  ///   - prefix: What stands before the topics: `/` or a namespace such as `/boat/`.
  package init(
    program: String, audience: Audience = .robots, showsPosition: Bool, prefix: String = "/",
    chunkSize: Int = 256 << 10
  ) {
    (self.audience, self.showsPosition) = (audience, showsPosition)
    writer = MCAPWriter(
      profile: audience == .robots ? "ros2" : "", library: program, chunkSize: chunkSize)
    for topic in Topic.allCases where audience == .foxglove || topic != .location {
      let (name, encoding, text, message) = Self.schema(of: topic, for: audience)
      guard let schema = writer.addSchema(name: name, encoding: encoding, text: text) else {
        continue
      }
      channels[topic] = writer.addChannel(
        topic: prefix + topic.rawValue, encoding: message, schema: schema)
    }
  }

  /// Whether the file is as large as its index may become: finish it, and begin another.
  package var isFull: Bool { writer.isFull }

  /// Messages that did not fit.
  package var refused: UInt64 { writer.refused }

  /// Bytes that a cut would lose.
  package var openBytes: Int { writer.openBytes }

  /// Returns the bytes to append to the file.
  package mutating func takeOutput() -> [UInt8] { writer.takeOutput() }

  /// Makes what was written safe from a cut.
  package mutating func flush() { writer.endChunk() }

  /// Ends the file with its index.
  package mutating func finish() { writer.finish() }

  /// Writes an observation.
  ///
  /// - Parameter clock: The system's clock at a moment. While it is not set, messages have a stamp of zero, ROS's word for a time that is
  ///   not known, and a log time since the boot.
  package mutating func take(
    _ observation: Observation, clock: (Timestamp) -> ClockReading?
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
    case .sky(let sky):
      service = (Self.service(of: sky), sky.received)
    case .diagnostic(let message, let time):
      write(.warning, message, of: "lodestone", time, clock)
    case .sensor(let status):
      if case .failed(let reason) = status.state {
        write(.warning, reason, of: status.chip, status.since, clock)
      }
    case .location, .absoluteAltitude: break
    }
  }

  // MARK: Messages

  private mutating func write(
    _ motion: MotionEstimate, _ clock: (Timestamp) -> ClockReading?
  ) {
    let header = header(motion.time, clock, frame: "imu_link")
    var imu = ROSImu(header: header)
    imu.linearAcceleration = (motion.force?.value).flatMap(Self.robotAxes)
    imu.angularVelocity = (motion.attitude?.angularRate ?? motion.angularRate?.value)
      .flatMap(Self.robotAxes)
    // Without positions there is no declination either, and ROS's north is the true one.
    if showsPosition, let reading = AttitudeReading(motion), let covariance = reading.covariance,
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
    // Foxglove's message has no word for a position that is carried on.
    guard location.carried == nil else { return }
    let isKnown = message.covarianceType != .unknown && message.covariance.allSatisfy(\.isFinite)
    let shown = FoxgloveLocationFix(
      nanoseconds: header.nanoseconds, frame: header.frame, latitude: latitude,
      longitude: longitude, altitude: altitude, covariance: isKnown ? message.covariance : nil,
      covarianceType: message.covarianceType)
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
    guard let channel = channels[topic] else { return }
    let logTime = Self.stamp(time, clock) ?? UInt64(clamping: time.nanoseconds)
    writer.write(data, channel: channel, logTime: logTime, publishTime: logTime)
  }
}

extension MCAPLog {
  /// The 68 % radius of a distribution that is alike in two directions, in deviations: 1 - exp(-r^2 / 2) = 0.68.
  static let radius68 = 1.509_592_1

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

  /// Name, encoding and text of the schema of a topic, and the encoding of its messages.
  private static func schema(
    of topic: Topic, for audience: Audience
  ) -> (String, String, String, String) {
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
      return (schema.rawValue, FoxgloveSchema.encoding, schema.text, "json")
    }
    return (ros.rawValue, ROSSchema.encoding, ros.text, "cdr")
  }
}
