// Fits of the halves of good recordings: accepted, and as far apart as they say.

import Foundation
import LinearAlgebra
import SensorTypes
import SharedData
import Testing

@testable import CalibrationCore

/// BROAD's trials without disturbances that turn all over. Each begins and ends with the sensor at rest.
@Suite(
  .enabled(if: SharedData.isThere("data/broad"), "skipped: no data/broad below LODESTONE_SHARED"))
struct HalvesTests {
  /// Every fourteenth row, 20.4 Hz.
  private static let step = 14

  private static func samples(_ name: String) throws -> [CalibrationSample] {
    let bytes = try Data(contentsOf: SharedData.root.appending(path: "data/broad/\(name).f32"))
    let columns = 14
    return bytes.withUnsafeBytes { raw in
      stride(from: 0, to: raw.count / 4 / columns, by: step).map { row in
        func value(_ column: Int) -> Double {
          let place = 4 * (columns * row + column)
          let bits = raw.loadUnaligned(fromByteOffset: place, as: UInt32.self)
          return Double(Float(bitPattern: UInt32(littleEndian: bits)))
        }
        return CalibrationSample(
          time: Timestamp(nanoseconds: Int64(row) * 3_500_000),
          field: Vector3(value(6), value(7), value(8)))
      }
    }
  }

  @Test(arguments: [
    "01_undisturbed_slow_rotation_A", "04_undisturbed_slow_rotation_with_breaks_A",
    "06_undisturbed_fast_rotation_A", "08_undisturbed_fast_rotation_with_breaks_A",
  ])
  func halves(name: String) throws {
    let all = try Self.samples(name)
    var params = FitParameters()
    params.demandsSteadyIron = true
    let fits = try [all.prefix(all.count / 2), all.suffix(all.count / 2)].map { half in
      let outcome = MagnetometerFitter(params: params).fit(Array(half))
      #expect(outcome.isAccepted && outcome.change == nil, "\(outcome.refusal ?? "")")
      return try #require(outcome.fit)
    }
    let difference = try #require(
      headingDifference(fits[0].applied, fits[1].applied, of: all, expected: CalibrationField()))
    let claims = fits.map(\.quality.headingError)
    // One sigma each; 0.1 to 1.1 of both together were seen.
    #expect(difference < 2 * hypot(claims[0], claims[1]), "\(difference), \(claims)")
    #expect(claims.allSatisfy { $0 < 3 }, "\(claims)")
  }
}
