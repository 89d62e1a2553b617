// What is demanded of the LSM6DSOX: every setting swept, its faults and its self-test. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let lsm6dsox = ChipContract(
    settings: LSM6DSOX.AccelerationRange.allCases.count * LSM6DSOX.outputRates.count,
    sweeps: Sweep.lsm6dsox, faults: .lsm6dsox,
    selfTest: [
      // DS12814 rev. 4, table 2.
      SelfTestContract.Sensor(
        quantity: .acceleration, unit: .milliG, limits: [50...1700, 50...1700, 50...1700],
        deflection: [460, 560, 350], noise: 5),
      SelfTestContract.Sensor(
        quantity: .angularRate, unit: .degreesPerSecond,
        limits: [150...700, 150...700, 150...700], deflection: [310, 290, 340], noise: 1),
    ])
}

extension Sweep {
  /// LSM6DSOX, DS12814 rev. 4, table 2: range in g, milli-g a count; range in degrees a second,
  /// millidegrees a second a count; tables 43 and 45: the rates. Each of the four ranges of either
  /// sensor comes with each rate, and with each range of the other.
  ///
  /// At 0.061 mg a count, +-2 g are 32787 counts: the 16 bits end before the range does. Where they end,
  /// the last count says saturation and not a value.
  fileprivate static let lsm6dsox: [Sweep] = {
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
        return .axes(
          LSM6DSOX(
            outputRate: rate, accelerationRange: linear.range, angularRateRange: angular.range),
          "+-\(linear.g) g, +-\(angular.dps) dps",
          [
            .force(
              limit: min(linear.g, 32766 * linear.step) * standardGravity,
              lsb: linear.step * standardGravity),
            .rate(limit: angular.dps * degree, lsb: angular.step * degree),
          ], address: 0x6A, twin: LSM6DSOXTwin.init)
      }
    }
  }()
}

extension FaultContract {
  /// The noise: 70 micro-g a root hertz over half the rate, 3.8 millidegrees a second a root hertz over
  /// a third of it (DS12814 rev. 4, table 2).
  fileprivate static let lsm6dsox = FaultContract(
    chip: "LSM6DSOX", address: 0x6A, twin: { LSM6DSOXTwin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, LSM6DSOX(outputRate: 208), checks: $1)) },
    world: world,
    isRight: { reading, world in
      guard case .inertial(let rate, let force) = reading else { return false }
      let forceSigma = 70e-6 * standardGravity * 104.squareRoot()
      let rateSigma = 3.8e-3 * .pi / 180 * (208.0 / 3).squareRoot()
      return isNear(force, world.specificForce, within: Vector3(repeating: 6 * forceSigma))
        && isNear(rate, world.angularRate, within: Vector3(repeating: 6 * rateSigma))
    }, firstOfStart: Read(register: 0x0F, count: 1),
    firstOfPoll: Read(register: 0x1E, count: 1), data: Read(register: 0x22, count: 12),
    stranger: (
      .wrongIdentity(0x6A),
      .wrongIdentity(chip: "LSM6DSOX", register: 0x0F, expected: 0x6C, found: 0x6A)
    ), lost: .named(.configurationLost(register: 0x12, expected: 0x44, found: 0x04)), alike: 51)
}
