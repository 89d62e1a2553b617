// Positions as messages of MAVLink.

import LinearAlgebra
import SensorTypes

extension MAVLinkEncoder {
  /// 1980-01-06 in seconds since 1970.
  private static let gpsEpoch = 315_964_800.0
  private static let secondsOfWeek = 604_800.0
  /// How far apart attitude and position of one odometry may be, seconds.
  private static let simultaneous = 0.25
  /// The radius that holds 68 % of a circular normal distribution, in standard deviations: sqrt(-2 ln 0.32).
  private static let radius68 = 1.509_592

  /// The fix, if satellites contribute to it and it is not coarse. An autopilot would fly by a position that is carried on, entered by hand
  /// or simulated by a receiver, and would take the middle of a cell of kilometres for a fix with a radius of 100 m at most.
  private func measured(_ state: PublishedState, at now: Timestamp) -> GNSSFix? {
    guard let location = state.location(at: now), location.isMeasured, !location.isCoarse,
      location.fix.isValid,
      location.fix.mode > .none, Self.place(location.fix) != nil
    else { return nil }
    return location.fix
  }

  private static func place(_ fix: GNSSFix) -> (latitude: Double, longitude: Double)? {
    guard let latitude = fix.latitude, let longitude = fix.longitude,
      (-90...90).contains(latitude), (-180...180).contains(longitude)
    else { return nil }
    return (latitude, longitude)
  }

  /// North and east in m/s. Without a course the speed is no more than its error: then both are zero, if the error is known.
  private static func velocity(_ fix: GNSSFix) -> (north: Double, east: Double)? {
    guard let speed = fix.speed, speed.isFinite, speed >= 0 else { return nil }
    if let course = fix.course, course.isFinite {
      let angle = course * .pi / 180
      return (speed * cos(angle), speed * sin(angle))
    }
    guard let error = fix.speedAccuracy, speed <= 2 * error else { return nil }
    return (0, 0)
  }

  /// Hundredths of a degree from true north, 0 to 35999; `nil` where the heading is not to be trusted.
  private func centidegrees(_ state: PublishedState, at now: Timestamp) -> UInt16? {
    guard let heading = state.trustedHeading(at: now), heading.accuracy >= 0,
      heading.accuracy <= options.widestHeading, let north = heading.trueNorth, north.isFinite
    else { return nil }
    let steps = (north * 18_000 / .pi).rounded().truncatingRemainder(dividingBy: 36_000)
    return UInt16(steps < 0 ? steps + 36_000 : steps)
  }

  // MARK: As a receiver

  /// What the receiver measures. Without a fix, and while the position is carried or coarse, it says "no fix" once a second.
  mutating func gpsInput(
    _ state: PublishedState, _ clock: ClockReading?, at now: Timestamp
  ) -> [UInt8]? {
    let fix = measured(state, at: now)
    guard isDue(.gpsInput, fix?.received, at: now) else { return nil }
    let place = fix.flatMap(Self.place)
    let isHigh = fix?.mode == .threeDimensional
    let velocity = fix.flatMap(Self.velocity)
    let altitude = isHigh ? fix?.altitude : nil
    let down = fix?.verticalSpeed.map { -$0 }
    var fields = MAVLinkFields()
    fields.append(Self.microseconds(fix?.moment() ?? now, clock, at: now))
    let week = gpsTime(fix?.utc)
    fields.append(week.milliseconds)
    fields.integer(place.map { $0.latitude * 1e7 }, none: Int32.max)
    fields.integer(place.map { $0.longitude * 1e7 }, none: Int32.max)
    var ignored: UInt16 = 0
    // Bits: altitude 1, HDOP 2, VDOP 4, horizontal and vertical velocity 8 and 16, accuracies of speed, place and height 32, 64 and 128.
    func write(_ value: Double?, _ bit: UInt16, none: Double = .nan) {
      guard let value, value.isFinite else {
        ignored |= bit
        return fields.float(none)
      }
      fields.float(value)
    }
    write(altitude, 1)
    write(fix?.hdop, 2, none: 65_535)
    write(fix?.vdop, 4, none: 65_535)
    write(velocity?.north, 8)
    write(velocity?.east, 8)
    write(down, 16)
    write(fix?.speedAccuracy, 32)
    write(fix?.horizontalAccuracy, 64)
    write(isHigh ? fix?.verticalAccuracy : nil, 128)
    fields.append(ignored)
    fields.append(week.week)
    fields.append(options.receiver)
    fields.append(Self.fixType(fix))
    fields.integer(fix?.satellitesUsed.map(Double.init), none: UInt8.max)
    // 0 is not known, and north is 36000.
    let isCoarse = state.location(at: now)?.isCoarse ?? false
    let yaw = isCoarse ? nil : centidegrees(state, at: now)
    fields.append(yaw.map { $0 == 0 ? 36_000 : $0 } ?? UInt16(0))
    return fields.bytes
  }

