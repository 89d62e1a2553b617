// Sentences of which way a board is turned.

import SensorTypes
import TextForms

extension NMEAEncoder {
  /// What is known at one moment.
  struct Moment {
    static let degree = 180 / Double.pi
    /// How many deviations the radius of a 95 % circle has, and half the width of a 95 % interval.
    private static let deviations = (circle: 2.447_746_831, interval: 1.959_963_985)

    let position: PositionSentences
    let location: LocationEstimate?
    let sky: GNSSSky?
    let heading: PublishedState.TrustedHeading?
    /// The same for sentences that do not say how well it is known.
    let bareHeading: PublishedState.TrustedHeading?
    /// Radians east.
    let declination: Double?
    let tilt: PublishedState.Tilt?
    /// Radians a second.
    let rateOfTurn: Double?
    let air: AltitudeEstimate?
    let waves: WaveEstimate?
    /// Whether there were waves: whoever was told of them is told that they are lost, and ashore nobody is told of them.
    let hadWaves: Bool
    /// Of the attitude, and of the moment itself.
    let attitudeTime: SentenceUTC
    let time: SentenceUTC
    let isSimulated: Bool

    init(
      _ state: PublishedState, at now: Timestamp, clock: ClockReading, isSimulated: Bool
    ) {
      var location = state.location(at: now)
      if isSimulated { location?.isSimulated = true }
      (self.location, self.isSimulated) = (location, location?.isSimulated ?? isSimulated)
      heading = state.trustedHeading(at: now).flatMap { $0.magnetic.isFinite ? $0 : nil }
      bareHeading = state.bareHeading(at: now)
      declination =
        heading?.declination ?? state.heading(at: now)?.declination
        ?? state.attitude(at: now)?.declination
      tilt = state.tilt(at: now)
      rateOfTurn = state.rateOfTurn(at: now)
      air = state.altitude(at: now)
      (waves, hadWaves) = (state.waves(at: now), state.hadWaves)
      sky = state.sky(at: now)
      let published = PublishedTime(state, at: now, clock: clock)
      func utc(_ time: Timestamp) -> SentenceUTC {
        published.utc(of: time).map { SentenceUTC(utc: $0) } ?? SentenceUTC()
      }
      time = utc(now)
      attitudeTime = utc(heading?.time ?? tilt?.time ?? now)
      position = PositionSentences(
        location, time: time, declination: declination.map { $0 * Self.degree })
    }

    /// One sigma of the heading, degrees.
    var headingDeviation: Double? {
      heading.map { $0.accuracy / Self.deviations.interval * Self.degree }
    }

    /// One sigma of roll and of pitch, degrees.
    var tiltDeviation: Double? {
      (tilt?.accuracy).map { $0 / Self.deviations.circle * Self.degree }
    }
  }

  /// The deviation is left out: what the calibration knows of it is no longer in the heading.
  static func hdg(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "HDG")
    text.append(bearing: moment.bareHeading.map { $0.magnetic * Moment.degree }, digits: 1)
    text.append(text: ",,")
    text.append(variation: moment.declination.map { $0 * Moment.degree })
    text.endSentence(from: start)
  }

  static func hdm(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "HDM")
    text.append(bearing: moment.bareHeading.map { $0.magnetic * Moment.degree }, digits: 1)
    text.append(field: "M")
    text.endSentence(from: start)
  }

  static func hdt(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "HDT")
    text.append(bearing: trueHeading(moment.bareHeading), digits: 1)
    text.append(field: "T")
    text.endSentence(from: start)
  }

  /// The mode is A, E while the field is disturbed and the gyro carries the heading, S of a simulated board, V without a heading and with
  /// one that is hardly known.
  static func ths(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "THS")
    let heading = trueHeading(moment.bareHeading)
    text.append(bearing: heading, digits: 1)
    if heading == nil {
      text.append(field: "V")
    } else if moment.isSimulated {
      text.append(field: "S")
    } else {
      text.append(field: moment.heading?.isCarried ?? true ? "E" : "A")
    }
    text.endSentence(from: start)
  }

  /// Degrees a minute, positive to starboard.
  static func rot(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "ROT")
    let rate = moment.rateOfTurn.map { $0 * Moment.degree * 60 }
    text.append(field: rate, digits: 1)
    text.append(field: text.last == UInt8(ascii: ",") ? "V" : "A")
    text.endSentence(from: start)
  }

  /// Degrees, each with one sigma; heave in metres, up positive, an empty field where it is not known. The quality is 0 without a position by satellites, 1 with one, 2 with
  /// resolved ambiguities; the last field is 1 while the heading is to be trusted.
  /// Without a time there is none: readers tell it from a maker's other sentences of that name by its first field.
  static func pashr(_ moment: Moment, _ text: inout [UInt8]) {
    guard moment.attitudeTime.timeOfDay != nil else { return }
    let start = text.beginSentence("P", "ASHR")
    text.append(time: moment.attitudeTime)
    let heading = trueHeading(moment.heading)
    text.append(bearing: heading, digits: 2)
    text.append(field: "T")
    text.append(
      field: moment.tilt.map { $0.roll * Moment.degree }, digits: 2, limit: 181, signed: true)
    text.append(
      field: moment.tilt.map { $0.pitch * Moment.degree }, digits: 2, limit: 91, signed: true)
    text.append(field: moment.waves?.heave?.heave, digits: 2, limit: 100, signed: true)
    text.append(field: moment.tiltDeviation, digits: 3, limit: 361)
    text.append(field: moment.tiltDeviation, digits: 3, limit: 361)
    text.append(field: heading == nil ? nil : moment.headingDeviation, digits: 3, limit: 361)
    text.append(letter: moment.position.attitudeQuality)
    text.append(field: heading == nil ? "0" : "1")
    text.endSentence(from: start)
  }

  static func zda(_ talker: String, _ moment: Moment, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "ZDA")
    // The receiver's own time comes before that of the system.
    let time = moment.location.map { SentenceUTC($0.fix) }.flatMap { $0.noon == nil ? nil : $0 }
    let date = (time ?? moment.time).noon.flatMap { CivilDate($0.rounded(.down)) }
    text.append(time: date == nil ? SentenceUTC() : time ?? moment.time)
    text.append(count: date?.day, width: 2, in: 1...31)
    text.append(count: date?.month, width: 2, in: 1...12)
    text.append(count: date?.year, width: 4, in: 1...9_999)
    // UTC is the only zone here.
    text.append(text: date == nil ? ",," : ",00,00")
    text.endSentence(from: start)
  }

  private static func trueHeading(_ heading: PublishedState.TrustedHeading?) -> Double? {
    guard let heading = heading?.trueNorth, heading.magnitude < 1e3 else { return nil }
    return heading * Moment.degree
  }
}
