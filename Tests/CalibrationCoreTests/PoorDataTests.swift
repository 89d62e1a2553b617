// Files that look like a calibration and are none: one turn in a hand, a chip at the end of its range.

import LinearAlgebra
import SeededDraws
import SensorTypes
import Testing

@testable import CalibrationCore

@Suite struct PoorDataTests {
  private static let seeds = 1...(SyntheticUnitsTests.isLong ? 60 : 2)

  /// A chip without an accelerometer, with moderate iron: an axis ratio of 1.2 at the most.
  private static func unit(_ draws: inout SyntheticDraws) -> SyntheticUnit {
    var unit = SyntheticUnit(draws: &draws, hasForce: false)
    let axes = Quaternion(rotationVector: draws.uniform(0, .pi) * draws.direction()).matrix
    let scale = Vector3(
      draws.uniform(0.92, 1.1), draws.uniform(0.92, 1.1), draws.uniform(0.92, 1.1))
    unit.distortion = axes * Matrix3(diagonal: scale) * axes.transposed
    unit.misalignment = .identity
    return unit
  }

  private static func samples(
    _ unit: SyntheticUnit, _ directions: [Vector3], noise: Double, _ draws: inout SyntheticDraws
  ) -> [CalibrationSample] {
    directions.enumerated().map { index, direction in
      MagnetometerFitterTests.sample(
        index, unit.raw(unit.strength * direction) + noise * draws.normals())
    }
  }

  /// One turn about any axis, the board held by a hand that wavers by some degrees.
  private static func turn(wobble: Double, _ draws: inout SyntheticDraws) -> [Vector3] {
    let axis = draws.direction()
    let side = axis.cross(abs(axis.x) < 0.8 ? Vector3(1, 0, 0) : Vector3(0, 1, 0)).normalized
    let first = side ?? Vector3(0, 0, 1)
    let second = axis.cross(first)
    let height = draws.uniform(-0.35, 0.35)
    let waves = (0..<2).map { _ in (draws.uniform(3, 7), draws.uniform(0, 6)) }
    return (0..<800).map { step in
      let part = 2 * Double.pi * Double(step) / 800
      let ring = cos(part) * first + sin(part) * second
      let level = cos(height) * ring + sin(height) * axis
      let lean = wobble * sin(waves[0].0 * part + waves[0].1) * first
      let tilt = wobble * sin(waves[1].0 * part + waves[1].1) * second
      return Quaternion(rotationVector: lean + tilt).rotate(level)
    }
  }

  @Test(
    "a turn in the hand is refused, or right: what was not seen is not made up", arguments: seeds)
  func oneTurn(seed: Int) throws {
    var draws = SyntheticDraws(state: UInt64(seed) &* 7_919)
    for degrees in [0.0, 4, 6, 8, 12, 16] {
      let unit = Self.unit(&draws)
      let way = Self.turn(wobble: degrees * .pi / 180, &draws)
      let outcome = MagnetometerFitterTests.fitter.fit(
        Self.samples(unit, way, noise: 0.5, &draws))
      guard outcome.isAccepted, let fit = outcome.fit else {
        #expect((outcome.fit?.quality.score ?? 0) < 50)
        continue
      }
      let error = unit.headingError(fit.applied.matrix, fit.hardIron)
      // What it expects of itself is one sigma.
      #expect(error < 3 * fit.quality.headingError, "\(degrees) deg, \(fit.quality)")
    }
  }

  /// Directions from all over the sphere, on a way that a hand can go.
  private static func ball(_ draws: inout SyntheticDraws) -> [Vector3] {
    var attitude = Quaternion(rotationVector: draws.uniform(0, 3) * draws.direction())
    var rate = 0.1 * draws.normals()
    return (0..<1_500).map { _ in
      rate = 0.95 * rate + 0.03 * draws.normals()
      attitude = (attitude * Quaternion(rotationVector: rate)).normalized
      return attitude.rotate(Vector3(0, 0, 1))
    }
  }

