// Sentences of where a receiver is and how it goes.

import GNSSProtocol
package import SensorTypes
import TextForms

/// How many decimals numbers have, and what belongs to a sentence besides them.
package struct SentenceDetail: Sendable {
  /// Decimals of minutes of arc, of lengths, of dilutions, of speeds in knots and of angles.
  var minutes: Int
  var lengths: Int
  var dilutions: Int
  var speeds: Int
  var angles: Int
  /// The least number of digits of a count of satellites.
  var countWidth = 2
  /// The greatest dilution, and the greatest age of corrections in seconds, that are written.
  var limits = (dilution: 99.5, age: 999.5)
  /// Whether the sentence has the last field of version 4.11, the navigational status.
  var hasStatus = true

  /// As fine as a receiver knows it, for a file: a GGA with corrections is then longer than the standard's 82 characters.
  package static let file = SentenceDetail(
    minutes: 6, lengths: 2, dilutions: 2, speeds: 3, angles: 2, countWidth: 0,
    limits: (1e5, 1e5), hasStatus: false)
  /// From the finest on. The first with which a sentence has no more than 82 characters is taken.
  static let levels = [
    SentenceDetail(minutes: 6, lengths: 2, dilutions: 2, speeds: 3, angles: 2),
    SentenceDetail(minutes: 5, lengths: 1, dilutions: 1, speeds: 2, angles: 1),
    SentenceDetail(minutes: 4, lengths: 1, dilutions: 1, speeds: 1, angles: 1),
    SentenceDetail(minutes: 3, lengths: 0, dilutions: 0, speeds: 1, angles: 0),
  ]
}

