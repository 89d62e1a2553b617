// What is demanded of the ICM20948: every setting swept, its faults. The datasheet's figures, restated.

import SensorDrivers

@testable import SimulatedDevices

extension ChipContract {
  /// DS-000189 rev. 1.3: 1125 Hz divided; 230 micro-g and 15 millidegrees a second a root hertz.
  static let icm20948 = ChipContract(
    settings: 4 * 15,
    sweeps: Sweep.invenSense(
      rates: [
        5, 9, 11.25, 22.5, 25, 45, 56.25, 75, 112.5, 125, 225, 281.25, 375, 562.5, 1125,
      ], address: 0x68,
      chip: { ICM20948(outputRate: $0, accelerationRange: $1, angularRateRange: $2) },
      twin: { ICM20948Twin($0) }),
    faults: FaultContract(
      chip: "ICM20948", address: 0x68, twin: { ICM20948Twin(TwinCore(source: $0)) },
      driver: { BoxedDriver(RegisterDriver($0, ICM20948(outputRate: 125), checks: $1)) },
      world: FaultContract.world,
      // Half of 125 Hz is passed by the filters of 68.8 and 73.3 Hz noise bandwidth.
      isRight: FaultContract.isMotion(
        forceSigma: 230e-6 * 68.8.squareRoot(), rateSigma: 15e-3 * 73.3.squareRoot()),
      firstOfStart: .init(register: 0x7F, count: 1), firstOfPoll: .init(register: 0x1A, count: 1),
      data: .init(register: 0x2D, count: 12),
      stranger: (
        .wrongIdentity(0xE0),
        .wrongIdentity(chip: "ICM20948", register: 0x00, expected: 0xEA, found: 0xE0)
      ), lost: .named(.configurationLost(register: 0x06, expected: 0x01, found: 0x41)), alike: 51),
    selfTest: SelfTestContract.Sensor.trimmed(50...150, passes: [0.6, 1.4], noise: (5, 2)),
    // 512 bytes (4.15) by 12. At 1125 Hz the filters are of 265 and 187.6 Hz noise bandwidth.
    queue: QueueContract(
      chip: { ICM20948(outputRate: 1125, accelerationRange: .g2, gathers: $0) },
      twin: { ICM20948Twin($0) }, rate: 1125, batch: 11, raises: false, holds: 42,
      step: (1 / 32.8, 1.0 / 16_384), delay: 0.0019 + 0.25 / 187.6,
      noise: (230e-6 * 265.0.squareRoot(), 15e-3 * 187.6.squareRoot()),
      status: .init(register: 0x70, count: 2), data: .init(register: 0x72, count: 12),
      lost: (0x06, 0x01, 0x41)))
}
