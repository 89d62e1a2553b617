// What is demanded of ST's LSM6 family: every setting swept, its faults and its self-test. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  // DS13012; the self-test's limits: ST's example.
  static let ism330dhcx = lsm6(.ism330dhcx, .industrial, 0x6B, noise: (60, 5), least: 90)
  // DocID026899, DocID027423.
  static let lsm6ds3 = lsm6(.lsm6ds3, .first, 0x69, noise: (90, 7), least: 90)
  static let lsm6ds33 = lsm6(.lsm6ds33, .first, 0x69, noise: (90, 7), least: 90)
  // DocID028475 rev. 7, table 3.
  static let lsm6ds3trc = lsm6(.lsm6ds3trc, .second, 0x6A, noise: (80, 4), least: 90)
  static let lsm6dsl = lsm6(.lsm6dsl, .second, 0x6A, noise: (80, 4), least: 90)
  // DS12140 rev. 2, DS12814 rev. 4, table 2.
  static let lsm6dso = lsm6(.lsm6dso, .third, 0x6C, noise: (70, 3.8), least: 50)
  static let lsm6dsox = lsm6(.lsm6dsox, .third, 0x6C, noise: (70, 3.8), least: 50)

  private static func lsm6(
    _ chip: LSM6Variant, _ variant: LSM6Twin.Variant, _ identity: UInt8,
    noise: (linear: Double, angular: Double), least: Double
  ) -> ChipContract {
    let limits = least...1700
    return ChipContract(
      settings: LSM6.AccelerationRange.allCases.count * chip.outputRates.count,
      sweeps: Sweep.lsm6(chip, variant),
      faults: .lsm6(chip, variant, identity, noise: noise),
      selfTest: [
        SelfTestContract.Sensor(
          quantity: .acceleration, unit: .milliG, limits: [limits, limits, limits],
          deflection: [460, 560, 350], noise: 6),
        SelfTestContract.Sensor(
          quantity: .angularRate, unit: .degreesPerSecond,
          limits: [150...700, 150...700, 150...700], deflection: [310, 290, 340], noise: 1),
      ], queue: .lsm6(chip, variant, noise: noise))
  }
}

extension Sweep {
  /// All of the family alike (LSM6DSOX: DS12814 rev. 4, table 2): range in g, milli-g a count; range in degrees a second,
  /// millidegrees a second a count; tables 43 and 45: the rates, but the two that a bus cannot fetch. Each of the four ranges of either
  /// sensor comes with each rate, and with each range of the other.
  ///
  /// At 0.061 mg a count, +-2 g are 32787 counts: the 16 bits end before the range does. Where they end,
  /// the last count says saturation and not a value.
  fileprivate static func lsm6(_ chip: LSM6Variant, _ variant: LSM6Twin.Variant) -> [Sweep] {
    let linear: [(range: LSM6.AccelerationRange, g: Double, step: Double)] = [
      (.g2, 2, 0.061e-3), (.g4, 4, 0.122e-3), (.g8, 8, 0.244e-3), (.g16, 16, 0.488e-3),
    ]
    let angular: [(range: LSM6.AngularRateRange, dps: Double, step: Double)] = [
      (.dps250, 250, 8.75e-3), (.dps500, 500, 17.5e-3), (.dps1000, 1000, 35e-3),
      (.dps2000, 2000, 70e-3),
    ]
    let rates: [Double] = [12.5, 26, 52, 104, 208, 417, 833, 1667]
    let degree = Double.pi / 180
    return rates.enumerated().flatMap { (index, rate) -> [Sweep] in
      linear.enumerated().map { place, linear -> Sweep in
        let angular = angular[(place + index) % 4]
        return .axes(
          LSM6(
            chip, outputRate: rate, accelerationRange: linear.range, angularRateRange: angular.range
          ),
          "+-\(linear.g) g, +-\(angular.dps) dps",
          [
            .force(
              limit: min(linear.g, 32766 * linear.step) * standardGravity,
              lsb: linear.step * standardGravity),
            .rate(limit: angular.dps * degree, lsb: angular.step * degree),
          ], address: 0x6A, twin: { LSM6Twin($0, variant) })
      }
    }
  }
}

extension QueueContract {
  /// 833 Hz, eight samples, 16 words of 7 bytes or 48 of 2 (AN5272, AN5040). A queue of 512 words, or of 4 KiB, 8 in the
  /// first chips. After a dip in the supply the threshold is the first that differs.
  fileprivate static func lsm6(
    _ chip: LSM6Variant, _ variant: LSM6Twin.Variant, noise: (linear: Double, angular: Double)
  ) -> QueueContract {
    let isTagged = variant == .third || variant == .industrial
    return QueueContract(
      chip: { LSM6(chip, outputRate: 833, accelerationRange: .g2, gathers: $0) },
      twin: { LSM6Twin($0, variant) }, rate: 833, batch: 8,
      holds: isTagged ? 256 : variant == .first ? 682 : 341, step: (35e-3, 0.061e-3),
      delay: 0.5 / 833,
      noise: (
        noise.linear * 1e-6 * 416.5.squareRoot(), noise.angular * 1e-3 * (833.0 / 3).squareRoot()
      ), status: .init(register: 0x3A, count: 2),
      data: isTagged ? .init(register: 0x78, count: 14) : .init(register: 0x3E, count: 12),
      lost: isTagged ? (0x07, 16, 0x00) : (0x06, 48, 0x00))
  }
}

extension FaultContract {
  /// The noise: so many micro-g a root hertz over half the rate, millidegrees a second a root hertz over a third
  /// of it.
  fileprivate static func lsm6(
    _ chip: LSM6Variant, _ variant: LSM6Twin.Variant, _ identity: UInt8,
    noise: (linear: Double, angular: Double)
  ) -> FaultContract {
    FaultContract(
      chip: chip.rawValue, address: 0x6A, twin: { LSM6Twin(TwinCore(source: $0), variant) },
      driver: { BoxedDriver(RegisterDriver($0, LSM6(chip, outputRate: 208), checks: $1)) },
      world: world,
      isRight: { reading, world in
        guard case .inertial(let rate, let force) = reading else { return false }
        let forceSigma = noise.linear * 1e-6 * standardGravity * 104.squareRoot()
        let rateSigma = noise.angular * 1e-3 * .pi / 180 * (208.0 / 3).squareRoot()
        return isNear(force, world.specificForce, within: Vector3(repeating: 6 * forceSigma))
          && isNear(rate, world.angularRate, within: Vector3(repeating: 6 * rateSigma))
      }, firstOfStart: Read(register: 0x01, count: 1),
      firstOfPoll: Read(register: 0x1E, count: 1), data: Read(register: 0x22, count: 12),
      stranger: (
        .wrongIdentity(0x68),
        .wrongIdentity(chip: chip.rawValue, register: 0x0F, expected: identity, found: 0x68)
      ), lost: .named(.configurationLost(register: 0x12, expected: 0x44, found: 0x04)), alike: 51)
  }
}
