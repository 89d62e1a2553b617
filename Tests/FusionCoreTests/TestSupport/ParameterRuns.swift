// Short synthetic runs in which as many parameters as possible are of consequence.

import Foundation
import LinearAlgebra
import SensorTypes

@_spi(Tuning) import FusionCore

/// Runs of an estimator with parameters `Root`: each emits what comes of it until it is told to stop.
struct ParameterRuns<Root: Sendable & Equatable> {
  typealias Run = (_ params: Root, _ emit: (Double) -> Bool) -> Void

  var usual: Root
  var numbers: [ParameterNumber<Root>]
  var runs: [Run]

  /// The names of the numbers of which no change by these factors changes anything, but for those left out.
  func withoutEffect(except leftOut: Set<String> = [], sound: (Root) -> Root) -> [String] {
    let recorded = runs.map { run in
      var values: [UInt64] = []
      run(usual) { value in
        values.append(value.bitPattern)
        return true
      }
      return values
    }
    return numbers.filter { !leftOut.contains($0.name) }.filter { number in
      let value = number.value(in: usual)
      return ![10, 0.1, 2, 0.5, 100, 0.01, 1_000_000, 1.01, 0].contains { factor in
        var params = usual
        let other = value == 0 ? factor : value * factor
        number.set(number.isWhole ? other.rounded() : other, in: &params)
        guard sound(params) == params, params != usual else { return false }
        return zip(runs, recorded).contains { differs($0, $1, params) }
      }
    }.map(\.name)
  }

  private func differs(_ run: Run, _ recorded: [UInt64], _ params: Root) -> Bool {
    var (index, isDifferent) = (0, false)
    run(params) { value in
      isDifferent = index >= recorded.count || recorded[index] != value.bitPattern
      index += 1
      return !isDifferent
    }
    return isDifferent || index != recorded.count
  }
}

/// A linear congruential generator: the same numbers on every machine.
struct PlainNoise {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  /// From -1 to 1.
  mutating func next() -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(state >> 11) / Double(1 << 52) - 1
  }

  mutating func vector(_ size: Double) -> Vector3 { size * Vector3(next(), next(), next()) }
}

extension ParameterRuns where Root == AttitudeParameters {
  /// What is special about a run.
  enum Kind: CaseIterable {
    case hand, magnets, vehicle, slowTurn, withoutGyro, coarse, newPlace, level, turnedField
    case antennas
  }

  static var attitude: ParameterRuns {
    ParameterRuns(
      usual: AttitudeParameters(), numbers: AttitudeParameters.numbers,
      runs: Kind.allCases.map { kind in { run(kind, $0, $1) } })
  }

  /// The rate of a kind of run, rad/s in the body frame.
  private static func rate(_ kind: Kind, _ t: Double) -> Vector3 {
    let moving = Vector3(1.3 * sin(0.9 * t), 1.1 * cos(0.7 * t), 0.8 + 0.6 * sin(0.4 * t))
    let isMoving = (t > 6 && t < 14) || (t > 22 && t < 36)
    switch kind {
    case .hand, .coarse: return t < 1 || isMoving ? moving : .zero
    case .magnets, .level, .turnedField: return isMoving ? moving : .zero
    case .withoutGyro: return isMoving ? 0.5 * moving : .zero
    case .vehicle, .antennas: return Vector3(0, 0, t > 10 ? 0.1 * sin(0.2 * t) : 0)
    case .slowTurn: return Vector3(0, 0, t > 8 && t < 40 ? 0.01 : 0)
    case .newPlace: return .zero
    }
  }

