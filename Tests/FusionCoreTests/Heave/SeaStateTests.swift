// Wave height, periods, roll and pitch against seas that were generated, and no sea ashore.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@_spi(Tuning) @testable import FusionCore

@Suite("Sea state")
struct SeaStateTests {
  /// A sea of the tests: significant height in m, peak period in s, peak enhancement, sampling rate in Hz.
  struct Case: CustomTestStringConvertible, Sendable {
    var height: Double
    var period: Double
    var gamma: Double
    var rate: Double
    var seed: UInt64

    var testDescription: String {
      "\(height) m, \(period) s, \(gamma == 1 ? "Pierson-Moskowitz" : "JONSWAP"), \(rate) Hz, seed \(seed)"
    }

    var vessel: SimulatedVessel {
      SimulatedVessel(
        sea: SimulatedSea(height: height, period: period, gamma: gamma, seed: seed), rate: rate)
    }
  }

  /// From ripples of a lake to a storm; steeper seas than 1:20 would break.
  static let cases: [Case] = {
    let seas: [(Double, Double)] = [
      (0.3, 4), (1, 4), (0.5, 6), (2, 6), (0.3, 8), (1, 8), (3, 8), (2, 11), (6, 11), (1, 15),
      (6, 15),
    ]
    var cases: [Case] = []
    for (index, sea) in seas.enumerated() {
      for gamma in [1, 3.3] {
        cases.append(
          Case(
            height: sea.0, period: sea.1, gamma: gamma, rate: index % 2 == 0 ? 25 : 50,
            seed: UInt64(2 * index + (gamma == 1 ? 1 : 2))))
      }
    }
    cases.append(Case(height: 1.5, period: 7, gamma: 3.3, rate: 100, seed: 61))
    cases.append(Case(height: 1.5, period: 7, gamma: 1, rate: 200, seed: 62))
    return cases
  }()

  @Test("height and periods are within 10 % of the run's truth", arguments: cases)
  func accuracy(_ sea: Case) throws {
    var estimator = SeaStateEstimator()
    var truth = SampledTruth()
    var end = Timestamp(seconds: 0)
    sea.vessel.run(seconds: 1_500, seed: sea.seed) { sample in
      estimator.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      truth.add(sample)
      end = sample.time
    }
    let state = try #require(estimator.seaState(at: end))
    let height = try #require(state.significantWaveHeight)
    let mean = try #require(state.meanPeriod)
    let peak = try #require(state.peakPeriod)
    let roll = try #require(state.rollAmplitude)
    let (h, m, p) = (truth.significantHeight, truth.meanPeriod, truth.peakPeriod)
    print(
      "sea \(sea.testDescription): height \(text(height.value / h)) ±\(text(height.accuracy / h)), mean period",
      "\(text(mean.value / m)) ±\(text(mean.accuracy / m)), peak \(text(peak.value / p)) ±\(text(peak.accuracy / p)),",
      "roll \(text(roll.value / truth.rollAmplitude)), prominence \(Int(estimator.state.band.prominence))"
    )
    #expect(state.condition == .waves)
    #expect(abs(height.value / h - 1) < 0.1)
    #expect(abs(mean.value / m - 1) < 0.1)
    #expect(abs(peak.value / p - 1) < 0.1)
    #expect(abs(roll.value / truth.rollAmplitude - 1) < 0.1)
    #expect(state.duration > 1_000 && state.duration < 1_500)
    #expect(state.undetectedWaveHeight == nil)
  }

  @Test("the error bars hold against the sea that the run was drawn from")
  func errorBars() throws {
    var (inside, all) = (0.0, 0.0)
    for seed in 1...24 as ClosedRange<UInt64> {
      let vessel = SimulatedVessel(
        sea: SimulatedSea(height: 1.5, period: 7, gamma: seed % 2 == 0 ? 3.3 : 1, seed: 500 + seed))
      var estimator = SeaStateEstimator()
      vessel.run(seconds: 460, seed: seed) { sample in
        estimator.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      }
      let state = try #require(estimator.seaState(at: Timestamp(seconds: 1_460)))
      let height = try #require(state.significantWaveHeight)
      inside += abs(height.value - 1.5) < 1.96 * height.accuracy ? 1 : 0
      all += 1
    }
    print("sea: height within 1.96 sigma in \(inside) of \(all) runs")
    #expect(inside / all >= 0.85)
  }

