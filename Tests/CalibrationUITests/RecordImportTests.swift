import BoardFile
import CalibrationCore
import CommandTestSupport
import Foundation
import LinearAlgebra
import StateStore
import TerminalUI
import Testing

@testable import CalibrationUI

/// Which records of a file are taken, for which chips.
final class RecordImportTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private var store: CalibrationStore { CalibrationStore(stateDirectory: folder) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A board with the fixture's magnetometer at a place, and a gyro.
  private func board(_ bus: String = "/dev/i2c-1", address: String = "0x1e") throws -> Board {
    try BoardFile.parse(
      """
      schema: 1
      name: boat
      sensors:
        - {chip: LIS3MDL, bus: \(bus), address: \(address)}
        - {chip: LSM6DSOX, bus: \(bus), address: 0x6a}
      """, file: "boat.yaml")
  }

  private func imported(_ board: Board?, force: Bool = false) -> RecordImport {
    RecordImport(from: "records.json", to: board, in: store, overridingLock: force)
  }

  private static let magnetometer = StoredRecord.magnetometer(ReportFixture.record())
  private static let gyro = StoredRecord.gyro(
    GyroRecord(
      chip: "LSM6DSOX", busPosition: "/dev/i2c-1:0x6a", board: "boat",
      date: "2026-11-21T16:40:12Z", samples: 1_000, bias: Vector3(0.01, 0, 0), deviation: 1e-4))

  /// What a refusal says, and with which exit code.
  private func refusal(_ body: () throws -> Void) -> (words: String, code: Int32?) {
    do {
      try body()
      return ("", nil)
    } catch {
      return ("\(error)", (error as? CommandError)?.kind.rawValue)
    }
  }

  @Test("a record of a chip that the board has is taken as it is")
  func own() throws {
    let records = try imported(board()).accepted([Self.magnetometer, Self.gyro], asChip: nil)
    #expect(records == [Self.magnetometer, Self.gyro])
  }

  @Test("a record of another place is refused, and the chip of that kind is offered")
  func elsewhere() throws {
    let board = try board("/dev/i2c-3", address: "0x1c")
    let (words, code) = refusal {
      _ = try imported(board).accepted([Self.magnetometer], asChip: nil)
    }
    #expect(code == 1)
    #expect(words.contains("refused: the record is of the magnetometer LIS3MDL at /dev/i2c-1:0x1e"))
    #expect(words.contains("--as-chip LIS3MDL@/dev/i2c-3:0x1c"))
  }

  @Test("without a board nobody knows whose records these are")
  func noBoard() {
    let (words, code) = refusal {
      _ = try imported(nil).accepted([Self.magnetometer], asChip: nil)
    }
    #expect(code == 78 && words.contains("--as-chip"))
  }

