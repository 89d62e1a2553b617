// Where in a spectrum the waves are, and their moments.

import LinearAlgebra
import SensorTypes

/// What one averaged spectrum of the vertical acceleration says of waves.
///
/// The elevation's spectrum is the acceleration's over omega^4. Waves are a peak in it, with a valley towards low
/// frequencies, where the noise of the accelerometer over omega^4 rises again. Noise, hills and roads only rise: they have
/// no peak.
struct WaveBand: Sendable, Hashable, Codable {
  /// The noise of the vertical acceleration below the waves, one-sided, in (m/s^2)^2/Hz.
  var noise = 0.0
  /// The lowest and the strongest frequency of the waves, in bins of 1/128 Hz; 0 where there is no peak.
  var lowest = 0
  var peak = 0
  /// The peak over the valley.
  var prominence = 0.0

  /// Seeks the strongest peak among those that stand out by 2 or more.
  init(_ spectrum: [Double], highest: Int) {
    noise = 0.5 * (spectrum[2] + spectrum[3])
    var (valley, valleyBin) = (Self.elevation(spectrum, 2), 2)
    var strongest = 0.0
    for bin in 3...max(3, highest) {
      let here = Self.elevation(spectrum, bin)
      if here < valley { (valley, valleyBin) = (here, bin) }
      guard here > 2 * valley, here > strongest else { continue }
      strongest = here
      (peak, lowest) = (bin, valleyBin)
      prominence = here / max(valley, Double.leastNormalMagnitude)
    }
  }

  init() {}

  /// The elevation's spectrum, smoothed over three bins of the acceleration's.
  private static func elevation(_ s: [Double], _ bin: Int) -> Double {
    let omega = WaveSpectrum.omega(bin)
    return 0.25 * (s[bin - 1] + 2 * s[bin] + s[bin + 1]) / (omega * omega * omega * omega)
  }
}

/// Moments of the elevation's spectrum with their sampling errors.
struct WaveMoments {
  private var m0 = 0.0
  private var m2 = 0.0
  /// What the noise that was taken off is, in m0.
  private var noise = 0.0
  private var fourth = 0.0
  private var fourthFrequency = 0.0
  private var squares = 0.0
  private var periodSpread = 0.0
  private var peakSpread = 0.0
  private let duration: Double

  /// Takes the moments over a band, from a record of `duration` seconds.
  init(_ spectrum: [Double], _ band: WaveBand, duration: Double) {
    self.duration = duration
    let df = WaveSpectrum.resolution
    var scale = 0.0
    for bin in band.lowest...WaveSpectrum.highest {
      scale = max(scale, Self.elevation(spectrum, band, bin))
    }
    for bin in band.lowest...WaveSpectrum.highest {
      let f = Double(bin) * df
      let s = Self.elevation(spectrum, band, bin)
      let omega = WaveSpectrum.omega(bin)
      m0 += s * df
      m2 += s * f * f * df
      noise += band.noise / (omega * omega * omega * omega) * df
      let share = scale > 0 ? max(0, s) / scale : 0
      let weight = share * share * share * share
      fourth += weight
      fourthFrequency += weight * f
    }
    guard m0 > 0, m2 > 0, fourth > 0 else { return }
    let peak = fourthFrequency / fourth
    for bin in band.lowest...WaveSpectrum.highest {
      let f = Double(bin) * df
      let s = max(0, Self.elevation(spectrum, band, bin))
      squares += s * s * df
      let tilt = s * (1 / m0 - f * f / m2)
      periodSpread += tilt * tilt * df
      let share = s / scale
      let slope = 4 * share * share * share * share * (f - peak) / (fourth * df)
      peakSpread += slope * slope * df
    }
  }

  private static func elevation(_ spectrum: [Double], _ band: WaveBand, _ bin: Int) -> Double {
    let omega = WaveSpectrum.omega(bin)
    return (spectrum[bin] - band.noise) / (omega * omega * omega * omega)
  }

  /// Whether there is a spectrum to speak of.
  var isKnown: Bool { m0 > 0 && m2 > 0 && fourth > 0 }

  var significantHeight: SeaQuantity {
    let value = 4 * m0.squareRoot()
    let sampling = squares / (duration * m0 * m0)
    // The noise is known to a half.
    let unsure = 0.5 * noise / m0
    return SeaQuantity(
      value: value, accuracy: 0.5 * value * (sampling + unsure * unsure).squareRoot())
  }

  var meanPeriod: SeaQuantity {
    let value = (m0 / m2).squareRoot()
    let unsure = 0.5 * noise / m0
    return SeaQuantity(
      value: value,
      accuracy: 0.5 * value * (periodSpread / duration + unsure * unsure).squareRoot())
  }

  var peakPeriod: SeaQuantity {
    let frequency = fourthFrequency / fourth
    return SeaQuantity(
      value: 1 / frequency,
      accuracy: (peakSpread / duration).squareRoot() / (frequency * frequency))
  }
}