/// The sentences of one position: GGA, RMC, GLL, VTG and GST (NMEA 0183, version 4.11).
///
/// Where there is no position they have their place, with the status V, the mode N and the quality 0. A position that the receiver
/// does not vouch for is none.
package struct PositionSentences: Sendable {
  /// Knots in a metre a second.
  private static let knot = 3_600.0 / 1_852
  /// The 68 % radius of two equal axes, in one of them.
  private static let radius = 1.51

  package private(set) var fix: GNSSFix
  private let time: SentenceUTC
  private let place: (latitude: Double, longitude: Double)?
  /// `none` without a position.
  private let kind: FixKind
  /// Whether somebody has said how the position came about.
  private let isKindKnown: Bool
  /// Degrees east.
  private let variation: Double?
  /// Whether the accuracy is more than an assumption.
  private let isAccurate: Bool
  /// Whether the position is one that a receiver has vouched for, of whatever kind.
  private let isReported: Bool

  /// Makes the sentences of an epoch as a receiver has reported it.
  package init(_ fix: GNSSFix) {
    self.fix = fix
    time = SentenceUTC(fix)
    place = fix.isValid && fix.mode > .none ? Self.place(fix) : nil
    // A receiver that reports no kind has still a fix.
    kind = place == nil ? FixKind.none : fix.kind ?? .autonomous
    isKindKnown = place == nil || fix.kind != nil
    isAccurate = fix.accuracySource == .receiver
    isReported = true
    variation = nil
  }

  /// Makes the sentences of a position that a board publishes.
  ///
  /// - Parameters:
  ///   - location: The position, which may be dead-reckoned or simulated; `nil` where there is none.
  ///   - time: The time of the sentences where there is no position.
  ///   - declination: Degrees east; `nil` where it is not known.
  init(_ location: LocationEstimate?, time: SentenceUTC, declination: Double?) {
    fix = location?.fix ?? GNSSFix(received: Timestamp(nanoseconds: 0))
    self.time = location.map { SentenceUTC($0.fix) } ?? time
    let isCarried = location?.carried != nil
    let isCoarse = location.map { $0.isCoarse && $0.isMeasured } ?? false
    place =
      location != nil && fix.isValid && (isCarried || fix.mode > .none) ? Self.place(fix) : nil
    if place == nil {
      kind = .none
    } else if isCarried {
      kind = .deadReckoning
    } else if location?.isSimulated ?? false {
      kind = .simulated
    } else if isCoarse {
      // "Estimated": the nearest word for a place that is roughly known.
      kind = .deadReckoning
    } else {
      kind = fix.kind ?? .autonomous
    }
    isKindKnown = true
    isAccurate = isCarried || isCoarse || fix.accuracySource == .receiver
    isReported = false
    variation = declination
  }

  /// Whether the sentences have an accuracy, so that a GST says more than the time.
  package var hasAccuracy: Bool { place != nil && isAccurate && fix.horizontalAccuracy != nil }

  /// The quality of a PASHR: 1 with a position by satellites, 2 with resolved ambiguities.
  var attitudeQuality: UInt8 {
    if !kind.isMeasured { return UInt8(ascii: "0") }
    return UInt8(ascii: kind == .rtkFixed ? "2" : "1")
  }

  private static func place(_ fix: GNSSFix) -> (latitude: Double, longitude: Double)? {
    guard let latitude = fix.latitude, let longitude = fix.longitude, latitude.magnitude <= 90,
      longitude.magnitude <= 180
    else { return nil }
    return (latitude, longitude)
  }

  private func present(_ value: Double?) -> Double? { place == nil ? nil : value }

  /// A for a position that is valid. NMEA 0183 (from version 2.3 on, as IEC 61162-1) wants V for every mode but A, D, F, P and R: what is
  /// estimated or entered by hand is not valid, whatever else the sentence has.
  ///
  /// A simulator's position (mode S) keeps its A: with V no program would show it, and a simulated board is there to try programs with.
  /// What a receiver has reported as valid keeps its A as well: u-blox receivers write A with the mode E, and V with it for a position
  /// beyond the limits of their user.
  private var status: UInt8 {
    let isValid = place != nil && (isReported || kind.isMeasured || kind == .simulated)
    return UInt8(ascii: isValid ? "A" : "V")
  }

  // MARK: Sentences

  /// Appends a GGA.
  package func gga(_ talker: String, _ detail: SentenceDetail, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "GGA")
    text.append(time: time)
    text.append(place: place, digits: detail.minutes)
    text.append(letter: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: kind.quality))
    text.append(
      count: fix.satellitesUsed.map { max(0, min($0, 99)) }, width: detail.countWidth, in: 0...99)
    text.append(field: fix.hdop, digits: detail.dilutions, limit: detail.limits.dilution)
    let altitude = present(fix.altitude)
    text.append(field: altitude, digits: detail.lengths)
    text.append(field: "M")
    text.append(
      field: altitude.flatMap { above in fix.ellipsoidalAltitude.map { $0 - above } },
      digits: detail.lengths)
    text.append(field: "M")
    let corrections = place == nil ? nil : fix.corrections
    text.append(field: corrections?.age, digits: 1, limit: detail.limits.age)
    text.append(count: corrections?.station, width: 4, in: 0...4_095)
    text.endSentence(from: start)
  }

  /// Appends an RMC. A position that the board has dead-reckoned has the status V and the mode E.
  package func rmc(_ talker: String, _ detail: SentenceDetail, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "RMC")
    text.append(time: time)
    text.append(letter: status)
    text.append(place: place, digits: detail.minutes)
    text.append(field: present(fix.speed).map { $0 * Self.knot }, digits: detail.speeds)
    text.append(bearing: present(fix.course), digits: detail.angles)
    text.append(dateOf: time)
    text.append(variation: variation)
    append(mode: &text)
    // Equipment that gives no navigational status says V.
    if detail.hasStatus { text.append(field: "V") }
    text.endSentence(from: start)
  }

  /// Appends a GLL.
  func gll(_ talker: String, _ detail: SentenceDetail, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "GLL")
    text.append(place: place, digits: detail.minutes)
    text.append(time: time)
    text.append(letter: status)
    append(mode: &text)
    text.endSentence(from: start)
  }

  /// Appends a VTG.
  func vtg(_ talker: String, _ detail: SentenceDetail, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "VTG")
    let (course, speed) = (present(fix.course), present(fix.speed))
    text.append(bearing: course, digits: detail.angles)
    text.append(field: "T")
    text.append(
      bearing: course.flatMap { course in variation.map { course - $0 } }, digits: detail.angles)
    text.append(field: "M")
    text.append(field: speed.map { $0 * Self.knot }, digits: detail.speeds)
    text.append(field: "N")
    text.append(field: speed.map { $0 * 3.6 }, digits: detail.speeds)
    text.append(field: "K")
    append(mode: &text)
    text.endSentence(from: start)
  }

  /// Appends a GST: one sigma in each direction. An accuracy that is only assumed is left out.
  package func gst(_ talker: String, _ text: inout [UInt8]) {
    let start = text.beginSentence(talker, "GST")
    text.append(time: time)
    // The residuals and the ellipse are not known; of the axes no more than that they are alike.
    text.append(text: ",,,,")
    let axis = isAccurate ? present(fix.horizontalAccuracy).map { $0 / Self.radius } : nil
    text.append(field: axis, digits: 3)
    text.append(field: axis, digits: 3)
    let hasHeight = place != nil && fix.altitude != nil && isAccurate
    text.append(field: hasHeight ? fix.verticalAccuracy : nil, digits: 3)
    text.endSentence(from: start)
  }

  private func append(mode text: inout [UInt8]) {
    text.append(UInt8(ascii: ","))
    if isKindKnown { text.append(kind.mode) }
  }
}

extension [UInt8] {
  /// Appends two fields with the magnetic variation, `3.1,W`.
  ///
  /// - Parameter degrees: Degrees east; `nil` where it is not known.
  mutating func append(variation degrees: Double?) {
    guard let degrees, degrees.magnitude <= 180 else { return append(text: ",,") }
    append(field: degrees.magnitude, digits: 1)
    append(field: degrees < 0 ? "W" : "E")
  }
}
