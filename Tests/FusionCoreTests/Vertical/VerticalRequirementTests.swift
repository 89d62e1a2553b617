// Doors, fans, warming chips, lifts, stairs, warm and thin air, against simulated truth.

import Foundation
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct VerticalRequirementTests {
  struct Case: Sendable, CustomStringConvertible {
    let description: String
    let scenario: @Sendable () -> VerticalScenario

    init(_ name: String, _ scenario: @escaping @Sendable () -> VerticalScenario) {
      description = name
      self.scenario = scenario
    }
  }

  static let steps = [
    Case("door 30 Pa in 0.02 s") { .door(30, edge: 0.02) },
    Case("door -30 Pa in 0.2 s") { .door(-30, edge: 0.2) },
    Case("door 30 Pa in 0.5 s") { .door(30, edge: 0.5) },
    Case("door -30 Pa in 1 s") { .door(-30, edge: 1) },
    Case("door opens and closes") { .door(30, edge: 0.3, open: 5) },
    Case("door opens and closes at once") { .door(30, edge: 0.1, open: 1) },
    Case("slam") { .door(-30, edge: 0.05, open: 0.1) },
    Case("fan 15 Pa in 0.3 s, three minutes") { .fan(15, edge: 0.3) },
    Case("fan -15 Pa in 1 s, three minutes") { .fan(-15, edge: 1) },
    Case("fan 15 Pa in 2 s, three minutes") { .fan(15, edge: 2) },
  ]

  @Test(arguments: steps)
  func aStepOfPressureIsNoHeight(_ test: Case) {
    let moved = (1...20 as ClosedRange<UInt64>).map { seed in
      VerticalResult(test.scenario(), VerticalWorld(), seed: seed, since: 19).moved
    }.sorted()
    print("\(test): median \(text(moved[10])) 90 % \(text(moved[17])) worst \(text(moved[19])) m")
    #expect(moved[19] < 0.3)
  }

  /// Places below, at and above the board, found by the pressure that they have before a door opens
  /// and 25 s after it. What the door adds is the same in all of them. Heights and pressures are
  /// those of `VerticalWorld`'s barometric formula; the bound is `aStepOfPressureIsNoHeight`'s.
  @Test(arguments: [30.0, -30, 15, -15])
  func aStepOfPressureMovesNoPlaceThatIsFoundByItsPressure(pascals: Double) throws {
    var world = VerticalWorld()
    (world.pressureNoise, world.weather) = (0, 0)
    for seconds in [19.0, 45] {
      var scenario = VerticalScenario.door(pascals, edge: 0.2)
      scenario.seconds = seconds
      var estimator = RelativeAltitudeEstimator()
      world.run(scenario, seed: 1, &estimator) { _ in }
      for height in [-50.0, 0, 100] {
        let pressure = world.pressure(height) + scenario.disturbance(seconds)
        let place = try #require(estimator.relativeAltitude(atPressure: pressure))
        #expect(abs(place - height) < 0.3, "\(place) m for \(height) m after \(seconds) s")
      }
    }
  }

  /// Without an accelerometer a fast step is known for one; of every step the accuracy tells.
  @Test(arguments: steps)
  func withoutAnAccelerometerTheBarIsWide(_ test: Case) {
    var world = VerticalWorld()
    world.hasAccelerometer = false
    var (inside, count, worst) = (0.0, 0.0, 0.0)
    for seed: UInt64 in 1...10 {
      let result = VerticalResult(test.scenario(), world, seed: seed, since: 19)
      inside += result.altitude.inside
      count += result.altitude.judged
      worst = max(worst, result.moved)
    }
    print("\(test), barometer alone: worst \(text(worst)) m, inside \(text(inside / count))")
    #expect(inside / count >= 0.95)
  }

  /// BMP280 (1.5 Pa/K, either sign) and DPS310 (0.5 Pa/K) after power-on, ten minutes at rest.
  @Test(arguments: [1.5, -1.5, 0.5, -0.5])
  func aWarmingChipDriftsLessThanAMetre(coefficient: Double) {
    var world = VerticalWorld()
    world.coefficient = coefficient
    var (drift, alone, inside, count) = (0.0, 0.0, 0.0, 0.0)
    for seed: UInt64 in 1...4 {
      let result = VerticalResult(.warmUp(kelvin: 15), world, seed: seed)
      drift = max(drift, result.altitude.worst)
      var lonely = world
      lonely.hasAccelerometer = false
      let barometer = VerticalResult(.warmUp(kelvin: 15), lonely, seed: seed)
      alone = max(alone, abs(barometer.last))
      inside += barometer.altitude.inside
      count += barometer.altitude.judged
    }
    print("\(coefficient) Pa/K x 15 K: drift \(text(drift)) m; barometer alone \(text(alone)) m")
    #expect(drift < 1)
    #expect(inside / count >= 0.95)
  }

  /// The lag is where the cross-correlation of true and estimated climb rate peaks.
  @Test(arguments: [1.0, 2.5, 5, 10], [true, false])
  func climbRateInALiftLagsLessThanASecond(speed: Double, isAided: Bool) {
    var world = VerticalWorld()
    world.hasAccelerometer = isAided
    let lag = self.lag(.lift(speed: speed), world)
    print("lift \(speed) m/s, \(isAided ? "aided" : "alone"): lag \(text(lag)) s")
    #expect(lag < 1)
  }

  @Test(arguments: [true, false])
  func climbRateOnStairsLagsLessThanASecond(isAided: Bool) {
    var world = VerticalWorld()
    world.hasAccelerometer = isAided
    let lag = self.lag(.stairs, world)
    print("stairs, \(isAided ? "aided" : "alone"): lag \(text(lag)) s")
    #expect(lag < 1)
  }

  private func lag(_ scenario: VerticalScenario, _ world: VerticalWorld) -> Double {
    var estimator = RelativeAltitudeEstimator()
    var points: [(t: Double, speed: Double)] = []
    world.run(scenario, seed: 3, &estimator) { moment in
      if moment.t > 8, let speed = moment.estimate.verticalSpeed {
        points.append((moment.t, speed))
      }
    }
    func cost(_ lag: Double) -> Double {
      points.reduce(0) { sum, point in
        let error = point.speed - scenario.speed(point.t - lag)
        return sum + error * error
      }
    }
    return (0...30).map { 0.05 * Double($0) }.min { cost($0) < cost($1) } ?? 9
  }

  @Test(arguments: [0.1, 0.2])
  func aSlowQuietRiseIsNotSwallowed(rate: Double) {
    for isAided in [true, false] {
      var world = VerticalWorld()
      world.hasAccelerometer = isAided
      for seed: UInt64 in 1...10 {
        let result = VerticalResult(.balloon(rate), world, seed: seed, since: 19)
        #expect(result.moved < 0.6)
      }
    }
  }

  @Test func aDoorInAMovingLiftIsNoHeight() {
    let moved = (1...20 as ClosedRange<UInt64>).map { seed in
      let scenario = VerticalScenario.lift(speed: 2.5).with(.door(-30, edge: 0.2))
      return VerticalResult(scenario, VerticalWorld(), seed: seed, since: 19).moved
    }.sorted()
    print("door in a lift: median \(text(moved[10])) worst \(text(moved[19])) m")
    #expect(moved[17] < 0.4)
  }

  @Test func aDeadAccelerometerLeavesTheBarometer() {
    for (name, fault) in [
      ("frozen", { @Sendable (t: Double, a: Double) -> Double? in t > 5 ? 0.02 : a }),
      ("silent", { @Sendable (t: Double, a: Double) -> Double? in t > 17 ? nil : a }),
    ] {
      var world = VerticalWorld()
      world.accelerometerFault = fault
      for scenario in [VerticalScenario.lift(speed: 2.5), .stairs] {
        let result = VerticalResult(scenario, world, seed: 1)
        print("\(name) accelerometer: worst \(text(result.altitude.worst)) m")
        #expect(result.altitude.worst < 0.6)
      }
    }
  }

  /// One that lives and feels nothing is found out by its doors in one direction.
  @Test func aLyingAccelerometerIsFoundOut() {
    var world = VerticalWorld()
    world.accelerometerFault = { t, a in t > 5 ? 0.01 * sin(99 * t * t) : a }
    let result = VerticalResult(.lift(speed: 2.5), world, seed: 1)
    print("lying accelerometer: worst \(text(result.altitude.worst)) last \(text(result.last)) m")
    #expect(abs(result.last) < 1)
  }

  /// 100 m up in air that is 30 K colder or warmer than standard, low and high.
  @Test(arguments: [-30.0, 0, 25], [180.0, 2500, 5000])
  func heightsAreRightFarFromTheStandardTemperature(warmth: Double, altitude: Double) {
    var world = VerticalWorld()
    world.warmth = warmth
    world.altitude = altitude
    let scenario = VerticalScenario(
      seconds: 75,
      speed: { 2 * (VerticalScenario.ramp($0, 10, 13) - VerticalScenario.ramp($0, 60, 63)) })
    var params = RelativeAltitudeParameters()
    params.airTemperature = 15 - 0.0065 * altitude + warmth
    let known = VerticalResult(scenario, world, seed: 1, params: params)
    let assumed = VerticalResult(scenario, world, seed: 1)
    world.hasTemperature = false
    let standard = VerticalResult(scenario, world, seed: 1)
    print(
      "\(warmth) K at \(altitude) m: known \(text(known.last)) chip's \(text(assumed.last)) "
        + "+- \(text(assumed.lastBar)) standard \(text(standard.last)) +- \(text(standard.lastBar)) m"
    )
    #expect(abs(known.last) < 0.6)
    #expect(abs(assumed.last) < assumed.lastBar && abs(standard.last) < standard.lastBar)
  }
}

