// The sea state from the motion of a vessel: wave height, periods, roll and pitch.

public import LinearAlgebra
public import SensorTypes

/// Significant wave height, periods and the amplitudes of roll and pitch, from an accelerometer and an attitude.
///
/// The spectrum of the vertical acceleration over omega^4 is the elevation's, above the valley between noise and waves.
/// The body frame must be the vessel's: x to starboard, y to the bow.
///
/// Documentation: `Documentation/filter.md`, section 5.
public struct SeaStateEstimator: Sendable {
  /// The thresholds; the default in place of a number out of its range.
  public let params: SeaStateParameters
  /// What the estimator has learned so far.
  public private(set) var state: SeaStateState
  private var transform = WaveTransform()

  /// Makes an estimator, or resumes one from a saved state. A state of another shape counts as none.
  public init(
    _ params: SeaStateParameters = SeaStateParameters(), state: SeaStateState = SeaStateState()
  ) {
    self.params = params.sound
    self.state = state.isSound ? state : SeaStateState()
  }

  /// Takes a specific force with the attitude at its time.
  ///
  /// - Parameters:
  ///   - force: In the body frame, m/s^2; up at rest.
  ///   - attitude: From body to earth frame (east, north, up).
  /// - Returns: What became of the sample. `taken` says whether a new spectrum is part of the sea state.
  @discardableResult
  public mutating func update(
    force: Vector3, attitude: Quaternion, at time: Timestamp
  ) -> WaveSampleResult {
    let norm = attitude.w * attitude.w + attitude.vector.lengthSquared
    let strength = force.lengthSquared
    guard abs(norm - 1) < 0.01, strength < params.limits.force * params.limits.force,
      time.nanoseconds.magnitude < 1 << 62
    else {
      state.refused &+= 1
      return .refused
    }
    if let last = state.sampler.time, time <= last, last.seconds(since: time) < 1 {
      state.refused &+= 1
      return .refused
    }
    let turn = attitude.normalized
    let up = turn.rotate(force).z - Self.gravity
    guard abs(up) < params.limits.knock else {
      state.knocks &+= 1
      interrupt()
      return .interrupted
    }
    var value = SIMD4<Double>(up, Self.roll(turn), Self.pitch(turn), 0)
    guard let last = state.sampler.time, time > last,
      time.seconds(since: last) <= params.limits.gap
    else {
      let isFirst = state.sampler.time == nil
      if !isFirst { state.gaps &+= 1 }
      interrupt()
      if let newest = state.time, abs(time.seconds(since: newest)) > params.limits.age { forget() }
      state.sampler.begin(value, at: time)
      return .interrupted
    }
    let change = value[1] - state.sampler.value[1]
    value[1] -= 2 * .pi * (change / (2 * .pi)).rounded()
    var isNew = false
    while let sample = state.sampler.next(value, at: time) {
      guard state.spectrum.add(sample) else { continue }
      state.spectrum.average(&transform, over: params.averagingTime)
      state.time = time
      detect()
      isNew = true
    }
    return .taken(newSpectrum: isNew)
  }

  /// The sea state, or `nil` before there are enough spectra and when the newest one is too old.
  public func seaState(at now: Timestamp) -> SeaState? {
    guard let time = state.time, state.spectrum.windows >= params.leastWindows,
      abs(now.seconds(since: time)) <= params.limits.age
    else { return nil }
    let spectrum = state.spectrum
    var sea = SeaState(time: time, condition: .calmOrAshore, duration: spectrum.duration)
    if state.isSea {
      let moments = WaveMoments(spectrum.vertical, state.band, duration: spectrum.duration)
      if moments.isKnown {
        sea.condition = .waves
        sea.significantWaveHeight = moments.significantHeight
        sea.meanPeriod = moments.meanPeriod
        sea.peakPeriod = moments.peakPeriod
        sea.rollAmplitude = spectrum.amplitude(spectrum.roll)
        sea.pitchAmplitude = spectrum.amplitude(spectrum.pitch)
        return sea
      }
    }
    sea.undetectedWaveHeight = undetectedHeight
    return sea
  }

