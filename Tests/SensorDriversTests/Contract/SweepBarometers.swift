// Sweeps of the barometers over pressure and temperature. What one output step is worth is the
// datasheet's, restated here.

import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// Where pressure and temperature meet, one after the other.
private struct AirPath {
  /// From end to end in 200 steps, and closely at both ends. No two neighbours are so near that they
  /// could have the same bits: a chip that has no other sign of new data would not count the second.
  let pressures: [Double]
  /// Every 5 degrees.
  let temperatures = (0...25).map { -40 + 5 * Double($0) }

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
private func sweepAir(
  _ path: [(pressure: Double, temperature: Double)], pressureStep: Double,
  temperatureStep: Double, settling: Int = 1, address: UInt8,
  twin: (any StimulusSource) -> any ChipTwin,
  driver: (SimulatedRegisterDevice) -> any ContractDriver
) throws -> SweepResult {
  let bench = ContractBench(address: address, twin)
  let driver = driver(bench.device)
  try bench.start(driver)
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
    guard case .atmosphere(let pressure, let temperature) = reading else {
      Issue.record("no reading at \(point)")
      return result
    }
    result.count()
    result.note("pressure", pressure, point.pressure, lsb: pressureStep)
    result.note("temperature", temperature, point.temperature, lsb: temperatureStep)
  }
  return result
}

extension Sweep {
  /// BMP280 and BME280 in every setting that the driver can choose.
  static let bmp280 = bosch(.bmp280)
  static let bme280 = bosch(.bme280)

  /// What the data have by oversampling with the filter off, and at any oversampling with it on.
  ///
  /// BMP280 (BST-BMP280-DS001 rev. 1.23), tables 4 and 5: 16 bits are 2.62 Pa, 20 bits 0.16 Pa; 16 bits
  /// are 0.0050 degrees, 17 bits 0.0025; 3.3.3: 20 bits (0.0003 degrees) with the filter. BME280
  /// (BST-BME280-DS002 rev. 1.6), table 3: 0.18 Pa at the highest oversampling, one bit less for each
  /// halving (3.4.2); the temperature is the same transducer with as many bits.
  private static func bosch(_ chip: BMx280.Chip) -> [Sweep] {
    let pressureSteps: [Int: Double] =
      chip == .bmp280
      ? [1: 2.62, 2: 1.31, 4: 0.66, 8: 0.33, 16: 0.16]
      : [1: 2.88, 2: 1.44, 4: 0.72, 8: 0.36, 16: 0.18]
    let temperatureSteps: [Int: Double] = [1: 0.0050, 2: 0.0025]
    var seen: Set<BMx280> = []
    var sweeps: [Sweep] = []
    for mode in [BMx280.Mode.normal, .forced] {
      // Finely enough that no two of the chip's rates lie between two of these.
      for wanted in (0..<1200).map({ 0.1 * pow2(Double($0) / 100) }) {
        let configuration = BMx280(chip: chip, outputRate: wanted, mode: mode)
        guard seen.insert(configuration).inserted else { continue }
        let filter = configuration.filterCoefficient
        let step =
          (filter > 1 ? pressureSteps[16] : pressureSteps[configuration.pressureOversampling]) ?? 0
        let temperatureStep =
          (filter > 1 ? 0.0003 : temperatureSteps[configuration.temperatureOversampling]) ?? 0
        let path = AirPath(from: 30_000, to: 110_000, step: step)
        let points = filter > 1 ? path.diagonals : path.grid
        sweeps.append(
          Sweep(
            chip: chip.rawValue,
            setting: "\(mode) x\(configuration.pressureOversampling) filter \(filter), "
              + "\(configuration.outputRate) Hz",
            minimum: points.count, channels: ["pressure", "temperature"]
          ) {
            try sweepAir(
              points, pressureStep: step, temperatureStep: temperatureStep,
              settling: filter > 1 ? 12 * filter : 1, address: 0x76,
              twin: {
                BMP280Twin(
                  chip == .bmp280 ? .bmp280 : .bme280, TwinCore(source: $0, errors: .none))
              }, driver: { BoxedDriver(RegisterDriver($0, configuration)) })
          })
      }
    }
    return sweeps
  }

  /// DPS310 (datasheet rev. 1.2) at each of its rates (7.3) and with the coefficients of two chips, in
  /// the second of which every sign that may differ between chips does.
  ///
  /// The output has 24 bits, of which the datasheet says no step in pascals: it is the slope of the
  /// polynomial at its middle (c10) by the scale factor of table 9, and for the temperature c1 by that
  /// of x1.
  static let dps310: [Sweep] = {
    let factors: [Int: Double] = [
      1: 524_288, 2: 1_572_864, 4: 3_670_016, 8: 7_864_320, 16: 253_952, 32: 516_096,
      64: 1_040_384, 128: 2_088_960,
    ]
    let mirrored = SimulatedDevices.DPS310Coefficients(
      c0: 222, c1: -297, c00: 79832, c10: -56308, c01: 2295, c11: -1444, c20: 9701, c21: -111,
      c30: -1289)
    let chips: [(name: String, coefficients: SimulatedDevices.DPS310Coefficients)] = [
      ("typical", .typical), ("mirrored", mirrored),
    ]
    return chips.flatMap { name, coefficients in
      [1.0, 2, 4, 8, 16, 32, 64, 128].map { rate -> Sweep in
        let configuration = DPS310(outputRate: rate)
        let factor = factors[configuration.pressureOversampling] ?? .infinity
        let step = abs(Double(coefficients.c10)) / factor
        let path = AirPath(from: 30_000, to: 120_000, step: step).grid
        return Sweep(
          chip: "DPS310",
          setting: "\(name) x\(configuration.pressureOversampling), \(rate) Hz",
          minimum: path.count, channels: ["pressure", "temperature"]
        ) {
          try sweepAir(
            path, pressureStep: step, temperatureStep: abs(Double(coefficients.c1)) / 524_288,
            address: 0x77,
            twin: { DPS310Twin(TwinCore(source: $0, errors: .none), coefficients: coefficients) },
            driver: { BoxedDriver(RegisterDriver($0, configuration)) })
        }
      }
    }
  }()
}

/// Two to the power of `exponent`, of which a test needs no more digits than this has.
private func pow2(_ exponent: Double) -> Double {
  let whole = exponent.rounded(.down)
  var result = 1.0
  for _ in 0..<Int(whole) { result *= 2 }
  return result * (1 + (exponent - whole))
}
