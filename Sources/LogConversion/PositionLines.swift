import JSONReading
import OutputProtocols
import SensorTypes
import TerminalUI

/// The positions in JSON lines as `monitor`, `replay` and `decode` print them, and a log of weeks keeps them.
///
/// A line that is no JSON, that was cut off, that is too long or that a newer version has written is skipped and counted.
struct PositionLines {
  /// What a line says of positions.
  enum PositionLine: Equatable {
    /// A position, with its accuracies.
    case fix(GNSSFix)
    /// No position is known, or only one that is carried on: the line of a track is broken.
    case interruption
  }

  /// Why lines were skipped, and how many of them.
  struct SkippedLines: Equatable {
    /// Lines that are no JSON object, or that were cut off.
    var damaged = 0
    /// Lines of a version or of a kind that is not known here.
    var newer = 0
    /// Lines that are longer than any that is written.
    var tooLong = 0

    /// The message about them; `nil` if no line was skipped.
    var words: String? {
      let parts = [
        (damaged, "damaged or cut off"), (newer, "of a newer kind"), (tooLong, "too long"),
      ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      return parts.isEmpty ? nil : "lines that were skipped: " + parts.joined(separator: ", ")
    }
  }

  /// The longest line that is read, in bytes.
  static let longestLine = 1 << 16
  /// The kind stands within this many bytes from the start of a line that this program has written.
  private static let headerLength = 128
  /// Kinds that have no position in them.
  private static let otherKinds: Set = [
    "heading", "attitude", "altitude", "absoluteAltitude", "sky", "motion", "sample", "sensor",
    "error",
    "receiverHeading", "receiver", "hello", "subscription",
  ]

  private var input: InputFile
  private var buffer: [UInt8] = []
  private var position = 0
  /// Whether the rest of a line that is too long is still to come.
  private var isWithinLongLine = false
  private(set) var skipped = SkippedLines()

  /// Whether a file that begins like this holds JSON lines of this kind. The first line may have been cut off.
  static func isOne(beginning: [UInt8]) -> Bool {
    beginning.split(separator: UInt8(ascii: "\n")).contains { line in
      line.first == UInt8(ascii: "{") && end(of: "\"kind\":", in: line) != nil
    }
  }

  init(_ input: InputFile) { self.input = input }

  /// Returns what the next line with positions says; `nil` at the end of the file.
  mutating func next() throws -> PositionLine? {
    while let line = try lineBytes() {
      if let said = take(line) { return said }
    }
    return nil
  }

  /// Returns what a line says of positions; `nil` if it says nothing about them, or was skipped.
  private mutating func take(_ line: ArraySlice<UInt8>) -> PositionLine? {
    guard line.contains(where: { $0 != 32 && $0 != 13 }), !Self.isPlainlyOther(line) else {
      return nil
    }
    let bytes = Array(line)
    // Most of these lines are positions: they are decoded once.
    let location = try? JSONDocument.decode(LocationLine.self, from: bytes)
    guard
      let header = location?.header ?? (try? JSONDocument.decode(LineHeader.self, from: bytes))
    else {
      skipped.damaged += 1
      return nil
    }
    guard header.v == ObservationLines.version else {
      skipped.newer += 1
      return nil
    }
    guard header.kind == LineKind.location.rawValue else {
      if !Self.otherKinds.contains(header.kind) { skipped.newer += 1 }
      return nil
    }
    guard let location else {
      skipped.damaged += 1
      return nil
    }
    return location.fix.map(PositionLine.fix) ?? .interruption
  }

  // MARK: Lines

  /// The next line without its end. The last one may have none: it was cut off, which its JSON tells.
  private mutating func lineBytes() throws -> ArraySlice<UInt8>? {
    while true {
      if let end = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = buffer[position..<end]
        position = end + 1
        guard isWithinLongLine || line.count > Self.longestLine else { return line }
        isWithinLongLine = false
        skipped.tooLong += 1
        continue
      }
      if isWithinLongLine || buffer.count - position > Self.longestLine {
        isWithinLongLine = true
        buffer.removeAll(keepingCapacity: true)
      } else {
        buffer.removeFirst(position)
      }
      position = 0
      guard let data = try input.read(1 << 16) else {
        defer { buffer = [] }
        if isWithinLongLine { skipped.tooLong += 1 }
        return isWithinLongLine || buffer.isEmpty ? nil : buffer[...]
      }
      buffer += data
    }
  }

