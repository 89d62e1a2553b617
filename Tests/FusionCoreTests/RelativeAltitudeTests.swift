import FusionCore
import SensorTypes
import Testing

struct RelativeAltitudeTests {
  /// The other way round than the estimator: pressure of a height in the standard atmosphere, by the
  /// barometric formula with its constants from ISO 2533.
  private func pressure(_ height: Double) -> Double {
    101_325 * power(1 - 0.0065 * height / 288.15, 5.255_879_7)
  }

  private func power(_ base: Double, _ exponent: Double) -> Double {
    // exp(y ln x) by series, so that the oracle shares nothing with the code: x is near 1.
    let z = (base - 1) / (base + 1)
    var logarithm = 0.0
    for k in 0..<40 {
      var term = z
      for _ in 0..<k { term *= z * z }
      logarithm += 2 * term / Double(2 * k + 1)
    }
    let exponent = exponent * logarithm
    var sum = 1.0
    var term = 1.0
    for k in 1..<40 {
      term *= exponent / Double(k)
      sum += term
    }
    return sum
  }

  @Test("heights of the standard atmosphere", arguments: [0.0, 100, 519, 2_000, 8_000])
  func standard(height: Double) {
    let found = RelativeAltitudeEstimator.standardHeight(pressure: pressure(height))
    #expect(abs(found - height) < 0.02)
  }

  @Test("A2: the first height is zero, and a climb of ten metres is one")
  func climb() {
    var estimator = RelativeAltitudeEstimator()
    var first: AltitudeEstimate?
    var last: AltitudeEstimate?
    var state: UInt64 = 88_172_645_463_325_252
    for step in 0..<1_000 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      let noise = Double(Int64(bitPattern: state)) / Double(Int64.max)
      // Still for 10 s, up at 1 m/s for 10 s, still again.
      let time = Double(step) * 0.04
      let height = 100 + min(10, max(0, time - 10))
      let estimate = estimator.update(
        pressure: pressure(height) + noise, at: Timestamp(seconds: 1 + time))
      first = first ?? estimate
      last = estimate ?? last
    }
    #expect(first?.relativeAltitude == 0)
    #expect(abs((last?.relativeAltitude ?? .nan) - 10) < 0.15)
    #expect(abs(last?.verticalSpeed ?? .nan) < 0.2)
  }

  @Test(
    "what is no pressure is rejected and counted",
    arguments: [Double.nan, 0, -1, 29_999, 200_000, .infinity])
  func hostile(pressure: Double) {
    var estimator = RelativeAltitudeEstimator()
    #expect(estimator.update(pressure: pressure, at: Timestamp(seconds: 1)) == nil)
    #expect(estimator.rejected == 1)
  }
}
