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
      driver: { BoxedDriver(RegisterDriver($0, ICM20948(outputRate: 208), checks: $1)) },
      world: FaultContract.world,
      // 208 Hz are 225, behind the filters of 136 and 154.3 Hz noise bandwidth.
      isRight: FaultContract.isMotion(
        forceSigma: 230e-6 * 136.0.squareRoot(), rateSigma: 15e-3 * 154.3.squareRoot()),
      firstOfStart: .init(register: 0x7F, count: 1), firstOfPoll: .init(register: 0x1A, count: 1),
      data: .init(register: 0x2D, count: 12),
      stranger: (
        .wrongIdentity(0xE0),
        .wrongIdentity(chip: "ICM20948", register: 0x00, expected: 0xEA, found: 0xE0)
      ), lost: .named(.configurationLost(register: 0x06, expected: 0x01, found: 0x41)), alike: 51),
    selfTest: SelfTestContract.Sensor.trimmed(50...150, passes: [0.6, 1.4], noise: (5, 2)))
}