  private static func run(_ kind: Kind, _ params: AttitudeParameters, _ emit: (Double) -> Bool) {
    var params = params
    params.level = kind == .level
    if kind == .coarse { params.allow(zeroRateLevel: 5) }
    var estimator = AttitudeEstimator(params, keepsHistory: kind == .hand)
    if kind == .withoutGyro { estimator.expectGyroBias(Vector3(1.2, 0, 0), deviation: 0.01) }
    var noise = PlainNoise(7)
    var attitude = Quaternion(rotationVector: Vector3(0.1, 0.05, 1))
    let dt = kind == .coarse ? 0.12 : 0.025
    estimator.followsCourse = kind == .vehicle || kind == .antennas
    if kind == .magnets { estimator.expectedField = ReferenceField(strength: 49, dip: 1.17) }
    let quality = MagnetometerQuality(
      isCalibrated: true, offsetCovariance: Matrix3(diagonal: Vector3(0.3, 0.3, 0.3)),
      residual: 0.3, strength: 49)
    let bias = kind == .magnets ? Vector3(0.015, -0.01, 0.012) : Vector3(0.002, 0.001, -0.002)
    for step in 0..<Int(60 / dt) {
      let t = Double(step) * dt
      let time = Timestamp(seconds: 100 + t)
      let rate = rate(kind, t)
      attitude = (attitude * Quaternion(rotationVector: rate * dt)).normalized
      let speed = 4 + 3 * sin(0.3 * t)
      let shake = rate.length > 0.3 ? noise.vector(2) : .zero
      var push = kind == .vehicle ? Vector3(0.9 * cos(0.3 * t), 0.4, 0) : shake
      if t > 40, t < 44 { push = Vector3(8, 2, 1) }
      if t > 50, t < 50.6 { push = Vector3(0, 0, -9.7) }
      let force = attitude.conjugate.rotate(Vector3(0, 0, 9.80665) + push) + noise.vector(0.02)
      let spike = step % 97 == 50 && kind == .coarse
      let isGap = kind == .coarse && (t > 15 && t < 16.5 || t > 30 && t < 33)
      if kind != .withoutGyro, kind != .level, !isGap {
        estimator.update(
          angularRate: spike ? Vector3(150, 0, 0) : rate + bias + noise.vector(0.003), at: time)
      }
      if kind != .level, !(kind == .vehicle && t > 46 && t < 47.5) {
        estimator.update(acceleration: spike ? Vector3(0, 1_500, 0) : force, at: time)
      }
      var field = Vector3(0, 19, -45)
      if t > 16, t < 18 { field = field * (kind == .withoutGyro || kind == .vehicle ? 1.8 : 1.25) }
      if t > 19, t < 20.5 { field = field + Vector3(6, 0, 0) }
      if kind == .newPlace, t > 8 { field = Vector3(5, 22, -40) }
      if kind == .turnedField {
        field = t > 20 ? Vector3(9, 25, -60) : Vector3(0, 26.5, -60)
        field = field * (1 + 0.09 * sin(2 * t))
      }
      var seen = attitude.conjugate.rotate(field) + noise.vector(0.2)
      if kind == .magnets, t > 26, t < 33 { seen = seen + Vector3(9, -4, 3) }
      if kind == .hand { seen = seen + Vector3(2.5, -1.5, 1) }
      if step % 2 == 0 {
        estimator.update(
          magneticField: spike ? Vector3(0, 0, 15_000) : seen, at: time, quality: quality)
      }
      if kind == .magnets, step == 1_800 {
        estimator.calibrationDidChange(shift: Vector3(5, 12, 0), quality: quality)
      }
      let ahead = attitude.rotate(Vector3(0, 1, 0))
      if kind == .antennas, step % 100 == 0, t < 3 || t > 12 {
        // Less and less right, until they are rejected, and at last believed.
        let heading = atan2(ahead.x, ahead.y) + 0.012 * max(0, t - 12)
        estimator.update(heading: heading, deviation: 0.01, at: time)
      }
      if kind == .vehicle || kind == .antennas, step % 40 == 0, t < 20 || t > 30 {
        let size = step % 400 == 0 ? 1_500 : t > 45 ? -speed : speed
        estimator.update(
          velocity: SIMD2(ahead.x, ahead.y) * size, deviation: 0.4,
          at: Timestamp(seconds: 100 + t - 0.3))
      }
      for value in outputs(estimator, t) where !emit(value) { return }
    }
    guard kind == .hand else { return }
    let smoother = AttitudeSmoother(estimator)
    for second in 1..<60 {
      let attitude = smoother.attitude(at: Timestamp(seconds: 100 + Double(second)))
      for value in [attitude?.w ?? 2, attitude?.vector.z ?? 2] where !emit(value) { return }
    }
  }

  private static func outputs(_ estimator: AttitudeEstimator, _ t: Double) -> [Double] {
    let time = Timestamp(seconds: 100 + t + 0.15)
    var values = [estimator.attitude?.w ?? 2, estimator.attitude(at: time)?.vector.x ?? 2]
    values.append(estimator.gyroBias.x + estimator.gyroBias.z)
    values.append(estimator.isResting ? 1 : 0)
    values.append(estimator.isMagneticallyDisturbed ? 1 : 0)
    if case .success(let heading) = estimator.heading(at: time) {
      values += [heading.magneticHeading, heading.accuracy ?? -1]
    }
    return values
  }
}
