// What a board publishes at a moment, as values of Signal K.

import GNSSProtocol
package import SensorTypes

/// All values of a board at one moment, by path.
package struct SignalKSnapshot: Sendable {
  /// A value and its moment.
  package struct DatedValue: Sendable, Hashable {
    package var value: SignalKValue
    /// UTC in seconds since 1970; `nil` where nobody knows the date.
    package var utc: Double?
  }

  /// The moment that the values are of.
  package let now: Timestamp
  /// UTC of the moment; `nil` where nobody knows the date.
  package let utc: Double?
  /// What is known. What is not is `null` where the board has the means and a value may be left over from before.
  package private(set) var entries: [SignalKPath: DatedValue] = [:]
  /// Warnings of single sensors by the last part of their path.
  package private(set) var sensors: [String: SignalKNotification] = [:]

  /// Makes the values of a moment.
  ///
  /// - Parameters:
  ///   - clock: What the system's clock shows at `now`.
  ///   - measuresOutsideAir: Whether the barometer measures the air outside, so that its temperature and humidity are those of the air.
  package init(
    _ state: PublishedState, at now: Timestamp, clock: ClockReading,
    measuresOutsideAir: Bool = false
  ) {
    let time = PublishedTime(state, at: now, clock: clock)
    (self.now, utc) = (now, time.utc(of: now))
    let declination =
      state.heading(at: now)?.declination ?? state.attitude(at: now)?.declination
    heading(state, time, declination)
    attitude(state, time)
    position(state, time, declination)
    air(state, time, measuresOutsideAir)
    waves(state, time)
    headingNotification(state)
    positionNotification(state)
    sensorNotifications(state)
  }

  private mutating func set(_ path: SignalKPath, _ value: SignalKValue?, _ utc: Double?) {
    if let value { entries[path] = DatedValue(value: value, utc: utc) }
  }

  private mutating func heading(
    _ state: PublishedState, _ time: PublishedTime, _ declination: Double?
  ) {
    let heading = state.trustedHeading(at: now)
    let utc = time.utc(of: heading?.time ?? now)
    set(.headingMagnetic, SignalKValue.bearing(heading?.magnetic), utc)
    set(.headingTrue, SignalKValue.bearing(heading?.trueNorth), utc)
    set(.headingAccuracy, SignalKValue.known(heading?.accuracy), utc)
    set(.magneticVariation, SignalKValue.known(declination), utc)
    if declination?.isFinite ?? false {
      // To the minute: it is calculated with each heading.
      set(.variationTime, SignalKValue.known(utc.map { ($0 / 60).rounded(.down) * 60 }), utc)
    }
    if entries[.headingMagnetic] == nil, state.headingReason(at: now)?.isOfEquipment != true {
      for path in [SignalKPath.headingMagnetic, .headingTrue, .headingAccuracy] {
        set(path, .null, self.utc)
      }
    }
  }

  private mutating func attitude(_ state: PublishedState, _ time: PublishedTime) {
    if let tilt = state.tilt(at: now), tilt.roll.isFinite, tilt.pitch.isFinite {
      let utc = time.utc(of: tilt.time)
      // The yaw is the magnetic heading, from -pi to pi.
      let yaw = state.trustedHeading(at: now).flatMap { heading -> Double? in
        guard heading.magnetic.isFinite else { return nil }
        return heading.magnetic > .pi ? heading.magnetic - 2 * .pi : heading.magnetic
      }
      set(.attitude, .attitude(roll: tilt.roll, pitch: tilt.pitch, yaw: yaw), utc)
      set(.attitudeAccuracy, SignalKValue.known(tilt.accuracy), utc)
    }
    set(
      .rateOfTurn, SignalKValue.known(state.rateOfTurn(at: now)),
      time.utc(of: state.attitude(at: now)?.time ?? now))
  }

  private mutating func air(
    _ state: PublishedState, _ time: PublishedTime, _ isOutside: Bool
  ) {
    guard let air = state.altitude(at: now) else { return }
    let utc = time.utc(of: air.time)
    set(.pressure, SignalKValue.known(air.pressure), utc)
    guard isOutside else { return }
    set(.temperature, SignalKValue.known(air.temperature.map { $0 + 273.15 }), utc)
    set(.humidity, SignalKValue.known(air.humidity.map { $0 / 100 }), utc)
  }

  /// Ashore nothing is said of waves. What was known is `null` where it no longer is.
  private mutating func waves(_ state: PublishedState, _ time: PublishedTime) {
    guard state.hadWaves else { return }
    let waves = state.waves(at: now)
    let (heave, sea) = (waves?.heave, waves?.sea)
    let (utc, seaTime) = (time.utc(of: heave?.time ?? now), time.utc(of: sea?.time ?? now))
    let height = sea?.significantWaveHeight
    // One sigma to half of the 95 % interval.
    let values: [(SignalKPath, Double?, Double?)] = [
      (.heave, heave?.heave, utc), (.heaveAccuracy, heave.map { $0.accuracy * 1.96 }, utc),
      (.waveHeight, height?.value, seaTime),
      (.waveHeightAccuracy, height.map { $0.accuracy * 1.96 }, seaTime),
      (.wavePeriod, sea?.meanPeriod?.value, seaTime),
      (.wavePeakPeriod, sea?.peakPeriod?.value, seaTime),
    ]
    for (path, value, utc) in values { set(path, SignalKValue.known(value) ?? .null, utc) }
  }

  // MARK: Position

  private mutating func position(
    _ state: PublishedState, _ time: PublishedTime, _ declination: Double?
  ) {
    guard let location = state.location(at: now), location.fix.isValid,
      let latitude = location.fix.latitude, let longitude = location.fix.longitude,
      latitude.magnitude <= 90, longitude.magnitude <= 180
    else {
      guard state.locationReason(at: now)?.isOfEquipment != true else { return }
      set(.position, .null, utc)
      set(.positionAccuracy, .null, utc)
      set(.gnssMethod, .text("no GPS"), utc)
      return
    }
    let fix = location.fix
    let utc = fix.utc ?? time.utc(of: fix.received)
    let height = fix.ellipsoidalAltitude.flatMap { $0.isFinite ? $0 : nil }
    set(
      .position, .position(latitude: latitude, longitude: longitude, altitude: height), utc)
    if location.carried != nil || location.isCoarse || fix.accuracySource == .receiver {
      // From the radius of 68 % to that of 95 %, and from one sigma to 95 %.
      set(.positionAccuracy, SignalKValue.known(fix.horizontalAccuracy.map { $0 * 1.621_5 }), utc)
      set(.altitudeAccuracy, SignalKValue.known(fix.verticalAccuracy.map { $0 * 1.96 }), utc)
    }
    set(.speedOverGround, SignalKValue.known(fix.speed), utc)
    let course = fix.course.map { $0 * .pi / 180 }
    set(.courseOverGroundTrue, SignalKValue.bearing(course), utc)
    set(
      .courseOverGroundMagnetic,
      SignalKValue.bearing(course.flatMap { course in declination.map { course - $0 } }), utc)
    if let moment = fix.utc, moment.isFinite { set(.datetime, .time(moment), utc) }
    set(.gnssMethod, .text(Self.method(location)), utc)
    set(.gnssIntegrity, .text("no Integrity checking"), utc)
    set(.gnssType, Self.systems(location, state.sky(at: now)).map { .text($0) }, utc)
    set(.gnssSatellites, SignalKValue.known(fix.satellitesUsed.map(Double.init)), utc)
    set(.gnssAltitude, SignalKValue.known(fix.altitude), utc)
    set(.gnssHorizontalDilution, SignalKValue.known(fix.hdop), utc)
    set(.gnssPositionDilution, SignalKValue.known(fix.pdop), utc)
    let separation = fix.altitude.flatMap { above in fix.ellipsoidalAltitude.map { $0 - above } }
    set(.gnssGeoidalSeparation, SignalKValue.known(separation), utc)
    set(.gnssDifferentialAge, SignalKValue.known(fix.corrections?.age), utc)
    set(
      .gnssDifferentialReference,
      SignalKValue.known((fix.corrections?.station).map(Double.init)), utc)
  }

  /// Signal K's words for the quality of a GGA.
  private static func method(_ location: LocationEstimate) -> String {
    let kind: FixKind
    if location.carried != nil {
      kind = .deadReckoning
    } else if location.isSimulated {
      kind = .simulated
    } else if location.isCoarse, location.isMeasured {
      // "Estimated": the nearest word for a place that is roughly known.
      kind = .deadReckoning
    } else {
      kind = location.fix.kind ?? .autonomous
    }
    switch kind.quality {
    case 1: return "GNSS Fix"
    case 2: return "DGNSS fix"
    case 3: return "Precise GNSS"
    case 4: return "RTK fixed integer"
    case 5: return "RTK float"
    case 6: return "Estimated (DR) mode"
    case 7: return "Manual input"
    case 8: return "Simulator mode"
    default: return "no GPS"
    }
  }

  /// Signal K's word for the systems that a position rests on; `nil` where it is not known or has none.
  private static func systems(_ location: LocationEstimate, _ sky: GNSSSky?) -> String? {
    if location.carried != nil { return "Integrated navigation system" }
    let used = (sky?.satellites ?? []).filter { $0.isUsed == true && $0.system != .sbas }
    switch Set(used.map(\.system)) {
    case [.gps]: return "GPS"
    case [.glonass]: return "GLONASS"
    case [.gps, .glonass]: return "Combined GPS/GLONASS"
    case [.galileo]: return "Galileo"
    default: return nil
    }
  }

  // MARK: Warnings

  private mutating func headingNotification(_ state: PublishedState) {
    let heading = state.trustedHeading(at: now)
    let reason = heading == nil ? state.headingReason(at: now) : state.heading(at: now)?.reason
    let isKnown = heading != nil
    let notification: SignalKNotification? =
      switch reason {
      case .uncalibrated: SignalKNotification(.alert, isAudible: false, "Calibrate the compass.")
      case .magneticInterference(let what, let compared):
        isKnown
          ? SignalKNotification(
            .alert, isAudible: false, "Iron nearby: the gyro holds the heading.",
            detail: compared ?? what)
          : SignalKNotification(
            .warn, isAudible: true, "Iron nearby: the heading is not to be trusted.",
            detail: compared ?? what)
      case .sensorLost(let why):
        SignalKNotification(.warn, isAudible: true, "The compass has failed.", detail: why)
      case .tiltUnknown:
        SignalKNotification(
          .alert, isAudible: false, "The compass does not know which way is down.")
      default: nil
      }
    set(.headingNotification, notification.map { .notification($0) }, utc)
  }

  private mutating func positionNotification(_ state: PublishedState) {
    let notification: SignalKNotification? =
      switch state.locationReason(at: now) {
      case nil:
        state.location(at: now)?.isDeadReckoned == true
          ? SignalKNotification(
            .alert, isAudible: false, "No fix: the position is dead-reckoned.") : nil
      case .noFix: SignalKNotification(.warn, isAudible: false, "The receiver has no fix.")
      case .sensorLost(let why):
        SignalKNotification(.warn, isAudible: true, "The receiver has failed.", detail: why)
      default: nil
      }
    set(.positionNotification, notification.map { .notification($0) }, utc)
  }

  /// The greatest number of sensors that are told of.
  private static let sensorLimit = 64

  private mutating func sensorNotifications(_ state: PublishedState) {
    for status in state.sensors.values.sorted(by: { $0.index < $1.index })
      .prefix(Self.sensorLimit)
    {
      guard case .failed(let why) = status.state else { continue }
      let name = "\(SignalKOptions.part(status.chip))-\(status.index)"
      sensors[name] = SignalKNotification(
        .warn, isAudible: false, "\(status.chip) at \(status.position) has failed.",
        detail: String(why.prefix(200)))
    }
  }
}

extension NoData {
  /// Whether the board cannot have the value, so that none can be lost.
  fileprivate var isOfEquipment: Bool {
    switch self {
    case .notEquipped, .noBoard, .vehicleUndeclared, .notAuthorized: true
    default: false
    }
  }
}
