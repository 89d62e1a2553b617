import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

struct CalibrationRecordTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Calibration")

  private static func example() throws -> [String: Any] {
    let data = try Data(contentsOf: folder.appending(path: "example.json"))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test("the example is a record, and survives being written and read again")
  func example() throws {
    let record = try CalibrationRecord(
      json: Array(Data(contentsOf: Self.folder.appending(path: "example.json"))))
    #expect(record.chip == "LIS3MDL" && record.busPosition == "/dev/i2c-1:0x1c")
    #expect(record.offset == Vector3(18.1, -30.9, 12.2))
    // By rows: the first row makes the first component.
    let corrected = record.applied.correct(record.offset + Vector3(0, 1, 0))
    #expect(abs(corrected.x + 0.02) < 1e-12 && abs(corrected.y - 1.054) < 1e-12)
    #expect(try CalibrationRecord(json: record.encoded()) == record)
  }

  @Test("schema.json asks for what a record holds, no more and no less")
  func schema() throws {
    let data = try Data(contentsOf: Self.folder.appending(path: "schema.json"))
    let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let properties = try #require(schema["properties"] as? [String: Any])
    let required = try #require(schema["required"] as? [String])
    #expect(try Set(properties.keys) == Set(Self.example().keys))
    #expect(Set(required) == Set(properties.keys).subtracting(["temperature"]))
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    let key: String
    let json: String?
    var testDescription: String { "\(key): \(json ?? "left out")" }
  }

  @Test(
    "a record that no calibration could have made is refused",
    arguments: [
      Damage(key: "schema", json: "2"), Damage(key: "chip", json: "\"\""),
      Damage(key: "chip", json: nil), Damage(key: "matrix", json: "[[1,0,0],[0,1,0]]"),
      Damage(key: "matrix", json: "[[1,0,0],[0,1,0],[0,0,0]]"),
      Damage(key: "matrix", json: "[[-1,0,0],[0,1,0],[0,0,1]]"),
      Damage(key: "offset", json: "[1,2]"), Damage(key: "offset", json: "[1e9,0,0]"),
      Damage(key: "offset", json: "[\"1\",0,0]"),
      Damage(key: "offsetCovariance", json: "[[-1,0,0],[0,1,0],[0,0,1]]"),
      Damage(key: "coverage", json: "1.5"), Damage(key: "residual", json: "-1"),
      Damage(key: "field", json: "0"), Damage(key: "samples", json: "-1"),
    ])
  func damaged(_ damage: Damage) throws {
    var object = try Self.example()
    object[damage.key] = try damage.json.map {
      try JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)
    }
    let bytes = Array(try JSONSerialization.data(withJSONObject: object))
    #expect(throws: CalibrationRecord.Invalid.self) { try CalibrationRecord(json: bytes) }
  }

  @Test("what is no JSON never crashes", arguments: ["", "{", "[]", "null", "{\"schema\":1}"])
  func hostile(text: String) {
    #expect(throws: CalibrationRecord.Invalid.self) {
      try CalibrationRecord(json: Array(text.utf8))
    }
  }
}
