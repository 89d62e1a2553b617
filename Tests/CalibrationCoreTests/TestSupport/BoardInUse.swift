// A board that nobody calibrates: carried on a walk, turned in hands, at sea; what its chips say meanwhile.
// Shares nothing with what is tested but the types that go in.

import LinearAlgebra
import SeededDraws
import SensorTypes

/// A way of using a board.
enum Use: String, CaseIterable, Sendable {
  /// Walks, with the board tied on as it happens to sit; taken in the hand now and then and looked at.
  case hiker
  /// Turned about in hands, with pauses.
  case hands
  /// Turns all round and hardly tilts.
  case boat
  /// A robot on a floor: turns, and pitches on ramps.
  case robot
}

/// One board over some minutes.
struct BoardInUse {
  var unit: SyntheticUnit
  let use: Use
  /// What is added to the field in the earth's frame at a moment, microtesla.
  var room: (Double) -> Vector3 = { _ in .zero }
  /// What is added in the board's own, microtesla.
  var iron: (Double) -> Vector3 = { _ in .zero }
  var noise = 0.5
  var rate = 10.0
  private var random: SyntheticDraws
  private let waves: [(Double, Double, Vector3)]
  private let seat: Quaternion
  private var attitude = Quaternion.identity
  private var goal = Quaternion.identity
  private var speed = 0.0
  private var heading = 0.0
  private var headingRate = 0.0
  private var time = 0.0
  private var phaseEnd = 0.0
  private var isHandled = false

  init(_ use: Use, seed: Int) {
    var draws = SyntheticDraws(state: UInt64(seed) &* 0x1_0000_0007 &+ UInt64(use.hashOfName))
    unit = SyntheticUnit(draws: &draws, hasForce: true)
    self.use = use
    waves = (0..<6).map { _ in
      (draws.uniform(0.2, 4), draws.uniform(0, 6.3), draws.direction())
    }
    seat =
      use == .hiker
      ? Quaternion(rotationVector: draws.uniform(0, 2) * draws.direction()) : .identity
    heading = draws.uniform(0, 6.3)
    random = draws
  }

  /// The true calibration, less an offset, microtesla, and with soft iron that is wrong by a share.
  func record(off offset: Vector3 = .zero, soft: Vector3 = .zero) -> AppliedCalibration {
    let inverse = unit.distortion.inverse ?? .identity
    let whole = unit.misalignment.conjugate.matrix * inverse
    return AppliedCalibration(
      matrix: whole * (Matrix3.identity + Matrix3(diagonal: soft)), offset: unit.hardIron + offset,
      offsetCovariance: Matrix3(diagonal: Vector3(repeating: 0.05)), residual: 0.5,
      field: unit.strength)
  }

  /// Degrees, of a level board; `iron` is what the board carries by then, in its own axes.
  func error(_ calibration: AppliedCalibration, iron: Vector3 = .zero) -> Double {
    var unit = unit
    unit.hardIron += unit.distortion * unit.misalignment.rotate(iron)
    return unit.headingError(calibration.matrix, calibration.offset)
  }

  /// Goes on for a step and gives what the chips say.
  mutating func next() -> CalibrationSample {
    let step = 1 / rate
    time += step
    let before = attitude
    move(step)
    // Tilt as a filter knows it: wrong by half a degree, otherwise every few seconds.
    func wave(_ k: Int) -> Double { sin(waves[k].0 * time + waves[k].1) }
    let lean = 0.012 * Vector3(wave(0), wave(1), wave(2))
    let up = Quaternion(rotationVector: lean).rotate(
      attitude.conjugate.rotate(Vector3(0, 0, 1)))
    let earth =
      unit.strength * Vector3(0, cos(unit.dip), -sin(unit.dip)) + room(time)
    var raw = unit.raw(attitude.conjugate.rotate(earth) + iron(time))
    raw += noise * random.normals()
    if random.uniform(0, 1) < 0.003 { raw += 200 * random.direction() }
    let turn = (before.conjugate * attitude).rotationVector / step
    return CalibrationSample(
      time: Timestamp(seconds: 1_000 + time), field: raw, force: 9.81 * up,
      angularRate: turn + 0.01 * random.normals())
  }

  private mutating func move(_ step: Double) {
    if time >= phaseEnd {
      switch use {
      case .hands:
        isHandled = random.uniform(0, 1) < 0.7
        phaseEnd = time + random.uniform(10, 40)
      case .hiker:
        isHandled = !isHandled
        phaseEnd = time + (isHandled ? random.uniform(5, 20) : random.uniform(60, 180))
      case .boat, .robot: phaseEnd = .infinity
      }
    }
    // The course wanders, with bends.
    headingRate += step * (-0.2 * headingRate + 0.35 * random.normal() / step.squareRoot())
    headingRate = min(0.8, max(-0.8, headingRate))
    if isHandled {
      // From one attitude to the next.
      let left = attitude.conjugate * goal
      let angle = left.rotationVector.length
      if angle < 0.1 || angle.isNaN {
        goal = Quaternion(rotationVector: random.uniform(0.5, 3) * random.direction())
        speed = random.uniform(0.4, 2)
      } else {
        let turn = left.rotationVector / angle * min(angle, speed * step)
        attitude = (attitude * Quaternion(rotationVector: turn)).normalized
      }
      return
    }
    guard use != .hands else { return }
    heading += headingRate * step
    func wave(_ k: Int) -> Double { sin(waves[k].0 * time + waves[k].1) }
    let sway: Vector3
    switch use {
    case .hiker: sway = Vector3(0.2 * wave(3), 0.2 * wave(4), 0.1 * wave(5))
    case .boat: sway = Vector3(0.05 * wave(3), 0.12 * wave(4), 0)
    case .robot: sway = Vector3(0.15 * max(0, wave(3)), 0.02 * wave(4), 0)
    case .hands: sway = .zero
    }
    let wanted =
      Quaternion(rotationVector: Vector3(0, 0, -heading)) * Quaternion(rotationVector: sway) * seat
    // What was in the hand is put back within a second.
    let left = (attitude.conjugate * wanted).rotationVector
    let turn = left.length > 2 * step ? left * (2 * step / left.length) : left
    attitude = (attitude * Quaternion(rotationVector: turn)).normalized
  }
}

extension Use {
  fileprivate var hashOfName: Int { (Self.allCases.firstIndex(of: self) ?? 0) * 7_919 }
}