@Suite struct VerticalConsistencyTests {
  static let kinds: [(String, @Sendable () -> VerticalScenario)] = [
    ("rest", { .rest }), ("lift", { .lift(speed: 2.5) }), ("stairs", { .stairs }),
    ("door", { .door(30, edge: 0.2, open: 8) }), ("fan", { .fan(15, edge: 1) }),
    ("temperature", { .warmUp(kelvin: 12) }),
  ]

  /// Chips, air and weather from a seed; truth inside the 95 % bar in 95 % of the samples of a kind.
  @Test(arguments: [true, false])
  func theTruthIsInsideTheBar(isAided: Bool) {
    for (name, scenario) in Self.kinds {
      var (inside, count, width) = (0.0, 0.0, 0.0)
      for seed: UInt64 in 1...12 {
        var draw = Noise(seed &* 977)
        var world = VerticalWorld()
        world.hasAccelerometer = isAided
        world.coefficient = 3 * draw.uniform() - 1.5
        world.pressureNoise = 0.3 + draw.uniform()
        world.pressureRate = 10 + 40 * draw.uniform()
        world.bias = 0.05 * draw.normal()
        world.warmth = 10 * draw.normal()
        world.weather = 10
        let result = VerticalResult(scenario(), world, seed: seed)
        inside += result.altitude.inside
        count += result.altitude.judged
        width += result.altitude.widths
      }
      print(
        "\(name), \(isAided ? "aided" : "alone"): inside \(text(inside / count)), bar \(text(width / count)) m"
      )
      #expect(inside / count >= 0.95)
    }
  }
}

