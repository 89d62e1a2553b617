// Recordings of real magnetometers with known answers.

import CalibrationCore
import CalibrationUI
import Foundation
import LinearAlgebra
import MagnetometerLogs
import SensorTypes
import SharedData
import Testing

@Suite struct RealLogTests {
  static func read(_ url: URL, _ columns: String) throws -> SampleTable {
    let field = try #require(SampleTable.Columns(columns))
    var table = SampleTable(columns: field)
    table.take(try Data(contentsOf: url))
    table.finish()
    return table
  }

  static let path = "data/iphone/magnet_uncalib.txt"
  static var phone: URL { SharedData.root.appending(path: path) }

  /// Logs as people have them.
  static let casesPath = "data/magcal-cases"
  static var cases: URL { SharedData.root.appending(path: casesPath) }

  // The answers are PX4's own, from its tests of the same data.
  @Test func rotationOfAnAutopilot() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Replay")
    let table = try Self.read(folder.appending(path: "px4_rotation_gauss.csv"), "1-3")
    #expect(table.samples.count == 231)
    #expect(table.skipped == 0)
    let fit = try #require(MagnetometerFitter().fit(table.samples).fit)
    let offset = fit.hardIron - Vector3(-0.18, 0.05, -0.58)
    #expect(abs(offset.x) < 0.01 && abs(offset.y) < 0.01 && abs(offset.z) < 0.01)
    #expect(abs(fit.fieldStrength - 0.4) < 0.1)
    let scale = fit.softIron
    #expect(abs(scale.trace / 3 - 1) < 1e-9)
    #expect(abs(scale.columns.x.x - 1) < 0.01)
    #expect(abs(scale.columns.y.y - 1.06) < 0.01)
    #expect(abs(scale.columns.z.z - 0.94) < 0.01)
  }

  @Test(
    .enabled(
      if: SharedData.isThere(path),
      "skipped: no recording of a phone below LODESTONE_SHARED"))
  func phoneThatSawLittleOfTheSphere() throws {
    let table = try Self.read(Self.phone, "2-4")
    let alone = MagnetometerFitter().fit(table.samples)
    #expect(!alone.isAccepted)
    let known = MagnetometerFitter().fit(table.samples, expected: CalibrationField(strength: 50.5))
    let fit = try #require(known.fit)
    #expect((fit.hardIron - Vector3(-55.7, 386.7, -351.3)).length < 15)
    #expect(!known.isAccepted)
  }
}
