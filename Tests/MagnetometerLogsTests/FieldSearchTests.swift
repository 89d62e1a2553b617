import LinearAlgebra
import SensorTypes
import Synchronization
import Testing

@testable import MagnetometerLogs

/// What the search for a field's columns asks of a fit.
struct FieldSearchTests {
  /// The samples that a fit is given of `count` rows, each with its number in it.
  private func fitted(_ count: Int, strength: Double = 48) -> (samples: [Double], isField: Bool) {
    let taken = Mutex<[CalibrationSample]>([])
    let recognition = SampleRecognition(
      isKeptHeader: { _ in false }, keptSample: { _ in nil },
      fieldStrength: { samples in
        taken.withLock { $0 = samples }
        return strength
      })
    let rows = (0..<count).map { Vector3(Double($0), 1, 2) }
    let isField = FieldSearch.isField(rows, by: recognition)
    return (taken.withLock { $0.map(\.field.x) }, isField)
  }

  @Test("a fit is given every row of a short table once, and at most 600 of a long one, evenly")
  func rows() {
    for count in [1, 7, 599, 600] { #expect(fitted(count).samples == (0..<count).map(Double.init)) }
    let long = fitted(60_000).samples
    #expect(long == (0..<600).map { 100 * Double($0) })
    #expect(fitted(601).samples.count == 600)
  }

  @Test(
    "a sphere of gravity's size is no field, in m/s^2, g, thousandths of it, cm/s^2 or counts",
    arguments: [
      (9.7, false), (1.01, false), (995.0, false), (975.0, false), (256.0, false), (16_384, false),
      (48.0, true), (0.48, true), (480, true), (9.0, true), (1.03, true), (1_100, true),
    ])
  func gravity(radius: Double, isField: Bool) {
    #expect(fitted(100, strength: radius).isField == isField)
  }
}
