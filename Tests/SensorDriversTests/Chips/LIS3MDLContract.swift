// What is demanded of the LIS3MDL: every setting swept, its faults and its self-test. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let lis3mdl = ChipContract(
    settings: LIS3MDL.Range.allCases.count * LIS3MDL.outputRates.count,
    sweeps: Sweep.lis3mdl, faults: .lis3mdl,
    selfTest: [
      // DocID024204 rev. 6, table 3, at 12 gauss.
      SelfTestContract.Sensor(
        quantity: .magneticField, unit: .gauss, limits: [1...3, 1...3, 0.1...1],
        deflection: [2, 2, 0.5], noise: 0.05)
    ])
}

extension Sweep {
  /// LIS3MDL, DocID024204 rev. 6, table 3: full scale in gauss, counts a gauss; table 20: the rates.
  fileprivate static let lis3mdl: [Sweep] = {
    let ranges: [(range: LIS3MDL.Range, gauss: Double, counts: Double)] = [
      (.gauss4, 4, 6842), (.gauss8, 8, 3421), (.gauss12, 12, 2281), (.gauss16, 16, 1711),
    ]
    return ranges.flatMap { range, gauss, counts in
      [0.625, 1.25, 2.5, 5, 10, 20, 40, 80, 155, 300, 560, 1000].map { rate in
        .axes(
          LIS3MDL(outputRate: rate, range: range), "+-\(gauss) gauss",
          [.field(limit: 100 * gauss, lsb: Vector3(repeating: 100 / counts))], address: 0x1C,
          twin: LIS3MDLTwin.init)
      }
    }
  }()
}

extension FaultContract {
  /// The noise: 3.2 mgauss on X and Y, 4.1 on Z (DocID024204 rev. 6, table 3).
  fileprivate static let lis3mdl = FaultContract(
    chip: "LIS3MDL", address: 0x1C, twin: { LIS3MDLTwin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, LIS3MDL(outputRate: 80), checks: $1)) },
    world: world,
    isRight: isField(within: 6 * Vector3(0.32, 0.32, 0.41)),
    firstOfStart: Read(register: 0x0F, count: 1), firstOfPoll: Read(register: 0x27, count: 1),
    data: Read(register: 0xA8, count: 6),
    stranger: (
      .wrongIdentity(0x40),
      .wrongIdentity(chip: "LIS3MDL", register: 0x0F, expected: 0x3D, found: 0x40)
    ), lost: .configurationLost(register: 0x20, expected: 0x7C, found: 0x10), alike: 51)
}