  @Test("nothing is known before there are four spectra")
  func warmUp() {
    var estimator = SeaStateEstimator()
    var first: Double?
    Self.cases[5].vessel.run(seconds: 400, seed: 7) { sample in
      estimator.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      if first == nil, estimator.seaState(at: sample.time) != nil {
        first = sample.time.seconds - 1_000
      }
    }
    #expect(abs((first ?? 0) - 320) < 2)
  }

  @Test("a board on a desk knows no sea", arguments: [0.0005, 0.002, 0.004])
  func desk(noise: Double) throws {
    var vessel = SimulatedVessel(sea: SimulatedSea(height: 0, period: 8, gamma: 1, seed: 1))
    vessel.noise = noise
    var estimator = SeaStateEstimator()
    vessel.run(seconds: 2_400, seed: 8) { sample in
      estimator.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      if let state = estimator.seaState(at: sample.time) {
        #expect(state.condition == .calmOrAshore && state.significantWaveHeight == nil)
      }
    }
    let state = try #require(estimator.seaState(at: Timestamp(seconds: 3_400)))
    let height = try #require(state.undetectedWaveHeight)
    print("desk, \(noise) m/s^2/√Hz: no sea above \(text(height)) m")
    #expect(height > 0 && height < 150 * noise)
    // Waves of that height are found.
    for period in [6.0, 14] {
      var found = SeaStateEstimator()
      vessel.sea = SimulatedSea(height: height, period: period, gamma: 1, seed: 2)
      vessel.run(seconds: 2_400, seed: 8) { sample in
        found.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      }
      #expect(found.seaState(at: Timestamp(seconds: 3_400))?.condition == .waves)
    }
    #expect(state.rollAmplitude == nil && state.meanPeriod == nil)
  }

  /// Hills, bends, road and stops of a car.
  @Test("a car drive is no sea", arguments: 1...12)
  func car(seed: Int) {
    var chance = Noise(UInt64(seed))
    var estimator = SeaStateEstimator()
    var heave = HeaveEstimator()
    let memory = 2 + 13 * chance.uniform()
    let swing = 60 + 240 * chance.uniform()
    var (raw, grade, before, side, road) = (0.0, 0.0, 0.0, 0.0, 0.0)
    let dt = 0.02
    for step in 1...120_000 {
      let t = Double(step) * dt
      raw += -raw * dt / memory + 0.03 * (2 * dt / memory).squareRoot() * chance.normal()
      grade += dt * (raw - grade)
      side += -side * dt / 4 + (dt / 2).squareRoot() * chance.normal()
      road = 0.7 * road + 0.3 * chance.normal()
      let climb = grade * max(0, 15 + 10 * sin(2 * .pi * t / swing))
      let up = (climb - before) / dt + 0.02 * side + road
      before = climb
      let time = Timestamp(seconds: t)
      let turn = attitude(heading: 0.1 * t, pitch: grade, roll: 0.01 * side)
      let force = turn.conjugate.rotate(Vector3(side, 0, 9.81 + up))
      estimator.update(force: force, attitude: turn, at: time)
      #expect(heave.update(force: force, attitude: turn, at: time) == nil)
      if step % 500 == 0, let state = estimator.seaState(at: time) {
        #expect(state.condition == .calmOrAshore, "at \(t) s: \(estimator.state.band)")
      }
    }
    #expect(heave.condition == .calmOrAshore)
  }

