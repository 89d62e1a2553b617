package import SensorTypes

/// The kinds of JSON lines. The raw value is the line's `kind`.
package enum LineKind: String, CaseIterable, Sendable {
  case heading, attitude, location, altitude, absoluteAltitude, sky, motion, waves, sample, sensor,
    error

  /// The kinds that `monitor` prints: the board is asked neither for satellites nor for motion and waves.
  package static let monitored: [LineKind] = [
    .heading, .location, .altitude, .absoluteAltitude, .sensor, .error,
  ]

  private static func locationInterval(for kinds: Set<LineKind>, _ rate: Double?) -> Double? {
    guard !kinds.contains(.location) else { return rate.flatMap { $0 < 1 ? 1 / $0 : nil } }
    return kinds.contains(.absoluteAltitude) ? seaLevelInterval : nil
  }

  /// The time in seconds between two fixes that keep an altitude above the sea.
  private static let seaLevelInterval = 10.0

  /// What is asked of the board for lines of these kinds.
  ///
  /// - Parameter rate: The largest number of lines of a kind in a second; `nil` for all.
  package static func demand(for kinds: Set<LineKind>, rate: Double?) -> Demand {
    Demand(
      // A board without a gyro has its attitude beside its heading.
      heading: kinds.contains(.heading) || kinds.contains(.attitude),
      location: kinds.contains(.location) || kinds.contains(.absoluteAltitude),
      locationInterval: locationInterval(for: kinds, rate),
      altitude: !kinds.isDisjoint(with: [.altitude, .absoluteAltitude, .sample]),
      satellites: kinds.contains(.sky),
      motion: MotionDemand(
        samples: !kinds.isDisjoint(with: [.motion, .sample]), attitude: kinds.contains(.attitude),
        field: !kinds.isDisjoint(with: [.motion, .attitude, .sample]),
        interval: rate.map { 1 / $0 }),
      waves: kinds.contains(.waves))
  }

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
      case .waves, .wavesUnavailable: .waves
      case .sensor: .sensor
      case .diagnostic: .error
      }
  }
}
