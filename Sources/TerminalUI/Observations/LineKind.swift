package import SensorTypes

/// The kinds of `monitor`'s JSON lines. The raw value is the line's `kind`.
package enum LineKind: String, CaseIterable, Sendable {
  case heading, location, altitude, absoluteAltitude, sky, motion, sensor, error

  /// The kinds that `monitor` prints: the board is asked neither for satellites nor for motion.
  package static let monitored: [LineKind] = [
    .heading, .location, .altitude, .absoluteAltitude, .sensor, .error,
  ]

  /// The kind of the line that an observation becomes.
  package init(_ observation: Observation) {
    self =
      switch observation {
      case .heading, .headingUnavailable: .heading
      case .location, .locationUnavailable: .location
      case .altitude, .altitudeUnavailable: .altitude
      case .absoluteAltitude: .absoluteAltitude
      case .sky: .sky
      case .motion, .motionUnavailable: .motion
      case .sensor: .sensor
      case .diagnostic: .error
      }
  }
}
