// Where an attitude estimator's numbers stand: behind a reference, so that asking it something does not copy them.

/// What an `AttitudeEstimator` is made of.
///
/// As parts of the struct these 5 kB were copied at each question asked of it, which took a fifth of all time. A
/// ~Copyable struct took 7092 instructions a sample, a final class 6037, and this 6094 when it was tried. With the
/// parameters in groups it takes 6148.
///
/// The estimator is a value: it makes this unique before it changes anything. For the same reason this may be sent
/// wherever an estimator goes.
final class EstimatorStorage: @unchecked Sendable {
  let params: AttitudeParameters
  let coefficients: AttitudeConstants
  // The struct's mutating methods are exclusive already; to check it here once more would cost as much as the copies.
  @exclusivity(unchecked) var state: AttitudeState
  @exclusivity(unchecked) var history: AttitudeHistory?

  init(
    _ params: AttitudeParameters, _ state: AttitudeState,
    _ history: AttitudeHistory?
  ) {
    self.params = params
    self.state = state
    self.history = history
    coefficients = AttitudeConstants(params)
  }
}
