// Boards whose iron is known, with samples of a hand that turns them: seeded, so that every run is alike.

package import CalibrationCore
package import LinearAlgebra
package import SensorTypes

/// Numbers that look like chance and are the same every time (SplitMix64).
package struct SeededNumbers {
  private var state: UInt64

  package init(_ seed: UInt64) { state = seed }

  /// 0 to 1.
  package mutating func uniform() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((z ^ (z >> 31)) >> 11) * 0x1p-53
  }

  /// Mean 0, deviation 1.
  package mutating func normal() -> Double {
    let radius = (-2 * log(max(1e-300, uniform()))).squareRoot()
    return radius * cos(2 * .pi * uniform())
  }

  package mutating func direction() -> Vector3 {
    Vector3(normal(), normal(), normal()).normalized ?? Vector3(1, 0, 0)
  }
}

/// A synthetic chip: what it says and the record that says so.
package enum ReportFixture {
  package static let field = 48.6
  package static let dip = 66.0 * Double.pi / 180
  /// What the chip does to a field: `raw = distortion * field + offset`.
  package static let distortion = Matrix3(
    rows: Vector3(1.12, 0.05, -0.03), Vector3(0.05, 0.93, 0.04), Vector3(-0.03, 0.04, 0.98))
  package static let offset = Vector3(62.4, -38.1, 21.7)

  /// Samples of a board that is turned about for 60 s; `isFlat` leaves it nearly level.
  package static func samples(
    _ count: Int, seed: UInt64, noise: Double, outliers: Double, isFlat: Bool = false
  ) -> [CalibrationSample] {
    var numbers = SeededNumbers(seed)
    return (0..<count).map { k in
      var up = numbers.direction()
      if isFlat { up = Vector3(0.28 * up.x, 0.28 * up.y, 1).normalized ?? up }
      let any = numbers.direction()
      let north = (any - any.dot(up) * up).normalized ?? Vector3(1, 0, 0)
      let truth = field * (cos(dip) * north - sin(dip) * up)
      let scatter = Vector3(numbers.normal(), numbers.normal(), numbers.normal())
      var raw = distortion * truth + offset + noise * scatter
      if numbers.uniform() < outliers { raw += 25 * numbers.direction() }
      return CalibrationSample(
        time: Timestamp(seconds: 1_000 + 60 * Double(k) / Double(count)), field: raw,
        force: 9.81 * up)
    }
  }

  package static func record(
    date: String = "2026-11-21T16:40:12Z", method: String = "ellipsoid", score: Int? = 93,
    error: Double? = 0.31, residual: Double = 0.52, coverage: Double = 1,
    offset: Vector3 = Self.offset, sigma: Double = 0.08, isLocked: Bool = false
  ) -> CalibrationRecord {
    CalibrationRecord(
      chip: "LIS3MDL", busPosition: "/dev/i2c-1:0x1e", board: "workbench", date: date,
      method: method, samples: 1_914, coverage: coverage, residual: residual, temperature: 24.5,
      field: field, matrix: distortion.inverse ?? .identity, offset: offset,
      offsetCovariance: Matrix3(
        diagonal: Vector3(sigma * sigma, 1.8 * sigma * sigma, 0.7 * sigma * sigma)),
      score: score, headingError: error, expectedAccuracy: error.map { 1.96 * $0 },
      isLocked: isLocked)
  }
}
