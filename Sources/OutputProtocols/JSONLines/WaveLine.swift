// Heave and sea state as a line of JSON.

import SensorTypes
import TextForms

extension ObservationLines {
  /// Writes metres, metres a second, seconds and degrees. `reason` says why there is no heave.
  static func write(_ waves: WaveEstimate, into line: inout JSONLine) {
    if let heave = waves.heave {
      line.set("heave", heave.heave, digits: 3)
      line.set("heaveAccuracy", heave.accuracy, digits: 3)
      line.set("heaveRate", heave.rate, digits: 3)
      line.set("heaveRateAccuracy", heave.rateAccuracy, digits: 3)
    }
    line.set("heaveCondition", waves.condition.rawValue)
    if waves.heave == nil { line.set("reason", waves.condition.description) }
    guard let sea = waves.sea else { return }
    line.set("seaCondition", sea.condition.rawValue)
    line.set("seaDuration", sea.duration, digits: 0)
    line.set("seaAge", max(0, waves.time.seconds(since: sea.time)), digits: 0)
    set("significantWaveHeight", sea.significantWaveHeight, digits: 3, into: &line)
    set("meanWavePeriod", sea.meanPeriod, digits: 2, into: &line)
    set("peakWavePeriod", sea.peakPeriod, digits: 2, into: &line)
    set("rollAmplitude", sea.rollAmplitude, 180 / .pi, digits: 3, into: &line)
    set("pitchAmplitude", sea.pitchAmplitude, 180 / .pi, digits: 3, into: &line)
    line.set("undetectedWaveHeight", sea.undetectedWaveHeight, digits: 3)
  }

  /// Sets a quantity and, beside it, its one-sigma error.
  private static func set(
    _ key: String, _ quantity: SeaQuantity?, _ unit: Double = 1, digits: Int,
    into line: inout JSONLine
  ) {
    line.set(key, quantity.map { $0.value * unit }, digits: digits)
    line.set("\(key)Accuracy", quantity.map { $0.accuracy * unit }, digits: digits)
  }
}
