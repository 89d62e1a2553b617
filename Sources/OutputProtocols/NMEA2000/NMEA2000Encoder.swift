// The messages of NMEA 2000 that tell of a board.

import LinearAlgebra
package import SensorTypes

/// What the owner of a board has decided of its messages.
package struct NMEA2000Options: Sendable, Hashable {
  /// Which north the heading refers to.
  package enum Reference: String, Sendable, Hashable, CaseIterable {
    case magnetic
    case trueNorth
  }

  /// Where the board is, so that its temperature and humidity say something of that place.
  package enum Surroundings: String, Sendable, Hashable, CaseIterable {
    case outside
    case inside
    case mainCabin
    case engineRoom

    /// The number in the list of temperature sources.
    var temperatureSource: UInt8 {
      switch self {
      case .outside: 1
      case .inside: 2
      case .engineRoom: 3
      case .mainCabin: 4
      }
    }

    /// The number in the list of humidity sources.
    var humiditySource: UInt8 { self == .outside ? 1 : 0 }
  }

  /// Which north the heading refers to. A heading is never told with the other reference instead: some displays do not look at it.
  package var reference = Reference.magnetic
  /// Half the width in radians of the widest 95 % interval of a heading that is told. NMEA 2000 has no field for it, so that a heading
  /// that is hardly known would look like any other.
  package var widestHeading = PublishedState.widestBareHeading
  /// The magnetic model that the variation comes from, by the number in NMEA's list: 9 is WMM2025, 3 any calculation.
  package var variationSource: UInt8 = 3
  /// Where the board is; `nil` where nobody has said so, and its temperature is that of the board alone.
  package var place: Surroundings?
  /// Which of several barometers and thermometers it is.
  package var instance: UInt8 = 0

  package init() {}
}

