// Sweeps of the accelerometers and the gyro. Every least significant bit is the datasheet's, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes
import SimulatedDevices

/// One g in m/s^2, by definition.
private let g = 9.80665

private func force(limit: Double, lsb: Double) -> AxisChannel {
  AxisChannel(
    name: "force", limit: limit, lsb: Vector3(repeating: lsb), put: { $0.specificForce = $1 },
    get: { reading in
      switch reading {
      case .acceleration(let force): force
      case .inertial(_, let force): force
      default: nil
      }
    })
}

extension Sweep {
  /// LSM303DLHC, DocID018771 rev. 2, table 3: range in g, milli-g a count of 12 bits; table 20: the
  /// rates.
  static let lsm303dlhcAccelerometer: [Sweep] = {
    let ranges: [(range: LSM303DLHCAccelerometer.Range, g: Double, step: Double)] = [
      (.g2, 2, 0.001), (.g4, 4, 0.002), (.g8, 8, 0.004), (.g16, 16, 0.012),
    ]
    return ranges.flatMap { range, end, step in
      [1.0, 10, 25, 50, 100, 200, 400, 1344].map { rate in
        Sweep(
          chip: "LSM303DLHC-A", setting: "+-\(end) g, \(rate) Hz", minimum: 241,
          channels: ["force x", "force y", "force z", "output rate"]
        ) {
          try sweepAxes(
            [force(limit: end * g, lsb: step * g)], address: 0x19,
            twin: { LSM303DLHCAccelerometerTwin(source: $0, errors: .none) },
            driver: {
              BoxedDriver(
                RegisterDriver($0, LSM303DLHCAccelerometer(outputRate: rate, range: range)))
            })
        }
      }
    }
  }()

  /// LSM6DSOX, DS12814 rev. 4, table 2: range in g, milli-g a count; range in degrees a second,
  /// millidegrees a second a count; tables 43 and 45: the rates. Each of the four ranges of either
  /// sensor comes with each rate, and with each range of the other.
  ///
  /// At 0.061 mg a count, +-2 g are 32787 counts: the 16 bits end before the range does. Where they end,
  /// the last count says saturation and not a value.
  static let lsm6dsox: [Sweep] = {
    let linear: [(range: LSM6DSOX.AccelerationRange, g: Double, step: Double)] = [
      (.g2, 2, 0.061e-3), (.g4, 4, 0.122e-3), (.g8, 8, 0.244e-3), (.g16, 16, 0.488e-3),
    ]
    let angular: [(range: LSM6DSOX.AngularRateRange, dps: Double, step: Double)] = [
      (.dps250, 250, 8.75e-3), (.dps500, 500, 17.5e-3), (.dps1000, 1000, 35e-3),
      (.dps2000, 2000, 70e-3),
    ]
    let rates: [Double] = [12.5, 26, 52, 104, 208, 417, 833, 1667, 3333, 6667]
    let degree = Double.pi / 180
    return rates.enumerated().flatMap { (index, rate) -> [Sweep] in
      linear.enumerated().map { place, linear -> Sweep in
        let angular = angular[(place + index) % 4]
        return Sweep(
          chip: "LSM6DSOX", setting: "+-\(linear.g) g, +-\(angular.dps) dps, \(rate) Hz",
          minimum: 241,
          channels: ["force x", "force y", "force z", "rate x", "rate y", "rate z", "output rate"]
        ) {
          try sweepAxes(
            [
              force(limit: min(linear.g, 32766 * linear.step) * g, lsb: linear.step * g),
              AxisChannel(
                name: "rate", limit: angular.dps * degree,
                lsb: Vector3(repeating: angular.step * degree), put: { $0.angularRate = $1 },
                get: { reading in
                  guard case .inertial(let rate, _) = reading else { return nil }
                  return rate
                }),
            ], address: 0x6A,
            twin: { LSM6DSOXTwin(source: $0, errors: .none) },
            driver: {
              BoxedDriver(
                RegisterDriver(
                  $0,
                  LSM6DSOX(
                    outputRate: rate, accelerationRange: linear.range,
                    angularRateRange: angular.range)))
            })
        }
      }
    }
  }()
}
