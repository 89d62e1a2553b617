import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes
import StateStore
import Testing

/// The samples beside a record, in a folder of its own.
struct KeptSamplesTests {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  var store: CalibrationStore { CalibrationStore(stateDirectory: folder) }

  @Test func samplesLieBesideTheirRecord() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (chip, position) = ("LIS3MDL", "/dev/i2c-1:0x1e")
    #expect(store.samples(chip: chip, position: position) == .none)
    let kept = samples(1)
    try store.save(record(1), samples: kept)
    let file = folder.appending(path: "calibrations/samples/LIS3MDL@_dev_i2c-1_0x1e.csv")
    #expect(FileManager.default.fileExists(atPath: file.path))
    #expect(store.samples(chip: chip, position: position) == .samples(kept))
    #expect(store.samples(chip: chip, position: "/dev/i2c-1:0x1c") == .none)

    try Data("no samples".utf8).write(to: file)
    guard case .unusable(let why) = store.samples(chip: chip, position: position) else {
      Issue.record("a damaged file was read")
      return
    }
    #expect(why.contains("first line"))
  }

  private func record(_ number: Int) -> CalibrationRecord {
    CalibrationRecord(
      chip: "LIS3MDL", busPosition: "/dev/i2c-1:0x1e", board: "Bench",
      date: "2026-11-2\(number)T12:00:00Z", method: "sphere", samples: 100, coverage: 0.9,
      residual: 0.4, field: 49, matrix: .identity, offset: Vector3(Double(number), 0, 0),
      offsetCovariance: Matrix3(diagonal: Vector3(0.01, 0.01, 0.01)))
  }

  private func samples(_ number: Int) -> CalibrationSamples {
    CalibrationSamples(
      keeping: [
        CalibrationSample(time: Timestamp(seconds: 0), field: Vector3(Double(number), 2, 3))
      ],
      of: record(number).applied)
  }

  private var found: CalibrationStore.KeptSamples {
    store.samples(chip: "LIS3MDL", position: "/dev/i2c-1:0x1e")
  }

  @Test func samplesAreThoseOfTheRecordInUse() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = CalibrationKey(.magnetometer(record(1)))
    try store.save(record(1), samples: samples(1))
    #expect(found == .samples(samples(1)))
    let file = store.samplesFile(chip: key.chip, position: key.position)
    #expect(
      try String(contentsOf: file, encoding: .utf8)
        == "# record of 2026-11-21T12:00:00Z, sphere, 100 samples\nt,mx,my,mz,ax,ay,az\n0,1,2,3,,,\n"
    )
    // A lock does not make another record of it, nor does the same one saved again.
    try store.setLock(true, key)
    #expect(found == .samples(samples(1)))
    #expect(throws: CalibrationStore.Locked.self) { try store.save(record(2), samples: samples(2)) }
    #expect(found == .samples(samples(1)))
    try store.save(record(1), overridingLock: true)
    #expect(found == .samples(samples(1)))
    // Without samples of its own a record has none.
    try store.save(record(2))
    #expect(found == .none)
    try store.save(record(2), samples: samples(2))
    #expect(found == .samples(samples(2)))
    // They are there again on the way forward, and nobody else's meanwhile.
    try store.rollback(key)
    #expect(found == .unusable("they are those of another record"))
    try store.rollForward(key)
    #expect(found == .samples(samples(2)))
    try store.rollback(key)
    try store.save(record(3))
    #expect(found == .none)
  }

  @Test func aRecordStandsWithoutItsSamples() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = CalibrationKey(.magnetometer(record(1)))
    try store.save(record(1))
    // To root nothing is forbidden: the samples' folder is a file.
    try Data().write(to: store.folder.appending(path: "samples"))
    #expect(throws: CalibrationStore.SamplesNotKept.self) {
      try store.save(record(2), samples: samples(2))
    }
    #expect(store.current(key) == .record(.magnetometer(record(2))))
    #expect(store.history(key).count == 1)
  }

  @Test func anotherRecordsSamplesAreNotUsed() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = CalibrationKey(.magnetometer(record(1)))
    try store.save(record(1), samples: samples(1))
    // By hand, or where the power went between the two files.
    try Data(try record(2).encoded()).write(to: store.file(key))
    guard case .unusable(let why) = found else {
      Issue.record("another record's samples were used")
      return
    }
    #expect(why.contains("another record"))
    try FileManager.default.removeItem(at: store.file(key))
    #expect(found != .samples(samples(1)))
  }
}
