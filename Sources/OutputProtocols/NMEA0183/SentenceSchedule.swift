// Which sentences a listener of NMEA 0183 gets, and when.

package import SensorTypes

/// A sentence of NMEA 0183 that a board can write, in the order in which those of one moment are written.
///
/// GGA comes before RMC: gpsd takes a GGA that does not know its satellites for one without a fix, and then believes the RMC.
package enum OutputSentence: String, Sendable, Hashable, CaseIterable {
  /// Magnetic heading with the variation.
  case hdg = "HDG"
  /// Magnetic heading.
  case hdm = "HDM"
  /// True heading.
  case hdt = "HDT"
  /// True heading with its mode, V where it is not to be trusted.
  case ths = "THS"
  /// Rate of turn.
  case rot = "ROT"
  /// Heading, roll and pitch with their accuracies, and heave: a maker's own sentence, which has no talker.
  case pashr = "PASHR"
  /// Pitch and roll, a second sentence with pressure, temperature and humidity, and on the water a third one with heave, wave height and
  /// wave period.
  case xdr = "XDR"
  /// Pressure, temperature and humidity in a sentence that is obsolete and still read.
  case mda = "MDA"
  /// Position with its quality, altitude and corrections.
  case gga = "GGA"
  /// Position, speed, course, date and variation.
  case rmc = "RMC"
  /// Position.
  case gll = "GLL"
  /// Course and speed.
  case vtg = "VTG"
  /// Satellites that are used, and the dilutions of precision.
  case gsa = "GSA"
  /// Satellites in view.
  case gsv = "GSV"
  /// The accuracy of the position, one sigma.
  case gst = "GST"
  /// Time and date.
  case zda = "ZDA"
}

