// How a board sits in its carrier, from gravity while it is held as it is level in use.

public import LinearAlgebra
import TextForms

/// The small rotation from the frame that the mounts give to the carrier's, from where gravity points in one
/// position, or in two that differ by half a turn about the vertical.
///
/// In one position the tilt of what the board lies on is part of it. Between two it changes its sign in the
/// board's frame and the rest does not, so their middle is free of it. What the chip's own bias adds (a hundredth
/// of gravity is half a degree) stays in both: it is what levels the readings.
public struct LevelAtRest: Sendable, Hashable {
  enum Limit {
    /// Windows of force, m/s^2.
    static let force = 0.15
    /// Samples about their window, m/s^2: ten times a chip's noise, less than a hand does.
    static let shake = 0.5
    /// Windows of rate, rad/s: 1 deg/s.
    static let rate = Double.pi / 180
    /// The strength of gravity with the worst chip's scale and bias, m/s^2.
    static let gravity = 9.0...10.6
    /// Two positions on one surface differ by no more, degrees.
    static let surface = 10.0
    /// Half a turn changes the field by more, microtesla: it is twice the horizontal part, a tenth of what is usual.
    static let turn = 3.0
  }

  /// The shortest rest in a position, seconds.
  public static let shortest = 2.0

  /// What one or two positions come to.
  public static func outcome(of positions: [LevelPosition]) -> LevelOutcome {
    var outcome = LevelOutcome(
      rotation: nil, deviation: 0, surfaceTilt: nil,
      samples: positions.reduce(0) { $0 + $1.force.samples }, refusal: nil)
    for position in positions {
      if let movement = position.movement {
        outcome.refusal = movement
        return outcome
      }
      guard position.force.duration >= shortest, position.force.deviation != nil else {
        outcome.refusal =
          position.force.windows.isEmpty
          ? "the accelerometer said nothing" : "held still for too short a time"
        return outcome
      }
    }
    let means = positions.compactMap(\.force.mean)
    for mean in means where !Limit.gravity.contains(mean.length) {
      outcome.refusal =
        "a force of \(DecimalText.steady(mean.length, 2)) m/s^2 is not gravity: the board is accelerated, "
        + "or the chip is wrong"
      return outcome
    }
    let ups = means.compactMap(\.normalized)
    guard (1...2).contains(ups.count), let first = ups.first, let second = ups.last,
      let up = (first + second).normalized
    else {
      outcome.refusal = "one position is needed, or two"
      return outcome
    }
    outcome.rotation = rotation(lifting: up)
    let sigmas = positions.compactMap { $0.force.deviation?.max() }
    let variance = sigmas.reduce(0) { $0 + $1 * $1 } / Double(ups.count * ups.count)
    outcome.deviation = variance.squareRoot() / standardGravity * 180 / .pi
    if ups.count == 2 {
      let tilt = StillMath.arcSine((first - second).length / 2) * 180 / .pi
      outcome.surfaceTilt = tilt
      if tilt > Limit.surface {
        outcome.refusal =
          "the two positions differ by \(DecimalText.steady(2 * tilt, 1)) deg: not the same surface, or not "
          + "turned about the vertical"
      }
      // Where nothing was turned, the surface's tilt would pass for the board's.
      if let change = turnedField(positions), change < Limit.turn {
        outcome.refusal =
          "the board was not turned by half between the two positions: the magnetometer's field changed by "
          + "\(DecimalText.steady(change, 1)) uT"
      }
    }
    if let tilt = outcome.tilt, tilt > LevelRecord.largestTilt {
      outcome.refusal =
        "the board is \(DecimalText.steady(tilt, 0)) deg from level: that is a mount, for the board file, not a "
        + "level"
    }
    return outcome
  }

  /// How much the field changed between two positions, microtesla; `nil` where no magnetometer tells.
  private static func turnedField(_ positions: [LevelPosition]) -> Double? {
    guard let first = positions.first?.field.mean, let last = positions.last?.field.mean
    else { return nil }
    return (last - first).length
  }

  /// The smallest rotation that turns `up`, a unit vector, to +z: it has no part about the vertical.
  static func rotation(lifting up: Vector3) -> Quaternion {
    let axis = up.cross(Vector3(0, 0, 1))
    let sine = axis.length
    guard sine > 0 else {
      return up.z > 0 ? .identity : Quaternion(w: 0, vector: Vector3(1, 0, 0))
    }
    return Quaternion(rotationVector: axis * (atan2(sine, up.z) / sine)).normalized
  }
}

/// One position.
public struct LevelPosition: Sendable, Hashable {
  /// Specific force, m/s^2, in the frame that the mount gives.
  public var force = StillMean()
  /// Angular rate, rad/s; empty without a gyro.
  public var rate = StillMean()
  /// The magnetometer's field, microtesla, as it comes from the chip; empty without one.
  public var field = StillMean()

  /// Makes a position that nothing is known of.
  public init() {}

  /// How the board moved, in words; `nil` for one that did not.
  public var movement: String? {
    if force.wander > LevelAtRest.Limit.force {
      return
        "the board moved: the force on it changed by \(DecimalText.steady(force.wander, 2)) m/s^2"
        + " (\(DecimalText.steady(force.turn * 180 / .pi, 1)) deg)"
    }
    if force.scatter > LevelAtRest.Limit.shake {
      return "the board shook: \(DecimalText.steady(force.scatter, 2)) m/s^2 about the mean"
    }
    if rate.wander > LevelAtRest.Limit.rate {
      return
        "the board moved: its rate changed by \(DecimalText.steady(rate.wander * 180 / .pi, 1)) deg/s"
    }
    if let rate = rate.mean, !GyroRecord.isPossible(rate) {
      return "the board turns at \(DecimalText.steady(rate.length * 180 / .pi, 1)) deg/s"
    }
    return nil
  }
}

/// What it comes to.
public struct LevelOutcome: Sendable, Hashable {
  /// From the frame that the mounts give to the carrier's; `nil` where nothing was measured.
  public var rotation: Quaternion?
  /// One sigma of the tilt on its worse axis, degrees, from scatter alone.
  public var deviation: Double
  /// How far what the board lay on is from level, degrees; `nil` in one position.
  public var surfaceTilt: Double?
  /// Samples in it.
  public var samples: Int
  /// Why it is not to be used; `nil` for one that is.
  public var refusal: String?

  /// How far the board is from level, degrees.
  public var tilt: Double? { rotation.map { $0.rotationVector.length * 180 / .pi } }
}
