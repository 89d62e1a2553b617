// What the records share: how they are read from JSON, and which words and numbers may stand in one.

import FoundationEssentials
import JSONReading
import LinearAlgebra

/// Reading and writing of stored records; every mistake becomes a line for a person.
enum RecordJSON {
  typealias Invalid = InvalidRecord

  /// The longest word that a record may hold, characters.
  private static let longestWord = 200

  /// Reads `json`, after a look at what it says it is.
  static func read<Stored: Decodable>(
    _ json: [UInt8], as kind: CalibrationKind, _ type: Stored.Type
  ) throws(Invalid) -> Stored {
    let found = try head(of: json)
    guard found == kind else {
      throw Invalid(description: "this is a record of a \(found.rawValue), not of a \(kind)")
    }
    return try decode(json, type)
  }

  private struct Head: Decodable {
    var schema: Int
    var kind: String?
  }

  /// What a record says it is; one that says nothing is a magnetometer's.
  static func head(of json: [UInt8]) throws(Invalid) -> CalibrationKind {
    let head = try decode(json, Head.self)
    guard head.schema == CalibrationRecord.schema else {
      throw Invalid(
        description: "schema \(head.schema) is not known; this version reads 1",
        isFromNewerVersion: head.schema > CalibrationRecord.schema)
    }
    guard let name = head.kind else { return .magnetometer }
    guard let kind = CalibrationKind(rawValue: name) else {
      throw Invalid(
        description: "a record of kind \(quoted(name)) is not known", isFromNewerVersion: true)
    }
    return kind
  }

  /// A word of a file as it may stand in a message: quoted, short, what is not printable ASCII escaped, so that
  /// a file cannot write to a person's terminal.
  static func quoted(_ word: String) -> String {
    let scalars = word.unicodeScalars
    let text = scalars.prefix(20).map { $0.escaped(asASCII: true) }.joined()
    return "'\(text)\(scalars.dropFirst(20).isEmpty ? "" : "...")'"
  }

  private static func decode<Stored: Decodable>(
    _ json: [UInt8], _ type: Stored.Type
  ) throws(Invalid) -> Stored {
    do {
      return try JSONDocument.decode(type, from: json)
    } catch let error as DecodingError {
      throw Invalid(description: "not a calibration record: \(words(error))")
    } catch {
      throw Invalid(description: "not a calibration record: \(error)")
    }
  }

  private static func words(_ error: DecodingError) -> String {
    func place(_ path: [any CodingKey]) -> String {
      path.isEmpty ? "it" : quoted(path.map(\.stringValue).joined(separator: "."))
    }
    switch error {
    case .keyNotFound(let key, _): return "'\(key.stringValue)' is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return "\(place(context.codingPath)) is of the wrong kind"
    case .dataCorrupted(let context):
      return context.codingPath.isEmpty
        ? "this is not JSON" : "\(place(context.codingPath)) cannot be read"
    @unknown default: return "it cannot be read"
    }
  }

  /// Sorted keys, so that two versions differ where they differ.
  static func write(_ stored: some Encodable, isDraft: Bool = false) throws -> [UInt8] {
    let encoder = JSONEncoder()
    if isDraft {
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    }
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(stored))
  }

  /// Whose the record is, in words that can be printed and made a file's name.
  static func check(
    chip: String, busPosition: String, others words: [String]
  ) throws(Invalid) {
    guard !chip.isEmpty, !busPosition.isEmpty else {
      throw Invalid(description: "the record names no chip or no place")
    }
    for word in [chip, busPosition] + words {
      let isPrintable = word.unicodeScalars.allSatisfy {
        $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value)
      }
      guard word.count <= longestWord, isPrintable else {
        throw Invalid(description: "a name in it is no name")
      }
    }
  }

  /// Degrees Celsius that a chip on a board can have.
  static func check(temperature: Double?) throws(Invalid) {
    guard let temperature else { return }
    guard (-100...200).contains(temperature) else {
      throw Invalid(description: "a temperature of \(temperature) degrees cannot be right")
    }
  }

  static func vector(_ values: [Double], _ name: String) throws(Invalid) -> Vector3 {
    guard values.count == 3, values.allSatisfy(\.isFinite) else {
      throw Invalid(description: "\(name) must be three finite numbers")
    }
    return Vector3(values[0], values[1], values[2])
  }

  static func matrix(_ rows: [[Double]], _ name: String) throws(Invalid) -> Matrix3 {
    guard rows.count == 3 else { throw Invalid(description: "\(name) must have three rows") }
    return Matrix3(
      rows: try vector(rows[0], name), try vector(rows[1], name), try vector(rows[2], name))
  }

  static func list(_ v: Vector3) -> [Double] { [v.x, v.y, v.z] }

  static func rows(_ m: Matrix3) -> [[Double]] {
    let t = m.transposed.columns
    return [t.x, t.y, t.z].map(list)
  }
}
