// A gyro's bias, from a board that lies still.

public import LinearAlgebra
import TextForms

/// A gyro's bias from some seconds of rest, with what says that it was rest.
public struct GyroAtRest: Sendable, Hashable {
  /// What a chip says of being still, and how much of it is noise: the largest that a chip at rest shows.
  enum Limit {
    /// Windows of rate, rad/s: 0.3 deg/s. A small chip's noise in half a second's mean is a tenth of it.
    static let rate = 0.3 * Double.pi / 180
    /// Samples of rate about their window, rad/s: 2 deg/s, several times a chip's noise at full bandwidth.
    static let shake = 2 * Double.pi / 180
    /// Windows of force, m/s^2: a hand does more.
    static let force = 0.15
    /// Direction of the field, radians: 2 deg, what a magnetometer's noise does not reach.
    static let field = 2 * Double.pi / 180
  }

  /// The shortest rest that gives a bias, seconds.
  public static let shortest = 3.0

  /// Angular rate, rad/s, in the chip's own frame.
  public var rate = StillMean()
  /// Specific force, m/s^2; empty without an accelerometer.
  public var force = StillMean()
  /// The field, microtesla; empty without a magnetometer.
  public var field = StillMean()

  /// Makes a rest that nothing is known of.
  public init() {}

  /// What the rest comes to so far.
  public var outcome: GyroOutcome {
    GyroOutcome(
      bias: rate.mean, deviation: rate.deviation?.max() ?? 0, samples: rate.samples,
      refusal: movement ?? shortage)
  }

  /// How the board moved, in words; `nil` for one that did not.
  public var movement: String? {
    func degrees(_ radians: Double) -> String { DecimalText.steady(radians * 180 / .pi, 2) }
    if rate.wander > Limit.rate {
      return "the board moved: its rate changed by \(degrees(rate.wander)) deg/s"
    }
    if rate.scatter > Limit.shake {
      return "the board shook: \(degrees(rate.scatter)) deg/s about the mean"
    }
    if force.wander > Limit.force {
      return
        "the board moved: the force on it changed by \(DecimalText.steady(force.wander, 2)) m/s^2"
    }
    if field.turn > Limit.field {
      return "the board turned by \(degrees(field.turn)) deg, or a magnet near it did"
    }
    if let bias = rate.mean, !GyroRecord.isPossible(bias) {
      return "\(degrees(bias.length)) deg/s is more than any chip's bias: the board turns"
    }
    return nil
  }

  private var shortage: String? {
    guard rate.duration >= Self.shortest, rate.deviation != nil else {
      return rate.windows.isEmpty
        ? "the gyro said nothing"
        : "only \(DecimalText.steady(rate.duration, 1)) s of it; \(DecimalText.steady(Self.shortest, 0)) s are needed"
    }
    return nil
  }
}

/// What it comes to.
public struct GyroOutcome: Sendable, Hashable {
  /// The bias, rad/s, in the chip's own frame; `nil` where nothing was measured.
  public var bias: Vector3?
  /// One sigma of it on the worst axis, rad/s.
  public var deviation: Double
  /// Samples in it.
  public var samples: Int
  /// Why it is not to be used; `nil` for one that is.
  public var refusal: String?
}
