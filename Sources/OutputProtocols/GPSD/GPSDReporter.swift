// Which reports are made when: one for all clients.

package import SensorTypes

/// Decides which reports follow an observation, and which are due because nothing comes any more.
///
/// A position is reported when it arrives, a heading ten times a second. A loss is reported at once and repeated every second.
/// TOFF and PPS are reported once a second, when the receiver has had a fix for a while.
/// A value also counts as lost when it is too old, so that a board that hangs does not leave an old position standing.
package struct GPSDReporter: Sendable {
  /// The least time in seconds between two attitudes. Those that come ten times a second, not quite evenly, all pass.
  package static let attitudeInterval = 0.08
  /// The time in seconds between two reports that there is no value.
  package static let absenceInterval = 1.0

  /// Whether IMU is sent, a class of gpsd 3.27 that earlier programs pass over.
  package var sendsInertial = false
  private var position: (time: Timestamp, isThere: Bool)?
  private var attitude: (time: Timestamp, isThere: Bool)?
  /// The number of fixes since the last loss from which on the receiver's time counts: some receivers tell random times with the first
  /// ones. gpsd waits for as many (`NTP_MIN_FIXES`).
  private static let settledFixes = 4
  private var fixes = 0
  /// The newest second that a TOFF told.
  private var second: Double?
  private var hasInstrument = false
  private var hasSky = false
  /// Whether a SKY told the dilutions of a receiver that names no satellites.
  private var hasDilutions = false

  package init() {}

  /// Returns the reports that an observation gives rise to.
  ///
  /// - Parameters:
  ///   - observation: What `state` has taken already.
  ///   - now: The present moment.
  package mutating func reports(
    after observation: Observation, _ reports: GPSDReports, state: PublishedState,
    at now: Timestamp
  ) -> [GPSDServerReport] {
    switch observation {
    case .location(let location):
      let found = positions(reports, state, now) + times(of: location, reports)
      guard state.sky(at: now) == nil, state.location(at: now)?.fix.hdop != nil else {
        return found
      }
      // A receiver that names no satellites still says its dilutions.
      hasDilutions = true
      return found + [reports.sky(state, at: now)]
    case .locationUnavailable:
      fixes = 0
      return positions(reports, state, now) + dilutionsEnd(reports, state, now)
    case .sky:
      hasSky = true
      return [reports.sky(state, at: now)]
    case .heading: hasInstrument = true
    case .headingUnavailable(let reason, _):
      switch reason {
      case .notEquipped, .noBoard, .vehicleUndeclared: break
      default: hasInstrument = true
      }
    case .motion:
      hasInstrument = true
      let inertial = sendsInertial ? reports.inertial(state, at: now) : nil
      return (inertial.map { [$0] } ?? []) + attitudes(reports, state, now)
    case .motionUnavailable: break
    case .altitude, .altitudeUnavailable, .absoluteAltitude, .waves, .wavesUnavailable, .sensor,
      .diagnostic:
      return []
    }
    return attitudes(reports, state, now)
  }

  /// Returns the reports that are due although nothing has come.
  package mutating func due(
    _ reports: GPSDReports, state: PublishedState, at now: Timestamp
  ) -> [GPSDServerReport] {
    var found: [GPSDServerReport] = []
    if isDue(position, isThere: state.location(at: now)?.fix.isValid == true, now) {
      found += positions(reports, state, now) + dilutionsEnd(reports, state, now)
    }
    if hasSky, state.sky(at: now) == nil {
      hasSky = false
      found.append(reports.sky(state, at: now))
    }
    if hasInstrument, isDue(attitude, isThere: state.trustedHeading(at: now) != nil, now) {
      found += attitudes(reports, state, now)
    }
    return found
  }

  private func isDue(
    _ last: (time: Timestamp, isThere: Bool)?, isThere: Bool, _ now: Timestamp
  ) -> Bool {
    guard !isThere else { return false }
    guard let last, !last.isThere else { return true }
    return now.seconds(since: last.time) >= Self.absenceInterval
  }

  private mutating func positions(
    _ reports: GPSDReports, _ state: PublishedState, _ now: Timestamp
  ) -> [GPSDServerReport] {
    position = (now, state.location(at: now)?.fix.isValid == true)
    return [reports.position(state, at: now)]
  }

  /// The SKY that ends dilutions which were told: they are those of a fix that is lost.
  private mutating func dilutionsEnd(
    _ reports: GPSDReports, _ state: PublishedState, _ now: Timestamp
  ) -> [GPSDServerReport] {
    guard hasDilutions, state.location(at: now) == nil else { return [] }
    hasDilutions = false
    return [reports.sky(state, at: now)]
  }

  private mutating func times(
    of location: LocationEstimate, _ reports: GPSDReports
  ) -> [GPSDServerReport] {
    guard location.isMeasured, location.fix.isValid else {
      fixes = 0
      return []
    }
    fixes = min(fixes + 1, Self.settledFixes)
    guard fixes == Self.settledFixes, let utc = location.fix.utc,
      GPSDReports.second(of: utc) != second
    else { return [] }
    let found = reports.times(of: location)
    if !found.isEmpty { second = GPSDReports.second(of: utc) }
    return found
  }

  private mutating func attitudes(
    _ reports: GPSDReports, _ state: PublishedState, _ now: Timestamp
  ) -> [GPSDServerReport] {
    guard hasInstrument else { return [] }
    let isThere = state.trustedHeading(at: now) != nil
    if let last = attitude, last.isThere == isThere,
      (0..<Self.attitudeInterval).contains(now.seconds(since: last.time))
    {
      return []
    }
    attitude = (now, isThere)
    return [reports.attitude(state, at: now)]
  }
}