  @Test("values and times that no sensor gives are refused and counted")
  func hostile() throws {
    var estimator = SeaStateEstimator()
    let bad: [(Vector3, Quaternion)] = [
      (Vector3(.nan, 0, 0), .identity), (Vector3(0, .infinity, 0), .identity),
      (Vector3(0, 0, 1e300), .identity),
      (Vector3(0, 0, 9.8), Quaternion(w: .nan, x: 0, y: 0, z: 0)),
      (Vector3(0, 0, 9.8), Quaternion(w: 0, x: 0, y: 0, z: 0)),
      (Vector3(0, 0, 9.8), Quaternion(w: 1e200, x: 0, y: 0, z: 0)),
    ]
    var count = 0
    let sea = Self.cases[6]
    var truth = SampledTruth()
    sea.vessel.run(seconds: 900, seed: 9) { sample in
      estimator.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      truth.add(sample)
      let (force, attitude) = bad[count % bad.count]
      let late = sample.time.advanced(bySeconds: 0.0001)
      #expect(estimator.update(force: force, attitude: attitude, at: late) == .refused)
      let again = estimator.update(
        force: sample.force, attitude: sample.attitude,
        at: sample.time.advanced(bySeconds: -0.01 * Double(count % 2)))
      #expect(again == .refused)
      count += 1
    }
    #expect(estimator.state.refused == UInt64(2 * count))
    let height = try #require(
      estimator.seaState(at: Timestamp(seconds: 1_900))?.significantWaveHeight)
    #expect(abs(height.value / truth.significantHeight - 1) < 0.1)
  }

  @Test("extreme times do not trap or hang")
  func extremeTimes() {
    var estimator = HeaveEstimator()
    for n: Int64 in [0, .max, .min, -1, .max, 1, 2, .min, .max - 1, 1 << 61, -(1 << 61), 3] {
      for step in 0..<3 {
        let time = Timestamp(nanoseconds: n &+ Int64(step) &* 10_000_000)
        _ = estimator.update(force: Vector3(0, 0, 9.8), attitude: .identity, at: time)
        _ = estimator.sea.seaState(at: time)
      }
    }
  }

  @Test("a gap or a knock costs one window; after a quarter of an hour all is forgotten")
  func interruptions() {
    let vessel = Self.cases[6].vessel
    var estimator = SeaStateEstimator()
    func run(from start: Double, _ seconds: Double) {
      vessel.run(seconds: seconds, seed: 10, from: start) { sample in
        estimator.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      }
    }
    run(from: 0, 400)
    let windows = estimator.state.spectrum.windows
    #expect(windows == 5)
    run(from: 410, 120)
    #expect(estimator.state.gaps == 1 && estimator.state.spectrum.windows == windows)
    let knock = estimator.update(
      force: Vector3(0, 0, 60), attitude: .identity, at: Timestamp(seconds: 1_530.5))
    #expect(knock == .interrupted && estimator.state.knocks == 1)
    run(from: 530.5, 140)
    #expect(estimator.state.spectrum.windows == windows + 1)
    #expect(estimator.seaState(at: Timestamp(seconds: 1_680)) != nil)
    #expect(estimator.seaState(at: Timestamp(seconds: 3_000)) == nil)
    run(from: 2_000, 10)
    #expect(estimator.state.spectrum.windows == 0)
  }

  @Test("a run that is saved and resumed is the same to the bit; a broken state counts as none")
  func resume() throws {
    var whole = HeaveEstimator()
    var parts = HeaveEstimator()
    var count = 0
    var (given, saved) = (0, 0)
    Self.cases[6].vessel.run(seconds: 600, seed: 11) { sample in
      let a = whole.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      let b = parts.update(force: sample.force, attitude: sample.attitude, at: sample.time)
      #expect(a == b)
      given += a == nil ? 0 : 1
      count += 1
      guard count % 2_777 == 0,
        let heave = try? JSONEncoder().encode(parts.state),
        let sea = try? JSONEncoder().encode(parts.sea.state),
        let heaveState = try? JSONDecoder().decode(HeaveState.self, from: heave),
        let seaState = try? JSONDecoder().decode(SeaStateState.self, from: sea)
      else { return }
      saved += 1
      parts = HeaveEstimator(sea: SeaStateEstimator(state: seaState), state: heaveState)
    }
    #expect(saved >= 4 && given > 1_000)
    #expect(whole.state == parts.state && whole.sea.state == parts.sea.state)
    let text = String(decoding: try JSONEncoder().encode(whole.sea.state), as: UTF8.self)
    let broken = text.replacingOccurrences(of: "\"place\":", with: "\"place\":9")
    let state = try JSONDecoder().decode(SeaStateState.self, from: Data(broken.utf8))
    #expect(state != whole.sea.state)
    #expect(SeaStateEstimator(state: state).state == SeaStateState())
  }

  @Test("the transform is the discrete Fourier transform")
  func transform() {
    var chance = Noise(12)
    let (a, b) = ((0..<512).map { _ in chance.normal() }, (0..<512).map { _ in chance.normal() })
    var transform = WaveTransform()
    _ = transform.load(a, b, oldest: 100)
    let (x, y) = (transform.re, transform.im)
    transform.run()
    for bin in [1, 2, 3, 17, 128, 255] {
      var sums = SIMD4<Double>.zero
      for i in 0..<512 {
        let angle = 2 * .pi * Double(bin * i) / 512
        let (c, s) = (cos(angle), sin(angle))
        sums += SIMD4<Double>(x[i] * c, x[i] * s, y[i] * c, y[i] * s)
      }
      let (p, q) = transform.powers(bin)
      #expect(abs(p - sums[0] * sums[0] - sums[1] * sums[1]) < 1e-9)
      #expect(abs(q - sums[2] * sums[2] - sums[3] * sums[3]) < 1e-9)
    }
  }
}
