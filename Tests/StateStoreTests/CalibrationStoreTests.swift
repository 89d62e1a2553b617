import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
@testable import StateStore
import Testing

/// Stored records: history, ways back, locks, damage, and what is carried from machine to machine.
struct CalibrationStoreTests {
  private static let chip = "LIS3MDL"
  private static let place = "/dev/i2c-1:0x1c"
  private let key = CalibrationKey(.magnetometer, chip: chip, position: place)

  /// A store of its own, gone with the test.
  private final class Place {
    let store = CalibrationStore(
      stateDirectory: FileManager.default.temporaryDirectory
        .appending(path: "lodestone-store-\(UUID().uuidString)"))
    deinit {
      try? FileManager.default.removeItem(at: store.folder.deletingLastPathComponent())
    }
    func names(_ folder: String = "") -> [String] {
      ((try? FileManager.default.contentsOfDirectory(
        atPath: store.folder.appending(path: folder).path)) ?? []).sorted()
    }
  }

  private func record(_ number: Int, isLocked: Bool = false) -> StoredRecord {
    .magnetometer(
      CalibrationRecord(
        chip: Self.chip, busPosition: Self.place, board: "Bench", date: "2026-11-21T12:00:00Z",
        method: "sphere", samples: number, coverage: 0.9, residual: 0.4, field: 49,
        matrix: .identity, offset: Vector3(Double(number), 0, 0),
        offsetCovariance: Matrix3(diagonal: Vector3(0.01, 0.01, 0.01)), isLocked: isLocked))
  }

  private func number(_ finding: StoredFinding<StoredRecord>) -> Int? {
    if case .record(.magnetometer(let record)) = finding { record.samples } else { nil }
  }

  private func number(_ record: StoredRecord?) -> Int? {
    if case .magnetometer(let record)? = record { record.samples } else { nil }
  }

