import OutputProtocols
package import SensorTypes
import TerminalUI
import TextForms

/// GPX 1.1 (www.topografix.com/GPX/1/1/gpx.xsd): a track a log, a segment for each stretch without a gap.
///
/// What the schema has no place for stands in extensions, in the words of the JSON lines. Positions that the
/// receiver itself doubts are left out.
package struct GPXWriter: LogWriter {
  private static let namespace = "urn:lodestone:gpx:1"

  private var gaps = TrackGaps()
  private var isOpen = false

  package mutating func begin(_ text: inout [UInt8]) {
    text.append(text: #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n")
    text.append(
      text: #"<gpx version="1.1" creator="lodestone" xmlns="http://www.topografix.com/GPX/1/1""#)
    text.append(text: " xmlns:lodestone=\"\(Self.namespace)\">\n")
  }

  package mutating func beginLog(named name: String, _ text: inout [UInt8]) {
    gaps.reset()
    text.append(text: "<trk><name>\(Markup.escaped(name))</name>\n")
  }

  package mutating func append(_ fix: GNSSFix, to text: inout [UInt8]) {
    guard let place = fix.place else { return interrupt(&text) }
    if gaps.isBroken(before: fix) { closeSegment(&text) }
    if !isOpen { text.append(text: "<trkseg>\n") }
    isOpen = true
    text.append(text: "<trkpt lat=\"")
    text.append(fixed: place.latitude, digits: 9)
    text.append(text: "\" lon=\"")
    // The schema ends longitudes below 180, which is -180.
    let longitude = place.longitude >= 180 - 5e-10 ? -180 : place.longitude
    text.append(fixed: longitude, digits: 9)
    text.append(text: "\">")
    // The schema wants them in this order.
    Self.element("ele", fix.altitude, digits: 4, &text)
    if let utc = fix.utc, CivilDate(utc) != nil {
      text.append(text: "<time>")
      text.append(iso8601: utc)
      text.append(text: "</time>")
    }
    if let ellipsoidal = fix.ellipsoidalAltitude, let altitude = fix.altitude {
      Self.element("geoidheight", ellipsoidal - altitude, digits: 4, &text)
    }
    text.append(text: "<fix>\(Self.word(fix))</fix>")
    Self.element("sat", fix.satellitesUsed.map(Double.init), digits: 0, &text)
    Self.element("hdop", fix.hdop, digits: 2, &text)
    Self.element("vdop", fix.vdop, digits: 2, &text)
    Self.element("pdop", fix.pdop, digits: 2, &text)
    Self.element("ageofdgpsdata", fix.corrections?.age, digits: 1, &text)
    // The schema ends stations at 1023.
    let station = fix.corrections?.station.flatMap { (0...1_023).contains($0) ? $0 : nil }
    Self.element("dgpsid", station.map(Double.init), digits: 0, &text)
    Self.extensions(fix, &text)
    text.append(text: "</trkpt>\n")
  }

  package mutating func interrupt(_ text: inout [UInt8]) {
    closeSegment(&text)
    gaps.reset()
  }

  package mutating func endLog(_ text: inout [UInt8]) {
    closeSegment(&text)
    text.append(text: "</trk>\n")
  }

  package mutating func end(_ text: inout [UInt8]) { text.append(text: "</gpx>\n") }

  private mutating func closeSegment(_ text: inout [UInt8]) {
    if isOpen { text.append(text: "</trkseg>\n") }
    isOpen = false
  }

  /// One of the schema's five words. It has none for a position that was not measured: `none` says that the satellites gave none.
  private static func word(_ fix: GNSSFix) -> StaticString {
    switch fix.kind {
    case .simulated?, .manual?, .deadReckoning?, .timeOnly?: "none"
    case .preciseCode?: "pps"
    case .differential?, .precisePoint?, .rtkFloat?, .rtkFixed?: "dgps"
    case .autonomous?, .combined?, FixKind.none?, nil:
      fix.mode == .threeDimensional ? "3d" : "2d"
    }
  }

  private static func extensions(_ fix: GNSSFix, _ text: inout [UInt8]) {
    let values: [(name: StaticString, value: Double?, digits: Int)] = [
      ("horizontalAccuracy", fix.horizontalAccuracy, 3),
      ("verticalAccuracy", fix.altitude == nil ? nil : fix.verticalAccuracy, 3),
      ("course", fix.printedCourse, 4),
      ("courseAccuracy", fix.course == nil ? nil : fix.courseAccuracy, 4),
      ("speed", fix.speed, 4),
      ("speedAccuracy", fix.speed == nil ? nil : fix.speedAccuracy, 4),
      ("verticalSpeed", fix.verticalSpeed, 4),
    ]
    guard fix.kind != nil || values.contains(where: { $0.value != nil }) else { return }
    text.append(text: "<extensions>")
    if let kind = fix.kind {
      text.append(text: "<lodestone:fixKind>\(kind.rawValue)</lodestone:fixKind>")
    }
    for (name, value, digits) in values {
      element("lodestone:\(name)", value, digits: digits, &text)
    }
    if fix.hasAssumedAccuracy { text.append(text: "<lodestone:assumed>true</lodestone:assumed>") }
    text.append(text: "</extensions>")
  }

  private static func element(
    _ name: String, _ value: Double?, digits: Int, _ text: inout [UInt8]
  ) {
    // XML's decimal has no exponent: a number that has one is no metre and no degree.
    guard let value, value.magnitude < 1e9 else { return }
    text.append(text: "<\(name)>")
    text.append(fixed: value, digits: digits)
    text.append(text: "</\(name)>")
  }

  package init() {}
}