  @Test("what stands at the end of a range is no measurement", arguments: seeds)
  func endOfRange(seed: Int) throws {
    var draws = SyntheticDraws(state: UInt64(seed) &* 104_729)
    for (axes, share) in [
      (1, 0.0), (1, 0.02), (1, 0.05), (1, 0.15), (1, 0.3), (3, 0.0), (3, 0.02), (3, 0.1), (3, 0.25),
    ] {
      let unit = Self.unit(&draws)
      // A coarse chip, a fine one, and numbers as a program has them.
      for step in SyntheticUnitsTests.isLong ? [1.5, 0.15, 0] : [0.15] {
        var samples = Self.samples(unit, Self.ball(&draws), noise: 0.5, &draws)
        for i in samples.indices where step > 0 {
          samples[i].field = step * (samples[i].field / step).rounded(.toNearestOrEven)
        }
        for axis in 0..<axes where share > 0 {
          let sorted = samples.map { $0.field[axis] }.sorted()
          let top = sorted[Int(Double(sorted.count - 1) * (1 - share))]
          for i in samples.indices { samples[i].field[axis] = min(top, samples[i].field[axis]) }
        }
        let outcome = MagnetometerFitterTests.fitter.fit(samples)
        let words = "\(axes) axes, \(share), \(step): \(outcome.refusal ?? "accepted")"
        let stops = outcome.refusal?.contains("at an end of the range of x") ?? false
        if share >= 0.15 { #expect(stops, "\(words)") }
        guard share < 0.15, outcome.isAccepted, let fit = outcome.fit else {
          #expect(!outcome.isAccepted && (outcome.fit?.quality.score ?? 0) < 50, "\(words)")
          continue
        }
        // Nothing was thrown away where nothing was cut off, and everything else is right.
        if share == 0 { #expect(fit.samples == samples.count, "\(words)") }
        let error = unit.headingError(fit.applied.matrix, fit.hardIron)
        #expect(error < 1.5, "\(words): \(error) deg, \(fit.quality)")
      }
    }
  }

  @Test(
    "an axis that does not move stands at no end of its range", arguments: [0.05, 0.3, 0.6, 1.5])
  func level(step: Double) throws {
    var draws = SyntheticDraws(state: 31)
    let unit = Self.unit(&draws)
    let ring = (0..<600).map { i in
      let part = 2 * Double.pi * Double(i) / 600
      return Vector3(0.42 * cos(part), 0.42 * sin(part), -0.9)
    }
    var samples = Self.samples(unit, ring, noise: 0.05, &draws)
    for i in samples.indices {
      samples[i].field = step * (samples[i].field / step).rounded(.toNearestOrEven)
    }
    let refusal = try #require(MagnetometerFitterTests.fitter.fit(samples).refusal)
    #expect(!refusal.contains("end of the range"), "\(refusal)")
  }

  @Test(
    "numbers that are no field in any unit are refused",
    arguments: [
      .leastNonzeroMagnitude, .leastNormalMagnitude / 100, 1e-300, 1e-160, 1e-30, 1e-12, 1e9, 1e12,
      1e30, 1e160, 1e300, .infinity, .nan,
    ])
  func noField(scale: Double) {
    var draws = SyntheticDraws(state: 9)
    let unit = Self.unit(&draws)
    var samples = Self.samples(unit, Self.ball(&draws), noise: 0.5, &draws)
    for index in samples.indices { samples[index].field *= scale }
    let outcome = MagnetometerFitterTests.fitter.fit(samples)
    #expect(outcome.fit == nil && outcome.refusal != nil)
    // Beside a field they are left out.
    var params = MagnetometerFitterTests.fitter.params
    params.demandsSteadyIron = true
    let many = Self.samples(unit, Self.ball(&draws), noise: 0.5, &draws)
    let mixed = many + samples.prefix(40)
    #expect(MagnetometerFitter(params: params).fit(mixed).fit?.hardIron.isFinite == true)
  }

  @Test("a board that lies still for minutes is fitted by the rest", arguments: [0.0, 0.3])
  func longRest(noise: Double) throws {
    var draws = SyntheticDraws(state: 11)
    let unit = Self.unit(&draws)
    let way = Self.ball(&draws)
    let rest = try #require(way.last)
    let samples = Self.samples(
      unit, way + [Vector3](repeating: rest, count: 10 * way.count), noise: noise, &draws)
    let outcome = MagnetometerFitterTests.fitter.fit(samples)
    let fit = try #require(outcome.fit)
    #expect(outcome.isAccepted, "\(outcome.refusal ?? "")")
    #expect(unit.headingError(fit.applied.matrix, fit.hardIron) < 1)
  }
}
