// The weights with which the heave filter's states become heave and rate, and the error that is left.

import LinearAlgebra
import SensorTypes

/// The best linear estimate of elevation and rate from four states of the heave filter, for one spectrum (Wiener 1949).
///
/// With `X` the four states per acceleration at a frequency, `A` the spectrum of the waves' acceleration and `N` that of
/// its noise, the weights solve `(sum A X X* + sum N X X*) c = sum A X t`, where `t` is -1/omega^2 for the elevation and
/// -j/omega for its rate. The filter's phase lead is made good at every frequency of the sea, as far as the noise allows.
struct HeaveWeights: Sendable, Hashable, Codable {
  /// The corner frequency of the filter, rad/s.
  var corner: Double
  /// Weights of the states for heave, and for its rate.
  var heave: SIMD4<Double>
  var rate: SIMD4<Double>
  /// Variances of the errors, m^2 and (m/s)^2.
  var heaveError: Double
  var rateError: Double
  /// Variance of the heave, m^2.
  var heaveVariance: Double

  /// The states' response to an acceleration of angular frequency `x`, in units of a filter with the corner frequency 1:
  /// real and imaginary parts, over the square of the corner frequency in lanes as `HeaveFilter.lanes` has them.
  static func response(_ x: Double) -> (re: SIMD4<Double>, im: SIMD4<Double>) {
    let k = HeaveFilter.gains
    let x2 = x * x
    let (a, b) = (
      k.0 * x2 * x2 - k.2 * x2 + k.4, x * (x2 * x2 - k.1 * x2 + k.3)
    )
    let re = SIMD4<Double>(-k.0 * x2, x2 * x2 - k.1 * x2, -x2, 0)
    let im = SIMD4<Double>(-x2 * x, -k.0 * x2 * x, 0, x)
    let scale = 1 / (a * a + b * b)
    return ((re * a + im * b) * scale, (im * a - re * b) * scale)
  }

  /// The states' covariance for white acceleration of the one-sided density 1 and a corner frequency of 1 rad/s:
  /// `1/(2 pi) int X X* dx`, from the Lyapunov equation of the filter.
  static let white = SymmetricRows4(
    a: [0.5854101966249682, 0.8472135954999567, 0.1618033988749895, -0.05],
    b: [0.8472135954999567, 1.532623792124924, 0.2, -0.1618033988749893],
    c: [0.1618033988749895, 0.2, 0.05, 0],
    d: [-0.05, -0.1618033988749893, 0, 0.0618033988749895])
  /// The same for a density of 1/x^2.
  static let red = SymmetricRows4(
    a: [0.6972135954999585, 1.047213595499959, 0.2, -0.06180339887498963],
    b: [1.047213595499959, 1.756230589874907, 0.2736067977499793, -0.2],
    c: [0.2, 0.2736067977499793, 0.0618033988749895, 0],
    d: [-0.06180339887498963, -0.2, 0, 0.1618033988749898])

  /// The weights for a filter with the corner frequency `corner`.
  /// - Parameter noise: One-sided density of the acceleration's noise, (m/s^2)^2/Hz.
  /// - Returns: `nil` without waves.
  init?(
    _ spectrum: WaveSpectrum, _ band: WaveBand, noise: Double, corner: Double,
    _ params: HeaveParameters
  ) {
    guard band.lowest >= 2, corner > 0, noise >= 0 else { return nil }
    var matrix = SymmetricRows4()
    var (toHeave, toRate) = (SIMD4<Double>.zero, SIMD4<Double>.zero)
    var (heaveVariance, rateVariance) = (0.0, 0.0)
    let unit = 1 / (corner * corner)
    for bin in band.lowest...WaveSpectrum.highest {
      let power = max(0, spectrum.vertical[bin] - band.noise) * WaveSpectrum.resolution
      let omega = WaveSpectrum.omega(bin)
      let (re, im) = Self.response(omega / corner)
      matrix.add(re * unit, weight: power)
      matrix.add(im * unit, weight: power)
      toHeave -= (power / (omega * omega) * unit) * re
      toRate -= (power / omega * unit) * im
      heaveVariance += power / (omega * omega * omega * omega)
      rateVariance += power / (omega * omega)
    }
    guard heaveVariance > 0 else { return nil }
    let density = noise / (corner * corner * corner)
    let ratio = params.filter.corner / corner
    matrix.add(Self.white, weight: density)
    matrix.add(Self.red, weight: density * ratio * ratio)
    guard let heave = matrix.solved(toHeave), let rate = matrix.solved(toRate) else { return nil }
    self.corner = corner
    self.heave = heave
    self.rate = rate
    self.heaveVariance = heaveVariance
    let share = params.share * params.share
    heaveError =
      max(0, heaveVariance - (toHeave * heave).sum()) + share * heaveVariance
    rateError = max(0, rateVariance - (toRate * rate).sum()) + share * rateVariance
    guard (heave + rate).sum().isFinite, heaveError.isFinite, rateError.isFinite else {
      return nil
    }
  }

