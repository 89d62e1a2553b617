// Height and climb from a barometer: a Kalman filter over height, speed and acceleration.

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif
public import SensorTypes

/// Estimates height above where it started, from static pressure.
///
/// Pressure becomes height by the standard atmosphere (ISO 2533: 15 degrees Celsius at sea level, 6.5 K a
/// kilometre). Real air that is 10 K warmer is 3.5 % thinner: a climb of 100 m then shows as 96.5 m.
/// Weather moves the zero by a few metres an hour; nothing here can tell that from a climb.
///
/// The zero is the mean of the first `startSamples`; nothing is said before, so that the first height
/// said is zero.
public struct RelativeAltitudeEstimator: Sendable, Hashable {
  /// Samples whose mean is the zero.
  public static let startSamples = 10
  /// Pressures that a barometer can meet, pascals: 9 km above to 0.7 km below the sea.
  public static let plausiblePressure = 30_000.0...110_000.0
  /// After a longer gap (seconds) climb is unknown again; the height is kept.
  public static let longestGap = 2.0

  // Jerk of a person or a vehicle, m/s^3 per square root of hertz: a step out of rest is followed within
  // a third of a second, and 0.1 m of noise in each sample of 25 Hz is halved.
  private static let jerk = 1.0
  private static let initialSpeed = 1.0
  private static let initialAcceleration = 1.0

  private var zeroSum = 0.0
  private var zeroCount = 0
  private var zero = 0.0
  private var last: Timestamp?
  // Height, speed, acceleration, and their covariance by rows.
  private var x = SIMD3<Double>()
  private var p0 = SIMD3<Double>()
  private var p1 = SIMD3<Double>()
  private var p2 = SIMD3<Double>()
  private var smoothPressure = 0.0
  // Noise of one sample as height, learnt from the innovations, m^2.
  private var noise = 0.1 * 0.1
  /// Samples that were no pressure at all.
  public private(set) var rejected: UInt64 = 0

  /// Makes an estimator that knows no zero yet.
  public init() {}

  /// Height of a pressure in the standard atmosphere, metres above its sea level; valid below 11 km.
  public static func standardHeight(pressure: Double) -> Double {
    44_330.769 * (1 - pow(pressure / 101_325, 0.190_263_1))
  }

  /// Takes a pressure, pascals; `nil` until there is a zero, and for what is no pressure.
  public mutating func update(pressure: Double, at time: Timestamp) -> AltitudeEstimate? {
    guard Self.plausiblePressure.contains(pressure) else {
      rejected &+= 1
      return nil
    }
    let height = Self.standardHeight(pressure: pressure)
    guard zeroCount >= Self.startSamples else {
      zeroSum += height
      zeroCount += 1
      zero = zeroSum / Double(zeroCount)
      smoothPressure += (pressure - smoothPressure) / Double(zeroCount)
      last = time
      guard zeroCount == Self.startSamples else { return nil }
      reset(height: 0)
      return estimate(time)
    }
    let dt = last.map { time.seconds(since: $0) } ?? 0
    guard dt > 0 else { return nil }
    last = time
    if dt > Self.longestGap {
      reset(height: height - zero)
    } else {
      predict(dt)
      correct(height - zero)
      smoothPressure += min(1, dt / 0.2) * (pressure - smoothPressure)
    }
    return estimate(time)
  }

  private mutating func reset(height: Double) {
    x = SIMD3(height, 0, 0)
    p0 = SIMD3(noise, 0, 0)
    p1 = SIMD3(0, Self.initialSpeed * Self.initialSpeed, 0)
    p2 = SIMD3(0, 0, Self.initialAcceleration * Self.initialAcceleration)
  }

  private mutating func predict(_ dt: Double) {
    let half = dt * dt / 2
    x = SIMD3(x.x + dt * x.y + half * x.z, x.y + dt * x.z, x.z)
    // F P F' for F = [1 dt half; 0 1 dt; 0 0 1].
    let a0 = p0 + dt * p1 + half * p2
    let a1 = p1 + dt * p2
    let a2 = p2
    func turned(_ a: SIMD3<Double>) -> SIMD3<Double> {
      SIMD3(a.x + dt * a.y + half * a.z, a.y + dt * a.z, a.z)
    }
    let q = Self.jerk * Self.jerk
    let (d2, d3) = (dt * dt, dt * dt * dt)
    p0 = turned(a0) + q * SIMD3(d3 * d2 / 20, d2 * d2 / 8, d3 / 6)
    p1 = turned(a1) + q * SIMD3(d2 * d2 / 8, d3 / 3, d2 / 2)
    p2 = turned(a2) + q * SIMD3(d3 / 6, d2 / 2, dt)
  }

  private mutating func correct(_ height: Double) {
    let innovation = height - x.x
    let total = p0.x + noise
    // The noise is what the innovations have beyond the prediction's own uncertainty; a gust or a door
    // counts no more than three sigma towards it.
    let bounded = min(innovation * innovation, 9 * total)
    noise = min(4, max(1e-4, noise + 0.02 * (bounded - total)))
    let gain = SIMD3(p0.x, p1.x, p2.x) / total
    x += gain * innovation
    let row = p0
    p0 -= gain.x * row
    p1 -= gain.y * row
    p2 -= gain.z * row
  }

  private func estimate(_ time: Timestamp) -> AltitudeEstimate {
    AltitudeEstimate(
      time: time, relativeAltitude: x.x,
      relativeAccuracy: (max(0, p0.x) + noise / Double(Self.startSamples)).squareRoot(),
      pressure: smoothPressure, verticalSpeed: x.y)
  }
}
