// What is demanded of the MMC5603: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let mmc5603 = ChipContract(
    settings: MMC5603.outputRates.count, sweeps: Sweep.mmc5603, faults: .mmc5603)
}

extension Sweep {
  /// MMC5603NJ, rev. B: +-30 gauss, 16384 counts a gauss with 20 bits; any whole rate up to 255 Hz. The twin has a
  /// bridge offset of half a gauss, which its SET and RESET must have taken away.
  fileprivate static let mmc5603: [Sweep] =
    [1.0, 2, 5, 10, 20, 25, 50, 75, 100, 150, 200, 255].map { rate in
      .axes(
        MMC5603(outputRate: rate), "+-30 gauss",
        [.field(limit: 3000, lsb: Vector3(repeating: 100 / 16384.0))], address: 0x30,
        twin: MMC5603Twin.init)
    }
}

extension FaultContract {
  /// The noise: 2 mG at 6.6 ms, and 3.5 ms at this rate. Nothing that is written can be read back.
  fileprivate static let mmc5603 = FaultContract(
    chip: "MMC5603", address: 0x30, twin: { MMC5603Twin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, MMC5603(outputRate: 75), checks: $1)) },
    world: world, isRight: isField(within: Vector3(repeating: 6 * 0.28)),
    firstOfStart: Read(register: 0x39, count: 1), firstOfPoll: Read(register: 0x18, count: 1),
    data: Read(register: 0x00, count: 9),
    stranger: (
      .wrongIdentity(0x30),
      .wrongIdentity(chip: "MMC5603", register: 0x39, expected: 0x10, found: 0x30)
    ), lost: .silent, alike: 51)
}
