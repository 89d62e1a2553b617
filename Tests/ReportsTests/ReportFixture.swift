// Chips in reports: one that went well, one that did not, one whose iron has changed.

import CalibrationCore
import CommandTestSupport
import LinearAlgebra
@testable import Reports

extension ReportFixture {
  /// One that went well.
  static func good() -> CalibrationReport.Magnetometer {
    let record = record(isLocked: true)
    let kept = CalibrationSamples(
      keeping: samples(2_000, seed: 1, noise: 0.5, outliers: 0.04), of: record.applied)
    return CalibrationReport.Magnetometer(
      chip: record.chip, position: record.busPosition, present: .record(record),
      samples: .kept(kept),
      former: [
        .init(
          record: Self.record(
            date: "2026-11-20T09:12:44Z", method: "background", score: 84, error: 0.46,
            residual: 0.61, offset: offset + Vector3(1.2, -0.8, 0.4)), isUndone: false),
        .init(
          record: Self.record(
            date: "2026-11-19T18:03:10Z", method: "sphere", score: 57, error: 1.9,
            residual: 1.74, offset: offset + Vector3(3, 2, 6)), isUndone: true),
        .init(
          record: Self.record(
            date: "2026-10-02T11:30:00Z", method: "diagonal", score: nil, error: nil,
            residual: 1.1), isUndone: false),
      ])
  }

  /// A board that was hardly tilted.
  static func mediocre() -> CalibrationReport.Magnetometer {
    var record = record(
      method: "sphere", score: 47, error: 2.4, residual: 1.3, coverage: 0.31, sigma: 0.9)
    (record.chip, record.busPosition) = ("LSM303DLHC-M", "/dev/i2c-1:0x1e")
    let kept = CalibrationSamples(
      keeping: samples(700, seed: 2, noise: 1.3, outliers: 0.09, isFlat: true),
      of: record.applied)
    return CalibrationReport.Magnetometer(
      chip: record.chip, position: record.busPosition, present: .record(record),
      samples: .kept(kept), modelDip: 66)
  }

  /// One from before samples were kept.
  static func bare() -> CalibrationReport.Magnetometer {
    let record = record(score: nil, error: nil)
    return CalibrationReport.Magnetometer(
      chip: record.chip, position: record.busPosition, present: .record(record), modelDip: 66)
  }

  static func report(_ magnetometers: [CalibrationReport.Magnetometer]) -> CalibrationReport {
    CalibrationReport(
      board: "workbench", date: "2026-11-21T17:05:00Z", program: "lodestone 0.1.0",
      magnetometers: magnetometers,
      others: [
        .init(
          title: "Level by LSM6DSOX at /dev/i2c-1:0x6a",
          facts: [.init(name: "Tilt", value: "1.42°"), .init(name: "Lock", value: "not locked")])
      ])
  }
}

extension CalibrationReport.Samples {
  /// The samples, where they are kept.
  var kept: CalibrationSamples? { if case .kept(let kept) = self { kept } else { nil } }
}