/// Makes messages of what a board publishes.
///
/// Values that are not known, stale or not to be trusted are told as not available. A position that the satellites of the moment have no
/// part in (dead-reckoned, entered, of a receiver's simulator) and a coarse one are told where the message says so (129029, by its
/// method), and nowhere else.
package struct NMEA2000Encoder: Sendable {
  /// The largest sequence identifier; the values above have meanings of their own.
  private static let largestIdentifier: UInt8 = 252
  /// The seconds for which an epoch that was told is not told again by the rapid messages.
  static let repetition = 1.0

  /// A number that messages of one moment share.
  struct SequenceIdentifier: Sendable {
    private var moment: Timestamp?
    private var value = NMEA2000Encoder.largestIdentifier

    mutating func of(_ moment: Timestamp) -> UInt8 {
      if moment != self.moment {
        value = value >= NMEA2000Encoder.largestIdentifier ? 0 : value + 1
        self.moment = moment
      }
      return value
    }
  }

  package var options: NMEA2000Options
  private var motionIdentifier = SequenceIdentifier()
  var epochIdentifier = SequenceIdentifier()
  var airIdentifier = SequenceIdentifier()
  /// What the rapid messages have told last, and when.
  var rapid: [UInt32: (epoch: Timestamp?, sent: Timestamp)] = [:]

  package init(options: NMEA2000Options = .init()) { self.options = options }

  /// Returns a message, or `nil` for a parameter group that is not known here and for a rapid message that would repeat an epoch.
  ///
  /// - Parameters:
  ///   - entry: The parameter group and its priority.
  ///   - clock: What the system's clock shows at `now`; `nil` where there is none.
  package mutating func message(
    _ entry: NMEA2000Entry, of state: PublishedState,
    clock: ClockReading?, at now: Timestamp
  ) -> NMEA2000Message? {
    let payload: [UInt8]?
    switch entry.pgn {
    case NMEA2000PGN.heading: payload = heading(state, at: now)
    case NMEA2000PGN.rateOfTurn: payload = rateOfTurn(state, at: now)
    case NMEA2000PGN.heave: payload = heave(state, at: now)
    case NMEA2000PGN.attitude: payload = attitude(state, at: now)
    case NMEA2000PGN.variation: payload = variation(state, at: now)
    case NMEA2000PGN.position: payload = position(state, at: now)
    case NMEA2000PGN.courseAndSpeed: payload = courseAndSpeed(state, at: now)
    case NMEA2000PGN.gnssPosition: payload = gnssPosition(state, clock, at: now)
    case NMEA2000PGN.dilutions: payload = dilutions(state, at: now)
    case NMEA2000PGN.satellites: payload = satellites(state, at: now)
    case NMEA2000PGN.systemTime: payload = systemTime(state, clock, at: now)
    case NMEA2000PGN.timeAndDate: payload = timeAndDate(state, clock, at: now)
    case NMEA2000PGN.environmentObsolete: payload = environmentObsolete(state, at: now)
    case NMEA2000PGN.environment: payload = environment(state, at: now)
    case NMEA2000PGN.pressure: payload = pressure(state, at: now)
    case NMEA2000PGN.temperature: payload = temperature(state, at: now)
    default: payload = nil
    }
    return payload.map {
      NMEA2000Message(priority: entry.priority, pgn: entry.pgn, payload: $0)
    }
  }

  // MARK: Heading and attitude

  /// The heading by the chosen reference in radians, where it is to be trusted and narrow enough.
  private func chosenHeading(
    _ state: PublishedState, at now: Timestamp
  ) -> (angle: Double, declination: Double?)? {
    guard let heading = state.trustedHeading(at: now),
      heading.accuracy >= 0, heading.accuracy <= options.widestHeading
    else { return nil }
    switch options.reference {
    case .magnetic: return (heading.magnetic, heading.declination)
    case .trueNorth: return heading.trueNorth.map { ($0, heading.declination) }
    }
  }

  private mutating func heading(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    var fields = NMEA2000Fields()
    fields.code(motionIdentifier.of(now), bits: 8)
    let heading = chosenHeading(state, at: now)
    fields.unsigned(heading.flatMap { Self.turn($0.angle) }, perUnit: 1e4, bits: 16)
    // A magnetic heading is free of the board's iron already: no deviation is to be applied to it.
    let isMagnetic = options.reference == .magnetic
    fields.signed(heading != nil && isMagnetic ? 0 : nil, perUnit: 1e4, bits: 16)
    fields.signed(heading?.declination, perUnit: 1e4, bits: 16)
    fields.code(heading.map { _ in isMagnetic ? 1 : 0 }, bits: 2)
    fields.reserved(6)
    return fields.bytes
  }

  private mutating func rateOfTurn(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    var fields = NMEA2000Fields()
    fields.code(motionIdentifier.of(now), bits: 8)
    // Steps of 3.125e-8 rad/s.
    fields.signed(state.rateOfTurn(at: now), perUnit: 32e6, bits: 32)
    fields.reserved(24)
    return fields.bytes
  }

  /// Metres above the mean height, up positive.
  private mutating func heave(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    var fields = NMEA2000Fields()
    fields.code(motionIdentifier.of(now), bits: 8)
    fields.signed(state.heave(at: now)?.heave, perUnit: 100, bits: 16)
    fields.reserved(40)
    return fields.bytes
  }

  /// Yaw is the heading of 127250, roll is positive to starboard, pitch with the bow up.
  private mutating func attitude(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    var fields = NMEA2000Fields()
    fields.code(motionIdentifier.of(now), bits: 8)
    let yaw = chosenHeading(state, at: now).flatMap { Self.turn($0.angle) }
    fields.signed(yaw.map { $0 > .pi ? $0 - 2 * .pi : $0 }, perUnit: 1e4, bits: 16)
    let tilt = state.tilt(at: now)
    fields.signed(tilt?.pitch, perUnit: 1e4, bits: 16)
    fields.signed(tilt?.roll, perUnit: 1e4, bits: 16)
    fields.reserved(8)
    return fields.bytes
  }

  private mutating func variation(_ state: PublishedState, at now: Timestamp) -> [UInt8] {
    var fields = NMEA2000Fields()
    fields.code(motionIdentifier.of(now), bits: 8)
    let declination = state.attitude(at: now)?.declination ?? state.heading(at: now)?.declination
    let isKnown = declination?.isFinite == true
    fields.code(isKnown ? options.variationSource : nil, bits: 4)
    fields.reserved(4)
    // Until when the model is good is not known here.
    fields.reserved(16)
    fields.signed(declination, perUnit: 1e4, bits: 16)
    fields.reserved(16)
    return fields.bytes
  }

  /// Returns an angle from 0 up to 2 pi that four decimals do not round up to a full turn.
  static func turn(_ angle: Double) -> Double? {
    guard angle.isFinite else { return nil }
    let rest = angle.truncatingRemainder(dividingBy: 2 * .pi)
    let positive = rest < 0 ? rest + 2 * .pi : rest
    return positive >= 2 * .pi - 0.5e-4 ? 0 : positive
  }
}
