// A barometer's sweep: pressure and temperature together.

import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// Where pressure and temperature meet, one after the other.
struct AirPath {
  /// From end to end in 200 steps, and closely at both ends. No two neighbours are so near that they
  /// could have the same bits: a chip that has no other sign of new data would not count the second.
  let pressures: [Double]
  /// Every 5 degrees.
  var temperatures = (0...25).map { -40 + 5 * Double($0) }

  init(from low: Double, to high: Double, step: Double) {
    var pressures = (0...200).map { low + (high - low) * Double($0) / 200 }
    pressures.insert(contentsOf: [high - 0.3 * step, pressures[198], high - 1.7 * step], at: 199)
    pressures.insert(contentsOf: [low + 0.3 * step, pressures[2], low + 1.7 * step], at: 2)
    self.pressures = pressures
  }

  /// The whole grid, up and down in turn, so that no point is far from the one before.
  var grid: [(pressure: Double, temperature: Double)] {
    temperatures.enumerated().flatMap { index, temperature in
      (index % 2 == 0 ? pressures : pressures.reversed()).map { ($0, temperature) }
    }
  }

  /// Both diagonals of the grid, joined along the hot side: what a chip with a filter, which has to
  /// settle at every point, has time for.
  var diagonals: [(pressure: Double, temperature: Double)] {
    let last = Double(pressures.count - 1)
    let up = pressures.enumerated().map { ($1, -40 + 125 * Double($0) / last) }
    let down = pressures.enumerated().map { ($1, 85 - 125 * Double($0) / last) }
    let side = pressures.reversed().enumerated().filter { $0.offset % 10 == 5 }
    return up + side.map { ($0.element, 85) } + down
  }
}

/// Sweeps pressure and temperature together. A chip with a filter gets up to `settling` conversions at
/// every point, and its last word counts.
func sweepAir(
  _ path: [(pressure: Double, temperature: Double)], pressureStep: Double,
  temperatureStep: Double, settling: Int = 1, address: UInt8,
  twin: (any StimulusSource) -> any ChipTwin,
  driver: (SimulatedRegisterDevice) -> any ContractDriver
) throws -> SweepResult {
  let (bench, driver) = try ContractBench.started(address: address, twin, driver)
  var result = SweepResult()
  for point in path {
    bench.source.set(Stimulus(pressure: point.pressure, temperature: point.temperature))
    var reading = try bench.nextReading(driver)
    var unchanged = 0
    for _ in 1..<settling where unchanged < 20 {
      let next = try bench.nextReading(driver, looks: 1)
      reading = next ?? reading
      unchanged = next == nil ? unchanged + 1 : 0
    }
    guard case .atmosphere(let pressure, let temperature, _) = reading else {
      Issue.record("no reading at \(point)")
      return result
    }
    result.count()
    result.note("pressure", pressure, point.pressure, lsb: pressureStep)
    result.note("temperature", temperature, point.temperature, lsb: temperatureStep)
  }
  return result
}
