// Barometric altitude against truth: climbs, steps, noise, hostile input.

import Foundation
import LinearAlgebra
import SensorTypes
import Testing

@testable import FusionCore

@Suite struct RelativeAltitudeTests {
  /// Pressure at a height above a place at 180 m, from the barometric formula written out anew.
  private func pressure(_ height: Double) -> Double {
    101_325 * pow(1 - 0.0065 * (180 + height) / 288.15, 9.80665 / (287.05287 * 0.0065))
  }

  /// A climb by `rate` m/s from 5 s to 15 s and back down from 20 s, with 0.6 s to set off.
  private func height(_ t: Double, rate: Double) -> Double {
    func climbed(_ t: Double) -> Double {
      guard t > 0 else { return 0 }
      return t < 0.6 ? rate * t * t / 1.2 : rate * (t - 0.3)
    }
    return climbed(t - 5) - climbed(t - 15) - climbed(t - 20) + climbed(t - 30)
  }

  private func acceleration(_ t: Double, rate: Double) -> Double {
    func begins(_ at: Double) -> Double { t >= at && t < at + 0.6 ? rate / 0.6 : 0 }
    return begins(5) - begins(15) - begins(20) + begins(30)
  }

  private func run(
    rate: Double, noise deviation: Double, isAided: Bool, seed: UInt64
  ) -> (altitude: ErrorStatistics, speed: ErrorStatistics, last: AltitudeEstimate?) {
    var noise = Noise(seed)
    var estimator = RelativeAltitudeEstimator()
    var altitude = ErrorStatistics()
    var speed = ErrorStatistics()
    var last: AltitudeEstimate?
    for i in 0..<(40 * 200) {
      let t = Double(i) / 200
      if isAided {
        let measured = acceleration(t, rate: rate) + 0.05 + 0.1 * noise.normal()
        estimator.update(verticalAcceleration: measured, at: Timestamp(seconds: t))
      }
      guard i % 8 == 0 else { continue }
      let at = t + 0.002 * noise.uniform()
      let measured = pressure(height(at, rate: rate)) + deviation * noise.normal()
      guard let estimate = estimator.update(pressure: measured, at: Timestamp(seconds: at)) else {
        Issue.record("a good sample was rejected at \(at)")
        continue
      }
      let error = estimate.relativeAltitude - height(at, rate: rate)
      altitude.add(error, halfWidth: 1.96 * estimate.relativeAccuracy)
      if let vertical = estimate.verticalSpeed, t > 2 {
        speed.add(vertical - (height(at + 0.01, rate: rate) - height(at - 0.01, rate: rate)) / 0.02)
      }
      last = estimate
    }
    return (altitude, speed, last)
  }

  @Test(arguments: [0.0, 1, 2], [0.2, 0.6, 1.3])
  func altitudeFollowsAClimb(rate: Double, noise: Double) {
    for isAided in [false, true] {
      for seed: UInt64 in 1...4 {
        let result = run(rate: rate, noise: noise, isAided: isAided, seed: seed)
        if seed == 1 {
          print(
            "climb \(rate) m/s, \(noise) Pa, \(isAided ? "aided" : "alone"):",
            "rms \(text(result.altitude.rms)) worst \(text(result.altitude.worst))",
            "speed rms \(text(result.speed.rms)) inside \(text(result.altitude.coverage))")
        }
        #expect(result.altitude.rms <= 0.15)
        #expect(result.altitude.worst <= 0.5)
        #expect(result.speed.rms < 0.3)
      }
    }
  }

  // A BMP180 has 3 Pa at its strongest oversampling and 6 Pa at its weakest (datasheet, table 1).
  @Test(
    "a noisy chip's noise is seen: no door is made of it, and the bar holds",
    arguments: [0.0, 1, 2], [3.0, 6])
  func noisyChip(rate: Double, noise: Double) {
    for isAided in [false, true] {
      var (worst, inside, squares) = (0.0, 1.0, 0.0)
      for seed: UInt64 in 1...8 {
        let result = run(rate: rate, noise: noise, isAided: isAided, seed: seed)
        worst = max(worst, result.altitude.worst)
        inside = min(inside, result.altitude.coverage)
        squares += result.altitude.rms * result.altitude.rms / 8
      }
      print(
        "climb \(rate) m/s, \(noise) Pa, \(isAided ? "aided" : "alone"): rms \(text(squares.squareRoot()))",
        "worst \(text(worst)), least share inside \(text(inside))")
      #expect(inside >= 0.9)
    }
  }

  @Test func theFirstEventIsZeroAndItsNoiseIsForgotten() throws {
    var noise = Noise(9)
    var estimator = RelativeAltitudeEstimator()
    // The very first sample is off by 3 Pa, a quarter of a metre.
    let begin = estimator.update(pressure: pressure(0) - 3, at: Timestamp(seconds: 0))
    let first = try #require(begin)
    #expect(first.relativeAltitude == 0)
    #expect(first.verticalSpeed == nil)
    var last = first
    for i in 1..<500 {
      let measured = pressure(0) + noise.normal()
      let time = Timestamp(seconds: Double(i) / 25)
      let estimate = estimator.update(pressure: measured, at: time)
      last = try #require(estimate)
    }
    #expect(abs(last.relativeAltitude) < 0.15)
    #expect(abs(last.pressure - pressure(0)) < 1)
    #expect(last.verticalSpeed != nil)
  }

