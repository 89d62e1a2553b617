// What is demanded of the HMC5883L and of the LSM303DLHC's magnetometer: every setting swept, their faults and the
// former's self-test. The datasheets' figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let hmc5883l = ChipContract(
    settings: 8 * 7, sweeps: Sweep.hmc5883l,
    // With 75 Hz: 0x18, after a reset 0x10.
    faults: .hmc5883("HMC5883L", .hmc5883l, .hmc5883l, lost: 0x18),
    selfTest: [
      // Form 900405 rev. E, specifications, "Self Test", at 390 counts a gauss.
      SelfTestContract.Sensor(
        quantity: .magneticField, unit: .gauss,
        limits: [Double](repeating: 390, count: 3).map { 243 / $0...575 / $0 },
        deflection: [1.16, 1.16, 1.08], noise: 0.006, passes: [0.6, 1.2])
    ])

  static let lsm303dlhcMagnetometer = ChipContract(
    settings: 7 * 8, sweeps: Sweep.lsm303dlhcMagnetometer,
    faults: .hmc5883("LSM303DLHC-M", .lsm303dlhc, .lsm303dlhc, lost: 0x18))
}

extension Sweep {
  /// HMC5883L, form 900405 rev. E, table 9: range in gauss, counts a gauss; table 5: the rates.
  fileprivate static let hmc5883l: [Sweep] = hmc5883(
    .hmc5883l, .hmc5883l, rates: [0.75, 1.5, 3, 7.5, 15, 30, 75],
    [
      (.gauss0p88, 0.88, 1370, 1370), (.gauss1p3, 1.3, 1090, 1090), (.gauss1p9, 1.9, 820, 820),
      (.gauss2p5, 2.5, 660, 660), (.gauss4p0, 4, 440, 440), (.gauss4p7, 4.7, 390, 390),
      (.gauss5p6, 5.6, 330, 330), (.gauss8p1, 8.1, 230, 230),
    ])

  /// LSM303DLHC, DocID018771 rev. 2, table 75: range in gauss, counts a gauss of X and Y, and of Z;
  /// table 72: the rates.
  fileprivate static let lsm303dlhcMagnetometer: [Sweep] = hmc5883(
    .lsm303dlhc, .lsm303dlhc, rates: [0.75, 1.5, 3, 7.5, 15, 30, 75, 220],
    [
      (.gauss1p3, 1.3, 1100, 980), (.gauss1p9, 1.9, 855, 760), (.gauss2p5, 2.5, 670, 600),
      (.gauss4p0, 4, 450, 400), (.gauss4p7, 4.7, 400, 355), (.gauss5p6, 5.6, 330, 295),
      (.gauss8p1, 8.1, 230, 205),
    ])

  private static func hmc5883(
    _ model: HMC5883Variant, _ twin: HMC5883TwinVariant, rates: [Double],
    _ ranges: [(range: HMC5883.Range, gauss: Double, xy: Double, z: Double)]
  ) -> [Sweep] {
    ranges.flatMap { range, gauss, xy, z in
      rates.map { rate in
        .axes(
          HMC5883(model, outputRate: rate, range: range), "+-\(gauss) gauss",
          [.field(limit: 100 * gauss, lsb: Vector3(100 / xy, 100 / xy, 100 / z))], address: 0x1E,
          twin: { HMC5883Twin($0, model: twin) })
      }
    }
  }
}

extension FaultContract {
  /// The noise: 2 mgauss (form 900405 rev. E, "Field Resolution"; DocID018771 rev. 2, table 3).
  fileprivate static func hmc5883(
    _ name: String, _ model: HMC5883Variant, _ twin: HMC5883TwinVariant, lost: UInt8
  ) -> FaultContract {
    FaultContract(
      chip: name, address: 0x1E, twin: { HMC5883Twin(TwinCore(source: $0), model: twin) },
      driver: {
        BoxedDriver(RegisterDriver($0, HMC5883(model, outputRate: 75), checks: $1))
      }, world: world, isRight: isField(within: Vector3(repeating: 6 * 0.2)),
      firstOfStart: Read(register: 0x0A, count: 3), firstOfPoll: Read(register: 0x09, count: 1),
      data: Read(register: 0x02, count: 7),
      stranger: (
        .wrongIdentity(0x33),
        .wrongIdentity(chip: name, register: 0x0A, expected: 0x48, found: 0x33)
      ), lost: .named(.configurationLost(register: 0x00, expected: lost, found: 0x10)), alike: 51)
  }
}
