import FoundationEssentials
import SensorTypes
package import TerminalUI
import TextForms

/// A table of positions, a row an epoch: CSV (RFC 4180) with a header, as loggers on phones write it, and `lodestone decode
/// --format csv`.
///
/// A latitude and a longitude in degrees are what makes one; time, accuracy, altitude, speed and course are taken where they
/// stand under a name that is known. It is read here and by no library because those hold a file as a whole, and make
/// a table as wide as its widest row.
package struct PositionTable {
  /// Which column has what.
  private enum Column: CaseIterable {
    case latitude, longitude, time, accuracy, altitude, speed, course, valid, kind, assumed

    /// The names that a header has for it, in small letters.
    var names: [String] {
      switch self {
      case .latitude: ["latitude", "latitude_deg", "lat"]
      case .longitude: ["longitude", "longitude_deg", "lon", "lng"]
      case .time: ["time_utc", "time", "timestamp"]
      case .accuracy: ["horizontal_accuracy_m", "horizontalaccuracy", "accuracy"]
      case .altitude: ["altitude_msl_m", "altitudeabovemeansealevel"]
      case .speed: ["speed_m_s", "speed"]
      case .course: ["course_deg", "course", "bearing"]
      case .valid: ["valid"]
      case .kind: ["fix_kind"]
      case .assumed: ["assumed"]
      }
    }
  }

  /// The longest line that is one, bytes.
  private static let longestLine = 1 << 16

  private var input: InputFile
  private var columns: [Column: Int] = [:]
  private var divider = UInt8(ascii: ",")
  private var buffer: [UInt8] = []
  private var position = 0
  private var line = 0

  /// Whether a file that begins like this is a table with positions.
  package static func isOne(beginning: [UInt8]) -> Bool {
    let header = beginning.prefix { $0 != UInt8(ascii: "\n") }
    let columns = columns(of: fields(of: Array(header)) ?? [])
    return columns[.latitude] != nil && columns[.longitude] != nil
  }

  /// Reads the header of a file that is one.
  package init(_ input: InputFile) throws {
    self.input = input
    // What divides the header divides every row.
    guard let header = try lineBytes() else { return }
    divider = Self.divider(of: header)
    columns = Self.columns(of: Self.fields(of: header) ?? [])
  }

  private static func columns(of header: [String]) -> [Column: Int] {
    let names = header.map { $0.trimmingWhitespace().lowercased() }
    var columns: [Column: Int] = [:]
    for column in Column.allCases {
      columns[column] = column.names.lazy.compactMap { names.firstIndex(of: $0) }.first
    }
    return columns
  }

  /// The next row; nil behind the last. A row without a place has none.
  mutating func next() throws -> GNSSFix? {
    guard let fields = try row() else { return nil }
    func cell(_ column: Column) -> String {
      guard let index = columns[column], index < fields.count else { return "" }
      return fields[index].trimmingBlanks()
    }
    func number(_ column: Column) throws -> Double? {
      let text = cell(column)
      if text.isEmpty || text.lowercased() == "nan" { return nil }
      // Where semicolons divide, a comma is a decimal point.
      let spelling =
        divider == UInt8(ascii: ";") ? String(text.map { $0 == "," ? "." : $0 }) : text
      guard let value = Double(spelling), value.isFinite else {
        throw CommandError("\(input.path):\(line): \(text) is no number", kind: .data)
      }
      return value
    }
    var fix = GNSSFix(received: Timestamp(nanoseconds: 0), mode: .none)
    fix.utc = Self.seconds(cell(.time))
    guard let latitude = try number(.latitude), let longitude = try number(.longitude) else {
      return fix
    }
    guard abs(latitude) <= 90, abs(longitude) <= 180 else {
      throw CommandError(
        "\(input.path):\(line): \(latitude), \(longitude) is no place on earth", kind: .data)
    }
    fix.mode = .twoDimensional
    fix.latitude = latitude
    fix.longitude = longitude
    fix.horizontalAccuracy = try number(.accuracy).flatMap { $0 >= 0 ? $0 : nil }
    if fix.horizontalAccuracy != nil {
      fix.accuracySource = cell(.assumed) == "true" ? .worstCase : .receiver
    }
    fix.isValid = cell(.valid) != "false"
    fix.kind = FixKind(rawValue: cell(.kind))
    if let altitude = try number(.altitude) {
      fix.mode = .threeDimensional
      fix.altitude = altitude
    }
    fix.speed = try number(.speed).flatMap { $0 >= 0 ? $0 : nil }
    fix.course = try number(.course).flatMap { $0 >= 0 && $0 <= 360 ? $0 : nil }
    return fix
  }

  /// Seconds since 1970-01-01 of a date, with `T` or a space between day and time, or of such seconds; nil of what is neither.
  static func seconds(_ text: String) -> Double? {
    if let seconds = Double(text) {
      // Milliseconds, as some loggers write them, are beyond the year 5000.
      let value = abs(seconds) > 1e11 ? seconds / 1000 : seconds
      return value.isFinite ? value : nil
    }
    var text = String(text.map { $0 == " " ? "T" : $0 })
    guard text.count >= 19 else { return nil }
    // What is finer than a second is taken apart: the format knows it by another style.
    var fraction = 0.0
    if let dot = text.firstIndex(of: ".") {
      let end = text[text.index(after: dot)...].firstIndex { !$0.isNumber } ?? text.endIndex
      fraction = Double("0" + text[dot..<end]) ?? 0
      text.removeSubrange(dot..<end)
    }
    // A leap second has the number of the second behind it.
    let seconds = text.dropFirst(17).prefix(2)
    if seconds == "60" {
      text.replaceSubrange(seconds.startIndex..<seconds.endIndex, with: "59")
      fraction += 1
    }
    // A time without a zone is the world's.
    if text.count == 19 { text += "Z" }
    return (try? Date(text, strategy: .iso8601)).map { $0.timeIntervalSince1970 + fraction }
  }

  // MARK: Rows

  /// The fields of the next row that is not empty.
  private mutating func row() throws -> [String]? {
    while let bytes = try lineBytes() {
      if bytes.isEmpty { continue }
      guard let fields = Self.fields(of: bytes, divider) else {
        throw CommandError("\(input.path):\(line): a quotation does not end", kind: .data)
      }
      return fields
    }
    return nil
  }

  /// The next line without its end. A quotation that goes on over several lines is no position, and not read.
  private mutating func lineBytes() throws -> [UInt8]? {
    while true {
      if let end = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { position = end + 1 }
        line += 1
        return Self.trimmed(buffer[position..<end])
      }
      guard buffer.count - position <= Self.longestLine else {
        throw CommandError(
          "\(input.path):\(line + 1): the line is longer than 64 KB", kind: .data)
      }
      buffer.removeFirst(position)
      position = 0
      guard let data = try input.read(1 << 16) else {
        defer { buffer = [] }
        if buffer.isEmpty { return nil }
        line += 1
        return Self.trimmed(buffer[...])
      }
      buffer += data
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    Array(bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes)
  }

  /// Semicolons or tabs divide where a header has them.
  private static func divider(of header: [UInt8]) -> UInt8 {
    [UInt8(ascii: ";"), UInt8(ascii: "\t")].first { header.contains($0) } ?? UInt8(ascii: ",")
  }

  /// The fields of a line; nil where a quotation does not end.
  private static func fields(of line: [UInt8], _ divider: UInt8? = nil) -> [String]? {
    let divider = divider ?? self.divider(of: line)
    let quote = UInt8(ascii: "\"")
    var fields: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    // A byte order mark stands ahead of the first where a spreadsheet has written it.
    var index = line.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    while index < line.count {
      let byte = line[index]
      index += 1
      if isQuoted {
        // Two quotation marks within a quotation are one.
        if byte != quote {
          field.append(byte)
        } else if index < line.count, line[index] == quote {
          field.append(quote)
          index += 1
        } else {
          isQuoted = false
        }
      } else if byte == quote, field.isEmpty {
        isQuoted = true
      } else if byte == divider {
        fields.append(String(decoding: field, as: UTF8.self))
        field = []
      } else {
        field.append(byte)
      }
    }
    fields.append(String(decoding: field, as: UTF8.self))
    return isQuoted ? nil : fields
  }
}
