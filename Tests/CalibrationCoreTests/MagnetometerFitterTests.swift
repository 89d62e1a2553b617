// What a fit does with samples that nobody should trust, and what it promises of those one can.

import SeededDraws
import LinearAlgebra
import SensorTypes
import Testing

@testable import CalibrationCore

@Suite struct MagnetometerFitterTests {
  /// A build that is not optimised fits fewer samples.
  static var fitter: MagnetometerFitter {
    var params = FitParameters()
    if !SyntheticUnitsTests.isLong { params.mostSamples = 350 }
    return MagnetometerFitter(params: params)
  }

  /// A unit with a recording to a test's liking.
  static func unit(
    seed: UInt64, hasForce: Bool = false, _ change: (inout SyntheticUnit.Motion) -> Void = { _ in }
  ) -> SyntheticUnit {
    var draws = SyntheticDraws(state: seed)
    var unit = SyntheticUnit(draws: &draws, hasForce: hasForce)
    var motion = SyntheticUnit.Motion(
      seconds: 60, rate: 10, liveliness: 1.5, persistence: 1, shaking: 0.2, rest: 0)
    change(&motion)
    unit.record(motion, draws: &draws)
    return unit
  }

  static func sample(_ index: Int, _ field: Vector3) -> CalibrationSample {
    CalibrationSample(time: Timestamp(nanoseconds: Int64(index) * 50_000_000), field: field)
  }

  @Test func nothingIsNoFit() {
    let outcome = Self.fitter.fit([])
    #expect(outcome.fit == nil)
    #expect(outcome.refusal == "0 samples are too few, 30 the least")
  }

  @Test func aBoardThatLiesStillIsRefused() {
    let same = (0..<200).map { Self.sample($0, Vector3(20, -3, 40)) }
    #expect(Self.fitter.fit(same).refusal == "the field never changed: turn the board")
    let still = Self.unit(seed: 3) { $0.liveliness = 0 }
    #expect(!Self.fitter.fit(still.samples).isAccepted)
    #expect((Self.fitter.fit(still.samples).fit?.quality.score ?? 0) < 50)
  }

  @Test(arguments: 1...(SyntheticUnitsTests.isLong ? 12 : 2))
  func aBoardThatOnlyTurnsLevelIsRefused(seed: Int) throws {
    let flat = Self.unit(seed: UInt64(seed)) {
      $0.tilt = 0.1
      $0.seconds = 100
      $0.liveliness = 1
    }
    let outcome = Self.fitter.fit(flat.samples)
    #expect(!outcome.isAccepted)
    #expect(outcome.refusal?.contains("of the sphere was seen") == true)
    // With the field's strength known as well: it says nothing of the axis that never moved.
    let known = Self.fitter.fit(
      flat.samples, expected: CalibrationField(strength: flat.strength))
    #expect(!known.isAccepted)
  }

  @Test func noiseIsRefused() throws {
    var draws = SyntheticDraws(state: 5)
    let noise = (0..<400).map { Self.sample($0, 30 * draws.normals()) }
    let outcome = Self.fitter.fit(noise)
    #expect(!outcome.isAccepted)
    #expect((outcome.fit?.quality.score ?? 0) < 50)
  }

  @Test func whatIsNoNumberOrNoFieldIsLeftOut() throws {
    var samples = Self.unit(seed: 7).samples
    let clean = try #require(Self.fitter.fit(samples).fit)
    for (index, field) in [
      Vector3(.nan, 0, 0), Vector3(.infinity, 1, 2), Vector3(1e300, -1e300, 0), Vector3(1e11, 0, 0),
      .zero,
    ].enumerated() {
      samples.insert(Self.sample(100 * index, field), at: 51 * index)
    }
    samples[400].time = Timestamp(nanoseconds: .min)
    samples[401].time = Timestamp(nanoseconds: .max)
    let fit = try #require(Self.fitter.fit(samples).fit)
    #expect((fit.hardIron - clean.hardIron).length < 0.2)
    #expect(fit.quality.score >= 80)
  }

  @Test func ofManySamplesWholeStretchesAreFittedAndAllAreCounted() throws {
    let unit = Self.unit(seed: 7, hasForce: true) {
      $0.seconds = 100
      $0.rate = 100
    }
    let whole = try #require(Self.fitter.fit(unit.samples).fit)
    var params = FitParameters()
    params.mostGiven = 2_500
    let fit = try #require(MagnetometerFitter(params: params).fit(unit.samples).fit)
    #expect(fit.samples == unit.samples.count && whole.samples == unit.samples.count)
    #expect(abs(fit.inliers - whole.inliers) < whole.inliers / 20)
    #expect((fit.hardIron - whole.hardIron).length < 0.5)

    for (count, most) in [(60_001, 60_000), (1_000_000, 60_000), (5_000, 0), (999, 500), (7, 7)] {
      let samples = (0..<count).map { Self.sample($0, Vector3(Double($0), 0, 0)) }
      let kept = MagnetometerFitter.stretches(of: samples, most: most).map { Int($0.field.x) }
      #expect(kept.count <= most && kept.count >= most - most / 100)
      let breaks = zip(kept, kept.dropFirst()).filter { $1 - $0 != 1 }
      #expect(breaks.allSatisfy { $0 < $1 } && breaks.count < max(1, most / 400))
      // Spread over all: the longest gap is a stretch's share.
      let longest = breaks.map { $1 - $0 }.max() ?? 0
      #expect(longest <= count / max(1, most / 400) + 2)
    }
  }

