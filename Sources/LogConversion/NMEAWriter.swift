import GNSSProtocol
package import SensorTypes
import TerminalUI
import TextForms

/// NMEA 0183 (version 4.11), for programs that read nothing else: GGA and RMC of each epoch, and GST if the receiver reports the
/// accuracy of the position. Only a GGA with corrections is longer than the standard's 82 characters, as receivers write it too.
package struct NMEAWriter: LogWriter {
  /// Knots in a metre a second.
  private static let knot = 3_600.0 / 1_852
  /// The 68 % radius of two equal axes, in one of them.
  private static let radius = 1.51

  private var start = 0

  package mutating func append(_ fix: GNSSFix, to text: inout [UInt8]) {
    let place = fix.mode > .none ? fix.place : nil
    // First, for gpsd takes a GGA that does not know its satellites for one without a fix, and then believes the RMC.
    open("GGA", fix, &text)
    Self.append(place, &text)
    // A receiver that reports no kind has still a fix.
    let kind = place == nil ? FixKind.none : fix.kind ?? .autonomous
    text.append(UInt8(ascii: ","))
    text.append(decimal: UInt64(kind.quality))
    text.append(UInt8(ascii: ","))
    if let count = fix.satellitesUsed { text.append(decimal: UInt64(max(0, min(count, 99)))) }
    Self.field(fix.hdop, 2, &text)
    let altitude = place == nil ? nil : fix.altitude
    Self.field(altitude, 2, &text)
    text.append(text: ",M")
    Self.field(altitude.flatMap { above in fix.ellipsoidalAltitude.map { $0 - above } }, 2, &text)
    text.append(text: ",M")
    let corrections = place == nil ? nil : fix.corrections
    Self.field(corrections?.age, 1, &text)
    text.append(UInt8(ascii: ","))
    if let station = corrections?.station, (0...4_095).contains(station) {
      text.append(decimal: UInt64(station), width: 4)
    }
    close(&text)

    open("RMC", fix, &text)
    text.append(text: place == nil ? ",V" : ",A")
    Self.append(place, &text)
    Self.field(place == nil ? nil : fix.speed.map { $0 * Self.knot }, 3, &text)
    Self.field(place == nil ? nil : fix.course, 2, &text)
    text.append(UInt8(ascii: ","))
    Self.append(dateOf: fix, &text)
    // The magnetic variation is left out.
    text.append(text: ",,,")
    // A receiver that does not report its kind is given no letter. Dead reckoning has the status A, as u-blox receivers write it.
    if place == nil || fix.kind != nil { text.append(kind.mode) }
    close(&text)

    guard place != nil, fix.accuracySource == .receiver, let radius = fix.horizontalAccuracy
    else { return }
    open("GST", fix, &text)
    // The residuals and the ellipse are not known; of the axes no more than that they are alike.
    text.append(text: ",,,,")
    Self.field(radius / Self.radius, 3, &text)
    Self.field(radius / Self.radius, 3, &text)
    Self.field(altitude == nil ? nil : fix.verticalAccuracy, 3, &text)
    close(&text)
  }

  private mutating func open(_ sentence: StaticString, _ fix: GNSSFix, _ text: inout [UInt8]) {
    start = text.count
    text.append(text: "$GN\(sentence),")
    guard let time = fix.timeOfDay, time >= 0, time < 86_401 else { return }
    // The end of a day is not rounded up to a leap second.
    let last: UInt64 = time < 86_400 ? 86_399_999 : 86_400_999
    let milliseconds = min(UInt64((time * 1_000).rounded()), last)
    // A leap second is the 61st of its minute.
    let minutes = min(milliseconds / 60_000, 1_439)
    text.append(decimal: minutes / 60 * 100 + minutes % 60, width: 4)
    let second = milliseconds - minutes * 60_000
    if second % 1_000 == 0 {
      text.append(decimal: second / 1_000, width: 2)
    } else {
      text.append(decimal: second, places: 3, width: 5)
    }
  }

  private func close(_ text: inout [UInt8]) {
    let sum = text[(start + 1)...].reduce(0, ^)
    text.append(UInt8(ascii: "*"))
    for digit in [sum >> 4, sum & 15] {
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
    }
    text.append(text: "\r\n")
  }

  /// `,ddmm.mmmmmm,N,dddmm.mmmmmm,E`.
  private static func append(
    _ place: (latitude: Double, longitude: Double)?, _ text: inout [UInt8]
  ) {
    guard let place else { return text.append(text: ",,,,") }
    func angle(_ value: Double, _ width: Int, _ negative: StaticString, _ positive: StaticString) {
      // Millionths of a minute, carried into degrees as a whole.
      let units = UInt64((value.magnitude * 60_000_000).rounded())
      text.append(UInt8(ascii: ","))
      text.append(decimal: units / 60_000_000, width: width)
      text.append(decimal: units % 60_000_000, places: 6, width: 8)
      text.append(text: value < 0 ? ",\(negative)" : ",\(positive)")
    }
    angle(place.latitude, 2, "S", "N")
    angle(place.longitude, 3, "W", "E")
  }

  /// `ddmmyy`.
  private static func append(dateOf fix: GNSSFix, _ text: inout [UInt8]) {
    guard let utc = fix.utc, let time = fix.timeOfDay,
      let date = CivilDate((utc - time + 43_200).rounded(.down))
    else { return }
    text.append(decimal: UInt64(date.day), width: 2)
    text.append(decimal: UInt64(date.month), width: 2)
    text.append(decimal: UInt64(date.year % 100), width: 2)
  }

  private static func field(_ value: Double?, _ digits: Int, _ text: inout [UInt8]) {
    text.append(UInt8(ascii: ","))
    if let value, value.magnitude < 1e5 { text.append(steady: value, digits: digits) }
  }

  package init() {}
}