/// Which sentences are written, how often, and whose they are said to be.
package struct NMEAConfiguration: Sendable, Hashable {
  /// How one sentence is written.
  package struct Rule: Sendable, Hashable {
    /// Two characters that tell what speaks. GSV has those of each system of satellites instead, and PASHR has none.
    package fileprivate(set) var talker: String
    /// Seconds from one to the next, 0.02 to 3,600.
    package fileprivate(set) var interval: Double
  }

  /// What an interval can be, in seconds.
  package static let intervals = 0.02...3_600

  /// The sentences that are written.
  package private(set) var rules: [OutputSentence: Rule] = [:]
  /// Whether the barometer measures the air outside, and not what surrounds the board: then its temperature and humidity are called
  /// those of the air.
  package var measuresOutsideAir = false

  /// Makes a configuration with no sentence.
  package init() {}

  /// Headings and rate of turn ten times a second, all else once a second, without the sentences that say nothing more (HDM, GLL)
  /// and the obsolete one (MDA).
  package static let standard: NMEAConfiguration = {
    var configuration = NMEAConfiguration()
    for sentence in OutputSentence.allCases {
      switch sentence {
      case .hdm, .gll, .mda: break
      case .hdg, .hdt, .ths, .rot: configuration.set(sentence, interval: 0.1)
      default: configuration.set(sentence, interval: 1)
      }
    }
    return configuration
  }()

  /// What a line of 4,800 baud carries: headings twice a second, the position once, satellites every 5 s.
  package static let slow: NMEAConfiguration = {
    var configuration = NMEAConfiguration()
    configuration.set(.hdg, interval: 0.5)
    configuration.set(.ths, interval: 0.5)
    configuration.set(.rot, interval: 1)
    configuration.set(.rmc, interval: 1)
    for sentence in [OutputSentence.gga, .gst, .zda, .pashr] {
      configuration.set(sentence, interval: 2)
    }
    configuration.set(.xdr, interval: 5)
    for sentence in [OutputSentence.gsa, .gsv] { configuration.set(sentence, interval: 10) }
    return configuration
  }()

  /// The talker of a sentence where nobody says another: `HC` a magnetic compass, `II` integrated instruments, `TI` a rate of
  /// turn, `YX` transducers, `WI` weather, `GN` satellites of several systems.
  package static func talker(of sentence: OutputSentence) -> String {
    switch sentence {
    case .hdg, .hdm: "HC"
    case .hdt, .ths: "II"
    case .rot: "TI"
    case .xdr: "YX"
    case .mda: "WI"
    case .pashr: ""
    case .gga, .rmc, .gll, .vtg, .gsa, .gsv, .gst, .zda: "GN"
    }
  }

  /// Whether a text can be a talker: two capital letters or digits, the first of them a letter and not the `P` of makers' sentences
  /// where no letter follows.
  package static func isTalker(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 2, (65...90).contains(bytes[0]) else { return false }
    return (65...90).contains(bytes[1]) || (bytes[0] != 0x50 && (48...57).contains(bytes[1]))
  }

  /// Writes a sentence from now on.
  ///
  /// - Parameters:
  ///   - interval: Seconds from one to the next.
  ///   - talker: Two characters; `nil`: the usual ones.
  /// - Returns: `false`, with nothing changed, for an interval out of range or a talker that is none.
  @discardableResult
  package mutating func set(
    _ sentence: OutputSentence, interval: Double, talker: String? = nil
  ) -> Bool {
    guard Self.intervals.contains(interval), talker.map(Self.isTalker) ?? true else { return false }
    rules[sentence] = Rule(talker: talker ?? Self.talker(of: sentence), interval: interval)
    return true
  }

  /// Does not write a sentence any more.
  package mutating func remove(_ sentence: OutputSentence) { rules[sentence] = nil }

  /// The talker of a sentence.
  func talker(for sentence: OutputSentence) -> String {
    rules[sentence]?.talker ?? Self.talker(of: sentence)
  }

  /// The greatest number of bytes in a second, for a line that has a limit (480 of 4,800 baud). Satellites are counted as 12 of two
  /// systems.
  package var bytesPerSecond: Double {
    rules.reduce(0) { sum, rule in
      let length: Double =
        switch rule.key {
        case .hdg: 27
        case .hdm, .hdt, .ths, .rot: 22
        case .gll, .zda: 50
        case .vtg, .gst, .pashr: 70
        case .xdr: 200
        case .gsa: 2 * 82
        case .gsv: 6 * 70
        case .mda, .gga, .rmc: 82
        }
      return sum + length / rule.value.interval
    }
  }
}

/// When each sentence is due.
///
/// A listener that is late gets each sentence once and not the ones that it has missed; the rhythm stays.
package struct SentenceSchedule: Sendable {
  private struct Slot: Sendable {
    var sentence: OutputSentence
    var interval: Double
    var next: Timestamp
  }

  private var slots: [Slot]

  /// Makes a schedule in which every sentence is due at `start`.
  package init(_ configuration: NMEAConfiguration, from start: Timestamp) {
    slots = OutputSentence.allCases.compactMap { sentence in
      configuration.rules[sentence].map {
        Slot(sentence: sentence, interval: $0.interval, next: start)
      }
    }
  }

  /// The moment of the next sentence; `nil` where there are none.
  package var next: Timestamp? { slots.map(\.next).min() }

  /// Returns the sentences that are due, in the order in which they are written, and plans their next moments.
  package mutating func take(at now: Timestamp) -> [OutputSentence] {
    var due: [OutputSentence] = []
    for index in slots.indices {
      let (interval, late) = (slots[index].interval, now.seconds(since: slots[index].next))
      // A moment further away than the interval belongs to another clock.
      let isOfAnotherClock = late < -2 * interval
      guard late >= 0 || isOfAnotherClock else { continue }
      due.append(slots[index].sentence)
      let steps = (late / interval).rounded(.down) + 1
      slots[index].next =
        isOfAnotherClock
        ? now.advanced(bySeconds: interval)
        : slots[index].next.advanced(bySeconds: steps * interval)
      // The product may be rounded down to this very moment.
      if slots[index].next <= now { slots[index].next = now.advanced(bySeconds: interval) }
    }
    return due
  }
}
