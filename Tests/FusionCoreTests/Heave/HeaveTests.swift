// Heave against the elevation that was generated: its error, its error bar, and when there is none.

import CTestSupport
import LinearAlgebra
import SensorTypes
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite("Heave")
struct HeaveTests {
  private static func run(
    _ vessel: SimulatedVessel, seconds: Double, seed: UInt64
  ) -> (errors: HeaveErrors, estimator: HeaveEstimator) {
    var estimator = HeaveEstimator()
    var errors = HeaveErrors()
    vessel.run(seconds: seconds, seed: seed) { sample in
      if let heave = estimator.update(
        force: sample.force, attitude: sample.attitude, at: sample.time)
      {
        errors.add(heave, sample)
      }
    }
    return (errors, estimator)
  }

  @Test(
    "the error bar holds, and the error is below 10 % where 100 ug/√Hz allow it",
    arguments: SeaStateTests.cases)
  func errorBar(_ sea: SeaStateTests.Case) {
    let (errors, _) = Self.run(sea.vessel, seconds: 1_500, seed: sea.seed)
    print(
      "heave \(sea.testDescription): error \(text(100 * errors.share)) %, claimed \(text(100 * errors.claimed)) %,",
      "held \(text(100 * errors.held)) %, rate \(text(100 * errors.rateShare)) % held",
      "\(text(100 * errors.rateHeld)) %, from \(text(errors.firstTime ?? -1)) s")
    #expect(errors.count > 1_000)
    #expect(errors.held > 0.93)
    #expect(errors.rateHeld > 0.93)
    // In low and long waves the accelerometer's noise is too much of the signal.
    let isLow = sea.height < 0.5 && sea.period > 6 || sea.height < 2 && sea.period > 12
    #expect(errors.share < (isLow ? 0.15 : 0.1))
    // A bar of three times the error would hold always.
    #expect(errors.claimed < 3 * errors.share)
  }

  @Test("there is no heave before the filter has settled, and its condition says why")
  func warmUp() {
    var estimator = HeaveEstimator()
    var order: [HeaveCondition] = []
    SeaStateTests.cases[6].vessel.run(seconds: 600, seed: 3) { sample in
      let heave = estimator.update(
        force: sample.force, attitude: sample.attitude, at: sample.time)
      #expect((heave != nil) == (estimator.condition == .valid))
      if order.last != estimator.condition { order.append(estimator.condition) }
    }
    #expect(order == [.learning, .settling, .valid])
  }

  @Test("a gap, a knock and a fall start the filter again", arguments: ["gap", "knock", "fall"])
  func restart(_ event: String) {
    var estimator = HeaveEstimator()
    var errors = HeaveErrors()
    var (last, back): (Double?, Double?) = (nil, nil)
    SeaStateTests.cases[6].vessel.run(seconds: 800, seed: 4) { sample in
      let t = sample.time.seconds - 1_000
      var force = sample.force
      if t > 500, event == "gap", t < 505 { return }
      if t > 500, event == "knock", t < 500.1 { force.z += 30 }
      // It falls by 5 m: a second without weight, and half a second of braking.
      if t > 500, event == "fall" { force.z += t < 501 ? -9 : t < 501.5 ? 18 : 0 }
      guard
        let heave = estimator.update(force: force, attitude: sample.attitude, at: sample.time)
      else { return }
      if t < 500 { last = t }
      if t > 502 {
        if back == nil { back = t }
        errors.add(heave, sample)
      }
    }
    print(
      "heave after a \(event): from \(text(back ?? -1)) s, error \(text(100 * errors.share)) %,",
      "held \(text(100 * errors.held)) %")
    #expect((last ?? 0) > 499)
    #expect((back ?? 0) > 520 && (back ?? 1_000) < 700)
    #expect(errors.held > 0.93)
  }

