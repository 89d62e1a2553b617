// What is demanded of the DPS310: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let dps310 = ChipContract(
    settings: 2 * DPS310.outputRates.count,
    sweeps: Sweep.dps310, faults: .dps310)
}

extension Sweep {
  /// DPS310 (datasheet rev. 1.2) at each of its rates (7.3) and with the coefficients of two chips, in
  /// the second of which every sign that may differ between chips does.
  ///
  /// The output has 24 bits, of which the datasheet says no step in pascals: it is the slope of the
  /// polynomial at its middle (c10) by the scale factor of table 9, and for the temperature c1 by that
  /// of x1.
  fileprivate static let dps310: [Sweep] = {
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
        return .air(
          configuration, "\(name) x\(configuration.pressureOversampling)", path,
          pressureStep: step, temperatureStep: abs(Double(coefficients.c1)) / 524_288,
          address: 0x77, twin: { DPS310Twin($0, coefficients: coefficients) })
      }
    }
  }()
}

extension FaultContract {
  /// The noise: 0.35 Pa with 16 samples (datasheet rev. 1.2, table 16); 0.005 degrees. Stuck are 1.5
  /// seconds at 32 Hz.
  fileprivate static let dps310 = FaultContract(
    chip: "DPS310", address: 0x77, twin: { DPS310Twin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, DPS310(outputRate: 25), checks: $1)) },
    world: world,
    isRight: isAir(pascals: 6 * 0.35, degrees: 6 * 0.005),
    firstOfStart: Read(register: 0x0D, count: 1), firstOfPoll: Read(register: 0x08, count: 1),
    data: Read(register: 0x00, count: 6),
    stranger: (
      .wrongIdentity(0x11),
      .wrongIdentity(chip: "DPS310", register: 0x0D, expected: 0x10, found: 0x11)
    ), lost: .configurationLost(register: 0x09, expected: 0x04, found: 0x00), alike: 49)
}
