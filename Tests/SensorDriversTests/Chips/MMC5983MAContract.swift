// What is demanded of the MMC5983MA: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let mmc5983ma = ChipContract(
    settings: MMC5983MA.outputRates.count, sweeps: Sweep.mmc5983ma, faults: .mmc5983ma)
}

extension Sweep {
  /// MMC5983MA, rev. A: +-8 gauss, 16384 counts a gauss; CM_Freq: the rates. The twin's bridges have half a gauss of
  /// offset (the most that the datasheet allows), which the outputs must have room for besides.
  fileprivate static let mmc5983ma: [Sweep] =
    [1.0, 10, 20, 50, 100, 200, 1000].map { rate in
      .axes(
        MMC5983MA(outputRate: rate), "+-8 gauss",
        [.field(limit: 750, lsb: Vector3(repeating: 100 / 16384.0))], address: 0x30,
        twin: MMC5983MATwin.init)
    }
}

extension FaultContract {
  /// As cold as the world that comes after: the bridges' offset goes with the temperature, which no board changes
  /// within one conversion.
  private static let coldWorld: Stimulus = {
    var cold = world
    cold.temperature = 12
    return cold
  }()

  /// The noise: 0.6 mG at 4 ms, and that of the offset. Nothing that is written can be read back.
  fileprivate static let mmc5983ma = FaultContract(
    chip: "MMC5983MA", address: 0x30, twin: { MMC5983MATwin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, MMC5983MA(outputRate: 80), checks: $1)) },
    world: coldWorld, isRight: isField(within: Vector3(repeating: 6 * 0.06 * 1.25)),
    firstOfStart: Read(register: 0x2F, count: 1), firstOfPoll: Read(register: 0x08, count: 1),
    data: Read(register: 0x00, count: 7),
    stranger: (
      .wrongIdentity(0x10),
      .wrongIdentity(chip: "MMC5983MA", register: 0x2F, expected: 0x30, found: 0x10)
    ), lost: .silent, alike: 51)
}
