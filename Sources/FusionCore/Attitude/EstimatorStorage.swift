// An attitude estimator's numbers, and what it is asked for: behind a reference, so that asking does not copy them.

import LinearAlgebra
import SensorTypes

/// What an `AttitudeEstimator` is made of.
///
/// As parts of the struct these 5 kB were copied at each question asked of it, which took a fifth of all time, and as a
/// ~Copyable struct it took 7092 instructions a sample where a class took 6037. What samples do, and heading, are methods of
/// this class: a method of the struct counts a reference to the constants at every sample. A property of the struct that
/// handed on `state` would copy it too.
///
/// The estimator is a value: it makes this unique before it changes anything. For the same reason this may be sent
/// wherever an estimator goes.
final class EstimatorStorage: @unchecked Sendable {
  let params: AttitudeParameters
  let coefficients: AttitudeConstants
  // The struct's mutating methods are exclusive already; to check it here once more would cost as much as the copies.
  @exclusivity(unchecked) var state: AttitudeState
  @exclusivity(unchecked) var history: AttitudeHistory?

  init(_ params: AttitudeParameters, _ state: AttitudeState, _ history: AttitudeHistory?) {
    self.params = params
    self.state = state
    self.history = history
    coefficients = AttitudeConstants(params)
  }

  @inline(__always)
  var attitude: Quaternion? {
    if state.mode == .inertial {
      return state.transition.applied(to: state.filter.strapdown.attitude)
    }
    guard let attitude = unsmoothedAttitude else { return nil }
    return state.transition.applied(to: attitude)
  }

  var unsmoothedAttitude: Quaternion? {
    switch state.mode {
    case .none: nil
    case .starting: state.start.attitude ?? state.start.tilt
    case .inertial: state.filter.strapdown.attitude
    case .direct: state.direct.attitude
    case .level:
      state.direct.field.flatMap {
        DirectAttitude.attitude(up: Vector3(0, 0, 1), field: $0)
      }
    }
  }

  func attitude(at time: Timestamp) -> Quaternion? {
    guard state.mode == .inertial, let last = state.rateTime else {
      return attitude
    }
    let newest = state.filter.strapdown.attitude(
      after: time.seconds(since: last), limit: coefficients.limits.extrapolation
    ).normalized
    return state.transition.applied(to: newest)
  }

  var gyroBias: Vector3 {
    state.filter.isRunning ? state.filter.strapdown.bias : state.bias
  }

  var isResting: Bool { state.mode == .inertial && state.rest.isStationary(coefficients) }

  var verticalAcceleration: Double? {
    state.mode == .inertial ? state.verticalAcceleration : nil
  }
}
