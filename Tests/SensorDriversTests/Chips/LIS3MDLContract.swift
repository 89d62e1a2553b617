// What is demanded of the LIS3MDL and of the LSM9DS1's magnetometer: every setting swept, their faults and their
// self-test. The datasheets' figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let lis3mdl = lis3mdl(
    .lis3mdl, .lis3mdl,
    // DocID024204 rev. 6, table 3: full scale in gauss, counts a gauss.
    [(.gauss4, 4, 6842), (.gauss8, 8, 3421), (.gauss12, 12, 2281), (.gauss16, 16, 1711)],
    faults: .lis3mdl("LIS3MDL", .lis3mdl, .lis3mdl, control1: 0x7C))

  static let lsm9ds1Magnetometer = lis3mdl(
    .lsm9ds1, .lsm9ds1,
    // DocID025715 rev. 3, table 3: full scale in gauss, milligauss a count.
    [
      (.gauss4, 4, 1000 / 0.14), (.gauss8, 8, 1000 / 0.29), (.gauss12, 12, 1000 / 0.43),
      (.gauss16, 16, 1000 / 0.58),
    ],
    // With temperature compensation.
    faults: .lis3mdl("LSM9DS1-M", .lsm9ds1, .lsm9ds1, control1: 0xFC))

  private static func lis3mdl(
    _ model: LIS3MDLVariant, _ twin: LIS3MDLTwinVariant,
    _ ranges: [(range: LIS3MDL.Range, gauss: Double, counts: Double)], faults: FaultContract
  ) -> ChipContract {
    // DocID024204 rev. 6, tables 20 to 22: the rates.
    let rates: [Double] = [0.625, 1.25, 2.5, 5, 10, 20, 40, 80, 155, 300, 560, 1000]
    return ChipContract(
      settings: LIS3MDL.Range.allCases.count * LIS3MDL.outputRates.count,
      sweeps: ranges.flatMap { range, gauss, counts in
        rates.map { rate in
          .axes(
            LIS3MDL(model, outputRate: rate, range: range), "+-\(gauss) gauss",
            [.field(limit: 100 * gauss, lsb: Vector3(repeating: 100 / counts))], address: 0x1C,
            twin: { LIS3MDLTwin($0, model: twin) })
        }
      }, faults: faults,
      selfTest: [
        // DocID024204 rev. 6, table 3, at 12 gauss; ST's example for the LSM9DS1 has the same.
        SelfTestContract.Sensor(
          quantity: .magneticField, unit: .gauss, limits: [1...3, 1...3, 0.1...1],
          deflection: [2, 2, 0.5], noise: 0.05)
      ])
  }
}

extension FaultContract {
  /// The noise: 3.2 mgauss on X and Y, 4.1 on Z (DocID024204 rev. 6, table 3; the LSM9DS1's datasheet has none).
  fileprivate static func lis3mdl(
    _ name: String, _ model: LIS3MDLVariant, _ twin: LIS3MDLTwinVariant, control1: UInt8
  ) -> FaultContract {
    FaultContract(
      chip: name, address: 0x1C, twin: { LIS3MDLTwin(TwinCore(source: $0), model: twin) },
      driver: { BoxedDriver(RegisterDriver($0, LIS3MDL(model, outputRate: 80), checks: $1)) },
      world: world,
      isRight: isField(within: 6 * Vector3(0.32, 0.32, 0.41)),
      firstOfStart: Read(register: 0x0F, count: 1), firstOfPoll: Read(register: 0x27, count: 1),
      data: Read(register: 0xA8, count: 6),
      stranger: (
        .wrongIdentity(0x40),
        .wrongIdentity(chip: name, register: 0x0F, expected: 0x3D, found: 0x40)
      ), lost: .named(.configurationLost(register: 0x20, expected: control1, found: 0x10)),
      alike: 51)
  }
}