  /// Whether a line is of a kind without positions, as this program writes it. Most lines are, and need not be decoded.
  private static func isPlainlyOther(_ line: ArraySlice<UInt8>) -> Bool {
    guard line.starts(with: "{\"v\":\(ObservationLines.version),".utf8),
      line.last == UInt8(ascii: "}"),
      let start = end(of: "\"kind\":\"", in: line.prefix(Self.headerLength))
    else { return false }
    let kind = line[start...].prefix { $0 != UInt8(ascii: "\"") }
    return otherKinds.contains(String(decoding: kind, as: UTF8.self))
  }

  /// The place behind the first occurrence of a text.
  private static func end(of text: String, in line: ArraySlice<UInt8>) -> Int? {
    line.indices.first { line[$0...].starts(with: text.utf8) }.map { $0 + text.utf8.count }
  }
}

/// What every line has.
private struct LineHeader: Decodable {
  var v: Int
  var kind: String
}

/// A line of the kind `location`.
private struct LocationLine: Decodable {
  var v: Int
  var kind: String
  var time: String?
  var timeOfDay: Double?
  var mode: UInt8?
  var fixKind: String?
  var correctionAge: Double?
  var correctionStation: Int?
  var valid: Bool?
  var latitude: Double?
  var longitude: Double?
  var altitude: Double?
  var ellipsoidalAltitude: Double?
  var horizontalAccuracy: Double?
  var verticalAccuracy: Double?
  var assumed: Bool?
  var course: Double?
  var courseAccuracy: Double?
  var speed: Double?
  var speedAccuracy: Double?
  var verticalSpeed: Double?
  var satellites: Int?
  var hdop: Double?
  var vdop: Double?
  var pdop: Double?
  var carried: Double?

  var header: LineHeader { LineHeader(v: v, kind: kind) }

  /// The position as the receiver reported it; `nil` if the line has no position, or one that is dead-reckoned.
  var fix: GNSSFix? {
    guard carried == nil, let latitude, let longitude, abs(latitude) <= 90, abs(longitude) <= 180
    else { return nil }
    var fix = GNSSFix(
      received: Timestamp(nanoseconds: 0), mode: mode.flatMap(FixMode.init) ?? .twoDimensional)
    fix.utc = time.flatMap(PositionTable.seconds)
    fix.timeOfDay = timeOfDay
    // A newer version may know more kinds.
    fix.kind = fixKind.flatMap(FixKind.init)
    let corrections = FixCorrections(age: correctionAge, station: correctionStation)
    fix.corrections = corrections.isEmpty ? nil : corrections
    fix.isValid = valid ?? true
    (fix.latitude, fix.longitude) = (latitude, longitude)
    (fix.altitude, fix.ellipsoidalAltitude) = (altitude, ellipsoidalAltitude)
    fix.horizontalAccuracy = Self.known(horizontalAccuracy)
    fix.verticalAccuracy = Self.known(verticalAccuracy)
    fix.accuracySource = assumed == true ? .worstCase : .receiver
    (fix.speed, fix.speedAccuracy) = (Self.known(speed), Self.known(speedAccuracy))
    (fix.course, fix.courseAccuracy) = (Self.known(course), Self.known(courseAccuracy))
    fix.verticalSpeed = verticalSpeed
    (fix.hdop, fix.vdop, fix.pdop) = (hdop, vdop, pdop)
    fix.satellitesUsed = satellites
    return fix
  }

  /// A value that the lines have negative where it is not known.
  private static func known(_ value: Double?) -> Double? { value.flatMap { $0 >= 0 ? $0 : nil } }
}