  @Test func aStepIsFollowedWithinASecond() {
    var estimator = RelativeAltitudeEstimator()
    var reached: Double?
    for i in 0..<250 {
      let t = Double(i) / 25
      let estimate = estimator.update(
        pressure: pressure(t < 5 ? 0 : 10), at: Timestamp(seconds: t))
      if reached == nil, t >= 5, let estimate, abs(estimate.relativeAltitude - 10) < 0.5 {
        reached = t
      }
    }
    #expect((reached ?? 99) <= 6)
    #expect(estimator.state.rejected > 0)
  }

  @Test func absurdPressuresAreRejectedAndCounted() throws {
    var estimator = RelativeAltitudeEstimator()
    var last: AltitudeEstimate?
    for i in 0..<100 {
      let time = Timestamp(seconds: Double(i) / 25)
      last = estimator.update(pressure: pressure(0), at: time)
      let bad = [Double.nan, .infinity, 0, -5, 1e9, 90_000][i % 6]
      let soon = Timestamp(seconds: Double(i) / 25 + 0.01)
      let rejected = estimator.update(pressure: bad, at: soon)
      #expect(rejected == nil)
      let early = estimator.update(
        pressure: pressure(0), at: Timestamp(seconds: Double(i) / 25 - 0.02))
      #expect(early == nil)
    }
    #expect(estimator.state.rejected >= 90)
    #expect(estimator.state.outOfOrder == 100)
    #expect(abs(try #require(last).relativeAltitude) < 0.05)
  }

  /// A chip that is read twice in one moment says nothing new.
  @Test func accelerationsOfOneMomentCountOnce() {
    var once = RelativeAltitudeEstimator()
    var thrice = once
    var noise = Noise(12)
    for i in 0..<2000 {
      let at = Timestamp(seconds: 10 + Double(i) / 100)
      let force = 0.5 + 0.1 * noise.normal()
      once.update(verticalAcceleration: force, at: at)
      for _ in 0..<3 { thrice.update(verticalAcceleration: force, at: at) }
      guard i % 4 == 0 else { continue }
      let measured = pressure(0) + noise.normal()
      let a = once.update(pressure: measured, at: at)
      let b = thrice.update(pressure: measured, at: at)
      #expect(a == b)
    }
  }

  @Test func aPauseOfMinutesKeepsTheZero() throws {
    var estimator = RelativeAltitudeEstimator()
    for i in 0..<100 {
      _ = estimator.update(pressure: pressure(0), at: Timestamp(seconds: Double(i) / 25))
    }
    let late = estimator.update(pressure: pressure(12), at: Timestamp(seconds: 300))
    let after = try #require(late)
    #expect(abs(after.relativeAltitude - 12) < 0.05)
    #expect(after.verticalSpeed == nil)
  }

  /// What an accelerometer has vouched for before a pause is no door after it.
  @Test func aPauseBringsNoDoubtAboutAnEarlierClimb() throws {
    // The variance that the pause and what follows add.
    func doubt(after climb: Double) throws -> Double {
      var noise = Noise(3)
      var estimator = RelativeAltitudeEstimator()
      var (before, last): (AltitudeEstimate?, AltitudeEstimate?)
      for i in 0..<(90 * 25) {
        let t = Double(i) / 25
        // Up on a cosine's half in 30 s; then ten seconds of silence, then a barometer alone.
        let phase = Double.pi * min(1, max(0, (t - 10) / 30))
        let height = climb * (1 - cos(phase)) / 2
        if t >= 60, t < 70 { continue }
        if t < 60 {
          let isUnderWay = phase > 0 && phase < .pi
          let vertical = isUnderWay ? climb / 2 * pow(.pi / 30, 2) * cos(phase) : 0
          let measured = vertical + 0.05 * noise.normal()
          estimator.update(verticalAcceleration: measured, at: Timestamp(seconds: t))
        }
        last = estimator.update(pressure: pressure(height), at: Timestamp(seconds: t))
        if t < 60 { before = last }
      }
      let (old, new) = (try #require(before), try #require(last))
      return pow(new.relativeAccuracy, 2) - pow(old.relativeAccuracy, 2)
    }
    let (still, climbed) = (try doubt(after: 0), try doubt(after: 30))
    #expect(abs(climbed - still) < 0.1, "\(still) m2 at rest, \(climbed) m2 after a climb")
  }

  @Test func savingSplittingAndResumingIsBitIdentical() throws {
    var noise = Noise(10)
    var whole = RelativeAltitudeEstimator()
    var resumed = RelativeAltitudeEstimator()
    for i in 0..<400 {
      let t = Double(i) / 50
      let vertical = noise.normal()
      let measured = pressure(t) + noise.normal()
      whole.update(verticalAcceleration: vertical, at: Timestamp(seconds: t - 0.005))
      resumed.update(verticalAcceleration: vertical, at: Timestamp(seconds: t - 0.005))
      let a = whole.update(pressure: measured, at: Timestamp(seconds: t))
      let b = resumed.update(pressure: measured, at: Timestamp(seconds: t))
      #expect(a == b)
      if i % 90 == 0 {
        let saved = try JSONEncoder().encode(resumed.state)
        let state = try JSONDecoder().decode(RelativeAltitudeState.self, from: saved)
        resumed = RelativeAltitudeEstimator(state: state)
      }
    }
    #expect(whole.state == resumed.state)
  }
}
