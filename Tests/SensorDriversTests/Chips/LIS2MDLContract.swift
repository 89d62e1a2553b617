// What is demanded of the LIS2MDL: every setting swept, its faults and its self-test. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let lis2mdl = ChipContract(
    settings: 4, sweeps: Sweep.lis2mdl, faults: .lis2mdl,
    selfTest: [
      // DS12144, magnetic characteristics, self-test: 15 to 500 mgauss.
      SelfTestContract.Sensor(
        quantity: .magneticField, unit: .gauss, limits: [0.015...0.5, 0.015...0.5, 0.015...0.5],
        deflection: [0.06, 0.06, 0.06], noise: 0.009, passes: [0.6, 1.4, 3.2], fails: [0.1, 10])
    ])
}

extension Sweep {
  /// DS12144: 1.5 mgauss a count, +-49.152 gauss, of which the last count is the end stop.
  fileprivate static let lis2mdl: [Sweep] = [10.0, 20, 50, 100].map { rate in
    .axes(
      LIS2MDL(outputRate: rate), "+-49 gauss",
      [.field(limit: 4914, lsb: Vector3(repeating: 0.15))], address: 0x1E, twin: LIS2MDLTwin.init)
  }
}

extension FaultContract {
  /// The noise: 3 mgauss (DS12144, magnetic characteristics).
  fileprivate static let lis2mdl = FaultContract(
    chip: "LIS2MDL", address: 0x1E, twin: { LIS2MDLTwin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, LIS2MDL(outputRate: 50), checks: $1)) },
    world: world, isRight: isField(within: Vector3(repeating: 6 * 0.3)),
    firstOfStart: Read(register: 0x4F, count: 1), firstOfPoll: Read(register: 0x67, count: 1),
    data: Read(register: 0xE8, count: 6),
    stranger: (
      .wrongIdentity(0x3D),
      .wrongIdentity(chip: "LIS2MDL", register: 0x4F, expected: 0x40, found: 0x3D)
    ), lost: .named(.configurationLost(register: 0x61, expected: 0x02, found: 0x00)), alike: 51)
}
