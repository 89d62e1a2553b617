// Sweeps of the magnetometers. Every least significant bit is the datasheet's, restated here.

import LinearAlgebra
import SensorDrivers
import SensorTypes
import SimulatedDevices

private func field(limit: Double, lsb: Vector3) -> AxisChannel {
  AxisChannel(
    name: "field", limit: limit, lsb: lsb, put: { $0.magneticField = $1 },
    get: { reading in
      guard case .magneticField(let field) = reading else { return nil }
      return field
    })
}

extension Sweep {
  /// LIS3MDL, DocID024204 rev. 6, table 3: full scale in gauss, counts a gauss; table 20: the rates.
  static let lis3mdl: [Sweep] = {
    let ranges: [(range: LIS3MDL.Range, gauss: Double, counts: Double)] = [
      (.gauss4, 4, 6842), (.gauss8, 8, 3421), (.gauss12, 12, 2281), (.gauss16, 16, 1711),
    ]
    return ranges.flatMap { range, gauss, counts in
      [0.625, 1.25, 2.5, 5, 10, 20, 40, 80, 155, 300, 560, 1000].map { rate in
        Sweep(
          chip: "LIS3MDL", setting: "+-\(gauss) gauss, \(rate) Hz", minimum: 241,
          channels: ["field x", "field y", "field z", "output rate"]
        ) {
          try sweepAxes(
            [field(limit: 100 * gauss, lsb: Vector3(repeating: 100 / counts))], address: 0x1C,
            twin: { LIS3MDLTwin(source: $0, errors: .none) },
            driver: {
              BoxedDriver(RegisterDriver($0, LIS3MDL(outputRate: rate, range: range)))
            })
        }
      }
    }
  }()

  /// LSM303DLHC, DocID018771 rev. 2, table 75: range in gauss, counts a gauss of X and Y, and of Z;
  /// table 72: the rates.
  static let lsm303dlhcMagnetometer: [Sweep] = {
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
        Sweep(
          chip: "LSM303DLHC-M", setting: "+-\(gauss) gauss, \(rate) Hz", minimum: 241,
          channels: ["field x", "field y", "field z", "output rate"]
        ) {
          try sweepAxes(
            [field(limit: 100 * gauss, lsb: Vector3(100 / xy, 100 / xy, 100 / z))],
            address: 0x1E,
            twin: { LSM303DLHCMagnetometerTwin(source: $0, errors: .none) },
            driver: {
              BoxedDriver(
                RegisterDriver($0, LSM303DLHCMagnetometer(outputRate: rate, range: range)))
            })
        }
      }
    }
  }()
}