  @Test("a way back leads from record to record, and a new one begins from where that led")
  func rollback() throws {
    let place = Place()
    let store = place.store
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollback(key) }
    for index in 1...3 { try store.save(record(index)) }
    #expect(number(store.former(key)) == 2)
    #expect(number(try store.rollback(key)) == 2)
    #expect(number(try store.rollback(key)) == 1)
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollback(key) }
    #expect(number(store.current(key)) == 1)
    // What was gone back from is kept.
    #expect(Set(store.history(key).compactMap { number($0.record) }) == [1, 2, 3])
    try store.save(record(4))
    #expect(number(store.former(key)) == 1)
    #expect(number(try store.rollback(key)) == 1)
    #expect(Set(store.history(key).compactMap { number($0.record) }) == [1, 2, 3, 4])
  }

  @Test(
    "and forward again, as far as it was gone back, and never into what another record has ended")
  func forward() throws {
    let place = Place()
    let store = place.store
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollForward(key) }
    for index in 1...4 { try store.save(record(index)) }
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollForward(key) }
    for _ in 0..<3 { try store.rollback(key) }
    #expect(number(try store.rollForward(key)) == 2)
    #expect(number(try store.rollForward(key)) == 3)
    #expect(number(try store.rollback(key)) == 2)
    #expect(number(try store.rollForward(key)) == 3)
    #expect(number(try store.rollForward(key)) == 4)
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollForward(key) }
    // A new record ends the way on from the one that it takes the place of.
    for _ in 0..<2 { try store.rollback(key) }
    try store.save(record(5))
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollForward(key) }
    #expect(number(try store.rollback(key)) == 2)
    #expect(number(try store.rollForward(key)) == 5)
    try store.setLock(true, key)
    try store.rollback(key, overridingLock: true)
    try store.setLock(true, key)
    #expect(throws: CalibrationStore.Locked.self) { try store.rollForward(key) }
    #expect(number(try store.rollForward(key, overridingLock: true)) == 5)
  }

  @Test("the same record saved again is one, and one that comes back is a new one")
  func repetition() throws {
    let store = Place()
    for index in [1, 1, 1, 2, 1] { try store.store.save(record(index)) }
    #expect(store.store.history(key).compactMap { number($0.record) } == [2, 1])
    #expect(number(try store.store.rollback(key)) == 2)
    #expect(number(try store.store.rollback(key)) == 1)
  }

  @Test("twenty former records are kept, the oldest goes first")
  func bound() throws {
    let place = Place()
    for index in 1...30 { try place.store.save(record(index)) }
    #expect(
      place.store.history(key).compactMap { number($0.record) } == Array((10...29).reversed()))
    #expect(number(place.store.current(key)) == 30)
    #expect(place.names("history/LIS3MDL@_dev_i2c-1_0x1c").count == 20)
  }

  @Test("a locked record stays, unless it is said otherwise")
  func lock() throws {
    let store = Place()
    try store.store.save(record(1))
    #expect(throws: CalibrationStore.NoRecord.self) {
      try store.store.setLock(true, CalibrationKey(.gyro, chip: "X", position: "Y"))
    }
    #expect(try store.store.setLock(true, key).isLocked)
    #expect(throws: CalibrationStore.Locked.self) { try store.store.save(record(2)) }
    #expect(number(store.store.current(key)) == 1)
    try store.store.save(record(2), overridingLock: true)
    #expect(throws: CalibrationStore.NoRecord.self) {
      try store.store.setLock(true, CalibrationKey(.level, chip: "X", position: "Y"))
    }
    try store.store.setLock(true, key)
    #expect(throws: CalibrationStore.Locked.self) { try store.store.rollback(key) }
    #expect(number(try store.store.rollback(key, overridingLock: true)) == 1)
    // The lock was the other one's.
    guard case .record(let now) = store.store.current(key) else {
      Issue.record("no record")
      return
    }
    #expect(!now.isLocked)
  }

  @Test("a damaged record is put aside under another name, and the one before is offered")
  func damaged() throws {
    let place = Place()
    let store = place.store
    for index in 1...2 { try store.save(record(index)) }
    try Data("{\"schema\":1,\"chip".utf8).write(to: store.file(key))
    #expect(number(store.current(key)) == nil)
    #expect(number(store.former(key)) == 1)
    let aside = try #require(try store.setAside(key))
    #expect(aside.file.lastPathComponent.hasPrefix("LIS3MDL@_dev_i2c-1_0x1c.json.corrupt-2"))
    #expect(store.current(key) == .none && store.setAsideFiles == [aside.file])
    #expect(try store.setAside(key) == nil)
    #expect(store.keys == [key])
    #expect(number(try store.rollback(key)) == 1)
    // Twice in a second: two names.
    for _ in 0..<2 {
      try Data(repeating: 0, count: 70_000).write(to: store.file(key))
      #expect(try store.setAside(key) != nil)
    }
    #expect(store.setAsideFiles.count == 3)
    // One that is damaged when the next is saved is put aside as well.
    try Data("x".utf8).write(to: store.file(key))
    try store.save(record(3))
    #expect(store.setAsideFiles.count == 4 && number(store.current(key)) == 3)
    #expect(number(store.former(key)) == 1)
  }

  @Test("a newer version's record, another chip's, and a locked folder's are not put aside")
  func notDamaged() throws {
    let place = Place()
    let store = place.store
    try store.save(record(1))
    let text = String(decoding: try record(1).encoded(), as: UTF8.self)
    for (old, new) in [
      ("\"schema\" : 1", "\"schema\" : 7"), ("\"magnetometer\"", "\"barometer\""),
      ("LIS3MDL", "LSM303DLHC-M"),
    ] {
      try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: store.file(key))
      #expect(number(store.current(key)) == nil)
      #expect(try store.setAside(key) == nil)
    }
    #expect(place.names().filter { $0.hasSuffix(".json") }.count == 1)
  }

  @Test(
    "what cannot be used but is not damaged is kept, byte by byte, when a record takes its place",
    arguments: [false, true])
  func strangers(isRollback: Bool) throws {
    let text = String(decoding: try record(1).encoded(), as: UTF8.self)
    for (old, new) in [
      ("\"schema\" : 1", "\"schema\" : 7"), ("\"magnetometer\"", "\"barometer\""),
      ("LIS3MDL", "LSM303DLHC-M"),
    ] {
      let place = Place()
      let store = place.store
      for index in 2...3 { try store.save(record(index)) }
      func present() throws -> [Data] {
        try place.names().filter { $0.contains(".json") }.map {
          try Data(contentsOf: store.folder.appending(path: $0))
        }
      }
      func replace(overridingLock: Bool) throws {
        if isRollback {
          try store.rollback(key, overridingLock: overridingLock)
        } else {
          try store.save(record(4), overridingLock: overridingLock)
        }
      }
      let stranger = text.replacingOccurrences(of: old, with: new)
      let locked = Data(
        stranger.replacingOccurrences(of: "\"matrix\"", with: "\"locked\" : true, \"matrix\"").utf8)
      try locked.write(to: store.file(key))
      #expect(throws: CalibrationStore.Locked.self) { try replace(overridingLock: false) }
      #expect(try present() == [locked])
      try replace(overridingLock: true)
      #expect(number(store.current(key)) == (isRollback ? 2 : 4))
      #expect(try present().contains(locked))
      let open = Data(stranger.utf8)
      try open.write(to: store.file(key))
      try store.save(record(5))
      #expect(number(store.current(key)) == 5)
      let all = try present()
      #expect(all.count == 3 && all.contains(locked) && all.contains(open))
    }
  }

  @Test("what a cut save has kept of a newer version's record is not kept twice")
  func strangerOnce() throws {
    let place = Place()
    let store = place.store
    try store.save(record(1))
    let text = String(decoding: try record(1).encoded(), as: UTF8.self)
    let stranger = Data(
      text.replacingOccurrences(of: "\"schema\" : 1", with: "\"schema\" : 7").utf8)
    try stranger.write(to: store.file(key))
    // Cut between the copy and the record: both are there.
    try store.clearTheWay(key, overridingLock: false)
    #expect(try Data(contentsOf: store.file(key)) == stranger)
    try store.save(record(2))
    #expect(number(store.current(key)) == 2)
    #expect(try store.setAsideFiles.map { try Data(contentsOf: $0) } == [stranger])
  }

  @Test("a lock is seen on a record that this version cannot read, too")
  func strangersLock() throws {
    let place = Place()
    let store = place.store
    #expect(store.lock(of: key) == nil)
    try store.save(record(1))
    #expect(store.lock(of: key) == nil)
    try store.setLock(true, key)
    #expect(store.lock(of: key)?.isStranger == false)
    let text = String(decoding: try Data(contentsOf: store.file(key)), as: UTF8.self)
    let newer = text.replacingOccurrences(of: "\"schema\" : 1", with: "\"schema\" : 7")
    try Data(newer.utf8).write(to: store.file(key))
    #expect(number(store.current(key)) == nil && store.lock(of: key)?.isStranger == true)
    let open = newer.replacingOccurrences(of: "\"locked\" : true", with: "\"locked\" : false")
    #expect(open != newer)
    try Data(open.utf8).write(to: store.file(key))
    #expect(store.lock(of: key) == nil)
    try Data("{\"locked\": true".utf8).write(to: store.file(key))
    #expect(store.lock(of: key) == nil)
  }

  @Test("what was judged beside one record takes no other one's place")
  func superseded() throws {
    let place = Place()
    let store = place.store
    let samples = CalibrationSamples(
      keeping: [CalibrationSample(time: Timestamp(seconds: 0), field: Vector3(1, 2, 3))],
      of: AppliedCalibration(
        matrix: .identity, offset: .zero, offsetCovariance: .identity, residual: 0))
    func replace(_ finding: StoredFinding<StoredRecord>, by new: Int) throws {
      try store.save(record(new), samples: samples, inPlaceOf: finding)
    }
    // A person saves while a fit is under way: the first record, another one, the same one locked, none.
    try replace(.none, by: 1)
    #expect(throws: CalibrationStore.Superseded.self) { try replace(.none, by: 9) }
    let judged = store.current(key)
    try store.save(record(2))
    #expect(throws: CalibrationStore.Superseded.self) { try replace(judged, by: 9) }
    #expect(number(store.current(key)) == 2)
    #expect(store.history(key).compactMap { number($0.record) } == [1])
    let second = store.current(key)
    try store.setLock(true, key)
    #expect(throws: CalibrationStore.Superseded.self) { try replace(second, by: 9) }
    try store.setLock(false, key)
    try FileManager.default.removeItem(at: store.file(key))
    #expect(throws: CalibrationStore.Superseded.self) { try replace(second, by: 9) }
    #expect(store.current(key) == .none)
    try store.save(record(2))
    try replace(second, by: 3)
    #expect(number(store.current(key)) == 3)
    #expect(store.samples(chip: Self.chip, position: Self.place) == .samples(samples))
  }

  @Test("a folder that takes no record says so before the work, and is as it was")
  func rehearsal() throws {
    let place = Place()
    let store = place.store
    try store.rehearseSave(of: key)
    #expect(place.names().isEmpty)
    try store.save(record(1))
    let before = place.names()
    try store.rehearseSave(of: key)
    #expect(place.names() == before)
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(throws: FileProblem.self) {
      try CalibrationStore(stateDirectory: file).rehearseSave(of: key)
    }
  }

  /// Holds a folder as another process would: a lock belongs to what has opened it.
  private func hold(_ folder: URL) throws -> Int32 {
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return descriptor
  }

  @Test("a folder that another process is changing is waited for, as long as a slow card may take")
  func patience() throws {
    let place = Place()
    try place.store.save(record(1))
    let other = try hold(place.store.folder)
    defer { close(other) }
    var waited = 0.0
    let lock = try FolderLock(place.store.folder) { seconds in
      waited += seconds
      if waited > 25 { flock(other, LOCK_UN) }
    }
    withExtendedLifetime(lock) {
      #expect((25...26).contains(waited))
      // It is held now.
      #expect(flock(other, LOCK_EX | LOCK_NB) != 0)
    }
  }

  @Test("one that stays held is an error, and nothing is written past it")
  func expiry() throws {
    let place = Place()
    var store = place.store
    for index in 1...2 { try store.save(record(index)) }
    let before = place.names() + place.names("history/LIS3MDL@_dev_i2c-1_0x1c")
    let other = try hold(store.folder)
    var waited = 0.0
    #expect(throws: FileProblem.self) {
      let lock = try FolderLock(store.folder) { waited += $0 }
      withExtendedLifetime(lock) {}
    }
    #expect((29.9...30.1).contains(waited))
    store.patience = 0
    #expect(throws: FileProblem.self) { try store.save(record(3)) }
    #expect(throws: FileProblem.self) { try store.rollback(key) }
    #expect(throws: FileProblem.self) { try store.setLock(true, key) }
    #expect(throws: FileProblem.self) { try store.setAside(key) }
    #expect(number(store.current(key)) == 2)
    #expect(place.names() + place.names("history/LIS3MDL@_dev_i2c-1_0x1c") == before)
    close(other)
    try store.save(record(3))
    #expect(store.history(key).compactMap { number($0.record) } == [2, 1])
  }

  @Test("what cannot be read at all is put out of the way as well")
  func unreadable() throws {
    let place = Place()
    let store = place.store
    try store.save(record(1))
    try FileManager.default.removeItem(at: store.file(key))
    // A folder: it can be read by nobody, not even by root.
    try FileManager.default.createDirectory(
      at: store.file(key).appending(path: "inside"), withIntermediateDirectories: true)
    try store.save(record(2))
    #expect(number(store.current(key)) == 2)
    let moved = try #require(place.names().first { $0.contains(".json.replaced-2") })
    #expect(place.names(moved) == ["inside"])
  }

  @Test("kinds of one chip have files of their own, and a record under a wrong name is said to be")
  func kinds() throws {
    let place = Place()
    let store = place.store
    let gyro = GyroRecord(
      chip: "LSM6DSOX", busPosition: "/dev/i2c-1:0x6a", board: "Bench",
      date: "2026-11-21T12:00:00Z",
      samples: 10, bias: Vector3(0.01, 0, 0), deviation: 1e-4)
    let level = LevelRecord(
      chip: "LSM6DSOX", busPosition: "/dev/i2c-1:0x6a", mount: .aligned, board: "Bench",
      date: "2026-11-21T12:00:00Z", method: "onePosition", samples: 10,
      rotation: Quaternion(rotationVector: Vector3(0.05, 0.02, 0)), deviation: 0.01)
    let records: [StoredRecord] = [.gyro(gyro), .level(level), record(1)]
    for record in records { try store.save(record) }
    #expect(
      place.names().filter { $0.hasSuffix(".json") } == [
        "LIS3MDL@_dev_i2c-1_0x1c.json", "LSM6DSOX@_dev_i2c-1_0x6a.gyro.json",
        "LSM6DSOX@_dev_i2c-1_0x6a.level.json",
      ])
    for record in records {
      #expect(store.current(CalibrationKey(record)) == .record(record))
    }
    try FileManager.default.copyItem(
      at: store.file(key), to: store.folder.appending(path: "wrong.json"))
    #expect(store.entries.count { if case .failure = $0.record { true } else { false } } == 1)
    #expect(store.keys.count == 3)
  }

  @Test("what is exported is imported, to the bit; what is damaged is refused as a whole")
  func archive() throws {
    let odd = CalibrationRecord(
      chip: "a/b", busPosition: "c\"d\\e", board: "Böötle", date: "x", method: "y", samples: 3,
      coverage: 1.0 / 3, residual: 0.1, field: 49.000000000000007,
      matrix: Quaternion(rotationVector: Vector3(0.1, 0.2, 0.3)).matrix,
      offset: Vector3(1e-300, -1.0 / 3, 12), offsetCovariance: Matrix3(diagonal: .zero))
    for records in [[.magnetometer(odd)], [record(1), .magnetometer(odd), record(3)], []] {
      let archive = CalibrationArchive(records)
      #expect(try CalibrationArchive(json: archive.encoded()) == archive)
    }
    let two = try CalibrationArchive([record(1), record(2)]).encoded()
    let text = String(decoding: two, as: UTF8.self)
    let damaged = text.replacingOccurrences(of: "\"samples\" : 2", with: "\"samples\" : -2")
    #expect(damaged != text)
    #expect(throws: InvalidArchive.self) {
      try CalibrationArchive(json: Array(damaged.utf8))
    }
    #expect(throws: InvalidArchive.self) { try CalibrationArchive(json: []) }
  }

  @Test("what a process that is gone has left half written is removed, what another writes is not")
  func leftovers() throws {
    let place = Place()
    try place.store.save(record(1))
    let file = place.store.file(key).path
    for owner in ["4194399-3", "1-1", "x"] {
      try Data("{".utf8).write(to: URL(filePath: "\(file).new-\(owner)"))
    }
    try place.store.save(record(2))
    let names = place.names()
    #expect(!names.contains { $0.contains("4194399") })
    #expect(
      names.contains { $0.hasSuffix(".new-1-1") } && names.contains { $0.hasSuffix(".new-x") })
  }

  @Test("a folder that cannot be written is an error that names it, and nothing is changed")
  func readOnly() throws {
    let place = Place()
    try place.store.save(record(1))
    let folder = place.store.folder.path
    // Root may write everywhere: a file in the history's place stops it as well.
    try? FileManager.default.removeItem(atPath: folder + "/history")
    try Data().write(to: URL(filePath: folder + "/history"))
    #expect(throws: FileProblem.self) { try place.store.save(record(2)) }
    #expect(number(place.store.current(key)) == 1)
  }
}
