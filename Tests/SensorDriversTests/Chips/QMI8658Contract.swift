// What is demanded of the QMI8658: every setting swept, its faults. The datasheet's figures, restated.

import SensorDrivers

@testable import SimulatedDevices

extension ChipContract {
  static let qmi8658 = ChipContract(
    settings: 8 * 7, sweeps: Sweep.qmi8658,
    faults: FaultContract(
      chip: "QMI8658", address: 0x6B, twin: { QMI8658Twin(TwinCore(source: $0)) },
      driver: { BoxedDriver(RegisterDriver($0, QMI8658(outputRate: 208), checks: $1)) },
      world: FaultContract.world,
      // 200 micro-g and 15 millidegrees a second a root hertz, over half of 224.2 Hz.
      isRight: FaultContract.isMotion(
        forceSigma: 200e-6 * 112.1.squareRoot(), rateSigma: 15e-3 * 112.1.squareRoot()),
      firstOfStart: .init(register: 0x00, count: 1), firstOfPoll: .init(register: 0x2E, count: 1),
      data: .init(register: 0x35, count: 12),
      stranger: (
        .wrongIdentity(0x6C),
        .wrongIdentity(chip: "QMI8658", register: 0x00, expected: 0x05, found: 0x6C)
      ), lost: .named(.configurationLost(register: 0x02, expected: 0x50, found: 0x20)), alike: 51),
    // QMI8658A rev. A, 15.1 and 15.2: more than 200 mg and 300 degrees a second; no upper end but the test's own ranges. A
    // count is half a milli-g and a sixteenth of a degree a second.
    selfTest: [
      SelfTestContract.Sensor(
        quantity: .acceleration, unit: .milliG,
        limits: [200...16_000, 200...16_000, 200...16_000], deflection: [450, 500, 600], noise: 0.5,
        passes: [0.7, 1.4], fails: [0.1, 0.4], isToldByChip: true),
      SelfTestContract.Sensor(
        quantity: .angularRate, unit: .degreesPerSecond,
        limits: [300...2048, 300...2048, 300...2048], deflection: [500, 450, 550], noise: 0.07,
        passes: [0.7, 1.4], fails: [0.1, 0.4], isToldByChip: true),
    ])
}

extension Sweep {
  /// Ranges in g and in degrees a second with their counts a unit; the rates of the table for 6 axes. Each of the eight
  /// ranges of the gyro comes with each rate, and with each of the accelerometer.
  fileprivate static let qmi8658: [Sweep] = {
    let linear: [(range: AccelerationRange, g: Double, counts: Double)] = [
      (.g2, 2, 16_384), (.g4, 4, 8192), (.g8, 8, 4096), (.g16, 16, 2048),
    ]
    let angular: [(range: QMI8658.AngularRateRange, dps: Double, counts: Double)] = [
      (.dps16, 16, 2048), (.dps32, 32, 1024), (.dps64, 64, 512), (.dps128, 128, 256),
      (.dps256, 256, 128), (.dps512, 512, 64), (.dps1024, 1024, 32), (.dps2048, 2048, 16),
    ]
    let rates = [28.025, 56.05, 112.1, 224.2, 448.4, 896.8, 1793.6]
    return rates.enumerated().flatMap { (index, rate) -> [Sweep] in
      angular.enumerated().map { place, angular -> Sweep in
        let linear = linear[(place + index) % 4]
        return .inertial(
          QMI8658(
            outputRate: rate, accelerationRange: linear.range, angularRateRange: angular.range),
          g: linear.g, countsPerG: linear.counts, dps: angular.dps,
          countsPerDegree: angular.counts, address: 0x6B, twin: { QMI8658Twin($0) })
      }
    }
  }()
}
