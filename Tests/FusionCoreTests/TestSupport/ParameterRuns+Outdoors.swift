// Short synthetic runs of altitude and position, for the effects of their parameters.

import Foundation
import LinearAlgebra
import SensorTypes

@_spi(Tuning) import FusionCore

extension ParameterRuns where Root == RelativeAltitudeParameters {
  static var relativeAltitude: ParameterRuns {
    ParameterRuns(
      usual: RelativeAltitudeParameters(), numbers: RelativeAltitudeParameters.numbers,
      runs: [(true, false), (false, false), (true, true), (false, true)].map { hasForce, isWarm in
        { run(hasForce: hasForce, isWarm: isWarm, $0, $1) }
      } + [{ still($0, $1) }])
  }

  /// A board that lies still, is risen slowly, hears doors, and is set in motion.
  private static func still(_ params: RelativeAltitudeParameters, _ emit: (Double) -> Bool) {
    var estimator = RelativeAltitudeEstimator(params)
    var noise = PlainNoise(4)
    for step in 0..<1_600 {
      let t = Double(step) * 0.05
      let time = Timestamp(seconds: 100 + t)
      for part in [0.04, 0.02, 0.0] where step > 0 {
        let push = t > 60 && t < 60.5 ? 0.5 : t > 64 && t < 64.5 ? -0.5 : 0
        estimator.update(
          verticalAcceleration: push + 0.01 * noise.next(),
          at: time.advanced(bySeconds: -0.005 - part * 0.7))
      }
      let height = t > 15 && t < 30 ? 0.03 * (t - 15) : t >= 30 ? 0.45 : 0
      let door = (t > 35 && t < 40) || (t > 45 && t < 48) || t > 52 && t < 58 ? 24.0 : 0
      let ramp = t > 70 ? 8 * (t - 70) : 0
      let estimate = estimator.update(
        pressure: 95_000 - 11.4 * height - door - ramp + 0.7 * noise.next(), at: time)
      let values: [Double] = [
        estimate?.relativeAltitude ?? -1, estimate?.relativeAccuracy ?? -1,
        estimate?.verticalSpeed ?? -99,
      ]
      for value in values where !emit(value) { return }
    }
  }

  private static func run(
    hasForce: Bool, isWarm: Bool, _ params: RelativeAltitudeParameters, _ emit: (Double) -> Bool
  ) {
    var params = params
    if isWarm { params.airTemperature = hasForce ? 60 : -100 }
    var estimator = RelativeAltitudeEstimator(params)
    var noise = PlainNoise(3)
    for step in 0..<2_400 {
      let t = Double(step) * 0.05
      let time = Timestamp(seconds: 100 + t)
      // Stairs, a lift that nobody feels, and doors.
      let isClimbing = t > 20 && t < 30
      let lift = t > 70 ? min(12, (t - 70) * 1.5) : 0
      let height = (isClimbing ? (t - 20) * 0.4 : t >= 30 ? 4 : 0) + lift
      var pressure = 95_000 - 11.4 * height + 2 * noise.next()
      if (t > 40 && t < 44) || (t > 50 && t < 53) { pressure -= 20 }
      if (t > 60 && t < 60.2) || (t > 110 && t < 112) { pressure += 400 }
      if step % 301 == 300 { pressure = step % 2 == 0 ? 20_000 : 150_000 }
      if hasForce, t < 95 || t > 100, t < 14 || t > 15 {
        let shake = isClimbing ? 0.8 * noise.next() : 0.02 * noise.next()
        let push = abs(t - 20) < 0.5 ? 0.4 : abs(t - 30) < 0.5 ? -0.4 : 0
        let isFrozen = t > 105 && t < 106
        estimator.update(
          verticalAcceleration: step % 401 == 400 ? 200 : isFrozen ? 0.01 : push + shake,
          isTurning: isClimbing, at: time.advanced(bySeconds: -0.01))
      }
      if t > 85 && t < 87 || t > 115 && t < 122 { continue }
      if step % 3 == 0 && t > 10 && t < 12 { continue }
      let chip = step % 50 == 49 ? (step % 100 == 99 ? -80.0 : 150) : 30 + 0.05 * t
      let estimate = estimator.update(
        pressure: pressure, temperature: isWarm && t < 30 ? nil : chip, at: time)
      let values: [Double] = [
        estimate?.relativeAltitude ?? -1, estimate?.relativeAccuracy ?? -1,
        estimate?.verticalSpeed ?? -99,
      ]
      for value in values where !emit(value) { return }
    }
  }
}

extension ParameterRuns where Root == AbsoluteAltitudeParameters {
  static var absoluteAltitude: ParameterRuns {
    ParameterRuns(
      usual: AbsoluteAltitudeParameters(), numbers: AbsoluteAltitudeParameters.numbers,
      runs: [{ run($0, $1) }])
  }

