// What a program may know of an observation that it gets as the board publishes it.

import Geodesy
package import SensorTypes

/// Takes out of observations what a program may not know: positions, and what follows from them.
///
/// Without access these are true heading, declination, the field that a model expects at the place, satellites, and heights
/// that a receiver has a part in. Magnetic heading, attitude, heave, pressure and relative altitude say nothing of the place and pass.
/// With reduced access a position is the middle of its cell (`ReducedAccuracy`), and the rest is as exact as that.
package struct ObservationFilter: Sendable {
  /// Degrees that declination is rounded to with reduced access: it changes by less within a cell, outside of polar regions.
  private static let declinationStep = 0.1 * Double.pi / 180

  private let access: PositionAccess
  private var reducedAccuracy = ReducedAccuracy()
  private var hasSaidWhy = false

  /// Creates a filter for one subscriber.
  ///
  /// - Parameter hasSaidWhy: Whether the subscriber was told already why it gets no positions.
  package init(_ access: PositionAccess, hasSaidWhy: Bool = false) {
    (self.access, self.hasSaidWhy) = (access, hasSaidWhy)
  }

  /// The observation as the program may know it; `nil` where nothing is left of it. The first position that is withheld
  /// becomes a loss with the reason.
  package mutating func pass(_ observation: Observation) -> Observation? {
    switch access {
    case .full: observation
    case .reduced: reduce(observation)
    case .withheld(let why): withhold(observation, .notAuthorized(why))
    }
  }

  private mutating func withhold(_ observation: Observation, _ reason: NoData) -> Observation? {
    switch observation {
    case .location(let estimate): return say(reason, at: estimate.fix.received)
    case .locationUnavailable(_, let time): return say(reason, at: time)
    case .heading(var estimate):
      (estimate.trueHeading, estimate.declination) = (nil, nil)
      estimate.trueReason = reason
      estimate.reason = estimate.reason?.withoutPlace
      Self.hideModel(in: &estimate)
      return .heading(estimate)
    case .motion(var estimate):
      estimate.attitude?.declination = nil
      estimate.attitude?.declinationReason = reason
      let northReason = estimate.attitude?.northReason?.withoutPlace
      estimate.attitude?.northReason = northReason
      return .motion(estimate)
    case .absoluteAltitude(let estimate): return Self.withoutFix(estimate)
    case .sky: return nil
    case .headingUnavailable(let reason, let time):
      return .headingUnavailable(reason.withoutPlace, at: time)
    case .motionUnavailable(let sensor, let reason, let time):
      return .motionUnavailable(sensor, reason.withoutPlace, at: time)
    case .altitude, .altitudeUnavailable, .waves, .wavesUnavailable, .sensor, .diagnostic:
      return observation
    }
  }

  private mutating func say(_ reason: NoData, at time: Timestamp) -> Observation? {
    guard !hasSaidWhy else { return nil }
    hasSaidWhy = true
    return .locationUnavailable(reason, at: time)
  }

  private mutating func reduce(_ observation: Observation) -> Observation? {
    switch observation {
    case .location(let estimate):
      guard let report = LocationReport(estimate) else { return nil }
      let reduced = reducedAccuracy.reduce(report)
      var fix = GNSSFix(received: estimate.fix.received, mode: .twoDimensional)
      (fix.pulseTime, fix.utc) = (estimate.fix.pulseTime, estimate.fix.utc)
      (fix.timeOfDay, fix.weeksAdded) = (estimate.fix.timeOfDay, estimate.fix.weeksAdded)
      (fix.latitude, fix.longitude) = (reduced.position.latitude, reduced.position.longitude)
      fix.horizontalAccuracy = reduced.horizontalAccuracy
      (fix.accuracySource, fix.kind) = (estimate.fix.accuracySource, estimate.fix.kind)
      return .location(
        LocationEstimate(fix: fix, isSimulated: estimate.isSimulated, carried: estimate.carried))
    case .heading(let estimate): return .heading(Self.reduce(estimate))
    case .motion(var estimate):
      let declination = estimate.attitude?.declination.map(Self.rounded)
      estimate.attitude?.declination = declination
      return .motion(estimate)
    case .absoluteAltitude(let estimate): return Self.withoutFix(estimate)
    case .sky: return nil
    case .locationUnavailable, .headingUnavailable, .altitude, .altitudeUnavailable,
      .motionUnavailable, .waves, .wavesUnavailable, .sensor, .diagnostic:
      return observation
    }
  }

  /// A heading whose declination says no more of the place than the cell does.
  static func reduce(_ heading: HeadingEstimate) -> HeadingEstimate {
    var heading = heading
    heading.declination = heading.declination.map(rounded)
    heading.trueHeading = heading.declination.map { declination in
      let turn = 2 * Double.pi
      let sum = (heading.magneticHeading + declination).truncatingRemainder(dividingBy: turn)
      return sum < 0 ? sum + turn : sum
    }
    hideModel(in: &heading)
    return heading
  }

  /// A height that no fix is part of, without what a receiver says of the geoid there.
  private static func withoutFix(_ estimate: AbsoluteAltitudeEstimate) -> Observation? {
    guard !estimate.usesFix else { return nil }
    var estimate = estimate
    estimate.ellipsoidalAltitude = nil
    return .absoluteAltitude(estimate)
  }

  /// Declination as exact as the cell.
  static func rounded(_ declination: Double) -> Double {
    (declination / declinationStep).rounded() * declinationStep
  }

  // Strength and dip of the model say where the board is as well as declination does.
  private static func hideModel(in estimate: inout HeadingEstimate) {
    guard estimate.fieldCheck?.origin == .model else { return }
    estimate.fieldCheck?.expected = nil
    estimate.fieldCheck?.origin = nil
  }
}
