import OutputProtocols
package import SensorTypes
import TerminalUI
import TextForms

/// GeoJSON (RFC 7946): a line for each stretch without a gap, with what is known of each of its positions in lists
/// beside it (`coordinateProperties`).
///
/// Positions are longitude, latitude and, where the receiver says it, the height above the ellipsoid, as the standard has
/// it; heights above the sea are in a list. A line that crosses the date line is cut there. A long one is cut too,
/// and goes on where it was cut: no more of it is held in memory. Positions that the receiver itself doubts are left
/// out.
package struct GeoJSONWriter: LogWriter {
  /// Positions of a line at most.
  private static let longest = 4_096

  private struct Position {
    var longitude: Double
    var latitude: Double
    var height: Double?
    /// What the receiver said; `nil` where a line was cut at the date line.
    var fix: GNSSFix?
  }

  private var gaps = TrackGaps()
  private var line: [Position] = []
  /// Whether the first position of the line was the last of another.
  private var goesOn = false
  private var name = ""
  private var hasFeatures = false

  package mutating func begin(_ text: inout [UInt8]) {
    text.append(text: #"{"type":"FeatureCollection","features":["#)
  }

  package mutating func beginLog(named name: String, _ text: inout [UInt8]) {
    self.name = name
    gaps.reset()
  }

  package mutating func append(_ fix: GNSSFix, to text: inout [UInt8]) {
    guard let place = fix.place else { return interrupt(&text) }
    if gaps.isBroken(before: fix) { close(&text) }
    let next = Position(
      longitude: place.longitude, latitude: place.latitude, height: fix.ellipsoidalAltitude,
      fix: fix)
    if let last = line.last, abs(next.longitude - last.longitude) > 180 {
      let (here, there) = Self.crossing(last, next)
      line.append(here)
      close(&text)
      (line, goesOn) = ([there], true)
    } else if line.count >= Self.longest, let last = line.last {
      close(&text)
      (line, goesOn) = ([last], true)
    }
    line.append(next)
  }

  package mutating func interrupt(_ text: inout [UInt8]) {
    close(&text)
    gaps.reset()
  }

  package mutating func endLog(_ text: inout [UInt8]) { close(&text) }

  package mutating func end(_ text: inout [UInt8]) { text.append(text: "\n]}\n") }

  /// Where the way from one position to the next meets the date line, seen from either side.
  private static func crossing(_ a: Position, _ b: Position) -> (Position, Position) {
    let side = a.longitude < 0 ? -180.0 : 180
    let (before, after) = (abs(side - a.longitude), abs(-side - b.longitude))
    let share = before + after > 0 ? before / (before + after) : 0
    var here = Position(longitude: side, latitude: a.latitude, height: nil, fix: nil)
    here.latitude += share * (b.latitude - a.latitude)
    if let from = a.height, let to = b.height { here.height = from + share * (to - from) }
    var there = here
    there.longitude = -side
    return (here, there)
  }

  private mutating func close(_ text: inout [UInt8]) {
    defer {
      line.removeAll(keepingCapacity: true)
      goesOn = false
    }
    // One position is a point, unless it ended the line before.
    guard !line.isEmpty, line.count > 1 || !goesOn else { return }
    text.append(text: hasFeatures ? ",\n" : "\n")
    hasFeatures = true
    text.append(text: #"{"type":"Feature","geometry":{"type":"#)
    text.append(
      text: line.count > 1 ? #""LineString","coordinates":["# : #""Point","coordinates":"#)
    for (index, position) in line.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      Self.write(position, &text)
    }
    text.append(text: line.count > 1 ? "]},\"properties\":" : "},\"properties\":")
    var properties = JSONLine(behind: &text)
    properties.set("name", name)
    var lists = JSONLine()
    Self.lists(line.map(\.fix), &lists)
    properties.set("coordinateProperties", lists)
    properties.end(into: &text)
    // The object's line end is the feature's.
    text.removeLast()
    text.append(UInt8(ascii: "}"))
  }

  private static func write(_ position: Position, _ text: inout [UInt8]) {
    text.append(UInt8(ascii: "["))
    text.append(fixed: position.longitude, digits: 9)
    text.append(UInt8(ascii: ","))
    text.append(fixed: position.latitude, digits: 9)
    if let height = position.height, height.isFinite {
      text.append(UInt8(ascii: ","))
      text.append(fixed: height, digits: 4)
    }
    text.append(UInt8(ascii: "]"))
  }

  /// A list a kind of value, as long as the line; none where no position has one.
  private static func lists(_ fixes: [GNSSFix?], _ lists: inout JSONLine) {
    lists.set("times", times: fixes.map { $0?.utc })
    lists.set("altitudes", orNull: fixes.map { $0?.altitude }, digits: 4)
    lists.set("horizontalAccuracies", orNull: fixes.map { $0?.horizontalAccuracy }, digits: 3)
    lists.set(
      "verticalAccuracies", orNull: fixes.map { $0?.altitude == nil ? nil : $0?.verticalAccuracy },
      digits: 3)
    lists.set("courses", orNull: fixes.map { $0?.printedCourse }, digits: 4)
    lists.set(
      "courseAccuracies", orNull: fixes.map { $0?.course == nil ? nil : $0?.courseAccuracy },
      digits: 4)
    lists.set("speeds", orNull: fixes.map { $0?.speed }, digits: 4)
    lists.set(
      "speedAccuracies", orNull: fixes.map { $0?.speed == nil ? nil : $0?.speedAccuracy }, digits: 4
    )
    lists.set("fixKinds", orNull: fixes.map { $0?.kind?.rawValue })
    if fixes.contains(where: { $0?.hasAssumedAccuracy == true }) { lists.set("assumed", true) }
  }

  package init() {}
}
