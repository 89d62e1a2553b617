// What is demanded of the BMI160: every setting swept, its faults. The datasheet's figures, restated.

import SensorDrivers

@testable import SimulatedDevices

extension ChipContract {
  static let bmi160 = ChipContract(
    settings: 5 * 7, sweeps: Sweep.bmi160,
    faults: FaultContract(
      chip: "BMI160", address: 0x68, twin: { BMI160Twin(TwinCore(source: $0)) },
      driver: { BoxedDriver(RegisterDriver($0, BMI160(outputRate: 200), checks: $1)) },
      world: FaultContract.world,
      // 180 micro-g and 7 millidegrees a second a root hertz, over 0.4 of the rate.
      isRight: FaultContract.isMotion(
        forceSigma: 180e-6 * 80.0.squareRoot(), rateSigma: 7e-3 * 80.0.squareRoot()),
      firstOfStart: .init(register: 0x00, count: 1), firstOfPoll: .init(register: 0x1B, count: 1),
      data: .init(register: 0x0C, count: 12),
      stranger: (
        .wrongIdentity(0x24),
        .wrongIdentity(chip: "BMI160", register: 0x00, expected: 0xD1, found: 0x24)
      ), lost: .named(.configurationLost(register: 0x40, expected: 0x29, found: 0x28)), alike: 51),
    // More than 2 g between the two ends (Bosch's driver); no upper end but the range's.
    selfTest: [
      SelfTestContract.Sensor(
        quantity: .acceleration, unit: .milliG,
        limits: [2000...16_000, 2000...16_000, 2000...16_000], deflection: [2800, 3000, 3200],
        noise: 20, passes: [0.8, 1.4], fails: [0.1, 0.4]),
      // gyr_self_test_ok.
      .verdict(.angularRate, .ofAll),
    ],
    // 1024 bytes (2.5.1) by 12; as many as fit are taken for too many.
    queue: QueueContract(
      chip: { BMI160(outputRate: 800, accelerationRange: .g2, gathers: $0) },
      twin: { BMI160Twin($0) }, rate: 800, batch: 8, holds: 84, step: (1 / 32.8, 1.0 / 16_384),
      delay: 0.5 / 800, noise: (180e-6 * 320.0.squareRoot(), 7e-3 * 320.0.squareRoot()),
      status: .init(register: 0x22, count: 2), data: .init(register: 0x24, count: 12),
      lost: (0x40, 0x2B, 0x28)))
}

extension Sweep {
  /// BST-BMI160-DS000 rev. 0.8, tables 2 and 3: range in g and counts a g, range in degrees a second and counts a
  /// degree a second. Each of the five ranges of the gyro comes with each rate, and with each of the accelerometer.
  fileprivate static let bmi160: [Sweep] = {
    let linear: [(range: AccelerationRange, g: Double, counts: Double)] = [
      (.g2, 2, 16_384), (.g4, 4, 8192), (.g8, 8, 4096), (.g16, 16, 2048),
    ]
    let angular: [(range: BMI160.AngularRateRange, dps: Double, counts: Double)] = [
      (.dps125, 125, 262.4), (.dps250, 250, 131.2), (.dps500, 500, 65.6), (.dps1000, 1000, 32.8),
      (.dps2000, 2000, 16.4),
    ]
    let rates: [Double] = [25, 50, 100, 200, 400, 800, 1600]
    return rates.enumerated().flatMap { (index, rate) -> [Sweep] in
      angular.enumerated().map { place, angular -> Sweep in
        let linear = linear[(place + index) % 4]
        return .inertial(
          BMI160(
            outputRate: rate, accelerationRange: linear.range, angularRateRange: angular.range),
          g: linear.g, countsPerG: linear.counts, dps: angular.dps,
          countsPerDegree: angular.counts, address: 0x68, twin: { BMI160Twin($0) })
      }
    }
  }()
}
