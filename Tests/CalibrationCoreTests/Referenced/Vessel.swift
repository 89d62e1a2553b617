// A vessel of known iron that turns, rolls and goes its way: what a calibration is judged by.

import SeededDraws
import CalibrationCore
import Foundation
import LinearAlgebra
import SensorTypes

/// What the simulation of a vessel draws.
struct Dice: RandomNumberGenerator {
  private var bits: SplitMix64

  init(_ seed: Int) { bits = SplitMix64(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15) }

  mutating func next() -> UInt64 { bits.next() }

  mutating func flat(_ range: ClosedRange<Double>) -> Double {
    Double.random(in: range, using: &bits)
  }

  mutating func normal() -> Double {
    (-2 * log(flat(1e-12...1))).squareRoot() * cos(2 * .pi * flat(0...1))
  }

  mutating func direction() -> Vector3 {
    Vector3(normal(), normal(), normal()).normalized ?? Vector3(0, 0, 1)
  }

  mutating func noise(_ sigma: Double) -> Vector3 { sigma * Vector3(normal(), normal(), normal()) }
}

let degree = Double.pi / 180

func rotation(_ axis: Vector3, _ angle: Double) -> Matrix3 {
  // Rodrigues.
  let k = axis
  let cross = Matrix3(rows: Vector3(0, -k.z, k.y), Vector3(k.z, 0, -k.x), Vector3(-k.y, k.x, 0))
  return Matrix3.identity + sin(angle) * cross + (1 - cos(angle)) * (cross * cross)
}

private func square(_ x: Double) -> Double { x * x }

struct Vessel {
  /// Draws of one unit.
  var dice: Dice
  let mount: Mount
  /// The field that the caller is told, and the true one (horizontal, vertical).
  let earth: EarthField
  let horizontal: Double
  let vertical: Double
  let iron: Matrix3
  let hardIron: Vector3
  /// rad/s, body frame.
  let gyroBias: Vector3
  let phase: Double
  /// Roll's amplitude, radians.
  var roll = 10 * degree
  /// How far above the axis of roll the board sits, metres: it sways the accelerometer.
  var height = 1.0
  var hasGyro = false
  var noise = 0.5
  private let period: Double

  static let mounts = [
    Mount.aligned, Mount(x: .plusY, y: .minusX, z: .plusZ), Mount(x: .minusX, y: .plusY, z: .plusZ),
    Mount(x: .plusZ, y: .plusX, z: .plusY),
  ].compactMap { $0 }

  init(_ seed: Int, hardIron most: Double = 100, soft: Double = 0.1, alignment: Double = 3) {
    var dice = Dice(seed)
    mount = Self.mounts[seed % Self.mounts.count]
    let (strength, dip) = (dice.flat(30...60), dice.flat(40...75) * degree)
    earth = EarthField(strength: strength, dip: dip)
    // The truth, by hand: what the code under test makes of the two is not asked. Half a microtesla of strength
    // and half a degree of dip, through the derivatives of the two components.
    let (bySoil, byDip) = (0.5, strength * 0.5 * degree)
    let across = (square(bySoil * cos(dip)) + square(byDip * sin(dip))).squareRoot()
    let down = (square(bySoil * sin(dip)) + square(byDip * cos(dip))).squareRoot()
    horizontal = strength * cos(dip) + across * dice.normal()
    vertical = strength * sin(dip) + down * dice.normal()
    let frame = rotation(dice.direction(), dice.flat(0...Double.pi))
    let stretch = Vector3(
      1 + dice.flat(-soft...soft), 1 + dice.flat(-soft...soft), 1 + dice.flat(-soft...soft))
    iron =
      rotation(dice.direction(), dice.flat(0...1) * alignment * degree)
      * (frame * Matrix3(diagonal: stretch) * frame.transposed)
    hardIron = dice.flat(0...most) * dice.direction()
    phase = dice.flat(0...6)
    gyroBias = dice.noise(0.5 * degree)
    period = dice.flat(3...7)
    self.dice = dice
  }

  /// Columns: the body's axes in east, magnetic north, up.
  static func attitude(heading: Double, pitch: Double, roll: Double) -> Matrix3 {
    // About up, clockwise; then nose up about right; then right side down about forward.
    rotation(Vector3(0, 0, 1), -heading) * rotation(Vector3(1, 0, 0), pitch)
      * rotation(Vector3(0, 1, 0), roll)
  }

  /// The raw field without noise, body frame.
  func raw(_ attitude: Matrix3) -> Vector3 {
    iron * (attitude.transposed * Vector3(0, horizontal, -vertical)) + hardIron
  }

