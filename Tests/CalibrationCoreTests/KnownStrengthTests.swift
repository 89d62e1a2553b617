import SeededDraws
import CalibrationCore
import LinearAlgebra
import SensorTypes
import Testing

@Suite struct KnownStrengthTests {
  static let hardIron = Vector3(30, -20, 10)

  /// A field of 50 on a spiral about the sphere, times a factor.
  static func samples(_ factor: Double, share: Double = 1) -> [CalibrationSample] {
    (0..<600).map { k in
      let z = 1 - share * (2 * Double(k) + 1) / 600
      let angle = Double(k) * 2.399963
      let unit = Vector3.spherical(z: z, angle: angle)
      // A ripple in place of noise.
      let noise = 0.2 * Vector3.spherical(z: z * 0.3, angle: 7 * angle)
      return CalibrationSample(
        time: Timestamp(seconds: Double(k) * 0.05), field: factor * (50 * unit + hardIron + noise))
    }
  }

  @Test(
    "a strength within a quarter is fitted, and another unit, counts and a contradiction are told apart",
    arguments: [
      // Factor of the file, unit of its header, strength; what comes, and a word of the reason.
      (1.0, nil, 50.0, "constraint", ""), (1, .microtesla, 52, "constraint", ""),
      (1, nil, 50_000, "contradicted", "nanotesla"), (1, nil, 48_000, "contradicted", "nanotesla"),
      (1, .microtesla, 50_000, "contradicted", "give 50"),
      (1, nil, 500, "contradicted", "milligauss"),
      (1, nil, 0.5, "contradicted", "gauss"), (1, nil, 5e-5, "contradicted", "tesla"),
      (1_000, nil, 50, "contradicted", "give the strength in the file's unit, 50000"),
      (10, nil, 50, "contradicted", "milligauss"), (0.01, nil, 50, "contradicted", "0.5"),
      (1, nil, 75, "contradicted", "75 was given"), (1, nil, 33, "contradicted", "was given"),
      (1, .microtesla, 333, "contradicted", "microtesla, 333 was given"),
      // 68.42 LSB a microtesla, as an LIS3MDL has it; 6.667 as an AK8963.
      (68.42, nil, 50, "scale", ""), (6.667, nil, 50, "scale", ""), (10, .counts, 50, "scale", ""),
      (3_750.0 / 50, nil, 48, "scale", ""),
    ] as [(Double, FieldUnit?, Double, String, String)])
  func cases(factor: Double, unit: FieldUnit?, strength: Double, use: String, word: String) throws {
    let (outcome, found) = KnownStrength(strength, unit: unit)
      .fit(Self.samples(factor), expected: CalibrationField(), by: MagnetometerFitter())
    let fit = try #require(outcome.fit)
    #expect((fit.hardIron / factor - Self.hardIron).length < 0.5)
    #expect("\(found)".hasPrefix(use) && outcome.isAccepted == (use != "contradicted"))
    #expect(outcome.refusal ?? "" == "" || !word.isEmpty)
    if !word.isEmpty {
      #expect(outcome.refusal?.contains(word) == true, "\(outcome.refusal ?? "")")
    }
    // An accepted answer has the strength that was given; a refused one its own.
    let size = outcome.isAccepted ? strength : 50 * factor
    #expect(abs(fit.fieldStrength / size - 1) < 0.01)
    #expect(
      abs((fit.softIron * (50 * factor * Vector3(1, 0, 0))).length / size - 1) < 0.03)
  }

  @Test func samplesOfASmallPartAreBoundByTheStrength() throws {
    let part = Self.samples(1, share: 0.12)
    let fitter = MagnetometerFitter()
    #expect(!fitter.fit(part).isAccepted)
    let (outcome, use) = KnownStrength(50).fit(part, expected: CalibrationField(), by: fitter)
    #expect(use == .constraint)
    #expect(outcome == fitter.fit(part, expected: CalibrationField(strength: 50)))
  }

  @Test("a fifth of the sphere is taken, and what it says of the rest is right")
  func aPartThatIsTakenIsRight() throws {
    let part = Self.samples(1, share: 0.2)
    let fitter = MagnetometerFitter()
    let bound = KnownStrength(50).fit(part, expected: CalibrationField(), by: fitter).outcome
    for outcome in [fitter.fit(part), bound] {
      #expect(outcome.isAccepted, "\(outcome.refusal ?? "")")
      let fit = try #require(outcome.fit)
      #expect((fit.hardIron - Self.hardIron).length < 0.5)
      #expect(abs(fit.fieldStrength / 50 - 1) < 0.01)
      // The samples have no soft iron: neither across the part's middle, nor along it, where little was seen.
      for axis in [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)] {
        #expect((fit.softIron * axis - axis).length < 0.03, "\(fit.softIron)")
      }
    }
  }

  @Test("a board that was not turned is told so, and nothing of units")
  func notTurned() {
    var draws = SyntheticDraws(state: 5)
    let samples = (0..<500).map { k in
      CalibrationSample(
        time: Timestamp(seconds: 0.05 * Double(k)),
        field: Vector3(32, -1, 5) + 0.3 * draws.normals())
    }
    let fitter = MagnetometerFitter()
    let bound = KnownStrength(49.5).fit(samples, expected: CalibrationField(), by: fitter).outcome
    for outcome in [fitter.fit(samples), bound] {
      #expect(!outcome.isAccepted)
      #expect(outcome.refusal?.contains("gauss") == false)
    }
    #expect(fitter.fit(samples).refusal?.contains("was not turned") == true)
  }

  @Test func nothingIsNoFit() {
    let (outcome, _) = KnownStrength(50)
      .fit([], expected: CalibrationField(), by: MagnetometerFitter())
    #expect(outcome.fit == nil && outcome.refusal?.contains("too few") == true)
  }
}

extension Vector3 {
  fileprivate static func spherical(z: Double, angle: Double) -> Vector3 {
    let radius = (1 - z * z).squareRoot()
    let turn = Quaternion(rotationVector: Vector3(0, 0, angle))
    return turn.rotate(Vector3(radius, 0, 0)) + Vector3(0, 0, z)
  }
}
