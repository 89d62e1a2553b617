import CalibrationCore
import Foundation
import LinearAlgebra
import SensorHub
import SensorTypes
import Testing

/// The samples beside a record, in a folder of its own.
struct KeptSamplesTests {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  var store: CalibrationStore { CalibrationStore(stateDirectory: folder) }

  @Test func samplesLieBesideTheirRecord() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (chip, position) = ("LIS3MDL", "/dev/i2c-1:0x1e")
    #expect(store.samples(chip: chip, position: position) == .none)
    let kept = CalibrationSamples(
      keeping: [CalibrationSample(time: Timestamp(seconds: 5), field: Vector3(1, 2, 3))],
      of: AppliedCalibration(
        matrix: .identity, offset: .zero, offsetCovariance: .identity, residual: 0))
    try store.save(kept, chip: chip, position: position)
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
}
