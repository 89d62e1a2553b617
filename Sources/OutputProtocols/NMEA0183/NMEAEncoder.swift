// What a board publishes, as sentences of NMEA 0183.

package import SensorTypes
import TextForms

/// Writes sentences of NMEA 0183 (version 4.11) of what a board publishes.
///
/// What is not known is an empty field, and what is not to be trusted is not known: an HDG has no heading, a THS the mode V. A heading that
/// is known to no better than 20 degrees is in PASHR alone, which says how well it is known. No
/// sentence is longer than 82 characters: where numbers are large, they lose decimals.
package struct NMEAEncoder: Sendable {
  /// The greatest number of sentences about the satellites of one system, of four satellites each (NMEA 0183, version 4.11: 9).
  static let satelliteSentences = 9

  /// What is written.
  package let configuration: NMEAConfiguration
  /// Whether the board is simulated or replayed, which THS, RMC, GGA and others have words for.
  package let isSimulated: Bool
  /// Whether there was a temperature, a humidity: whoever had one is told when it is lost.
  private var hadTemperature = false
  private var hadHumidity = false

  /// Makes an encoder.
  package init(_ configuration: NMEAConfiguration = .standard, isSimulated: Bool = false) {
    (self.configuration, self.isSimulated) = (configuration, isSimulated)
  }

  /// Appends sentences, for which `SentenceSchedule.take(at:)` says when they are due.
  ///
  /// - Parameters:
  ///   - sentences: The sentences in the order in which they are written.
  ///   - clock: What the system's clock shows at `now`.
  package mutating func append(
    _ sentences: [OutputSentence], of state: PublishedState, at now: Timestamp,
    clock: ClockReading, to text: inout [UInt8]
  ) {
    let moment = Moment(state, at: now, clock: clock, isSimulated: isSimulated)
    for sentence in sentences { append(sentence, of: moment, to: &text) }
  }

  private mutating func append(
    _ sentence: OutputSentence, of moment: Moment, to text: inout [UInt8]
  ) {
    let talker = configuration.talker(for: sentence)
    switch sentence {
    case .hdg: Self.hdg(talker, moment, &text)
    case .hdm: Self.hdm(talker, moment, &text)
    case .hdt: Self.hdt(talker, moment, &text)
    case .ths: Self.ths(talker, moment, &text)
    case .rot: Self.rot(talker, moment, &text)
    case .pashr: Self.pashr(moment, &text)
    case .xdr: xdr(talker, moment, &text)
    case .mda: mda(talker, moment, &text)
    case .gga: Self.fit(&text) { moment.position.gga(talker, $0, &$1) }
    case .rmc: Self.fit(&text) { moment.position.rmc(talker, $0, &$1) }
    case .gll: Self.fit(&text) { moment.position.gll(talker, $0, &$1) }
    case .vtg: Self.fit(&text) { moment.position.vtg(talker, $0, &$1) }
    case .gst: Self.fit(&text) { moment.position.gst(talker, &$1) }
    case .gsa: Self.gsa(talker, moment, &text)
    case .gsv: Self.gsv(moment, &text)
    case .zda: Self.zda(talker, moment, &text)
    }
  }

  /// Appends a sentence with as many decimals as 82 characters take. One that has too many even without them is left out.
  private static func fit(
    _ text: inout [UInt8], _ write: (SentenceDetail, inout [UInt8]) -> Void
  ) {
    let start = text.count
    for detail in SentenceDetail.levels {
      write(detail, &text)
      if text.count - start <= [UInt8].sentenceLimit { return }
      text.removeSubrange(start...)
    }
  }

  private mutating func xdr(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "XDR")
    text.append(quantity: moment.tilt.map { $0.pitch * Moment.degree }, 2, 91, "A", "D", "PTCH")
    text.append(quantity: moment.tilt.map { $0.roll * Moment.degree }, 2, 181, "A", "D", "ROLL")
    text.endSentence(from: start)

    let air = moment.air
    let second = text.beginSentence(talker, "XDR")
    text.append(quantity: air.map { $0.pressure / 1e5 }, 5, 9.99, "P", "B", "Barometer")
    hadTemperature = hadTemperature || air?.temperature != nil
    hadHumidity = hadHumidity || air?.humidity != nil
    // The names by which OpenCPN takes them for those of the air, and others.
    let isOutside = configuration.measuresOutsideAir
    if hadTemperature {
      text.append(
        quantity: air?.temperature, 2, 200, "C", "C", isOutside ? "TempAir" : "TempBarometer")
    }
    if hadHumidity {
      text.append(
        quantity: air?.humidity, 1, 100.05, "H", "P", isOutside ? "Humidity" : "HumBarometer")
    }
    text.endSentence(from: second)
    waves(talker, moment, &text)
  }

  /// Heave, up positive, and the sea state. The standard has no names for them; HEAVE is one that others use.
  private func waves(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    guard moment.hadWaves else { return }
    let sea = moment.waves?.sea
    let start = text.beginSentence(talker, "XDR")
    text.append(quantity: moment.waves?.heave?.heave, 2, 100, "D", "M", "HEAVE")
    text.append(quantity: sea?.significantWaveHeight?.value, 2, 100, "D", "M", "WaveHeight")
    text.append(quantity: sea?.meanPeriod?.value, 1, 100, "G", "", "WavePeriod")
    text.endSentence(from: start)
  }

  private func mda(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "MDA")
    // 3,386.389 Pa are an inch of mercury at 0 degrees Celsius.
    text.append(field: moment.air.map { $0.pressure / 3_386.389 }, digits: 4, unit: "I")
    text.append(field: moment.air.map { $0.pressure / 1e5 }, digits: 4, unit: "B")
    let air = configuration.measuresOutsideAir ? moment.air : nil
    text.append(field: air?.temperature, digits: 1, unit: "C")
    // The temperature of the water.
    text.append(text: ",,")
    text.append(field: air?.humidity, digits: 1)
    // Absolute humidity, dew point and four fields of the wind with their units.
    text.append(text: ",,,,,,,,,,,")
    text.endSentence(from: start)
  }
}

extension [UInt8] {
  /// Appends the four fields of a transducer: its type, what it measures, the unit and its name.
  fileprivate mutating func append(
    quantity value: Double?, _ digits: Int, _ limit: Double, _ type: StaticString,
    _ unit: StaticString,
    _ name: StaticString
  ) {
    append(field: type)
    append(field: value, digits: digits, limit: limit)
    append(field: unit)
    append(field: name)
  }

  /// Appends a number and its unit, or two empty fields.
  fileprivate mutating func append(field value: Double?, digits: Int, unit: StaticString) {
    append(field: value, digits: digits)
    if last == UInt8(ascii: ",") { append(UInt8(ascii: ",")) } else { append(field: unit) }
  }
}