  /// The weights with the smallest error over corner frequencies between two limits, in 24 steps.
  static func best(
    _ spectrum: WaveSpectrum, _ band: WaveBand, _ limits: ClosedRange<Double>,
    _ params: HeaveParameters
  ) -> HeaveWeights? {
    // Noise at and below the first bins counts too, and few windows know it badly.
    let low = (spectrum.vertical[1] + spectrum.vertical[2] + spectrum.vertical[3]) / 3
    let unsure = 1 + 1 / (2 * max(1, spectrum.duration / WaveSpectrum.hopTime)).squareRoot()
    let noise = max(band.noise, low) * unsure
    var best: HeaveWeights?
    let steps = 24
    for step in 0..<steps {
      let share = Double(step) / Double(steps - 1)
      let corner = limits.lowerBound * pow(limits.upperBound / limits.lowerBound, share)
      guard
        let weights = HeaveWeights(spectrum, band, noise: noise, corner: corner, params)
      else { continue }
      if let known = best, known.heaveError <= weights.heaveError { continue }
      best = weights
    }
    return best
  }

  /// Weights on the way to others; the errors are the larger ones.
  func mixed(_ share: Double, with other: HeaveWeights) -> HeaveWeights {
    var mix = self
    mix.corner += share * (other.corner - corner)
    mix.heave += share * (other.heave - heave)
    mix.rate += share * (other.rate - rate)
    mix.heaveError = max(heaveError, other.heaveError)
    mix.rateError = max(rateError, other.rateError)
    mix.heaveVariance = max(heaveVariance, other.heaveVariance)
    return mix
  }

  /// Whether a filter can run with them: a saved state comes from a file.
  var isSound: Bool {
    corner > 0 && corner <= 10 && (heave + rate).sum().isFinite && heaveError >= 0
      && rateError >= 0 && heaveVariance > 0 && heaveVariance.isFinite
  }
}

/// A symmetric 4 x 4 matrix as rows.
struct SymmetricRows4: Sendable {
  var a = SIMD4<Double>.zero
  var b = SIMD4<Double>.zero
  var c = SIMD4<Double>.zero
  var d = SIMD4<Double>.zero

  init() {}

  init(a: SIMD4<Double>, b: SIMD4<Double>, c: SIMD4<Double>, d: SIMD4<Double>) {
    (self.a, self.b, self.c, self.d) = (a, b, c, d)
  }

  /// Adds `weight * v v'`.
  mutating func add(_ v: SIMD4<Double>, weight: Double) {
    a += weight * v[0] * v
    b += weight * v[1] * v
    c += weight * v[2] * v
    d += weight * v[3] * v
  }

  mutating func add(_ other: SymmetricRows4, weight: Double) {
    a += weight * other.a
    b += weight * other.b
    c += weight * other.c
    d += weight * other.d
  }

  /// The solution `x` of `self x = right` for a positive definite matrix, by elimination after scaling its diagonal to 1.
  /// The diagonal grows by 1e-9 first: states that say nearly the same then share the weight.
  func solved(_ right: SIMD4<Double>) -> SIMD4<Double>? {
    let diagonal = SIMD4<Double>(a[0], b[1], c[2], d[3])
    guard diagonal.min() > 0, diagonal.max().isFinite else { return nil }
    let scale = SIMD4<Double>(repeating: 1) / diagonal.squareRoot()
    // Each with its type: Swift 6.0 does not find it for four products in a tuple.
    var p: SIMD4<Double> = a * scale
    var q: SIMD4<Double> = b * scale
    var r: SIMD4<Double> = c * scale
    var s: SIMD4<Double> = d * scale
    p *= scale[0]
    q *= scale[1]
    r *= scale[2]
    s *= scale[3]
    let ridge = 1e-9
    p[0] += ridge
    q[1] += ridge
    r[2] += ridge
    s[3] += ridge
    var y = right * scale
    guard p[0] > 0 else { return nil }
    let f = SIMD4<Double>(0, q[0], r[0], s[0]) / p[0]
    q -= f[1] * p
    r -= f[2] * p
    s -= f[3] * p
    y -= f * y[0]
    guard q[1] > 0 else { return nil }
    let g = SIMD4<Double>(0, 0, r[1], s[1]) / q[1]
    r -= g[2] * q
    s -= g[3] * q
    y -= g * y[1]
    guard r[2] > 0 else { return nil }
    let h = s[2] / r[2]
    s -= h * r
    y[3] -= h * y[2]
    guard s[3] > 0 else { return nil }
    var x = SIMD4<Double>.zero
    x[3] = y[3] / s[3]
    x[2] = (y[2] - r[3] * x[3]) / r[2]
    x[1] = (y[1] - q[2] * x[2] - q[3] * x[3]) / q[1]
    x[0] = (y[0] - p[1] * x[1] - p[2] * x[2] - p[3] * x[3]) / p[0]
    return x * scale
  }
}
