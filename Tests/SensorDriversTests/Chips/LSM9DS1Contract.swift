// What is demanded of the LSM9DS1's accelerometer and gyro: every setting swept, its faults and its self-test.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let lsm9ds1Inertial = ChipContract(
    settings: LSM9DS1.AccelerationRange.allCases.count * LSM9DS1.outputRates.count,
    sweeps: Sweep.lsm9ds1Inertial, faults: .lsm9ds1Inertial,
    selfTest: [
      // STMems_Standard_C_drivers, lsm9ds1_self_test.c.
      SelfTestContract.Sensor(
        quantity: .acceleration, unit: .milliG, limits: [70...1500, 70...1500, 70...1500],
        deflection: [400, 450, 380], noise: 6, fails: [0.1, 3.6]),
      SelfTestContract.Sensor(
        quantity: .angularRate, unit: .degreesPerSecond,
        limits: [200...800, 200...800, 200...800], deflection: [420, 390, 450], noise: 1),
    ],
    // 32 slots (3.5). Half a count of 70 millidegrees a second is a good part of the noise.
    queue: QueueContract(
      chip: { LSM9DS1(outputRate: 952, accelerationRange: .g2, gathers: $0) },
      twin: { LSM9DS1Twin($0) }, rate: 952, batch: 9, holds: 32, step: (70e-3, 0.061e-3),
      delay: 0.5 / 952,
      noise: (90e-6 * 476.0.squareRoot(), 7e-3 * (952.0 / 3).squareRoot() + 6e-3),
      status: .init(register: 0x2F, count: 1), data: .init(register: 0x18, count: 12),
      lost: (0x22, 0x44, 0x04)))
}

extension Sweep {
  /// DocID025715 rev. 3, table 3: range in g, milli-g a count; range in degrees a second, millidegrees a second a
  /// count; the gyro's rates. Each of the ranges of either sensor comes with each rate.
  ///
  /// Where the 16 bits end before the range does, they bound the sweep.
  fileprivate static let lsm9ds1Inertial: [Sweep] = {
    let linear: [(range: LSM9DS1.AccelerationRange, g: Double, step: Double)] = [
      (.g2, 2, 0.061e-3), (.g4, 4, 0.122e-3), (.g8, 8, 0.244e-3), (.g16, 16, 0.732e-3),
    ]
    let angular: [(range: LSM9DS1.AngularRateRange, dps: Double, step: Double)] = [
      (.dps245, 245, 8.75e-3), (.dps500, 500, 17.5e-3), (.dps2000, 2000, 70e-3),
    ]
    return [14.9, 59.5, 119, 238, 476, 952].flatMap { rate in
      linear.enumerated().map { place, linear in
        let angular = angular[place % 3]
        return .axes(
          LSM9DS1(
            outputRate: rate, accelerationRange: linear.range, angularRateRange: angular.range),
          "+-\(linear.g) g, +-\(angular.dps) dps",
          [
            .force(
              limit: min(linear.g, 32766 * linear.step) * standardGravity,
              lsb: linear.step * standardGravity),
            .rate(limit: angular.dps * .pi / 180, lsb: angular.step * .pi / 180),
          ], address: 0x6B, twin: LSM9DS1Twin.init)
      }
    }
  }()
}

extension FaultContract {
  fileprivate static let lsm9ds1Inertial = FaultContract(
    chip: "LSM9DS1-AG", address: 0x6B, twin: { LSM9DS1Twin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, LSM9DS1(outputRate: 119), checks: $1)) },
    world: world,
    isRight: { reading, world in
      guard case .inertial(let rate, let force) = reading else { return false }
      let forceSigma = 90e-6 * standardGravity * 59.5.squareRoot()
      let rateSigma = 7e-3 * .pi / 180 * (119.0 / 3).squareRoot()
      // And half a count of 70 millidegrees a second.
      return isNear(force, world.specificForce, within: Vector3(repeating: 6 * forceSigma))
        && isNear(rate, world.angularRate, within: Vector3(repeating: 6 * rateSigma + 0.0007))
    }, firstOfStart: Read(register: 0x0F, count: 1),
    firstOfPoll: Read(register: 0x17, count: 1), data: Read(register: 0x18, count: 6),
    stranger: (
      .wrongIdentity(0x69),
      .wrongIdentity(chip: "LSM9DS1-AG", register: 0x0F, expected: 0x68, found: 0x69)
    ), lost: .named(.configurationLost(register: 0x22, expected: 0x44, found: 0x04)), alike: 51)
}
