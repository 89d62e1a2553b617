// What is demanded of the RM3100: every setting swept, its faults. The manual's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let rm3100 = ChipContract(
    settings: RM3100.outputRates.count, sweeps: Sweep.rm3100, faults: .rm3100,
    // XOK, YOK, ZOK (5.6.1).
    selfTest: [.verdict(.magneticField, .ofEach)], selfTestFirstSteps: 1)
}

extension Sweep {
  /// RM3100, 1017252 r03, table 3-1: +-800 microtesla, 75 counts a microtesla at 200 cycles, 38 at 100, 20 at 50;
  /// table 5-4: the rates.
  fileprivate static let rm3100: [Sweep] = {
    let settings: [(rate: Double, counts: Double)] = [
      (0.6, 75), (1.2, 75), (2.3, 75), (4.5, 75), (9, 75), (18, 75), (37, 75), (75, 75), (150, 38),
      (300, 20),
    ]
    return settings.map { rate, counts in
      .axes(
        RM3100(outputRate: rate), "\(counts) counts",
        [.field(limit: 800, lsb: Vector3(repeating: 1 / counts))], address: 0x20,
        twin: RM3100Twin.init)
    }
  }()
}

extension FaultContract {
  /// The noise: 15 nT at 200 cycles (table 3-1). TMRC is 0x96 by default.
  fileprivate static let rm3100 = FaultContract(
    chip: "RM3100", address: 0x20, twin: { RM3100Twin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, RM3100(outputRate: 75), checks: $1)) },
    world: world, isRight: isField(within: Vector3(repeating: 6 * 0.015 + 0.01)),
    firstOfStart: Read(register: 0x36, count: 1), firstOfPoll: Read(register: 0x34, count: 1),
    data: Read(register: 0x24, count: 9),
    stranger: (
      .wrongIdentity(0x21),
      .wrongIdentity(chip: "RM3100", register: 0x36, expected: 0x22, found: 0x21)
    ), lost: .named(.configurationLost(register: 0x0B, expected: 0x95, found: 0x96)), alike: 51)
}