@Suite struct VerticalHostileTests {
  static let rounds: UInt64 = {
    #if DEBUG
      return 4
    #else
      return 40
    #endif
  }()

  static let bad = [
    Double.nan, .infinity, -.infinity, 0, -1, 1e300, -1e300, .leastNonzeroMagnitude, 29_999,
    120_001,
    -0.0, 1e-300,
  ]

  private func isSound(_ e: AltitudeEstimate) -> Bool {
    e.relativeAltitude.isFinite && e.relativeAccuracy.isFinite && e.relativeAccuracy >= 0
      && e.pressure.isFinite && (e.verticalSpeed ?? 0).isFinite
  }

  private func isSound(_ a: AbsoluteAltitudeEstimate) -> Bool {
    a.altitude.isFinite && a.accuracy.isFinite && a.accuracy >= 0
      && (a.ellipsoidalAltitude ?? 0).isFinite
  }

  /// Ten thousand steps a round (400 000 in release): a mood of each stretch decides how mad they are, so
  /// that stillness, doors, distrust and gaps are all come by. A calm minute then has to heal both.
  @Test func nothingMakesANumberThatIsNone() throws {
    var counts = (steps: UInt64(0), distrusts: UInt64(0), relevelled: UInt64(0), sound: 0)
    for round in 1...Self.rounds {
      var noise = Noise(77 &* round)
      var relative = RelativeAltitudeEstimator()
      var absolute = AbsoluteAltitudeEstimator()
      var nanoseconds: Int64 = 1_000_000_000_000
      var (mood, height) = (0.0, 0.0)
      for i in 0..<10_000 {
        if i % 500 == 0 {
          mood = noise.uniform()
          height = mood < 0.3 ? 0 : 30 * noise.normal()
        }
        let isMad = noise.uniform() < (mood < 0.5 ? 0.002 : 0.3)
        let jump = noise.uniform()
        if !isMad {
          nanoseconds &+= 10_000_000
        } else if jump < 0.01 {
          nanoseconds = Int64(truncatingIfNeeded: noise.next())
        } else {
          nanoseconds &+=
            [0, -500_000_000, 3_000_000_000, 10_000_000_000, -500_000_000_000][
              Int(noise.next() % 5)]
        }
        let at = Timestamp(nanoseconds: nanoseconds)
        let pick = Self.bad[Int(noise.next() % 12)]
        let force = mood < 0.3 ? 0.02 * noise.normal() : 30 * noise.normal()
        relative.update(verticalAcceleration: isMad ? pick : force, at: at)
        if i % 4 == 0 {
          if mood > 0.2 && mood < 0.3 { height += 0.05 }
          let door = mood < 0.5 && (i / 200) % 2 == 0 ? 30.0 : 0
          let calm = 101_325 - 12 * height + door + noise.normal()
          let wild = noise.uniform() < 0.5 ? pick : 30_000 + 90_000 * noise.uniform()
          let temperature = isMad ? pick : 20 + 40 * mood
          if let e = relative.update(
            pressure: isMad ? wild : calm, temperature: temperature, at: at)
          {
            if !isSound(e) { Issue.record("round \(round), step \(i): \(e)") }
            if let a = absolute.update(e), !isSound(a) {
              Issue.record("round \(round), step \(i): \(a)")
            }
            counts.sound += 1
          }
        }
        if i % 50 == 0 {
          absolute.update(
            altitude: isMad ? pick : 500 + (mood > 0.7 ? 900 : 3) * noise.normal(),
            accuracy: isMad ? pick : 0.5 + 20 * noise.uniform(),
            ellipsoidalAltitude: noise.uniform() < 0.2 ? pick : nil, at: at)
        }
      }
      counts.steps += relative.state.steps
      counts.distrusts += relative.state.distrusts
      counts.relevelled += absolute.state.relevelled
      #expect(relative.state.rejected > 0 && absolute.state.rejected > 0)
      try heals(&relative, &absolute, from: 5_000_000_000_000_000, &noise)
    }
    print("hostile: \(counts)")
    #expect(counts.steps > 0 && counts.distrusts > 0 && counts.relevelled > 0)
  }