  /// 1 no fix, 2 and 3 dimensions, 4 differential, 5 RTK.
  private static func fixType(_ fix: GNSSFix?) -> UInt8 {
    guard let fix else { return 1 }
    guard fix.mode == .threeDimensional else { return 2 }
    switch fix.kind {
    case .rtkFixed?, .rtkFloat?: return 5
    case .differential?, .precisePoint?: return 4
    default: return 3
    }
  }

  private func gpsTime(_ utc: Double?) -> (week: UInt16, milliseconds: UInt32) {
    guard let utc, utc.isFinite else { return (0, 0) }
    let milliseconds = ((utc - Self.gpsEpoch + options.leapSeconds) * 1_000).rounded()
    let week = (milliseconds / (Self.secondsOfWeek * 1_000)).rounded(.down)
    guard let number = UInt16(exactly: week) else { return (0, 0) }
    return (number, UInt32(milliseconds - week * Self.secondsOfWeek * 1_000))
  }

  // MARK: As an estimator

  /// The altitude above the sea: with a barometer, else the receiver's own.
  private func altitude(_ state: PublishedState, _ fix: GNSSFix?, at now: Timestamp) -> (
    metres: Double, accuracy: Double?
  )? {
    if let altitude = state.absoluteAltitude(at: now), altitude.altitude.isFinite {
      return (altitude.altitude, altitude.accuracy)
    }
    guard let fix, fix.mode == .threeDimensional, let altitude = fix.altitude, altitude.isFinite
    else { return nil }
    return (altitude, fix.verticalAccuracy)
  }

  /// Place, height and heading of a measured position. Of a carried or coarse one, and of one without a height, there is none: it has no
  /// word for them.
  mutating func globalPosition(_ state: PublishedState, at now: Timestamp) -> [UInt8]? {
    guard let fix = measured(state, at: now), let place = Self.place(fix),
      let altitude = altitude(state, fix, at: now)?.metres,
      isDue(.globalPosition, fix.received, at: now)
    else { return nil }
    let home = originAltitude ?? altitude
    originAltitude = home
    let velocity = Self.velocity(fix)
    var fields = MAVLinkFields()
    fields.append(Self.milliseconds(fix.moment()))
    fields.integer(place.latitude * 1e7, none: Int32.max)
    fields.integer(place.longitude * 1e7, none: Int32.max)
    fields.integer(altitude * 1_000, none: Int32.max)
    fields.integer((altitude - home) * 1_000, none: Int32.max)
    // The definition has no word for an unknown speed: the largest is none that a vehicle has.
    fields.integer(velocity.map { $0.north * 100 }, none: Int16.max)
    fields.integer(velocity.map { $0.east * 100 }, none: Int16.max)
    fields.integer(fix.verticalSpeed.map { -$0 * 100 }, none: Int16.max)
    fields.append(centidegrees(state, at: now) ?? UInt16.max)
    return fields.bytes
  }