  @Test("a record for the same chip elsewhere says so, and is no longer judged")
  func sameChipElsewhere() throws {
    let board = try board("/dev/i2c-3", address: "0x1c")
    let record = try #require(
      try imported(board).accepted([Self.magnetometer], asChip: ChipName("lis3mdl")).first)
    guard case .magnetometer(let moved) = record else {
      Issue.record("\(record)")
      return
    }
    #expect(moved.chip == "LIS3MDL" && moved.busPosition == "/dev/i2c-3:0x1c")
    #expect(moved.method == "ellipsoid, of another place")
    #expect(moved.score == nil && moved.headingError == nil && moved.expectedAccuracy == nil)
    // What was measured goes along.
    let before = ReportFixture.record()
    #expect(moved.offset == before.offset && moved.matrix == before.matrix)
    #expect(moved.samples == before.samples && moved.date == before.date)
  }

  @Test("the record's own chip stays as recorded where no board knows its name")
  func sameChipWithoutBoard() throws {
    let record = try #require(
      try imported(nil).accepted(
        [Self.magnetometer], asChip: ChipName("lis3mdl@/dev/i2c-3:0x1c")
      ).first)
    #expect(record.chip == "LIS3MDL" && record.busPosition == "/dev/i2c-3:0x1c")
    #expect(record.method == "ellipsoid, of another place")
  }

  @Test("a record that is given to the chip that it is of stays whole")
  func sameChipSamePlace() throws {
    let board = try board()
    for name in ["LIS3MDL", "lis3mdl", "LIS3MDL@/dev/i2c-1:0x1e"] {
      let records = try imported(board).accepted([Self.magnetometer], asChip: ChipName(name))
      #expect(records == [Self.magnetometer], "\(name)")
    }
    let named = ChipName("lis3mdl@/dev/i2c-1:0x1e")
    #expect(try imported(nil).accepted([Self.magnetometer], asChip: named) == [Self.magnetometer])
  }

  @Test("a record for a chip of another name is another chip's")
  func otherChip() throws {
    let record = try #require(
      try imported(nil).accepted(
        [Self.magnetometer], asChip: ChipName("QMC5883L@/dev/i2c-1:0x1e")
      ).first)
    #expect(record.chip == "QMC5883L" && record.method == "ellipsoid, of another chip")
  }

  @Test("a record that moves again has one origin, and stays another chip's once it is")
  func movedAgain() throws {
    func moved(_ record: StoredRecord, to name: String) throws -> StoredRecord {
      try #require(try imported(nil).accepted([record], asChip: ChipName(name)).first)
    }
    let second = try moved(Self.magnetometer, to: "LIS3MDL@/dev/i2c-3:0x1c")
    let third = try moved(second, to: "LIS3MDL@/dev/i2c-4:0x1c")
    #expect(third.method == "ellipsoid, of another place")
    let other = try moved(third, to: "QMC5883L@/dev/i2c-4:0x0d")
    #expect(other.method == "ellipsoid, of another chip")
    #expect(other.methodName == "ellipsoid" && other.origin == "of another chip")
    let last = try moved(other, to: "QMC5883L@/dev/i2c-5:0x0d")
    #expect(last.method == "ellipsoid, of another chip")
    #expect(Self.magnetometer.methodName == "ellipsoid" && Self.magnetometer.origin == nil)
  }

  @Test("what a gyro says at rest goes to another place as it is")
  func gyroElsewhere() throws {
    let record = try #require(
      try imported(nil).accepted(
        [Self.gyro], asChip: ChipName("LSM6DSOX@/dev/i2c-3:0x6a")
      ).first)
    #expect(record.busPosition == "/dev/i2c-3:0x6a" && record.method == "rest")
  }

  @Test("--as-chip goes with one record, a place and a chip that is there")
  func asChip() throws {
    let two = refusal {
      _ = try imported(nil).accepted([Self.magnetometer, Self.gyro], asChip: ChipName("X@y"))
    }
    #expect(two.code == 64 && two.words.contains("records.json has 2"))
    let nowhere = refusal {
      _ = try imported(nil).accepted([Self.magnetometer], asChip: ChipName("LIS3MDL"))
    }
    #expect(nowhere.code == 64 && nowhere.words.contains("CHIP@PLACE"))
    let board = try board()
    let absent = refusal {
      _ = try imported(board).accepted(
        [Self.magnetometer], asChip: ChipName("LIS3MDL@/dev/i2c-3:0x1c"))
    }
    #expect(absent.code == 1 && absent.words.contains("it has LIS3MDL@/dev/i2c-1:0x1e"))
  }

  @Test("two records of one chip are refused")
  func twice() throws {
    let board = try board()
    let (words, code) = refusal {
      _ = try imported(board).accepted([Self.magnetometer, Self.magnetometer], asChip: nil)
    }
    #expect(code == 65 && words.contains("two records of the magnetometer LIS3MDL"))
  }

  @Test("the truth of a simulated board is no real chip's record")
  func simulated() throws {
    let truth = StoredRecord.magnetometer(ReportFixture.record(method: "simulated"))
    let board = try board()
    let (words, code) = refusal { _ = try imported(board).accepted([truth], asChip: nil) }
    #expect(code == 1 && words.contains("simulated board's own truth"))
    // Nor when it is moved to another place, which its method then says.
    let place = try self.board("/dev/i2c-3", address: "0x1c")
    let moved = refusal {
      _ = try imported(place).accepted([truth], asChip: ChipName("LIS3MDL"))
    }
    #expect(moved.code == 1 && moved.words.contains("simulated board's own truth"))
    // A method that merely begins alike is a real record's.
    let real = StoredRecord.magnetometer(ReportFixture.record(method: "simulatedAnnealing"))
    #expect(try imported(board).accepted([real], asChip: nil) == [real])
  }

  @Test("a locked record keeps its place, unless the lock is overridden")
  func locked() throws {
    try store.save(Self.magnetometer)
    try store.setLock(true, CalibrationKey(Self.magnetometer))
    let newer = StoredRecord.magnetometer(ReportFixture.record(date: "2026-11-22T00:00:00Z"))
    let board = try board()
    let (words, _) = refusal { _ = try imported(board).accepted([newer], asChip: nil) }
    #expect(words.contains("is locked"))
    #expect(try imported(board, force: true).accepted([newer], asChip: nil) == [newer])
  }

  @Test("where writing fails it is said which records were taken")
  func cut() {
    let records = [Self.magnetometer, Self.gyro]
    let problem = FileProblem("/full", errno: 28)
    let half = RecordImport.cut(problem, taken: records[..<1], left: records[1...])
    #expect(half.kind == .io)
    let lines = half.description.split(separator: "\n")
    #expect(lines.count == 3 && lines[0].contains("/full"))
    #expect(lines[1].hasPrefix("taken: magnetometer LIS3MDL at /dev/i2c-1:0x1e;"))
    #expect(lines[2] == "not taken: gyro LSM6DSOX at /dev/i2c-1:0x6a")
    let none = RecordImport.cut(problem, taken: records[..<0], left: records[...])
    #expect(none.description.contains("nothing was taken"))
  }

  @Test("a file is read, stored and said record by record")
  func file() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "all.json")
    try Data(CalibrationArchive([Self.magnetometer, Self.gyro]).encoded()).write(to: file)
    var said: [StoredRecord] = []
    try RecordImport(from: file.path, to: board(), in: store, overridingLock: false)
      .run(asChip: nil) { said.append($0) }
    #expect(said == [Self.magnetometer, Self.gyro])
    #expect(store.current(CalibrationKey(Self.gyro)) == .record(Self.gyro))
    try Data("{}".utf8).write(to: file)
    let board = try board()
    let (words, code) = refusal {
      try RecordImport(from: file.path, to: board, in: store, overridingLock: false)
        .run(asChip: nil) { said.append($0) }
    }
    #expect(code == 65 && words.hasPrefix(file.path) && said.count == 2)
  }

  @Test("a chip is named with or without its place, in any case")
  func names() {
    #expect(ChipName("LIS3MDL").position == nil)
    let whole = ChipName("lis3mdl@/dev/i2c-1:0x1e")
    #expect(whole.chip == "lis3mdl" && whole.position == "/dev/i2c-1:0x1e")
    let key = CalibrationKey(Self.magnetometer)
    #expect(whole.fits(key) && ChipName("Lis3Mdl").fits(key))
    #expect(!ChipName("LIS3MDL@/dev/i2c-1:0x1c").fits(key) && !ChipName("LIS2MDL").fits(key))
  }

  @Test("a name means one record, or is asked for")
  func key() throws {
    let none = refusal { _ = try store.key(of: nil, kind: nil) }
    #expect(none.code == 1 && none.words.contains("calibrate magnetometer makes one"))
    try store.save(Self.magnetometer)
    #expect(try store.key(of: nil, kind: nil) == CalibrationKey(Self.magnetometer))
    try store.save(Self.gyro)
    let both = refusal { _ = try store.key(of: nil, kind: nil) }
    #expect(both.code == 64 && both.words.contains("which one?"))
    #expect(try store.key(of: nil, kind: .gyro) == CalibrationKey(Self.gyro))
    #expect(try store.key(of: "lis3mdl", kind: nil) == CalibrationKey(Self.magnetometer))
    let absent = refusal { _ = try store.key(of: "LIS3MDL", kind: .gyro) }
    #expect(absent.code == 1 && absent.words.contains("there is no such record"))
  }
}
