// The hand that holds a synthetic unit: how it turns, how it goes to and fro, and a magnet that it passes.

import LinearAlgebra
import SeededDraws

/// Attitudes and angular rates (radians per second) of a board that a hand turns about.
struct TurningHand {
  private(set) var attitude: Quaternion
  private(set) var turn: Vector3
  /// The wish to turn comes and goes; a hand follows it a little later.
  private var wish: Vector3
  private let liveliness: Double
  private let tilt: Double
  private let dt: Double
  private let keep: Double
  private let follow: Double

  init(_ motion: SyntheticUnit.Motion, draws: inout SyntheticDraws) {
    (liveliness, tilt, dt) = (motion.liveliness, motion.tilt, 1 / motion.rate)
    keep = exp(-dt / motion.persistence)
    follow = 1 - exp(-dt / 0.15)
    attitude = Quaternion(rotationVector: draws.uniform(0, .pi) * draws.direction())
    if tilt < .pi {
      attitude = Quaternion(rotationVector: Vector3(0, 0, draws.uniform(0, 6)))
    }
    turn = liveliness * draws.normals()
    wish = turn
  }

  /// Goes on by one sample.
  mutating func advance(isResting: Bool, draws: inout SyntheticDraws) {
    let gust = (1 - keep * keep).squareRoot()
    wish = keep * wish + gust * liveliness * draws.normals()
    turn += follow * (wish - turn)
    guard !isResting else {
      turn = .zero
      return
    }
    var next = turned
    if tilt < .pi, acos(max(-1, min(1, next.rotate(Vector3(0, 0, 1)).z))) > tilt {
      // Turned back about where it came from.
      turn = Vector3(-turn.x, -turn.y, turn.z)
      wish = turn
      next = turned
    }
    attitude = next
  }

  private var turned: Quaternion {
    (attitude * Quaternion(rotationVector: turn * dt)).normalized
  }
}

/// Where a board is that a hand moves to and fro, in metres: waves of 0.3 to 2.5 Hz.
struct HandSway {
  /// Angular frequency, phase and amplitude of each wave.
  private let waves: [(Double, Double, Vector3)]
  /// From the point that the hand turns about to the board.
  private let arm: Vector3

  init(_ motion: SyntheticUnit.Motion, draws: inout SyntheticDraws) {
    var waves: [(Double, Double, Vector3)] = []
    for _ in 0..<6 {
      let frequency = 2 * Double.pi * draws.uniform(0.3, 2.5)
      let size = motion.shaking * (2.0 / 6).squareRoot() / (frequency * frequency)
      let phase = draws.uniform(0, 6.3)
      let amplitude: Double = size * 3.0.squareRoot()
      waves.append((frequency, phase, amplitude * draws.direction()))
    }
    self.waves = waves
    arm = motion.arm * draws.direction()
  }

  func place(at time: Double, attitude: Quaternion) -> Vector3 {
    waves.reduce(attitude.rotate(arm)) { $0 + sin($1.0 * time + $1.1) * $1.2 }
  }
}

/// A magnet that comes and goes once in a recording, or none.
struct PassingMagnet {
  private let magnet: (seconds: Double, strength: Double)?
  private let start: Double
  private let pole: Vector3

  init(_ motion: SyntheticUnit.Motion, draws: inout SyntheticDraws) {
    magnet = motion.magnet
    start = draws.uniform(0, 1) * (motion.seconds - (motion.magnet?.seconds ?? 0))
    pole = draws.direction()
  }

  /// Microtesla; its direction turns a little on the way.
  func field(at time: Double) -> Vector3 {
    guard let magnet, magnet.seconds > 0 else { return .zero }
    let phase = (time - start) / magnet.seconds
    guard phase > 0, phase < 1 else { return .zero }
    let swing = Quaternion(rotationVector: Vector3(0.5, -0.3, 1) * (phase - 0.5))
    let near = sin(.pi * phase)
    return magnet.strength * near * near * near * swing.rotate(pole)
  }
}
