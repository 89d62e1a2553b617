package import CalibrationCore
import FoundationEssentials
import JSONReading

/// Records in one file, to be carried to another machine or kept: one as it is stored, several as
/// `{"schema": 1, "kind": "archive", "records": [...]}`.
package struct CalibrationArchive: Sendable, Equatable {
  /// The longest file that is read, bytes.
  package static let limit = 4_194_304

  /// The records, in order.
  package var records: [StoredRecord]

  package init(_ records: [StoredRecord]) { self.records = records }

  private struct Stored: Codable {
    var schema: Int
    var kind: String
    var records: [JSONValue]
  }

  /// Reads an archive, or a single record; all of it is good, or none.
  package init(json: [UInt8]) throws(InvalidArchive) {
    guard json.count <= Self.limit else {
      throw InvalidArchive(description: "longer than \(Self.limit) bytes")
    }
    guard let stored = try? JSONDocument.decode(Stored.self, from: json),
      stored.kind == "archive"
    else {
      do {
        records = [try StoredRecord(json: json)]
      } catch {
        throw InvalidArchive(description: error.description)
      }
      return
    }
    guard stored.schema == CalibrationRecord.schema else {
      throw InvalidArchive(
        description:
          "schema \(stored.schema) is not known; this version reads \(CalibrationRecord.schema)")
    }
    records = []
    for (index, value) in stored.records.enumerated() {
      do {
        records.append(try StoredRecord(json: Array(try JSONEncoder().encode(value))))
      } catch {
        throw InvalidArchive(description: "record \(index + 1): \(error)")
      }
    }
  }

  /// The file's content: a single record as it is stored, else an archive.
  package func encoded() throws -> [UInt8] {
    if records.count == 1, let record = records.first { return try record.encoded() + [10] }
    let values = try records.map {
      try JSONDocument.decode(JSONValue.self, from: try $0.encoded())
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let stored = Stored(schema: CalibrationRecord.schema, kind: "archive", records: values)
    return Array(try encoder.encode(stored)) + [10]
  }
}

/// What is wrong with an archive: the record, from 1, where it is one of several.
package struct InvalidArchive: Error, Sendable, Hashable, CustomStringConvertible {
  /// The message, in one line.
  package let description: String
}

/// JSON of any shape; numbers keep every digit.
private enum JSONValue: Codable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([JSONValue].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .object(let object): try container.encode(object)
    }
  }
}