  /// Where, how and how fast, with the covariance of the pose: at the moments of positions, and where all of it is known, since nothing but
  /// the covariance has a word for "not known". It is also told while a position is carried, with a covariance that grows and a quality of
  /// 1, the worst. A coarse one is not: it leaps from cell to cell.
  mutating func odometry(
    _ state: PublishedState, _ clock: ClockReading?, at now: Timestamp
  ) -> [UInt8]? {
    guard let attitude = MAVLinkAttitude(state, widestHeading: options.widestHeading, at: now),
      let pose = pose(state, attitude, at: now)
    else { return nil }
    var fields = MAVLinkFields()
    fields.append(Self.microseconds(attitude.time, clock, at: now))
    Self.write(pose.place, into: &fields)
    let vector = attitude.rotation.vector
    for component in [attitude.rotation.w, vector.x, vector.y, vector.z] { fields.float(component) }
    Self.write(pose.velocity, into: &fields)
    Self.write(attitude.rate, into: &fields)
    let (roll, pitch, yaw) = attitude.variances
    let diagonal = [pose.horizontal, pose.horizontal, pose.vertical, roll, pitch, yaw]
    // The upper triangle by rows; NaN as the first says that the covariance is not known.
    let isKnown = diagonal.allSatisfy { $0?.isFinite == true }
    for row in 0..<6 {
      for column in row..<6 {
        fields.float(row == column ? (row > 0 || isKnown ? diagonal[row] : nil) : 0)
      }
    }
    // The error of the vertical speed, and of the rates, is not known.
    fields.float(nil)
    for _ in 1..<21 { fields.float(0) }
    // MAV_FRAME_LOCAL_NED 1, LOCAL_FRD 20, BODY_FRD 12.
    fields.append(UInt8(options.usesLocalFRD ? 20 : 1))
    fields.append(UInt8(12))
    fields.append(resets)
    // MAV_ESTIMATOR_TYPE: 5 by satellites and inertial sensors.
    fields.append(UInt8(5))
    fields.append(Int8(pose.isCarried ? 1 : 0))
    return fields.bytes
  }

  private struct Pose {
    /// North, east and down from the origin in metres.
    var place: Vector3
    /// Forward, right and down in m/s.
    var velocity: Vector3
    /// Variances in m^2, of each of both horizontal axes and of the vertical one.
    var horizontal: Double?
    var vertical: Double?
    var isCarried: Bool
  }

  /// The position of the attitude's moment.
  private mutating func pose(
    _ state: PublishedState, _ attitude: MAVLinkAttitude, at now: Timestamp
  ) -> Pose? {
    guard attitude.isNorth, let location = state.location(at: now), location.fix.isValid,
      !location.isCoarse, let place = Self.place(location.fix),
      abs(attitude.time.seconds(since: location.fix.moment())) <= Self.simultaneous
    else { return nil }
    let fix = location.fix
    let isCarried = location.carried != nil || fix.kind == .deadReckoning
    guard isCarried || measured(state, at: now) != nil,
      let height = altitude(state, isCarried ? nil : fix, at: now),
      let velocity = Self.velocity(fix),
      let up = fix.verticalSpeed ?? state.altitude(at: now)?.verticalSpeed, up.isFinite
    else { return nil }
    let home = originAltitude ?? height.metres
    originAltitude = home
    let offset = offset(to: place)
    return Pose(
      place: Vector3(offset.north, offset.east, home - height.metres),
      velocity: attitude.rotation.conjugate.rotate(Vector3(velocity.north, velocity.east, -up)),
      horizontal: fix.horizontalAccuracy.map { $0 / Self.radius68 * $0 / Self.radius68 },
      vertical: height.accuracy.map { $0 * $0 }, isCarried: isCarried)
  }

  /// The way from the origin, which is the first place that is told, and moves to a place beyond its reach.
  private mutating func offset(
    to place: (latitude: Double, longitude: Double)
  ) -> (north: Double, east: Double) {
    if let offset = origin?.offset(latitude: place.latitude, longitude: place.longitude) {
      return offset
    }
    if origin != nil { resets &+= 1 }
    origin = MAVLinkOrigin(latitude: place.latitude, longitude: place.longitude)
    return (0, 0)
  }
}
