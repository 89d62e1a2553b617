// Averaged spectra of vertical acceleration, roll and pitch.

import LinearAlgebra
import SensorTypes

/// Spectra of the last minutes: windows of 128 s that overlap by half, averaged exponentially (Welch 1967).
///
/// Only bins up to 1 Hz are kept.
struct WaveSpectrum: Sendable, Hashable, Codable {
  /// Hz between two bins: 4 Hz over 512 samples.
  static let resolution = 1.0 / 128
  /// The highest bin of waves: 1 Hz.
  static let highest = 128
  /// Samples from one window to the next, and the seconds of it.
  static let hop = 256
  static let hopTime = 64.0
  private static let bins = highest + 2

  /// Mean spectra, one-sided, in the square of the unit per Hz. Bin 0 stands for nothing.
  private(set) var vertical: [Double]
  private(set) var roll: [Double]
  private(set) var pitch: [Double]
  /// Number of windows in them, and the sum of the squares of their weights.
  private(set) var windows = 0
  private var weightSquares = 0.0
  /// The mean vertical acceleration in the newest window, in m/s^2.
  private(set) var mean = 0.0
  /// The newest 512 samples, the place of the next one, and how many there are to go before a window is full.
  private var verticals: [Double]
  private var rolls: [Double]
  private var pitches: [Double]
  private var place = 0
  private var remaining = WaveTransform.length

  /// The angular frequency of a bin in rad/s.
  static func omega(_ bin: Int) -> Double { 2 * Double.pi * Double(bin) * resolution }

  init() {
    // Each has its own storage from the start: a shared one would be copied with the first sample.
    func zeros(_ count: Int) -> [Double] { [Double](repeating: 0, count: count) }
    let length = WaveTransform.length
    (verticals, rolls, pitches) = (zeros(length), zeros(length), zeros(length))
    (vertical, roll, pitch) = (zeros(Self.bins), zeros(Self.bins), zeros(Self.bins))
  }

  /// Whether it has the shape that the code relies on: a saved state comes from a file.
  var isSound: Bool {
    let rings = [verticals, rolls, pitches]
    let spectra = [vertical, roll, pitch]
    return rings.allSatisfy { $0.count == WaveTransform.length && $0.allSatisfy(\.isFinite) }
      && spectra.allSatisfy { list in
        list.count == Self.bins && list.allSatisfy { $0 >= 0 && $0.isFinite }
      }
      && (0..<WaveTransform.length).contains(place) && windows >= 0 && mean.isFinite
      && (1...WaveTransform.length).contains(remaining)
      && (windows == 0 || (weightSquares > 0 && weightSquares <= 1))
  }

  /// The effective length of the record, in seconds: independent windows of a Hann window with half overlap count as
  /// their hop, to 3 %.
  var duration: Double { windows > 0 ? Self.hopTime / weightSquares : 0 }

  /// Drops the window that is being filled; the mean spectra stay.
  mutating func beginWindow() { remaining = WaveTransform.length }

  /// Takes a sample at 4 Hz.
  /// - Returns: Whether a window is full: `average(_:_:)` is due.
  mutating func add(_ sample: SIMD4<Double>) -> Bool {
    verticals[place] = sample[0]
    rolls[place] = sample[1]
    pitches[place] = sample[2]
    place = (place + 1) & (WaveTransform.length - 1)
    remaining -= 1
    guard remaining <= 0 else { return false }
    remaining = Self.hop
    return true
  }

  /// Takes the window that is full into the mean spectra.
  mutating func average(_ transform: inout WaveTransform, over time: Double) {
    windows = min(windows + 1, 1_000_000)
    let most = max(1, time / Self.hopTime)
    let weight = 1 / min(Double(windows), most)
    weightSquares = weightSquares * (1 - weight) * (1 - weight) + weight * weight
    let unit = 2 / (4 * transform.squares)
    (mean, _) = transform.load(verticals, verticals, oldest: place)
    transform.run()
    for bin in 0..<Self.bins {
      let power = unit * Self.gain(bin) * transform.powers(max(1, bin)).0
      vertical[bin] += weight * (power - vertical[bin])
    }
    _ = transform.load(rolls, pitches, oldest: place)
    transform.run()
    for bin in 0..<Self.bins {
      let (a, b) = transform.powers(max(1, bin))
      roll[bin] += weight * (unit * Self.gain(bin) * a - roll[bin])
      pitch[bin] += weight * (unit * Self.gain(bin) * b - pitch[bin])
    }
  }

  /// What the sampler has taken from the power at a bin.
  private static func gain(_ bin: Int) -> Double {
    let response = WaveSampler.response(Double(bin) * resolution)
    return 1 / (response * response)
  }

  /// The significant amplitude of an angle in the band of the waves, 2 sqrt(m0).
  func amplitude(_ spectrum: [Double]) -> SeaQuantity {
    var (m0, squares) = (0.0, 0.0)
    for bin in 4...Self.highest {
      m0 += spectrum[bin] * Self.resolution
      squares += spectrum[bin] * spectrum[bin] * Self.resolution
    }
    guard m0 > 0 else { return SeaQuantity(value: 0, accuracy: 0) }
    let value = 2 * m0.squareRoot()
    return SeaQuantity(
      value: value, accuracy: 0.5 * value * (squares / (duration * m0 * m0)).squareRoot())
  }
}
