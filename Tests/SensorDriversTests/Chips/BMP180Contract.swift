// What is demanded of the BMP180: every oversampling swept, its faults. The datasheet's figures, restated.

import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let bmp180 = ChipContract(
    // BST-BMP180-DS000-09, 3.4: the raw pressure has 16 bits and one more for each doubling, of which the first
    // are 100000 / B4 = 3 Pa. To that comes the rounding of 3.5: the square of the pressure in whole 256 Pa, which
    // makes 2.5 Pa of it up to 1100 hPa. Table 1: steps of 0.1 degrees.
    sweeps: [(33.0, 8, 0.375), (55, 4, 0.75), (83, 2, 1.5), (111, 1, 3)].map {
      rate, samples, step in
      Sweep.air(
        BMP180(outputRate: rate), "x\(samples)", AirPath(from: 30_000, to: 110_000, step: 3).grid,
        pressureStep: step + 2.5, temperatureStep: 0.1, address: 0x77, twin: { BMP180Twin($0) })
    }, faults: .bmp180)
}

extension FaultContract {
  /// The noise: 3 Pa with 8 samples (table 1), and steps of 1 Pa and 0.1 degrees. Stuck are 1.5 seconds at 25 Hz.
  fileprivate static let bmp180 = FaultContract(
    chip: "BMP180", address: 0x77, twin: { BMP180Twin(TwinCore(source: $0)) },
    driver: { BoxedDriver(RegisterDriver($0, BMP180(outputRate: 25), checks: $1)) },
    world: world, isRight: isAir(pascals: 6 * 3 + 1, degrees: 6 * 0.02 + 0.1),
    firstOfStart: Read(register: 0xD0, count: 1), firstOfPoll: Read(register: 0xF4, count: 5),
    data: Read(register: 0xF4, count: 5),
    stranger: (
      .wrongIdentity(0x58),
      .wrongIdentity(chip: "BMP180", register: 0xD0, expected: 0x55, found: 0x58)
    ), lost: .nothing, alike: 38, looks: 2)
}
