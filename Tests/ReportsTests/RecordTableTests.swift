import BoardFile
import CalibrationCore
import CommandTestSupport
import Foundation
import LinearAlgebra
import StateStore
import Testing

@testable import Reports

/// The records of a machine as a table and one by one.
final class RecordTableTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private var store: CalibrationStore { CalibrationStore(stateDirectory: folder) }
  private let key = CalibrationKey(.magnetometer(ReportFixture.record()))

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static let gyro = GyroRecord(
    chip: "LSM6DSOX", busPosition: "/dev/i2c-1:0x6a", board: "boat",
    date: "2026-11-20T10:00:00Z", samples: 1_000, bias: Vector3(0, 0, .pi / 360), deviation: 1e-4)

  private func objects(_ lines: [String]) throws -> [[String: Any]] {
    try lines.map {
      try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test("cells are as wide as their column, and nothing stands behind the last one")
  func row() {
    #expect(RecordTable.row([("chip", 6), ("place", 7), ("made", 0)]) == "chip  place  made")
    // A cell that is too wide pushes the others, by one space.
    #expect(RecordTable.row([("LSM303DLHC", 6), ("x", 3)]) == "LSM303DLHC x")
    #expect(RecordTable.row([("chip", 6), ("", 9)]) == "chip")
  }

  @Test("where there is no record it says how to make one")
  func empty() {
    let lines = RecordTable(store, board: nil).textLines
    #expect(
      lines == [
        "no records in \(store.folder.path): lodestone calibrate magnetometer makes one"
      ])
    #expect(RecordTable(store, board: nil).jsonLines.isEmpty)
  }

  @Test("each record has a row with its figure and its day")
  func table() throws {
    try store.save(ReportFixture.record())
    try store.save(.gyro(Self.gyro))
    #expect(
      RecordTable(store, board: nil).textLines == [
        "chip          place            kind         method       result     made",
        "LIS3MDL       /dev/i2c-1:0x1e  magnetometer ellipsoid    score 93   2026-11-21",
        // Half a degree a second is pi / 360 radians.
        "LSM6DSOX      /dev/i2c-1:0x6a  gyro         rest         0.5 deg/s  2026-11-20",
      ])
  }

  @Test("what does not fit into a row stands below the table")
  func notes() throws {
    var record = ReportFixture.record(isLocked: true)
    record.headingErrorBefore = 14.25
    try store.save(record)
    let other = try BoardFile.parse(
      "schema: 1\nname: a\nsensors:\n  - {chip: LIS3MDL, bus: /dev/i2c-3, address: 0x1c}\n",
      file: "a.yaml")
    let name = "magnetometer LIS3MDL at /dev/i2c-1:0x1e"
    #expect(
      Array(RecordTable(store, board: other).textLines.dropFirst(2)) == [
        "LIS3MDL: heading error 14.25 deg before, 0.31 deg expected", "\(name) is locked",
        "\(name) is no chip of this board: its record is not used",
      ])
    #expect(RecordTable(store, board: nil).textLines.count == 4)
  }

  @Test("the origin of a record stands below the table, whose rows have at most 80 columns")
  func origin() throws {
    try store.save(ReportFixture.record(method: "ellipsoid, of another place"))
    #expect(
      RecordTable(store, board: nil).textLines == [
        "chip          place            kind         method       result     made",
        "LIS3MDL       /dev/i2c-1:0x1e  magnetometer ellipsoid    score 93   2026-11-21",
        "magnetometer LIS3MDL at /dev/i2c-1:0x1e: its record is of another place",
      ])
    for method in CalibrationMethod.allCases {
      for origin in RecordOrigin.allCases {
        let method = "\(method.rawValue), \(origin.rawValue)"
        try store.save(ReportFixture.record(method: method, score: 100))
        let rows = RecordTable(store, board: nil).textLines.prefix(2)
        #expect(rows.allSatisfy { $0.count <= 80 }, "\(method)")
      }
    }
  }

  @Test("a damaged record is named, and the one before it is offered")
  func damaged() throws {
    try store.save(ReportFixture.record(date: "2026-10-02T11:30:00Z"))
    try store.save(ReportFixture.record())
    try Data("{".utf8).write(to: store.file(key))
    let table = RecordTable(store, board: nil)
    let lines = table.textLines
    try #require(lines.count == 4)
    #expect(lines[1] == "LIS3MDL       /dev/i2c-1:0x1e  magnetometer not in use")
    #expect(lines[2].contains("of 2026-10-02"))
    #expect(
      lines[2].hasSuffix(
        "\n  lodestone calibrate rollback LIS3MDL@/dev/i2c-1:0x1e --kind magnetometer"))
    #expect(lines[3].hasPrefix("LIS3MDL@_dev_i2c-1_0x1e.json is not used: "))
    let json = try objects(table.jsonLines)
    try #require(json.count == 2)
    #expect(json[0]["inUse"] as? Bool == false)
    #expect(json[0]["formerDate"] as? String == "2026-10-02T11:30:00Z")
    #expect(json[1]["file"] as? String == store.file(key).path && json[1]["reason"] != nil)
  }

  @Test("files that were put aside are named by their cause")
  func setAside() throws {
    try FileManager.default.createDirectory(at: store.folder, withIntermediateDirectories: true)
    for name in ["a.json.corrupt-1", "b.json.replaced-1"] {
      try Data().write(to: store.folder.appending(path: name))
    }
    let table = RecordTable(store, board: nil)
    #expect(
      Array(table.textLines.dropFirst()) == [
        "put aside (damaged): a.json.corrupt-1",
        "put aside (could not be used here, replaced): b.json.replaced-1",
      ])
    let json = try objects(table.jsonLines)
    #expect(json.map { $0["damaged"] as? Bool } == [true, false])
  }

  @Test("a history has the record in use with all its numbers, and a line for each before it")
  func history() throws {
    try store.save(ReportFixture.record(date: "2026-10-02T11:30:00Z", score: 71))
    try store.save(ReportFixture.record())
    let history = RecordHistory(key, in: store)
    let lines = history.textLines
    #expect(lines.first == "magnetometer LIS3MDL at /dev/i2c-1:0x1e")
    let below = try #require(lines.firstIndex(of: "before it:"))
    #expect(lines[below - 1] == "file               \(store.file(key).path)")
    #expect(lines.count == below + 2)
    #expect(lines[below + 1].hasSuffix("ellipsoid, score 71, of 2026-10-02 11:30 UTC"))
    let json = try objects(history.jsonLines)
    #expect(json.map { $0["inUse"] as? Bool } == [true, false])
    #expect(json.map { $0["score"] as? Int } == [93, 71])
    #expect(json[0]["file"] as? String == store.file(key).path)
    #expect(json[1]["undone"] as? Bool == false && json[1]["number"] != nil)
  }

  @Test("what a rollback went back from is told from what it brought back")
  func undone() throws {
    try store.save(ReportFixture.record(date: "2026-10-02T11:30:00Z", score: 71))
    try store.save(ReportFixture.record())
    try store.rollback(key, overridingLock: false)
    let history = RecordHistory(key, in: store)
    let undone = history.textLines.filter { $0.hasSuffix(", gone back from") }
    #expect(undone.count == 1 && undone.first?.contains("score 93") == true)
    let json = try objects(history.jsonLines)
    let former = json.dropFirst().filter { $0["undone"] as? Bool == true }
    #expect(json.first?["score"] as? Int == 71 && json.first?["inUse"] as? Bool == true)
    #expect(former.map { $0["score"] as? Int } == [93])
  }

  @Test("without a record in use the one before is offered")
  func noneInUse() throws {
    let lines = RecordHistory(key, in: store).textLines
    #expect(lines.count == 1)
    #expect(lines[0].hasPrefix("\(key): no record in use; lodestone calibrate rollback"))
    #expect(RecordHistory(key, in: store).jsonLines.isEmpty)
  }
}
