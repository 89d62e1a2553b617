import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import StateStore

/// Stored records: history, ways back, locks, and what is carried from machine to machine.
struct CalibrationStoreTests {
  private let key = CalibrationKey.bench

  @Test("a way back leads from record to record, and a new one begins from where that led")
  func rollback() throws {
    let place = StorePlace()
    let store = place.store
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollback(key) }
    for index in 1...3 { try store.save(.bench(index)) }
    #expect(store.former(key)?.number == 2)
    #expect(try store.rollback(key).number == 2)
    #expect(try store.rollback(key).number == 1)
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollback(key) }
    #expect(store.current(key).number == 1)
    // What was gone back from is kept.
    #expect(Set(store.history(key).compactMap { $0.record?.number }) == [1, 2, 3])
    try store.save(.bench(4))
    #expect(store.former(key)?.number == 1)
    #expect(try store.rollback(key).number == 1)
    #expect(Set(store.history(key).compactMap { $0.record?.number }) == [1, 2, 3, 4])
  }

  @Test(
    "and forward again, as far as it was gone back, and never into what another record has ended")
  func forward() throws {
    let place = StorePlace()
    let store = place.store
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollForward(key) }
    for index in 1...4 { try store.save(.bench(index)) }
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollForward(key) }
    for _ in 0..<3 { try store.rollback(key) }
    #expect(try store.rollForward(key).number == 2)
    #expect(try store.rollForward(key).number == 3)
    #expect(try store.rollback(key).number == 2)
    #expect(try store.rollForward(key).number == 3)
    #expect(try store.rollForward(key).number == 4)
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollForward(key) }
    // A new record ends the way on from the one that it takes the place of.
    for _ in 0..<2 { try store.rollback(key) }
    try store.save(.bench(5))
    #expect(throws: CalibrationStore.NoFormer.self) { try store.rollForward(key) }
    #expect(try store.rollback(key).number == 2)
    #expect(try store.rollForward(key).number == 5)
    try store.setLock(true, key)
    try store.rollback(key, overridingLock: true)
    try store.setLock(true, key)
    #expect(throws: CalibrationStore.Locked.self) { try store.rollForward(key) }
    #expect(try store.rollForward(key, overridingLock: true).number == 5)
  }

  @Test("the same record saved again is one, and one that comes back is a new one")
  func repetition() throws {
    let store = StorePlace()
    for index in [1, 1, 1, 2, 1] { try store.store.save(.bench(index)) }
    #expect(store.store.history(key).compactMap { $0.record?.number } == [2, 1])
    #expect(try store.store.rollback(key).number == 2)
    #expect(try store.store.rollback(key).number == 1)
  }

  @Test("twenty former records are kept, the oldest goes first")
  func bound() throws {
    let place = StorePlace()
    for index in 1...30 { try place.store.save(.bench(index)) }
    #expect(
      place.store.history(key).compactMap { $0.record?.number } == Array((10...29).reversed()))
    #expect(place.store.current(key).number == 30)
    #expect(place.names("history/LIS3MDL@_dev_i2c-1_0x1c").count == 20)
  }

  @Test("a locked record stays, unless it is said otherwise")
  func lock() throws {
    let store = StorePlace()
    try store.store.save(.bench(1))
    #expect(throws: CalibrationStore.NoRecord.self) {
      try store.store.setLock(true, CalibrationKey(.gyro, chip: "X", position: "Y"))
    }
    #expect(try store.store.setLock(true, key).isLocked)
    #expect(throws: CalibrationStore.Locked.self) { try store.store.save(.bench(2)) }
    #expect(store.store.current(key).number == 1)
    try store.store.save(.bench(2), overridingLock: true)
    #expect(throws: CalibrationStore.NoRecord.self) {
      try store.store.setLock(true, CalibrationKey(.level, chip: "X", position: "Y"))
    }
    try store.store.setLock(true, key)
    #expect(throws: CalibrationStore.Locked.self) { try store.store.rollback(key) }
    #expect(try store.store.rollback(key, overridingLock: true).number == 1)
    // The lock was the other one's.
    guard case .record(let now) = store.store.current(key) else {
      Issue.record("no record")
      return
    }
    #expect(!now.isLocked)
  }

  @Test("what was judged beside one record takes no other one's place")
  func superseded() throws {
    let place = StorePlace()
    let store = place.store
    let samples = CalibrationSamples(
      keeping: [CalibrationSample(time: Timestamp(seconds: 0), field: Vector3(1, 2, 3))],
      of: AppliedCalibration(
        matrix: .identity, offset: .zero, offsetCovariance: .identity, residual: 0))
    func replace(_ finding: StoredFinding<StoredRecord>, by new: Int) throws {
      try store.save(.bench(new), samples: samples, inPlaceOf: finding)
    }
    // A person saves while a fit is under way: the first record, another one, the same one locked, none.
    try replace(.none, by: 1)
    #expect(throws: CalibrationStore.Superseded.self) { try replace(.none, by: 9) }
    let judged = store.current(key)
    try store.save(.bench(2))
    #expect(throws: CalibrationStore.Superseded.self) { try replace(judged, by: 9) }
    #expect(store.current(key).number == 2)
    #expect(store.history(key).compactMap { $0.record?.number } == [1])
    let second = store.current(key)
    try store.setLock(true, key)
    #expect(throws: CalibrationStore.Superseded.self) { try replace(second, by: 9) }
    try store.setLock(false, key)
    try FileManager.default.removeItem(at: store.file(key))
    #expect(throws: CalibrationStore.Superseded.self) { try replace(second, by: 9) }
    #expect(store.current(key) == .none)
    try store.save(.bench(2))
    try replace(second, by: 3)
    #expect(store.current(key).number == 3)
    #expect(store.samples(chip: key.chip, position: key.position) == .samples(samples))
  }

  @Test("a folder that takes no record says so before the work, and is as it was")
  func rehearsal() throws {
    let place = StorePlace()
    let store = place.store
    try store.rehearseSave(of: key)
    #expect(place.names().isEmpty)
    try store.save(.bench(1))
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
    let place = StorePlace()
    try place.store.save(.bench(1))
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
    let place = StorePlace()
    var store = place.store
    for index in 1...2 { try store.save(.bench(index)) }
    let before = place.names() + place.names("history/LIS3MDL@_dev_i2c-1_0x1c")
    let other = try hold(store.folder)
    var waited = 0.0
    #expect(throws: FileProblem.self) {
      let lock = try FolderLock(store.folder) { waited += $0 }
      withExtendedLifetime(lock) {}
    }
    #expect((29.9...30.1).contains(waited))
    store.patience = 0
    #expect(throws: FileProblem.self) { try store.save(.bench(3)) }
    #expect(throws: FileProblem.self) { try store.rollback(key) }
    #expect(throws: FileProblem.self) { try store.setLock(true, key) }
    #expect(throws: FileProblem.self) { try store.setAside(key) }
    #expect(store.current(key).number == 2)
    #expect(place.names() + place.names("history/LIS3MDL@_dev_i2c-1_0x1c") == before)
    close(other)
    try store.save(.bench(3))
    #expect(store.history(key).compactMap { $0.record?.number } == [2, 1])
  }

  @Test("kinds of one chip have files of their own, and a record under a wrong name is said to be")
  func kinds() throws {
    let place = StorePlace()
    let store = place.store
    let gyro = GyroRecord(
      chip: "LSM6DSOX", busPosition: "/dev/i2c-1:0x6a", board: "Bench",
      date: "2026-11-21T12:00:00Z",
      samples: 10, bias: Vector3(0.01, 0, 0), deviation: 1e-4)
    let level = LevelRecord(
      chip: "LSM6DSOX", busPosition: "/dev/i2c-1:0x6a", mount: .aligned, board: "Bench",
      date: "2026-11-21T12:00:00Z", method: "onePosition", samples: 10,
      rotation: Quaternion(rotationVector: Vector3(0.05, 0.02, 0)), deviation: 0.01)
    let records: [StoredRecord] = [.gyro(gyro), .level(level), .bench(1)]
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
    for records in [
      [StoredRecord.magnetometer(odd)], [.bench(1), .magnetometer(odd), .bench(3)], [],
    ] {
      let archive = CalibrationArchive(records)
      #expect(try CalibrationArchive(json: archive.encoded()) == archive)
    }
    let two = try CalibrationArchive([.bench(1), .bench(2)]).encoded()
    let text = String(decoding: two, as: UTF8.self)
    let damaged = text.replacingOccurrences(of: "\"samples\" : 2", with: "\"samples\" : -2")
    #expect(damaged != text)
    #expect(throws: InvalidArchive.self) {
      try CalibrationArchive(json: Array(damaged.utf8))
    }
    #expect(throws: InvalidArchive.self) { try CalibrationArchive(json: []) }
  }

  @Test("a folder that cannot be written is an error that names it, and nothing is changed")
  func readOnly() throws {
    let place = StorePlace()
    try place.store.save(.bench(1))
    let folder = place.store.folder.path
    // Root may write everywhere: a file in the history's place stops it as well.
    try? FileManager.default.removeItem(atPath: folder + "/history")
    try Data().write(to: URL(filePath: folder + "/history"))
    #expect(throws: FileProblem.self) { try place.store.save(.bench(2)) }
    #expect(place.store.current(key).number == 1)
  }
}

/// What root stores for a daemon that runs as another user.
@Suite struct OwnerTests {
  @Test(
    "what root makes in a folder of another user belongs to that user",
    .enabled(if: geteuid() == 0, "only root can give a file away"))
  func root() throws {
    let place = StorePlace()
    let state = place.store.folder.deletingLastPathComponent()
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    #expect(chown(state.path, 65_534, 65_534) == 0)
    try place.store.save(.bench(1))
    try place.store.save(.bench(2))
    let items =
      FileManager.default.enumerator(atPath: state.path)?.compactMap { $0 as? String } ?? []
    #expect(items.count >= 4)
    for item in items {
      var status = stat()
      #expect(lstat(state.appending(path: item).path, &status) == 0)
      #expect(status.st_uid == 65_534 && status.st_mode & 0o077 == 0, "\(item)")
    }
  }
}