  @Test("no jump where the weights change")
  func steps() {
    var estimator = HeaveEstimator()
    var last: HeaveEstimate?
    var worst = 0.0
    SeaStateTests.cases[6].vessel.run(seconds: 1_500, seed: 5) { sample in
      guard
        let heave = estimator.update(
          force: sample.force, attitude: sample.attitude, at: sample.time)
      else { return }
      if let last {
        let step = heave.heave - last.heave
        worst = max(worst, abs(step - heave.rate * heave.time.seconds(since: last.time)))
      }
      last = heave
    }
    #expect(worst > 0 && worst < 0.02)
  }

  @Test("the noise's covariances are those of the filter's response")
  func covariances() {
    let (white, red) = (HeaveWeights.white, HeaveWeights.red)
    let parts = [white.a, white.b, white.c, white.d, red.a, red.b, red.c, red.d]
    for row in 0..<4 {
      var (whiteSum, redSum) = (SIMD4<Double>.zero, SIMD4<Double>.zero)
      // Equal steps of the logarithm.
      let step = 0.002
      for index in 0..<7_000 {
        let x = exp(-7 + step * (Double(index) + 0.5))
        let (re, im) = HeaveWeights.response(x)
        let product = (re[row] * re + im[row] * im) * (x * step / (2 * .pi))
        whiteSum += product
        redSum += product / (x * x)
      }
      let difference = [whiteSum - parts[row], redSum - parts[4 + row]]
      for list in difference {
        for lane in 0..<4 { #expect(abs(list[lane]) < 0.003, "row \(row) lane \(lane)") }
      }
    }
  }

  @Test("the solver solves")
  func solver() throws {
    var matrix = SymmetricRows4()
    var chance = Noise(6)
    for _ in 0..<9 {
      matrix.add(
        SIMD4<Double>(
          chance.normal(), 10 * chance.normal(), chance.normal(), 0.1 * chance.normal()),
        weight: 2)
    }
    let right = SIMD4<Double>(1, -2, 3, 0.5)
    let x = try #require(matrix.solved(right))
    for (row, value) in [matrix.a, matrix.b, matrix.c, matrix.d].enumerated() {
      #expect(abs((value * x).sum() - right[row]) < 1e-6)
    }
    #expect(SymmetricRows4().solved(right) == nil)
  }

  @Test("hostile parameters count as the defaults", arguments: [-1, 0, .nan, .infinity, 1e300])
  func parameters(_ value: Double) {
    var params = HeaveParameters()
    var sea = SeaStateParameters()
    for number in HeaveParameters.numbers { number.set(value, in: &params) }
    for number in SeaStateParameters.numbers { number.set(value, in: &sea) }
    var estimator = HeaveEstimator(params, sea: SeaStateEstimator(sea))
    SeaStateTests.cases[6].vessel.run(seconds: 300, seed: 7) { sample in
      let heave = estimator.update(
        force: sample.force, attitude: sample.attitude, at: sample.time)
      if let heave { #expect(heave.heave.isFinite && heave.accuracy.isFinite) }
    }
    var crossed = HeaveParameters()
    crossed.filter.slowest = 1
    #expect(crossed.sound == HeaveParameters())
  }

  #if !DEBUG
    @Test("no sample allocates, not even the one that completes a spectrum")
    func allocations() {
      var samples: [SimulatedVessel.Sample] = []
      SeaStateTests.cases[6].vessel.run(seconds: 600, seed: 8) { samples.append($0) }
      var estimator = HeaveEstimator()
      var given = 0
      for sample in samples.prefix(100) {
        _ = estimator.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      }
      let before = test_allocations()
      for sample in samples.dropFirst(100)
      where estimator.update(force: sample.force, attitude: sample.attitude, at: sample.time) != nil
      {
        given += 1
      }
      let allocated = test_allocations() - before
      print("heave: \(samples.count) samples, \(given) estimates, \(allocated) allocations")
      #expect(given > 1_000)
      #expect(allocated == 0)
    }
  #endif
}
