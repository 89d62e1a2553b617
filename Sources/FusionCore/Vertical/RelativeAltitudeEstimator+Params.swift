// What may be tuned of relative altitude.

extension RelativeAltitudeEstimator {
}

/// What a user may tune. Independent of sample rates.
public struct RelativeAltitudeParameters: Sendable, Hashable {
  /// Least noise of one pressure sample, Pa rms; samples that show more have more. Default 1, chosen.
  public var pressureNoise = 1.0
  /// Steady spread of vertical acceleration while nothing measures it, m/s^2. Default 0.6:
  /// stairs, lifts.
  public var acceleration = 0.6
  /// How long an acceleration lasts, seconds. Default 1.
  public var accelerationTime = 1.0
  /// Steady spread of the accelerometer's bias, tilt and scale seen vertically, m/s^2. Default 0.03.
  public var bias = 0.03
  /// How long such a bias lasts, seconds. Default 20.
  public var biasTime = 20.0
  /// Noise of measured acceleration at rest, m/s^2 per root hertz. Default 0.005.
  public var accelerationNoise = 0.005
  /// Further noise as a share of the acceleration, for scale and timing. Default 0.05.
  public var accelerationShare = 0.05
  /// One sigma of the climb rate at the first sample, m/s. Default 0.7.
  public var initialSpeed = 0.7
  /// Growth of the altitude's uncertainty with time (weather), m per root hour. Default 1, chosen: 12 Pa
  /// in an hour. A front moves more and is not in it.
  public var drift = 1.0
  /// One sigma of the chip's temperature coefficient, Pa/K, either sign. Default 0.9, chosen between the
  /// chips' 1.5 and 0.5.
  public var temperatureCoefficient = 0.9
  /// Temperature of the air outside, degrees Celsius, where something measures it.
  public var airTemperature: Double?
  /// One sigma of `airTemperature`, kelvin. Default 2.
  public var airTemperatureDeviation = 2.0

  /// Makes the defaults.
  public init() {}
}
