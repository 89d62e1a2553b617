// Double integration of the vertical acceleration that does not drift.

/// Elevation, its rate and what holds them to their mean, from vertical acceleration.
///
/// An observer with the virtual measurement "the integral of the elevation is zero":
///
///     I' = z - k1 I,  z' = v - k2 I,  v' = a - b - k3 I,  b' = g + k4 I,  g' = k5 I
///
/// with the bias `b` of the acceleration and its drift `g`. The gains are those of a Butterworth filter of fifth order.
/// All states are physical, so that the corner frequency may change without a jump. That a heave filter is tuned to the sea
/// and the sensor's noise is the idea of J.-M. Godhavn, "Adaptive tuning of heave filter in motion sensor", OCEANS 1998.
struct HeaveFilter: Sendable, Hashable, Codable {
  /// The coefficients of the Butterworth polynomial of fifth order behind the first one.
  static let gains = (
    3.23606797749979, 5.23606797749979, 5.23606797749979, 3.23606797749979, 1.0
  )

  private var integral = 0.0
  private var elevation = 0.0
  private var speed = 0.0
  private var bias = 0.0
  private var drift = 0.0

  /// Begins in the mean, with a bias in m/s^2.
  init(bias: Double) { self.bias = bias }

  /// Moves by `dt` seconds with a mean acceleration in m/s^2 and the corner frequency `w` in rad/s.
  mutating func move(_ dt: Double, _ acceleration: Double, corner w: Double) {
    let k = Self.gains
    let before = (integral, elevation, speed)
    let w2 = w * w
    speed += dt * (acceleration - bias - k.2 * w2 * w * before.0)
    elevation += dt * (0.5 * (before.2 + speed) - k.1 * w2 * before.0)
    integral += dt * (0.5 * (before.1 + elevation) - k.0 * w * before.0)
    bias += dt * (drift + k.3 * w2 * w2 * before.0)
    drift += dt * k.4 * w2 * w2 * w * before.0
  }

  /// Elevation, speed, integral and drift, all in units of the elevation by powers of the corner frequency.
  func lanes(corner w: Double) -> SIMD4<Double> {
    SIMD4<Double>(elevation, speed / w, integral * w, drift / (w * w * w))
  }

  /// Whether all states are numbers.
  var isFinite: Bool { (integral + elevation + speed + bias + drift).isFinite }
}
