import CalibrationCore
import Foundation
import LinearAlgebra

@testable import StateStore

/// A store of its own, gone with the test.
final class StorePlace {
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

extension CalibrationKey {
  static let bench = CalibrationKey(.magnetometer, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c")
}

extension StoredRecord {
  /// A record of `CalibrationKey.bench` that can be told from others by its number.
  static func bench(_ number: Int, isLocked: Bool = false) -> StoredRecord {
    .magnetometer(
      CalibrationRecord(
        chip: CalibrationKey.bench.chip, busPosition: CalibrationKey.bench.position, board: "Bench",
        date: "2026-11-21T12:00:00Z", method: "sphere", samples: number, coverage: 0.9,
        residual: 0.4, field: 49, matrix: .identity, offset: Vector3(Double(number), 0, 0),
        offsetCovariance: Matrix3(diagonal: Vector3(0.01, 0.01, 0.01)), isLocked: isLocked))
  }

  var number: Int? {
    if case .magnetometer(let record) = self { record.samples } else { nil }
  }
}

extension StoredFinding<StoredRecord> {
  var number: Int? {
    if case .record(let record) = self { record.number } else { nil }
  }
}