  private static func run(_ params: AbsoluteAltitudeParameters, _ emit: (Double) -> Bool) {
    var estimator = AbsoluteAltitudeEstimator(params)
    var noise = PlainNoise(5)
    for step in 0..<1_200 {
      let t = Double(step)
      let time = Timestamp(seconds: 100 + t)
      let climb = t > 300 && t < 500 ? 0.5 : 0
      let relative = t < 300 ? 0 : min(100, (t - 300) * 0.5)
      let isFar = step % 211 == 210
      if t < 900 || t > 1_000 {
        let estimate = estimator.update(
          AltitudeEstimate(
            time: time, relativeAltitude: isFar ? 60_000 : relative, relativeAccuracy: 0.1,
            pressure: 95_000, verticalSpeed: isFar ? 400 : climb))
        let values: [Double] = [
          estimate?.altitude ?? -1, estimate?.accuracy ?? -1, estimate?.ellipsoidalAltitude ?? -1,
        ]
        for value in values where !emit(value) { return }
      }
      if t < 600 || t > 700 {
        let error = t > 800 && t < 880 ? 300 : t < 20 ? 20 * exp(-t / 10) : 3 * noise.next()
        let altitude = step % 97 == 96 ? 25_000 : step % 97 == 50 ? -3_000 : 500 + relative + error
        let accuracy = step % 89 == 88 ? 700 : t < 20 ? 30 - t : 6
        let isTaken = estimator.update(
          altitude: altitude, accuracy: accuracy, ellipsoidalAltitude: altitude + 48,
          at: time.advanced(bySeconds: 0.4))
        if !emit(isTaken ? 1 : 0) { return }
      }
      if step % 150 == 149 {
        let known = KnownHeight(
          altitude: 500 + relative + (step > 1_000 ? 90 : 1), accuracy: step > 600 ? 1_500 : 2,
          relativeAltitude: relative, age: step > 400 ? 3_000_000 : 0, witness: .here)
        _ = estimator.update(known, at: time)
      }
    }
  }
}

extension ParameterRuns where Root == PositionParameters {
  static var position: ParameterRuns {
    ParameterRuns(
      usual: PositionParameters(), numbers: PositionParameters.numbers,
      runs: [{ run(hasGyro: true, $0, $1) }, { run(hasGyro: false, $0, $1) }])
  }

  private static func run(
    hasGyro: Bool, _ params: PositionParameters, _ emit: (Double) -> Bool
  ) {
    var estimator = PositionEstimator(params)
    var noise = PlainNoise(11)
    var (north, east, course) = (0.0, 0.0, 0.3)
    for step in 0..<4_800 {
      let t = Double(step) * 0.125
      let time = Timestamp(seconds: 100 + t)
      let speed = max(0, 12 + 13 * sin(0.05 * t))
      let rate = 0.15 * sin(0.21 * t)
      course += rate * 0.125
      (north, east) = (north + speed * cos(course) * 0.125, east + speed * sin(course) * 0.125)
      if hasGyro, t < 200 || t > 203 {
        estimator.update(
          turnRate: step % 501 == 500 ? 60 : rate + 0.002 + 0.01 * noise.next(), at: time)
      } else if t > 100 {
        estimator.update(heading: course + 0.02 * noise.next(), at: time)
      }
      let isLost = (t > 150 && t < 175) || (t > 300 && t < 345) || (t > 400 && t < 540)
      if step % 8 == 0, !isLost {
        var fix = GNSSFix(received: time, mode: .threeDimensional)
        let jump = (t > 250 && t < 256) ? 400.0 : 0
        fix.latitude = 47 + (north + 3 * noise.next() + jump) / 111_000
        fix.longitude = 8 + (east + 3 * noise.next()) / 75_700
        fix.horizontalAccuracy =
          step % 320 == 0 ? 2_000_000 : step % 240 == 0 ? 150 : step % 400 == 80 ? 20 : 4
        if step % 480 == 160 { fix.horizontalAccuracy = 0.000_05 }
        fix.speed = step % 560 == 0 ? 1_200 : speed + 0.2 * noise.next()
        if speed > 1 { fix.course = course.remainder(dividingBy: 2 * .pi) + 0.02 * noise.next() }
        estimator.update(fix, at: time.advanced(bySeconds: step % 64 == 0 ? -1.2 : -0.1))
      }
      guard step % 4 == 0 else { continue }
      for lead in [0.0, -0.8] {
        let estimate = estimator.estimate(at: time.advanced(bySeconds: lead))
        let values: [Double] = [
          estimate?.latitude ?? -1, estimate?.longitude ?? -1, estimate?.horizontalAccuracy ?? -1,
          estimate?.speedAccuracy ?? -1, estimate?.courseAccuracy ?? -1,
        ]
        for value in values where !emit(value) { return }
      }
    }
  }
}