  @Test(arguments: [1e-6, 1_000])
  func theUnitDoesNotMatter(scale: Double) throws {
    let unit = Self.unit(seed: 11, hasForce: true)
    let fit = try #require(Self.fitter.fit(unit.samples).fit)
    let scaled = unit.samples.map { sample in
      var sample = sample
      sample.field *= scale
      sample.force = sample.force.map { $0 / 9.81 }
      return sample
    }
    let other = try #require(Self.fitter.fit(scaled).fit)
    #expect((other.hardIron / scale - fit.hardIron).length < 1e-3)
    #expect(abs(other.fieldStrength / scale - fit.fieldStrength) < 1e-3)
    #expect(other.quality.score == fit.quality.score)
  }

  @Test func theKnownStrengthIsWhatTheCorrectedFieldHas() throws {
    let unit = Self.unit(seed: 13)
    let alone = try #require(Self.fitter.fit(unit.samples).fit)
    #expect(abs(alone.softIron.trace / 3 - 1) < 1e-9)
    #expect(alone.softIron == alone.softIron.transposed)
    let known = try #require(
      Self.fitter.fit(unit.samples, expected: CalibrationField(strength: unit.strength)).fit)
    #expect(abs(known.fieldStrength - unit.strength) < 1e-9)
    let lengths = unit.samples.map { (known.applied.matrix * ($0.field - known.hardIron)).length }
      .sorted()
    #expect(abs(lengths[lengths.count / 2] - unit.strength) < 0.2)
  }

  @Test(.enabled(if: SyntheticUnitsTests.isLong, "skipped: LODESTONE_LONG is not 1"))
  func theAlignmentIsFoundAndLeftAloneWhereNothingTellsIt() throws {
    let unit = Self.unit(seed: 17, hasForce: true) {
      $0.seconds = 120
      $0.rate = 100
    }
    let fit = try #require(Self.fitter.fit(unit.samples).fit)
    let off = Quaternion(fit.alignment) * unit.misalignment
    #expect(off.rotationVector.length * 180 / .pi < 0.3)
    #expect(unit.misalignment.rotationVector.length * 180 / .pi > 0.7)
    let alone = unit.samples.map {
      CalibrationSample(time: $0.time, field: $0.field)
    }
    #expect(Self.fitter.fit(alone).fit?.alignment == .identity)
  }

  @Test func aBoardThatLayForLongIsFittedByTheRest() throws {
    let unit = Self.unit(seed: 19) {
      $0.rest = 0.6
      $0.rate = 20
    }
    let fit = try #require(Self.fitter.fit(unit.samples).fit)
    #expect(unit.headingError(fit.applied.matrix, fit.applied.offset) < 1)
  }

  @Test(arguments: [20.0, 150])
  func aPassingMagnetIsLeftOut(strength: Double) throws {
    let unit = Self.unit(seed: 23) { $0.magnet = (18, strength) }
    let outcome = Self.fitter.fit(unit.samples)
    let fit = try #require(outcome.fit)
    #expect(outcome.isAccepted)
    #expect(unit.headingError(fit.applied.matrix, fit.applied.offset) < 1)
  }

  @Test func theSameSamplesGiveTheSameFit() {
    let samples = Self.unit(seed: 29, hasForce: true).samples
    #expect(Self.fitter.fit(samples) == Self.fitter.fit(samples))
  }

  @Test func aSimpleChipIsFittedSimply() throws {
    var unit = Self.unit(seed: 31)
    unit.distortion = .identity
    var draws = SyntheticDraws(state: 31)
    unit.record(
      SyntheticUnit.Motion(
        seconds: 60, rate: 10, liveliness: 1.5, persistence: 1, shaking: 0, rest: 0), draws: &draws)
    #expect(Self.fitter.fit(unit.samples).fit?.method == .sphere)
    unit.distortion = Matrix3(diagonal: Vector3(1.1, 0.9, 1))
    unit.record(
      SyntheticUnit.Motion(
        seconds: 60, rate: 10, liveliness: 1.5, persistence: 1, shaking: 0, rest: 0), draws: &draws)
    #expect(Self.fitter.fit(unit.samples).fit?.method == .diagonal)
  }
}
