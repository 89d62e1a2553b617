// Heave and sea state, for the tests of protocols.

import SensorTypes

@testable import OutputProtocols

enum WaveSamples {
  static func sea(at time: Timestamp) -> SeaState {
    var sea = SeaState(time: time.advanced(bySeconds: -30), condition: .waves, duration: 640)
    sea.significantWaveHeight = SeaQuantity(value: 1.25, accuracy: 0.1)
    sea.meanPeriod = SeaQuantity(value: 4.75, accuracy: 0.25)
    sea.peakPeriod = SeaQuantity(value: 6.5, accuracy: 0.5)
    sea.rollAmplitude = SeaQuantity(value: 0.1, accuracy: 0.01)
    sea.pitchAmplitude = SeaQuantity(value: 0.05, accuracy: 0.005)
    return sea
  }

  /// Waves with a heave at a time.
  static func estimate(
    at time: Timestamp, _ heave: Double = -0.456, sea: SeaState? = nil
  ) -> WaveEstimate {
    WaveEstimate(
      time: time,
      heave: HeaveEstimate(
        time: time, heave: heave, accuracy: 0.05, rate: 0.25, rateAccuracy: 0.02),
      condition: .valid, sea: sea)
  }
}
