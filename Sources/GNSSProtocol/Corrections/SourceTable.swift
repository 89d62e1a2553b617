// The table of the streams that a caster has (RTCM 10410.1, section 5).

/// A stream in a source table: an `STR` record. What the caster leaves out is empty or `nil`.
package struct SourceStream: Sendable, Hashable {
  package var mountpoint: String
  /// The place of the station, in the caster's words.
  package var identifier: String
  /// `RTCM 3.2`, `RAW`, ...
  package var format: String
  /// The messages and their intervals in seconds: `1005(10),1077(1)`.
  package var formatDetails: String
  /// The satellites' systems: `GPS+GLO+GAL`.
  package var systems: String
  package var network: String
  /// Three letters (ISO 3166).
  package var country: String
  /// Degrees north, WGS 84, of the station; casters round it to hundredths.
  package var latitude: Double?
  /// Degrees east, -180 to 180.
  package var longitude: Double?
  /// Whether the caster wants the client's position (GGA).
  package var wantsPosition: Bool
  /// Whether it is computed from several stations.
  package var isNetwork: Bool
  /// `N` none, `B` Basic, `D` Digest.
  package var authentication: String
  /// Whether it costs something.
  package var hasFee: Bool
}

/// Another caster that the table names: a `CAS` record.
package struct SourceCaster: Sendable, Hashable {
  package var host: String
  package var port: Int?
  package var identifier: String
  package var country: String
}

/// A network of stations that the table names: a `NET` record.
package struct SourceNetwork: Sendable, Hashable {
  package var identifier: String
  package var owner: String
  /// Where to register: an address of a page or of a person.
  package var registration: String
}

/// A source table, read line by line as it arrives.
package struct SourceTable: Sendable, Hashable {
  /// The most records that are kept, and the longest of their lines and fields, in bytes.
  package static let mostRecords = 20_000
  package static let longestLine = 4_096
  package static let longestField = 256

  package private(set) var streams: [SourceStream] = []
  package private(set) var casters: [SourceCaster] = []
  package private(set) var networks: [SourceNetwork] = []
  /// The number of lines that are no record, or one too many.
  package private(set) var skipped = 0
  /// Whether its last line has come.
  package private(set) var isWhole = false

  private var line: [UInt8] = []
  private var isTooLong = false

  package init() {}

  /// Takes the next bytes of a table.
  package mutating func take(_ bytes: some Sequence<UInt8>) {
    for byte in bytes where !isWhole {
      if byte == 10 {
        endLine()
      } else if line.count < Self.longestLine {
        line.append(byte)
      } else {
        isTooLong = true
      }
    }
  }

  /// Takes a last line that has no end.
  package mutating func finish() { if !isWhole { endLine() } }

  private mutating func endLine() {
    defer {
      line.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    if line.last == 13 { line.removeLast() }
    guard !line.isEmpty else { return }
    let fields = Self.fields(line)
    if fields[0] == "ENDSOURCETABLE" {
      isWhole = true
      return
    }
    let count = streams.count + casters.count + networks.count
    guard !isTooLong, fields.count > 1, !fields[1].isEmpty, count < Self.mostRecords else {
      skipped &+= 1
      return
    }
    func field(_ place: Int) -> String { place < fields.count ? fields[place] : "" }
    switch fields[0] {
    case "STR":
      let latitude = Self.number(field(9), in: -90...90)
      streams.append(
        SourceStream(
          mountpoint: field(1), identifier: field(2), format: field(3), formatDetails: field(4),
          systems: field(6), network: field(7), country: field(8), latitude: latitude,
          longitude: Self.number(field(10), in: -180...360).map { $0 > 180 ? $0 - 360 : $0 },
          wantsPosition: field(11) == "1", isNetwork: field(12) == "1", authentication: field(15),
          hasFee: field(16) == "Y"))
    case "CAS":
      casters.append(
        SourceCaster(
          host: field(1), port: Int(field(2)).flatMap { (1...65_535).contains($0) ? $0 : nil },
          identifier: field(3), country: field(6)))
    case "NET":
      networks.append(
        SourceNetwork(identifier: field(1), owner: field(2), registration: field(7)))
    default: skipped &+= 1
    }
  }

  /// The fields of a line; one in quotation marks may hold a semicolon.
  private static func fields(_ line: [UInt8]) -> [String] {
    var fields: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    for byte in line {
      if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: ";"), !isQuoted {
        fields.append(text(field))
        field.removeAll(keepingCapacity: true)
      } else {
        field.append(byte)
      }
    }
    return fields + [text(field)]
  }

  /// A field for a terminal: no control characters, no blanks around it.
  private static func text(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes.prefix(longestField), as: UTF8.self)
    let printable = text.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
    var trimmed = String(String.UnicodeScalarView(printable))[...]
    while trimmed.first == " " { trimmed.removeFirst() }
    while trimmed.last == " " { trimmed.removeLast() }
    return String(trimmed)
  }

  private static func number(_ text: String, in range: ClosedRange<Double>) -> Double? {
    Double(text).flatMap { range.contains($0) ? $0 : nil }
  }
}
