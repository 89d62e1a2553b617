// What is demanded of the IST8310: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let ist8310 = ChipContract(settings: 7, sweeps: Sweep.ist8310, faults: .ist8310)
}

extension Sweep {
  /// Datasheet 1.2: +-1600 microtesla on X and Y; four times its 3.3 counts a microtesla with 16 bits.
  fileprivate static let ist8310: [Sweep] = [1.0, 5, 10, 20, 25, 50, 100].map { rate in
    .axes(
      IST8310(outputRate: rate), "+-1600 uT",
      [.field(limit: 1600, lsb: Vector3(repeating: 1 / 13.2))], address: 0x0E,
      twin: IST8310Twin.init)
  }
}

extension FaultContract {
  /// The noise: the twin's, for the datasheet has none.
  fileprivate static let ist8310 = FaultContract(
    chip: "IST8310", address: 0x0E, twin: { IST8310Twin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, IST8310(outputRate: 50), checks: $1)) },
    world: world, isRight: isField(within: Vector3(repeating: 6 * 0.3)),
    firstOfStart: Read(register: 0x00, count: 1), firstOfPoll: Read(register: 0x02, count: 1),
    data: Read(register: 0x03, count: 6),
    stranger: (
      .wrongIdentity(0x48),
      .wrongIdentity(chip: "IST8310", register: 0x00, expected: 0x10, found: 0x48)
    ), lost: .named(.configurationLost(register: 0x41, expected: 0x24, found: 0x00)), alike: 51)
}
