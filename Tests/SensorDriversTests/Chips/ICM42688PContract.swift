// What is demanded of the ICM42688P: every setting swept, its faults. The datasheet's figures, restated.

import SensorDrivers

@testable import SimulatedDevices

extension ChipContract {
  /// DS-000347: 70 micro-g and 2.8 millidegrees a second a root hertz.
  static let icm42688p = ChipContract(
    settings: 4 * 8,
    sweeps: Sweep.invenSense(
      rates: [12.5, 25, 50, 100, 200, 500, 1000, 2000], address: 0x69,
      chip: { ICM42688P(outputRate: $0, accelerationRange: $1, angularRateRange: $2) },
      twin: { ICM42688PTwin($0) }),
    faults: FaultContract(
      chip: "ICM42688P", address: 0x69, twin: { ICM42688PTwin(TwinCore(source: $0)) },
      driver: { BoxedDriver(RegisterDriver($0, ICM42688P(outputRate: 200), checks: $1)) },
      world: FaultContract.world,
      // A count is 0.12 mg and 30 millidegrees a second, of which half is lost.
      isRight: FaultContract.isMotion(
        forceSigma: 70e-6 * 100.0.squareRoot() + 0.02e-3,
        rateSigma: 2.8e-3 * 100.0.squareRoot() + 3e-3),
      firstOfStart: .init(register: 0x76, count: 1), firstOfPoll: .init(register: 0x2D, count: 1),
      data: .init(register: 0x1F, count: 12),
      stranger: (
        .wrongIdentity(0x42),
        .wrongIdentity(chip: "ICM42688P", register: 0x75, expected: 0x47, found: 0x42)
      ), lost: .named(.configurationLost(register: 0x14, expected: 0x03, found: 0x00)), alike: 51),
    selfTest: SelfTestContract.Sensor.trimmed(50...150, passes: [0.6, 1.4], noise: (5, 2)),
    // 2048 bytes by packets of 16 (6.1); as many as that are taken for too many.
    queue: QueueContract(
      chip: { ICM42688P(outputRate: 1000, accelerationRange: .g2, gathers: $0) },
      twin: { ICM42688PTwin($0) }, rate: 1000, batch: 10, raisesBeyond: true,
      holds: 127,
      step: (1 / 32.8, 1.0 / 16_384), delay: 0.5e-3,
      noise: (
        70e-6 * 500.0.squareRoot() + 0.02e-3, 2.8e-3 * 500.0.squareRoot() + 3e-3
      ), status: .init(register: 0x2E, count: 2), data: .init(register: 0x30, count: 16),
      lost: (0x16, 0x40, 0x00)))
}
