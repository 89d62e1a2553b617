// Whether a board that is shown a heading was held still.

public import LinearAlgebra
public import SensorTypes
import TextForms

/// A board that points somewhere for some seconds: what its gyro says about its own mean, and where that mean is more
/// than a hand's, whether field and force say that the board turned.
///
/// The mean alone says nothing: a gyro at rest may say 20 deg/s (MPU-6000 PS rev. 3.4, 6.1, zero-rate output).
public struct HeadingAtRest: Sendable, Hashable {
  enum Limit {
    /// Windows of rate about their mean, rad/s.
    static let rate = 0.1
    /// A steady rate below it turns a board by six degrees in five seconds, rad/s.
    static let steady = 0.02
    /// One sample of rate about the mean, rad/s.
    static let shake = 1.0
    /// Windows of field about their mean while the gyro turns, microtesla: a fifth of a radian is more wherever a compass
    /// works, and a window's noise is less.
    static let turn = 2.0
    /// Windows of force meanwhile, m/s^2: a tenth of a radian about any axis but the vertical is more.
    static let lean = 0.5
    /// One sample of field about the mean, microtesla, on a board without a gyro; a tenth of them may be further.
    static let field = 5.0
  }

  /// What the gyro says on average, rad/s; `nil` without one.
  public let rate: Vector3?
  /// How the board moved, in words; `nil` for one that did not.
  public let movement: String?
  /// The samples as they are to be fitted: of a board that did not move, what its gyro says is no turn and is taken out.
  public let samples: [CalibrationSample]

  /// Judges samples, in order of time.
  public init(_ samples: [CalibrationSample]) {
    let rates = samples.compactMap(\.angularRate)
    guard !rates.isEmpty else {
      rate = nil
      self.samples = samples
      let mean = samples.reduce(Vector3.zero) { $0 + $1.field } / Double(max(1, samples.count))
      let far = samples.count { ($0.field - mean).length > Limit.field }
      movement = far * 10 > samples.count ? "the board moved: hold it still" : nil
      return
    }
    let mean = rates.reduce(Vector3.zero, +) / Double(rates.count)
    rate = mean
    var (gyro, force, field) = (StillMean(), StillMean(), StillMean())
    for sample in samples {
      if let rate = sample.angularRate { gyro.take(rate, at: sample.time) }
      if let felt = sample.force { force.take(felt, at: sample.time) }
      field.take(sample.field, at: sample.time)
    }
    let isSteady =
      gyro.wander <= Limit.rate && rates.allSatisfy { ($0 - mean).length <= Limit.shake }
    let isTurning =
      mean.length > Limit.steady && (field.wander > Limit.turn || force.wander > Limit.lean)
    guard isSteady, !isTurning else {
      self.samples = samples
      movement = "the board moved: hold it still" + Self.advice(mean)
      return
    }
    movement = nil
    self.samples = samples.map { sample in
      var sample = sample
      sample.angularRate = sample.angularRate.map { $0 - mean }
      return sample
    }
  }

  /// What the gyro says of a board at rest that is worth a calibration of its own, in words; `nil` for one that is good
  /// enough, and where the board moved.
  public var bias: String? {
    guard movement == nil, let rate, rate.length > Limit.rate else { return nil }
    return Self.words(rate) + " of a board that is held still"
  }

  private static func words(_ rate: Vector3) -> String {
    "the gyro says \(DecimalText.steady(rate.length * 180 / .pi, 1)) deg/s"
  }

  private static func advice(_ rate: Vector3) -> String {
    guard rate.length > Limit.rate else { return "" }
    return " (\(words(rate)); lodestone calibrate gyro learns what it says at rest)"
  }
}