  /// After 90 s of good samples the climb rate is none and the level the receiver's.
  private func heals(
    _ relative: inout RelativeAltitudeEstimator, _ absolute: inout AbsoluteAltitudeEstimator,
    from begin: Int64, _ noise: inout Noise
  ) throws {
    var last: (AltitudeEstimate, AbsoluteAltitudeEstimate)?
    for i in 0..<9000 {
      let at = Timestamp(nanoseconds: begin + Int64(i) * 10_000_000)
      relative.update(verticalAcceleration: 0.02 * noise.normal(), at: at)
      guard i % 4 == 0 else { continue }
      if let e = relative.update(
        pressure: 95_000 + noise.normal(), temperature: 25, at: at),
        let a = absolute.update(e)
      {
        last = (e, a)
      }
      if i % 100 == 0 {
        absolute.update(altitude: 700 + noise.normal(), accuracy: 3, at: at)
      }
    }
    let (altitude, level) = try #require(last)
    #expect(abs(altitude.pressure - 95_000) < 2)
    #expect(abs(try #require(altitude.verticalSpeed)) < 0.1)
    #expect(abs(level.altitude - 700) < 1.96 * level.accuracy)
    #expect(abs(level.altitude - 700) < 10)
  }

  @Test func savingSplittingAndResumingIsBitIdentical() throws {
    var whole = (RelativeAltitudeEstimator(), AbsoluteAltitudeEstimator())
    var resumed = whole
    var noise = Noise(78)
    for i in 0..<6000 {
      let t = 100 + Double(i) / 100
      let at = Timestamp(seconds: t)
      let a = 0.02 * noise.normal()
      whole.0.update(verticalAcceleration: a, at: at)
      resumed.0.update(verticalAcceleration: a, at: at)
      if i % 4 == 0 {
        let step = t > 120 && t < 130 ? 30.0 : 0
        let p = 100_000 + step + noise.normal()
        let x = whole.0.update(pressure: p, temperature: 20 + t / 100, at: at)
        let y = resumed.0.update(pressure: p, temperature: 20 + t / 100, at: at)
        #expect(x == y)
        if let x, let y { #expect(whole.1.update(x) == resumed.1.update(y)) }
      }
      if i % 100 == 0 {
        let h = 100 + 3 * noise.normal()
        whole.1.update(altitude: h, accuracy: 4, ellipsoidalAltitude: h + 40, at: at)
        resumed.1.update(altitude: h, accuracy: 4, ellipsoidalAltitude: h + 40, at: at)
      }
      if i % 777 == 0 {
        let first = try JSONEncoder().encode(resumed.0.state)
        let second = try JSONEncoder().encode(resumed.1.state)
        resumed.0 = RelativeAltitudeEstimator(
          state: try JSONDecoder().decode(RelativeAltitudeState.self, from: first))
        resumed.1 = AbsoluteAltitudeEstimator(
          state: try JSONDecoder().decode(AbsoluteAltitudeState.self, from: second))
      }
    }
    #expect(whole.0.state == resumed.0.state && whole.1.state == resumed.1.state)
    #expect(whole.0.state.steps >= 2)
  }
}
