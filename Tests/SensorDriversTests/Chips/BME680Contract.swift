// What is demanded of the BME680: every oversampling swept, its faults. The datasheet's figures, restated.

import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  /// BST-BME680-DS001, table 3: 0.18 Pa at the highest oversampling, one bit less for each halving; the temperature
  /// is the BME280's transducer with as many bits, 0.005 degrees in 16.
  static let bme680 = ChipContract(
    sweeps: [(21.0, 16), (36, 8), (53, 4), (69, 2), (81, 1)].map { rate, samples in
      let step = 0.18 * 16 / Double(samples)
      return Sweep.air(
        BME680(outputRate: rate), "x\(samples)",
        AirPath(from: 30_000, to: 110_000, step: step).grid,
        pressureStep: step, temperatureStep: samples == 16 ? 0.0025 : 0.005, address: 0x77,
        twin: { BME680Twin($0) })
    }, faults: .bme680)
}

extension FaultContract {
  /// The noise: 0.12 Pa with 16 samples (table 3), of which 20 Hz leave room.
  fileprivate static let bme680 = FaultContract(
    chip: "BME680", address: 0x77, twin: { BME680Twin(TwinCore(source: $0)) },
    driver: { BoxedDriver(RegisterDriver($0, BME680(outputRate: 20), checks: $1)) },
    world: world, isRight: isAir(pascals: 6 * 0.12 + 0.18, degrees: 6 * 0.005 + 0.0025),
    firstOfStart: Read(register: 0xD0, count: 1), firstOfPoll: Read(register: 0x1D, count: 10),
    data: Read(register: 0x1D, count: 10),
    stranger: (
      .wrongIdentity(0x60),
      .wrongIdentity(chip: "BME680", register: 0xD0, expected: 0x61, found: 0x60)
    ), lost: .named(.configurationLost(register: 0x70, expected: 0x08, found: 0x00)), alike: 31)
}
