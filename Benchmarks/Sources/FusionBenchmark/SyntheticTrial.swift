// Trials whose truth is given: what no recording shows by itself. Pure.

internal import Foundation
internal import LinearAlgebra
internal import SensorTypes

/// A board whose way is known, and what its sensors say of it at 100 Hz.
///
/// The sensors have noise as a phone's have: 0.05 deg/s, 0.03 m/s^2 and 0.3 uT a sample.
package struct SyntheticTrial: Sendable {
  /// What is peculiar to it.
  package enum Kind: String, CaseIterable, Sendable {
    /// The field is turned by 10 degrees for the first 10 s.
    case turnedField
    /// A walk with a gyro bias.
    case biasedWalk
    /// Swings of 15 rad/s with a gyro that ends at 500 deg/s.
    case clipping
    /// A magnet is passed twice.
    case magnetPassed
    /// A vehicle that accelerates and brakes for seconds, and turns.
    case drive
    /// Stops at each corner.
    case bus
    /// The same on a road that is not smooth: 0.4 m/s^2 up and down.
    case road
    /// The same on gravel: 1.3 m/s^2.
    case gravel
    /// Half a minute of gentle acceleration, a wide bend, and a long brake.
    case train
    /// A car that drives round and round.
    case circles
    /// A boat under way in a sea of 5 s.
    case swell

    /// Root mean square of a vehicle's vertical acceleration, m/s^2.
    var bounce: Double {
      switch self {
      case .road: 0.4
      case .gravel: 1.3
      default: 0
      }
    }

    /// The vehicle's way, where it is one.
    var drive: SyntheticDrive? {
      switch self {
      case .drive: .weaving
      case .bus, .road, .gravel: .bus
      case .train: .train
      case .circles: .circles
      default: nil
      }
    }
  }

  /// The kind and the seed, as in `drive-3`.
  package let name: String
  package private(set) var rows: [Row] = []

  private let kind: Kind
  private var random: SeededGenerator
  private static let (rate, gravity) = (100.0, 9.80665)
  private static let degree = Double.pi / 180
  private static let field = Vector3(0, 19, -45)

  package init(_ kind: Kind, seed: UInt64) {
    self.kind = kind
    name = "\(kind.rawValue)-\(seed)"
    random = SeededGenerator(seed: seed, name: kind.rawValue)
    fill()
  }

  /// Some of a kind.
  package static func all(of kind: Kind) -> [SyntheticTrial] {
    (UInt64(1)...6).map { SyntheticTrial(kind, seed: $0) }
  }

  /// What the filter makes of them.
  package static func score(
    _ trials: [SyntheticTrial], smooth: Bool, _ tuning: Tuning = .none
  ) -> RunScore {
    RunScore(
      trials: trials.map { trial in
        let estimates =
          smooth
          ? Estimation.smoothed(trial.rows, tuning) : Estimation.causal(trial.rows, tuning)
        return TrialScore(name: trial.name, rows: trial.rows, estimates: estimates)
      })
  }

  private mutating func fill() {
    let phase = 2 * Double.pi * random.uniform()
    let bias = direction() * (kind == .biasedWalk ? 1.5 : 0.3) * Self.degree
    let dt = 1 / Self.rate
    var before = attitude(at: -dt, phase)
    for step in 0..<9_000 {
      let t = Double(step) * dt
      let now = attitude(at: t, phase)
      var rate = (before.conjugate * now).rotationVector * Self.rate + bias
      before = now
      rate += noise(0.05 * Self.degree)
      var clipped = InertialClipping()
      if kind == .clipping {
        let range = SensorRange(end: 500 * Self.degree)
        clipped.angularRate = range.clipped(rate)
        rate = range.limited(rate)
      }
      let force = now.conjugate.rotate(acceleration(at: t, phase) + Vector3(0, 0, Self.gravity))
      rows.append(
        Row(
          rateTime: Timestamp(seconds: 100 + t - dt / 2), time: Timestamp(seconds: 100 + t),
          truthTime: Timestamp(seconds: 100 + t), rate: rate, clipped: clipped,
          force: force + noise(0.03), field: now.conjugate.rotate(field(at: t)) + noise(0.3),
          truth: now, counts: counts(at: t)))
    }
  }

  /// Nobody can know that the field is turned while it is; a minute later heading is to be right.
  private func counts(at t: Double) -> Bool { kind == .turnedField ? t > 70 : t > 2 }

  private func attitude(at t: Double, _ phase: Double) -> Quaternion {
    func turn(_ x: Double, _ y: Double, _ z: Double) -> Quaternion {
      Quaternion(rotationVector: Vector3(x, y, z))
    }
    if let drive = kind.drive { return turn(0, 0, -phase - drive.course(at: t)) }
    switch kind {
    case .swell:
      let wave = 2 * Double.pi * t / 5 + phase
      return turn(0, 0, -phase - 0.1 * sin(0.8 * wave))
        * turn(0.08 * sin(1.1 * wave), 0.25 * sin(wave), 0)
    case .clipping:
      // A second of swinging in three, about a slanted axis: up to 1.9 rad to either side.
      let swing = t.truncatingRemainder(dividingBy: 3)
      let angle = swing < 1 ? 2.4 * sin(2 * .pi * swing) * sin(.pi * swing) : 0
      return turn(0, 0, -phase) * turn(0.7 * angle, 0.2 * angle, 0.7 * angle)
    default:
      let step = 2 * Double.pi * 1.8 * t + phase
      let heading = phase + 0.9 * sin(0.35 * t) + 0.05 * t
      return turn(0, 0, -heading) * turn(0.5 + 0.05 * sin(step), 0.04 * sin(step / 2), 0)
    }
  }

  /// Of the board, earth frame, m/s^2.
  private func acceleration(at t: Double, _ phase: Double) -> Vector3 {
    if let drive = kind.drive {
      let bounce = sin(2 * .pi * 1.6 * t + phase) + sin(2 * .pi * 3.1 * t)
      return drive.acceleration(at: t, origin: phase) + Vector3(0, 0, kind.bounce * bounce)
    }
    switch kind {
    case .clipping: return .zero
    case .swell:
      // Up and down and to one side every 5 s, to and fro every 4 s.
      let wave = 2 * Double.pi * t / 5 + phase
      return Vector3(0.8 * sin(wave), 0.6 * cos(1.25 * wave), 0.9 * sin(wave + 1))
    default:
      let step = 2 * Double.pi * 1.8 * t + phase
      let heading = phase + 0.9 * sin(0.35 * t) + 0.05 * t
      let ahead = Vector3(sin(heading), cos(heading), 0)
      return ahead * (1.2 * sin(step)) + Vector3(0, 0, 2.5 * cos(step))
    }
  }

  /// The magnetic field at the board, earth frame, microtesla.
  private func field(at t: Double) -> Vector3 {
    switch kind {
    case .turnedField where t < 10:
      return Quaternion(rotationVector: Vector3(0, 0, -10 * Self.degree)).rotate(Self.field)
    case .magnetPassed:
      func near(_ middle: Double) -> Double { exp(-(t - middle) * (t - middle) / 4) }
      return Self.field + Vector3(18, 6, -9) * near(25) + Vector3(-12, 9, 15) * near(55)
    default: return Self.field
    }
  }

  private mutating func direction() -> Vector3 {
    let v = noise(1)
    return v.normalized ?? Vector3(0, 0, 1)
  }

  /// Normally distributed with this deviation on each axis (Box and Muller 1958).
  private mutating func noise(_ deviation: Double) -> Vector3 {
    func normal(_ random: inout SeededGenerator) -> Double {
      (-2 * log(1 - random.uniform())).squareRoot() * cos(2 * .pi * random.uniform())
    }
    return Vector3(normal(&random), normal(&random), normal(&random)) * deviation
  }
}
