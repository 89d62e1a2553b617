// The messages of MAVLink that tell of a board.

import LinearAlgebra
package import SensorTypes

/// What the owner of a board has decided of its messages.
package struct MAVLinkOptions: Sendable, Hashable {
  /// Half the width in radians of the widest 95 % interval of a heading that is told where a message has no field for it, and that an
  /// attitude may have.
  package var widestHeading = PublishedState.widestBareHeading
  /// The number of the receiver among several, from 0.
  package var receiver: UInt8 = 0
  /// GPS time minus UTC in whole seconds: 18 since 2017.
  package var leapSeconds = 18.0
  /// Whether the frame of an odometry, which points north, is called `MAV_FRAME_LOCAL_FRD`: ArduPilot takes no other.
  package var usesLocalFRD = true

  package init() {}
}

/// When the messages of a component are due.
package typealias MAVLinkSchedule = MessageSchedule<MAVLinkEntry>

/// A message that is sent again and again.
package struct MAVLinkEntry: ScheduledMessage {
  package var kind: MAVLinkMessage.MessageKind
  /// The time between two messages in seconds.
  package var interval: Double

  package init(_ kind: MAVLinkMessage.MessageKind, interval: Double) {
    (self.kind, self.interval) = (kind, interval)
  }

  /// What is sent unless somebody chooses. A heartbeat is due every second; ArduPilot wants positions and odometry four times a second
  /// and more.
  package static let standard: [MAVLinkEntry] = [
    MAVLinkEntry(.heartbeat, interval: 1), MAVLinkEntry(.attitude, interval: 0.1),
    MAVLinkEntry(.odometry, interval: 0.1), MAVLinkEntry(.gpsInput, interval: 0.2),
    MAVLinkEntry(.globalPosition, interval: 0.2), MAVLinkEntry(.scaledPressure, interval: 1),
  ]
}

/// Makes messages of what a board publishes.
///
/// A message whose fields have no word for "not known" is not sent while they are not known: peers end values by their age.
package struct MAVLinkEncoder: Sendable {
  /// The seconds after which a message without a new epoch is sent again.
  private static let repetition = 1.0

  package var options: MAVLinkOptions
  var origin: MAVLinkOrigin?
  var originAltitude: Double?
  /// How often the origin has changed.
  var resets: UInt8 = 0
  private var told: [MAVLinkMessage.MessageKind: (epoch: Timestamp?, sent: Timestamp)] = [:]

  package init(options: MAVLinkOptions = .init()) { self.options = options }

  /// Returns a message, or `nil` where there is nothing to tell.
  ///
  /// - Parameter clock: What the system's clock shows at `now`. While it is not set, times are those since the boot, which peers tell by
  ///   their size.
  package mutating func message(
    _ kind: MAVLinkMessage.MessageKind, of state: PublishedState, clock: ClockReading?,
    at now: Timestamp
  ) -> MAVLinkMessage? {
    let payload: [UInt8]?
    switch kind {
    case .heartbeat: payload = heartbeat(state, at: now)
    case .attitude: payload = attitude(state, clock, at: now)
    case .odometry: payload = odometry(state, clock, at: now)
    case .gpsInput: payload = gpsInput(state, clock, at: now)
    case .globalPosition: payload = globalPosition(state, at: now)
    case .scaledPressure: payload = scaledPressure(state, at: now)
    }
    return payload.map { MAVLinkMessage(kind: kind, payload: $0) }
  }

  // MARK: Time

  /// Microseconds since 1970 where the clock is set, else since the boot.
  static func microseconds(_ time: Timestamp, _ clock: ClockReading?, at now: Timestamp) -> UInt64 {
    if let clock, clock.isSet {
      let microseconds = ((clock.seconds + time.seconds(since: now)) * 1e6).rounded()
      if let exact = UInt64(exactly: microseconds) { return exact }
    }
    return UInt64(max(0, time.nanoseconds) / 1_000)
  }

  /// Milliseconds since the boot, which begin anew after 49.7 days.
  static func milliseconds(_ time: Timestamp) -> UInt32 {
    UInt32(truncatingIfNeeded: time.nanoseconds / 1_000_000)
  }

  /// Whether a message has a new epoch to tell, or was silent for long.
  mutating func isDue(_ kind: MAVLinkMessage.MessageKind, _ epoch: Timestamp?, at now: Timestamp)
    -> Bool
  {
    if let last = told[kind], last.epoch == epoch,
      (0..<Self.repetition).contains(now.seconds(since: last.sent))
    {
      return false
    }
    told[kind] = (epoch, now)
    return true
  }

  // MARK: Heartbeat

  private func heartbeat(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    var fields = MAVLinkFields()
    fields.append(UInt32(0))
    // An onboard controller (18) that is no autopilot (8), in no mode (0).
    fields.append(UInt8(18))
    fields.append(UInt8(8))
    fields.append(UInt8(0))
    fields.append(systemStatus(state, at: now))
    // The version of the protocol, as the heartbeat has had it since its third.
    fields.append(UInt8(3))
    return fields.bytes
  }

  /// `MAV_STATE`: boot 1, calibrating 2, active 4, critical 5.
  private func systemStatus(_ state: PublishedState, at now: Timestamp) -> UInt8 {
    for sensor in state.sensors.values {
      if case .failed = sensor.state { return 5 }
    }
    switch state.headingReason(at: now) {
    case .uncalibrated?: return 2
    case .notYet? where state.locationReason(at: now) != nil: return 1
    default: return 4
    }
  }

  // MARK: Attitude

  /// The attitude against true north, with its covariance. Without a trusted heading there is none: its yaw has no word for "not known".
  private func attitude(
    _ state: PublishedState, _ clock: ClockReading?, at now: Timestamp
  ) -> [UInt8]? {
    guard
      let attitude = MAVLinkAttitude(state, widestHeading: options.widestHeading, at: now),
      attitude.isNorth
    else { return nil }
    var fields = MAVLinkFields()
    fields.append(Self.microseconds(attitude.time, clock, at: now))
    Self.write(attitude, into: &fields)
    let (roll, pitch, yaw) = attitude.variances
    // By rows. NaN as the first says that the covariance is not known.
    fields.float(pitch == nil || yaw == nil ? nil : roll)
    for variance in [0, 0, 0, pitch, 0, 0, 0, yaw] { fields.float(variance) }
    return fields.bytes
  }

  /// Writes quaternion and rates.
  static func write(_ attitude: MAVLinkAttitude, into fields: inout MAVLinkFields) {
    let vector = attitude.rotation.vector
    for component in [attitude.rotation.w, vector.x, vector.y, vector.z] {
      fields.float(component)
    }
    write(attitude.rate, into: &fields)
  }

  static func write(_ vector: Vector3?, into fields: inout MAVLinkFields) {
    for component in [vector?.x, vector?.y, vector?.z] { fields.float(component) }
  }

  // MARK: Pressure

  private func scaledPressure(_ state: PublishedState, at now: Timestamp) -> [UInt8]? {
    guard let altitude = state.altitude(at: now), altitude.pressure.isFinite,
      altitude.pressure > 0
    else { return nil }
    var fields = MAVLinkFields()
    fields.append(Self.milliseconds(altitude.time))
    fields.float(altitude.pressure / 100)
    // There is no differential pressure, and nothing whose temperature it had.
    fields.float(nil)
    fields.integer(altitude.temperature.map { $0 * 100 }, none: Int16.max)
    fields.append(Int16(0))
    return fields.bytes
  }
}