  private func tilt(_ t: Double) -> (pitch: Double, roll: Double) {
    (
      0.4 * roll * sin(2 * .pi * t / (0.8 * period) + phase),
      roll * sin(2 * .pi * t / period + 2 * phase)
    )
  }

  /// What the chips say on a way of headings, at 20 Hz.
  mutating func samples(
    from start: Double = 0, seconds: Double, acceleration: (Double) -> Vector3 = { _ in .zero },
    heading: (Double) -> Double
  ) -> [CalibrationSample] {
    let back = mount.matrix.transposed
    let sense = mount.matrix.determinant
    return stride(from: start, to: start + seconds, by: 0.05).map { t in
      func attitude(_ t: Double) -> Matrix3 {
        Self.attitude(heading: heading(t), pitch: tilt(t).pitch, roll: tilt(t).roll)
      }
      let now = attitude(t)
      let step = 1e-4
      let change = (1 / step) * (now.transposed * (attitude(t + step) - now))
      let rate = Vector3(change.columns.y.z, change.columns.z.x, change.columns.x.y)
      // The mast's swing, to the side.
      let swing =
        (tilt(t + 0.01).roll - 2 * tilt(t).roll + tilt(t - 0.01).roll) / 1e-4 * height
      let force =
        now.transposed * Vector3(0, 0, 9.81) + Vector3(swing, 0, 0) + acceleration(t)
        + dice.noise(0.05)
      return CalibrationSample(
        time: Timestamp(seconds: 1_000 + t), field: back * (raw(now) + dice.noise(noise)),
        force: back * force,
        angularRate: hasGyro ? sense * (back * (rate + gyroBias + dice.noise(0.002))) : nil)
    }
  }

  /// Errors of the heading all round at a roll, radians, and the 95 % bar that the filter would give.
  func judge(_ fit: CalibrationFit, roll: Double = 0) -> (errors: [Double], bars: [Double]) {
    let applied = fit.applied
    let turn = mount.matrix
    let m = turn * applied.matrix
    let covariance = m * applied.offsetCovariance * m.transposed
    var errors: [Double] = []
    var bars: [Double] = []
    for k in 0..<36 {
      let heading = Double(k) * 10 * degree
      let now = Self.attitude(heading: heading, pitch: 0, roll: roll)
      let field = now * (turn * applied.correct(turn.transposed * raw(now)))
      // In the true earth frame: what is left of it beside north is the error.
      errors.append(-atan2(field.x, field.y))
      let east = now.transposed * Vector3(1, 0, 0)
      let variance = east.dot(covariance * east) + applied.residual * applied.residual
      bars.append(1.96 * variance.squareRoot() / hypot(field.x, field.y))
    }
    return (errors, bars)
  }
}

func rms(_ values: [Double]) -> Double {
  (values.reduce(0) { $0 + $1 * $1 } / Double(max(1, values.count))).squareRoot()
}

/// What a run over many units comes to.
struct Tally {
  var real: [Double] = []
  var foretold: [Double] = []
  var withoutConstant: [Double] = []
  var inside = 0
  var asked = 0
  var refusals: [String] = []

  mutating func add(_ vessel: Vessel, _ outcome: CalibrationOutcome, roll: Double = 0) {
    guard let fit = outcome.fit, outcome.isAccepted else {
      refusals.append(outcome.refusal ?? "")
      return
    }
    let level = vessel.judge(fit).errors
    real.append(rms(level) / degree)
    let mean = level.reduce(0, +) / 36
    withoutConstant.append(rms(level.map { $0 - mean }) / degree)
    foretold.append(fit.quality.headingError)
    let rolled = vessel.judge(fit, roll: roll)
    inside += zip(rolled.errors, rolled.bars).filter { abs($0) <= $1 }.count
    asked += 36
  }

  /// Real over foretold error, both root mean square over the units.
  var ratio: Double { rms(real) / rms(foretold) }
  var share: Double { Double(inside) / Double(max(1, asked)) }

  var words: String {
    func f(_ x: Double) -> String { String(format: "%.2f", x) }
    return
      "\(real.count) units, \(refusals.count) refused \(Array(Set(refusals).prefix(3))); rms \(f(rms(real))) "
      + "p95 \(f(percentile(real, 0.95))) max \(f(real.max() ?? .nan)); without constant p95 "
      + "\(f(percentile(withoutConstant, 0.95))); foretold rms \(f(rms(foretold))); ratio \(f(ratio)); "
      + "inside the bar \(f(100 * share)) %"
  }
}