  /// Forgets what the samples before this moment have shown, as after the vessel has come to another place.
  public mutating func forget() {
    let (refused, knocks, gaps) = (state.refused, state.knocks, state.gaps)
    state = SeaStateState()
    (state.refused, state.knocks, state.gaps) = (refused, knocks, gaps)
  }

  /// Standard gravity, m/s^2. The difference to the true one is part of the mean, which is taken off.
  static let gravity = 9.80665

  /// Starboard down is positive, radians.
  private static func roll(_ q: Quaternion) -> Double {
    atan2(-q.rotate(Vector3(1, 0, 0)).z, q.rotate(Vector3(0, 0, 1)).z)
  }

  /// Bow up is positive, radians.
  private static func pitch(_ q: Quaternion) -> Double {
    asin(max(-1, min(1, q.rotate(Vector3(0, 1, 0)).z)))
  }

  /// Drops the window that is being filled: what moves the board now is no wave.
  mutating func dropWindow() { state.spectrum.beginWindow() }

  private mutating func interrupt() {
    state.sampler = WaveSampler()
    state.spectrum.beginWindow()
  }

  private mutating func detect() {
    let detection = params.detection
    let highest = Int(min(1 / (WaveSpectrum.resolution * detection.shortestPeriod), 126))
    state.band = WaveBand(state.spectrum.vertical, highest: highest)
    var threshold = self.threshold
    if state.isSea { threshold *= detection.keepShare }
    state.isSea = state.band.peak > 0 && state.band.prominence > threshold
  }

  /// The prominence of waves that were not there before.
  private var threshold: Double {
    let windows = min(
      Double(state.spectrum.windows), state.spectrum.duration / WaveSpectrum.hopTime)
    return params.detection.prominence + params.detection.windowProminence / max(1, windows)
  }

  /// The significant height of waves that would have been found with any period up to the longest.
  private var undetectedHeight: Double {
    let first = Int((1 / (WaveSpectrum.resolution * params.detection.calmPeriod)).rounded(.up))
    var m0 = 0.0
    for bin in min(first, WaveSpectrum.highest)...WaveSpectrum.highest {
      let omega = WaveSpectrum.omega(bin)
      m0 += state.spectrum.vertical[bin] / (omega * omega * omega * omega)
    }
    m0 *= WaveSpectrum.resolution * params.detection.calmShare * threshold
    return 4 * m0.squareRoot()
  }
}

/// What became of a sample.
public enum WaveSampleResult: Sendable, Hashable {
  /// It is part of the record; with it a new spectrum may be.
  case taken(newSpectrum: Bool)
  /// It was not used: not finite, absurd, or not later than the one before. `SeaStateState.refused` counts it.
  case refused
  /// The record begins again: at the first sample, after a gap, or with a knock.
  case interrupted
}

/// Everything that changes; save it, and a run resumes bit for bit.
public struct SeaStateState: Sendable, Hashable, Codable {
  /// Samples that were refused.
  public internal(set) var refused: UInt64 = 0
  /// Samples that were knocks: the window of their time is lost.
  public internal(set) var knocks: UInt64 = 0
  /// Pauses between samples that were too long, and steps back of the clock.
  public internal(set) var gaps: UInt64 = 0
  var sampler = WaveSampler()
  var spectrum = WaveSpectrum()
  /// The end of the newest window.
  var time: Timestamp?
  var band = WaveBand()
  /// Whether there are waves above the noise.
  var isSea = false

  /// Makes the state before the first sample.
  public init() {}

  /// Whether it has the shape that the code relies on.
  var isSound: Bool {
    sampler.isSound && spectrum.isSound && (0...WaveSpectrum.highest).contains(band.lowest)
      && (0...WaveSpectrum.highest).contains(band.peak) && (!isSea || band.lowest >= 2)
  }
}
