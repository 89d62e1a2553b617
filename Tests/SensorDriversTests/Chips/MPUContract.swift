// What is demanded of MPU6050, MPU6500 and MPU9250: every setting swept, their faults and their self-test. The
// datasheets' figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let mpu6050 = mpu(.mpu6050, .mpu6050, noise: (400e-6, 5e-3), lost: (0x6B, 0x01, 0x40))
  static let mpu6500 = mpu(.mpu6500, .mpu6500, noise: (300e-6, 10e-3), lost: (0x1A, 0x02, 0x00))
  static let mpu9250 = mpu(.mpu9250, .mpu9250, noise: (300e-6, 10e-3), lost: (0x1A, 0x02, 0x00))

  private static func mpu(
    _ chip: MPUVariant, _ twin: MPUTwinVariant, noise: (force: Double, rate: Double),
    lost: (register: UInt8, expected: UInt8, found: UInt8)
  ) -> ChipContract {
    ChipContract(
      settings: 4 * 14,
      sweeps: Sweep.invenSense(
        rates: [4, 5, 8, 10, 20, 25, 40, 50, 100, 125, 200, 250, 500, 1000], address: 0x68,
        chip: {
          MPU(chip: chip, outputRate: $0, accelerationRange: $1, angularRateRange: $2)
        }, twin: { MPUTwin(twin, $0) }),
      faults: FaultContract(
        chip: chip.rawValue, address: 0x68, twin: { MPUTwin(twin, TwinCore(source: $0)) },
        driver: {
          BoxedDriver(RegisterDriver($0, MPU(chip: chip, outputRate: 200), checks: $1))
        }, world: FaultContract.world,
        // Half of 200 Hz is passed by the filter of 98 and 94 Hz (92, 99).
        isRight: FaultContract.isMotion(
          forceSigma: noise.force * 99.0.squareRoot(),
          rateSigma: noise.rate * 98.0.squareRoot()),
        firstOfStart: .init(register: 0x75, count: 1),
        firstOfPoll: .init(register: 0x37, count: 4),
        data: .init(register: 0x3B, count: 14),
        stranger: (
          .wrongIdentity(0x12),
          .wrongIdentity(
            chip: chip.rawValue, register: 0x75,
            expected: [MPUVariant.mpu6050: 0x68, .mpu6500: 0x70, .mpu9250: 0x71][chip] ?? 0,
            found: 0x12)
        ),
        lost: .named(
          .configurationLost(
            register: lost.register, expected: lost.expected, found: lost.found)), alike: 51),
      selfTest: chip == .mpu6050
        ? SelfTestContract.Sensor.trimmed(86...114, passes: [0.9, 1.1], noise: (3, 1))
        : SelfTestContract.Sensor.trimmed(50...150, passes: [0.6, 1.4], noise: (5, 1)),
      queue: QueueContract(
        chip: {
          MPU(chip: chip, outputRate: 1000, accelerationRange: .g2, gathers: $0)
        }, twin: { MPUTwin(twin, $0) }, rate: 1000, batch: 10, raises: false,
        // 1024 bytes of an MPU6050 (PS-MPU-6000A-00, 7.17), 512 of the others (PS-MPU-9250A-01, features), by 12.
        holds: chip == .mpu6050 ? 85 : 42, step: (1 / 32.8, 1.0 / 16_384),
        // The widest filter that passes no more than half: DLPF_CFG 1.
        delay: chip == .mpu6050 ? 1.9e-3 : 2.9e-3,
        noise: (
          noise.force * (chip == .mpu6050 ? 184 : 218.1).squareRoot(),
          noise.rate * 188.0.squareRoot()
        ), status: .init(register: 0x72, count: 2), data: .init(register: 0x74, count: 12),
        lost: chip == .mpu6050 ? (0x6B, 0x01, 0x40) : (0x1A, 0x01, 0x00)))
  }
}

extension SelfTestContract.Sensor {
  /// Shares of the factory's trim, accelerometer first. RM-MPU-6000A-00 rev. 4.2, 4.1: within 14 % of it; an application
  /// note of the later chips (AN-MPU-9250A-03): half of it to half as much again.
  static func trimmed(
    _ limits: ClosedRange<Double>, passes: [Double], noise: (force: Double, rate: Double)
  ) -> [SelfTestContract.Sensor] {
    [
      SelfTestContract.Sensor(
        quantity: .acceleration, unit: .percentOfTrim, limits: [limits, limits, limits],
        deflection: [100, 100, 100], noise: noise.force, passes: passes, fails: [0.1, 3.2]),
      SelfTestContract.Sensor(
        quantity: .angularRate, unit: .percentOfTrim, limits: [limits, limits, limits],
        deflection: [100, 100, 100], noise: noise.rate, passes: passes, fails: [0.1, 3.2]),
    ]
  }
}

extension Sweep {
  /// InvenSense's ranges, in g and in degrees a second, and counts a unit: the same in all of their datasheets. Each
  /// of the four ranges of either sensor comes with each rate, and with each range of the other. The 16 bits end
  /// before +-2000 degrees a second do; where they end, the last count says saturation and not a value.
  static func invenSense<Chip: RegisterChip>(
    rates: [Double], address: UInt8,
    chip: (Double, AccelerationRange, InvenSense.AngularRateRange) -> Chip,
    twin: @escaping @Sendable (TwinCore) -> any ChipTwin
  ) -> [Sweep] {
    let linear: [(range: AccelerationRange, g: Double, counts: Double)] = [
      (.g2, 2, 16_384), (.g4, 4, 8192), (.g8, 8, 4096), (.g16, 16, 2048),
    ]
    let angular: [(range: InvenSense.AngularRateRange, dps: Double, counts: Double)] = [
      (.dps250, 250, 131), (.dps500, 500, 65.5), (.dps1000, 1000, 32.8), (.dps2000, 2000, 16.4),
    ]
    return rates.enumerated().flatMap { (index, rate) -> [Sweep] in
      linear.enumerated().map { place, linear -> Sweep in
        let angular = angular[(place + index) % 4]
        return .inertial(
          chip(rate, linear.range, angular.range), g: linear.g, countsPerG: linear.counts,
          dps: angular.dps, countsPerDegree: angular.counts, address: address, twin: twin)
      }
    }
  }

  /// An accelerometer and gyro of 16 bits, of which both ends are saturation.
  static func inertial(
    _ chip: some RegisterChip, g: Double, countsPerG: Double, dps: Double,
    countsPerDegree: Double, address: UInt8,
    twin: @escaping @Sendable (TwinCore) -> any ChipTwin
  ) -> Sweep {
    let degree = Double.pi / 180
    return .axes(
      chip, "+-\(g) g, +-\(dps) dps",
      [
        .force(
          limit: min(g, 32766 / countsPerG) * standardGravity, lsb: standardGravity / countsPerG),
        .rate(limit: min(dps, 32766 / countsPerDegree) * degree, lsb: degree / countsPerDegree),
      ], address: address, twin: twin)
  }
}

extension FaultContract {
  /// Six sigma of g and of degrees a second.
  static func isMotion(
    forceSigma: Double, rateSigma: Double
  ) -> @Sendable (Reading, Stimulus) -> Bool {
    { reading, world in
      guard case .inertial(let rate, let force) = reading else { return false }
      let degree = Double.pi / 180
      return isNear(
        force, world.specificForce, within: Vector3(repeating: 6 * forceSigma * standardGravity))
        && isNear(rate, world.angularRate, within: Vector3(repeating: 6 * rateSigma * degree))
    }
  }
}
