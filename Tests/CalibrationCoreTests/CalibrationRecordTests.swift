import SeededDraws
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

  @Test(
    "a schema asks for what a record holds, no more and no less",
    arguments: [
      ("schema.json", "example.json"), ("gyro.schema.json", "gyro.example.json"),
      ("level.schema.json", "level.example.json"),
    ])
  func schema(name: String, example: String) throws {
    func object(_ name: String) throws -> [String: Any] {
      let data = try Data(contentsOf: Self.folder.appending(path: name))
      return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
    let schema = try object(name)
    let properties = try #require(schema["properties"] as? [String: Any])
    let required = try #require(schema["required"] as? [String])
    #expect(try Set(properties.keys) == Set(object(example).keys))
    // What may be missing is what a record is still read without.
    let record = try StoredRecord(
      json: Array(Data(contentsOf: Self.folder.appending(path: example))))
    for key in properties.keys {
      var less = try object(example)
      less[key] = nil
      let bytes = Array(try JSONSerialization.data(withJSONObject: less))
      let isRead = (try? StoredRecord(json: bytes)).map { $0.kind == record.kind } ?? false
      #expect(isRead == !required.contains(key), "\(key)")
    }
    // And what is written holds all of it.
    let written = try JSONSerialization.jsonObject(with: Data(record.encoded()))
    #expect(Set((written as? [String: Any] ?? [:]).keys) == Set(properties.keys))
    #expect(try StoredRecord(json: record.encoded()) == record)
  }

  @Test("a record that an older version has written is read")
  func older() throws {
    var object = try Self.example()
    for key in [
      "kind", "score", "headingError", "headingErrorBefore", "expectedAccuracy", "locked",
    ] { object[key] = nil }
    let record = try CalibrationRecord(
      json: Array(try JSONSerialization.data(withJSONObject: object)))
    #expect(record.score == nil && record.headingError == nil && !record.isLocked)
    #expect(record.offset == Vector3(18.1, -30.9, 12.2))
  }

  @Test("a record of a fit says what the fit says")
  func fit() throws {
    var cells = SphereCells()
    for z in [1.0, -1.0] { cells.insert(Vector3(0, 0, z)) }
    let fit = CalibrationFit(
      method: .ellipsoid, hardIron: Vector3(1, 2, 3),
      softIron: Matrix3(diagonal: Vector3(1.1, 1, 0.9)),
      alignment: Quaternion(rotationVector: Vector3(0, 0, 0.01)).matrix, fieldStrength: 48,
      hardIronCovariance: Matrix3(diagonal: Vector3(0.1, 0.2, 0.3)), samples: 900, inliers: 850,
      quality: CalibrationQuality(
        score: 87, reason: "", cells: cells, residual: 0.5, residualPercent: 1, headingError: 0.5,
        condition: 3))
    let record = CalibrationRecord(
      fit: fit, chip: "LIS3MDL", busPosition: "/dev/i2c-1:0x1c", board: "Bench",
      date: "2026-11-21T12:00:00Z", temperature: 21, headingErrorBefore: 12)
    #expect(record.headingErrorBefore == 12)
    for (before, kept) in [(200.0, 180.0 as Double?), (.infinity, nil), (.nan, nil)] {
      let record = CalibrationRecord(
        fit: fit, chip: "LIS3MDL", busPosition: "/dev/i2c-1:0x1c", board: "Bench",
        date: "2026-11-21T12:00:00Z", headingErrorBefore: before)
      #expect(record.headingErrorBefore == kept)
      #expect(throws: Never.self) { try record.encoded() }
    }
    #expect(record.applied == fit.applied)
    #expect(record.samples == 850 && record.score == 87 && record.coverage == 0.02)
    #expect(record.method == "ellipsoid" && record.temperature == 21 && record.field == 48)
    #expect(record.headingError == 0.5 && abs((record.expectedAccuracy ?? 0) - 0.98) < 1e-12)
    #expect(try CalibrationRecord(json: record.encoded()) == record)
  }

  @Test("a record that cannot be stored can be written down all the same, with what is wrong in it")
  func draft() throws {
    let good = try StoredRecord(
      json: Array(Data(contentsOf: Self.folder.appending(path: "example.json"))))
    #expect(try good.draft() == good.encoded())
    guard case .magnetometer(var record) = good else {
      Issue.record("the example is of another kind")
      return
    }
    record.offset.x = .infinity
    record.board = String(repeating: "b", count: 300)
    #expect(throws: InvalidRecord.self) { try record.encoded() }
    let written = String(decoding: try StoredRecord.magnetometer(record).draft(), as: UTF8.self)
    #expect(written.contains("\"inf\"") && written.contains(record.board))
    #expect(written.contains("-30.9"))
    // Mended by hand it is one again.
    let mended = written.replacingOccurrences(of: "\"inf\"", with: "18.1")
      .replacingOccurrences(of: record.board, with: "boat")
    record.offset.x = 18.1
    record.board = "boat"
    #expect(try StoredRecord(json: Array(mended.utf8)) == .magnetometer(record))
  }

  /// Whether every number of a record is one that the table in Calibration/README.md allows.
  private static func isSane(_ record: StoredRecord) -> Bool {
    func finite(_ v: Vector3, _ limit: Double) -> Bool {
      [v.x, v.y, v.z].allSatisfy { $0.isFinite && abs($0) <= limit }
    }
    func finite(_ m: Matrix3, _ limit: Double) -> Bool {
      [m.columns.x, m.columns.y, m.columns.z].allSatisfy { finite($0, limit) }
    }
    func within(_ value: Double?, _ range: ClosedRange<Double>) -> Bool {
      value.map { $0.isFinite && range.contains($0) } ?? true
    }
    guard !record.chip.isEmpty, !record.busPosition.isEmpty else { return false }
    switch record {
    case .magnetometer(let r):
      return finite(r.offset, 5_000) && finite(r.matrix, 20) && finite(r.offsetCovariance, 26e6)
        && r.matrix.determinant > 0.1 && r.matrix.determinant < 10 && within(r.residual, 0...1_000)
        && within(r.coverage, 0...1) && within(r.field, 1...1_000)
        && within(r.score.map(Double.init), 0...100) && within(r.headingError, 0...180)
        && within(r.expectedAccuracy, 0...180) && within(r.temperature, -100...200)
        && r.samples >= 0
    case .gyro(let r):
      return finite(r.bias, 0.7) && within(r.deviation, 0...0.7)
        && within(r.temperature, -100...200) && r.samples >= 0
    case .level(let r):
      let q = r.rotation
      return abs(q.w * q.w + q.vector.lengthSquared - 1) < 1e-9 && within(r.tilt, 0...45)
        && within(r.deviation, 0...45) && within(r.surfaceTilt, 0...45) && r.samples >= 0
    }
  }

  @Test("of 10 000 damaged files each is refused, or is a record with sane numbers")
  func fuzz() throws {
    let files = try ["example.json", "gyro.example.json", "level.example.json"].map {
      Array(try Data(contentsOf: Self.folder.appending(path: $0)))
    }
    // Digits and signs change numbers, the rest breaks words and structure.
    let pieces = [
      "-", "e308", "1e999", "NaN", "Infinity", "null", "true", "[", "]", "{", "}", "\"", ",", ":",
      "0", "9", "99999999999999999999", ".", "\\u0000", "\u{1B}[2J", "kind", "gyro", "level",
      "schema",
    ].map { Array($0.utf8) }
    var random = SplitMix64(state: 20_261_121)
    var (refused, taken, changed) = (0, 0, 0)
    for step in 0..<10_000 {
      let original = files[step % files.count]
      var bytes = original
      // Every other one is damaged in its numbers alone, and often still a record.
      if step % 2 == 1 {
        let digits = bytes.indices.filter { (48...57).contains(bytes[$0]) }
        for _ in 0...(random.next() % 3) {
          let place = digits[Int(random.next() % UInt64(digits.count))]
          bytes[place] = Array("0123456789-.e".utf8)[Int(random.next() % 13)]
        }
      }
      for _ in 0...(random.next() % 4) where step % 2 == 0 {
        let place = Int(random.next() % UInt64(bytes.count + 1))
        switch random.next() % 5 {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.next() % 8)
        case 1 where place < bytes.count: bytes[place] = UInt8(random.next() % 256)
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 20)))
        case 3: bytes.removeLast(bytes.count - place)
        default: bytes.insert(contentsOf: pieces[Int(random.next() % 24)], at: place)
        }
        if bytes.isEmpty { break }
      }
      do throws(InvalidRecord) {
        let record = try StoredRecord(json: bytes)
        taken += 1
        #expect(Self.isSane(record), "step \(step)")
        if let before = try? StoredRecord(json: original), before != record { changed += 1 }
        // What was taken can be kept and says the same again.
        let again = try? StoredRecord(json: (try? record.encoded()) ?? [])
        #expect(again == record, "step \(step)")
      } catch {
        refused += 1
        #expect(!error.description.isEmpty)
      }
    }
    print("damaged records: \(refused) refused, \(taken) taken, \(changed) of them changed")
    #expect(refused > 3_000 && taken > 500)
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
      Damage(key: "matrix", json: "[[1000,0,0],[0,0.001,0],[0,0,1]]"),
      Damage(key: "offsetCovariance", json: "[[1,2,0],[2,1,0],[0,0,1]]"),
      Damage(key: "score", json: "101"), Damage(key: "headingError", json: "-1"),
      Damage(key: "headingErrorBefore", json: "181"),
      Damage(key: "temperature", json: "1e9"), Damage(key: "chip", json: "\"a\\u001Bb\""),
      Damage(key: "kind", json: "\"gyro\""), Damage(key: "kind", json: "\"compass\""),
    ])
  func damaged(_ damage: Damage) throws {
    var object = try Self.example()
    object[damage.key] = try damage.json.map {
      try JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)
    }
    let bytes = Array(try JSONSerialization.data(withJSONObject: object))
    #expect(throws: InvalidRecord.self) { try CalibrationRecord(json: bytes) }
  }

  @Test(
    "a level turns about no vertical: what does is refused, read or written",
    arguments: [(0.0, true), (1e-7, true), (1e-3, false), (-0.02, false), (0.3, false)])
  func levelAboutTheVertical(z: Double, isLevel: Bool) throws {
    let x = 0.05
    let w = (1 - x * x - z * z).squareRoot()
    let url = Self.folder.appending(path: "level.example.json")
    var object = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
    object["rotation"] = [w, x, 0, z]
    let bytes = Array(try JSONSerialization.data(withJSONObject: object))
    var level = try LevelRecord(json: Array(try Data(contentsOf: url)))
    level.rotation = Quaternion(w: w, vector: Vector3(x, 0, z))
    if isLevel {
      #expect(abs(try LevelRecord(json: bytes).rotation.vector.z - z) < 1e-12)
      #expect(throws: Never.self) { try level.encoded() }
    } else {
      #expect(throws: InvalidRecord.self) { try LevelRecord(json: bytes) }
      #expect(throws: InvalidRecord.self) { try level.encoded() }
    }
  }

  @Test("a file's words reach a message in printable characters only")
  func messages() throws {
    for (word, expected) in [
      ("compass", "'compass'"), ("\u{1B}[2J\u{7}", "'\\u{1B}[2J\\u{07}'"), ("a'b", "'a\\'b'"),
      ("abcdefghijklmnopqrstuvwxyz", "'abcdefghijklmnopqrst...'"),
      ("Böe\u{202E}", "'B\\u{00F6}e\\u{202E}'"),
    ] {
      let bytes = Array(try JSONSerialization.data(withJSONObject: ["schema": 1, "kind": word]))
      do {
        _ = try StoredRecord(json: bytes)
        Issue.record("a record of kind \(word) was read")
      } catch {
        #expect(error.description.contains(" \(expected) "), "\(error)")
      }
    }
  }

  @Test("what is no JSON never crashes", arguments: ["", "{", "[]", "null", "{\"schema\":1}"])
  func hostile(text: String) {
    #expect(throws: InvalidRecord.self) {
      try CalibrationRecord(json: Array(text.utf8))
    }
  }
}
