// What is demanded of the LSM303DLHC's magnetometer: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let lsm303dlhcMagnetometer = ChipContract(
    settings: LSM303DLHCMagnetometer.Range.allCases.count
      * LSM303DLHCMagnetometer.outputRates.count,
    sweeps: Sweep.lsm303dlhcMagnetometer, faults: .lsm303dlhcMagnetometer)
}

extension Sweep {
  /// LSM303DLHC, DocID018771 rev. 2, table 75: range in gauss, counts a gauss of X and Y, and of Z;
  /// table 72: the rates.
  fileprivate static let lsm303dlhcMagnetometer: [Sweep] = {
    let ranges:
      [(
        range: LSM303DLHCMagnetometer.Range, gauss: Double, xy: Double, z: Double
      )] = [
        (.gauss1p3, 1.3, 1100, 980), (.gauss1p9, 1.9, 855, 760), (.gauss2p5, 2.5, 670, 600),
        (.gauss4p0, 4, 450, 400), (.gauss4p7, 4.7, 400, 355), (.gauss5p6, 5.6, 330, 295),
        (.gauss8p1, 8.1, 230, 205),
      ]
    return ranges.flatMap { range, gauss, xy, z in
      [0.75, 1.5, 3, 7.5, 15, 30, 75, 220].map { rate in
        .axes(
          LSM303DLHCMagnetometer(outputRate: rate, range: range), "+-\(gauss) gauss",
          [.field(limit: 100 * gauss, lsb: Vector3(100 / xy, 100 / xy, 100 / z))], address: 0x1E,
          twin: LSM303DLHCMagnetometerTwin.init)
      }
    }
  }()
}

extension FaultContract {
  /// The noise: 2 mgauss (DocID018771 rev. 2, table 3).
  fileprivate static let lsm303dlhcMagnetometer = FaultContract(
    chip: "LSM303DLHC-M", address: 0x1E, twin: { LSM303DLHCMagnetometerTwin(source: $0) },
    driver: {
      BoxedDriver(
        RegisterDriver($0, LSM303DLHCMagnetometer(outputRate: 75), checks: $1))
    }, world: world, isRight: isField(within: Vector3(repeating: 6 * 0.2)),
    firstOfStart: Read(register: 0x0A, count: 3), firstOfPoll: Read(register: 0x09, count: 1),
    data: Read(register: 0x03, count: 6),
    stranger: (
      .wrongIdentity(0x33),
      .wrongIdentity(chip: "LSM303DLHC-M", register: 0x0A, expected: 0x48, found: 0x33)
    ), lost: .configurationLost(register: 0x00, expected: 0x18, found: 0x10), alike: 51)
}
