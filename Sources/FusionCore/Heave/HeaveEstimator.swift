// Heave from an accelerometer and an attitude, with its error.

public import LinearAlgebra
public import SensorTypes

/// A vessel's heave: its vertical motion about the mean of the waves, with an error that holds.
///
/// The vertical acceleration is integrated twice by `HeaveFilter`. Its corner frequency and the weights of its states are
/// those with the smallest error for the sea and the noise that the spectra of the last minutes show; the same calculation
/// gives the error. Nothing is given before there are two spectra with waves and the filter has settled: about five
/// minutes. Ashore and in calm water there is no heave.
///
/// Documentation: `Documentation/filter.md`, section 5.
public struct HeaveEstimator: Sendable {
  /// The thresholds; the default in place of a number out of its range.
  public let params: HeaveParameters
  /// Everything that changes, without the sea's.
  public private(set) var state: HeaveState
  /// The sea that the same samples show.
  public private(set) var sea: SeaStateEstimator

  /// Makes an estimator, or resumes one from saved states. A state of another shape counts as none.
  public init(
    _ params: HeaveParameters = HeaveParameters(), sea: SeaStateEstimator = SeaStateEstimator(),
    state: HeaveState = HeaveState()
  ) {
    self.params = params.sound
    self.sea = sea
    self.state = state.isSound ? state : HeaveState()
  }

  /// Takes a specific force with the attitude at its time.
  ///
  /// - Parameters:
  ///   - force: In the body frame, m/s^2; up at rest.
  ///   - attitude: From body to earth frame (east, north, up).
  /// - Returns: The heave at that time; `nil` while `condition` is not `valid`, and for a sample that is not used.
  public mutating func update(
    force: Vector3, attitude: Quaternion, at time: Timestamp
  ) -> HeaveEstimate? {
    let before = sea.state.sampler.time
    switch sea.update(force: force, attitude: attitude, at: time) {
    case .refused: return nil
    case .interrupted:
      stop()
      if sea.state.spectrum.windows == 0 { (state.weights, state.next) = (nil, nil) }
      return nil
    case .taken(let newSpectrum):
      if newSpectrum { follow(at: time) }
    }
    let up = sea.state.sampler.value[0]
    guard let newest = sea.state.time, time.seconds(since: newest) <= sea.params.limits.age else {
      // Windows have not been full for long: knocks, or pauses.
      stop()
      (state.weights, state.next) = (nil, nil)
      return nil
    }
    guard let before, let last = state.acceleration, state.filter != nil else {
      begin(up, at: time)
      return nil
    }
    state.acceleration = up
    return move(time.seconds(since: before), 0.5 * (last + up), at: time)
  }

  /// Why there is a heave now, or why not.
  public var condition: HeaveCondition {
    guard sea.state.spectrum.windows >= params.leastWindows else { return .learning }
    guard sea.state.isSea else { return .calmOrAshore }
    guard state.weights != nil else { return .learning }
    return state.isSettled ? .valid : .settling
  }

  /// Forgets sea and heave, as after the vessel has come to another place.
  public mutating func forget() {
    let restarts = state.restarts
    state = HeaveState()
    state.restarts = restarts
    sea.forget()
  }

  private mutating func begin(_ up: Double, at time: Timestamp) {
    guard state.weights != nil else { return }
    state.filter = HeaveFilter(bias: sea.state.spectrum.mean)
    state.acceleration = up
    state.begun = time
    state.isSettled = false
  }

  private mutating func stop() {
    state.filter = nil
    state.isSettled = false
  }

  /// Takes the sea's new spectrum.
  private mutating func follow(at time: Timestamp) {
    let spectrum = sea.state.spectrum
    guard sea.state.isSea, spectrum.windows >= params.leastWindows else {
      (state.weights, state.next) = (nil, nil)
      return stop()
    }
    let filter = params.filter
    guard let now = current(at: time) else {
      state.weights = HeaveWeights.best(
        spectrum, sea.state.band, filter.slowest...filter.fastest, params)
      state.weightsTime = time
      return
    }
    let low = min(filter.fastest, max(filter.slowest, now.corner / filter.step))
    let high = max(low, min(filter.fastest, now.corner * filter.step))
    state.weights = now
    state.next = HeaveWeights.best(spectrum, sea.state.band, low...high, params)
    state.weightsTime = time
  }

  /// The weights of a moment: on the way from the last ones to the next within the hop of a window.
  private func current(at time: Timestamp) -> HeaveWeights? {
    guard let weights = state.weights else { return nil }
    guard let next = state.next, let begun = state.weightsTime else { return weights }
    let share = time.seconds(since: begun) / WaveSpectrum.hopTime
    return weights.mixed(max(0, min(1, share)), with: next)
  }

  private mutating func move(
    _ dt: Double, _ acceleration: Double, at time: Timestamp
  ) -> HeaveEstimate? {
    guard let weights = current(at: time), let begun = state.begun, var filter = state.filter else {
      return nil
    }
    filter.move(dt, acceleration, corner: weights.corner)
    state.filter = filter
    let lanes = filter.lanes(corner: weights.corner)
    let heave = (weights.heave * lanes).sum()
    if time.seconds(since: begun) * weights.corner >= params.filter.settling {
      state.isSettled = true
    }
    // A filter that has not settled may swing as far again.
    let excess = params.filter.excess * (state.isSettled ? 1 : 2)
    let most = excess * excess * (weights.heaveVariance + weights.heaveError)
    guard filter.isFinite, heave * heave < most else {
      state.restarts &+= 1
      stop()
      sea.dropWindow()
      return nil
    }
    guard state.isSettled else { return nil }
    return HeaveEstimate(
      time: time, heave: heave, accuracy: weights.heaveError.squareRoot(),
      rate: (weights.rate * lanes).sum(), rateAccuracy: weights.rateError.squareRoot())
  }
}

/// Everything of the heave that changes; save it with the sea's, and a run resumes bit for bit.
public struct HeaveState: Sendable, Hashable, Codable {
  /// Times that the filter began again because it was farther from the mean than waves are, as in a fall. The window of
  /// the spectrum is lost too.
  public internal(set) var restarts: UInt64 = 0
  var filter: HeaveFilter?
  /// The newest vertical acceleration, m/s^2.
  var acceleration: Double?
  /// When the filter began, and whether it has settled since.
  var begun: Timestamp?
  var isSettled = false
  /// The weights that hold, those that they move to, and since when.
  var weights: HeaveWeights?
  var next: HeaveWeights?
  var weightsTime: Timestamp?

  /// Makes the state before the first sample.
  public init() {}

  /// Whether it has the shape that the code relies on.
  var isSound: Bool {
    (filter?.isFinite ?? true) && (weights?.isSound ?? true) && (next?.isSound ?? true)
      && (acceleration?.isFinite ?? true)
  }
}
