// What is demanded of the AK8963, AK09916 and AK09918: every setting swept, their faults. The datasheets' figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let ak8963 = ChipContract(
    settings: 3 * AKMVariant.ak8963.outputRates.count, sweeps: Sweep.ak8963,
    faults: .akm(
      .ak8963, .ak8963, identity: (0x00, 0x48, 0x33), reads: (1, 0x02, 0x03, 7),
      lost: .configurationLost(register: 0x0A, expected: 0x16, found: 0x00)),
    selfTest: [.akm(z: -3200 ... -800, source: -1600)], selfTestFirstSteps: 4)
  static let ak09916 = ChipContract(
    settings: AKMVariant.ak09916.outputRates.count,
    sweeps: Sweep.akm(.ak09916, .ak09916, [10, 20, 50, 100]),
    faults: .akm(
      .ak09916, .ak09916, identity: (0x01, 0x09, 0x0C), reads: (2, 0x10, 0x11, 8),
      lost: .configurationLost(register: 0x31, expected: 0x08, found: 0x00)),
    selfTest: [.akm(z: -1000 ... -200, source: -80 / 0.15)])
  static let ak09918 = ChipContract(
    settings: AKMVariant.ak09918.outputRates.count,
    sweeps: Sweep.akm(.ak09918, .ak09918, [10, 20, 50, 100]),
    faults: .akm(
      .ak09918, .ak09918, identity: (0x01, 0x0C, 0x09), reads: (2, 0x10, 0x11, 8),
      lost: .configurationLost(register: 0x31, expected: 0x08, found: 0x00)),
    selfTest: [.akm(z: -1000 ... -150, source: -80 / 0.15)])
}

extension SelfTestContract.Sensor {
  /// The datasheets' "Self-test mode": counts of 0.15 microtesla on X and Y, and on Z, along which the source acts.
  fileprivate static func akm(z: ClosedRange<Double>, source: Double) -> Self {
    SelfTestContract.Sensor(
      quantity: .magneticField, unit: .counts, limits: [-200...200, -200...200, z],
      deflection: [0, 0, source], noise: 2, isSigned: true, isBrief: true)
  }
}

extension Sweep {
  /// Chips with the sensitivity adjustments of a sold one, with none, and with the ends of what there can be. A
  /// count is 0.15 microtesla before it (MS1356-E-02, table 8.3; 8.3.11 for the formula).
  fileprivate static let ak8963: [Sweep] = {
    let chips: [[UInt8]] = [[176, 178, 166], [128, 128, 128], [255, 0, 200]]
    return chips.flatMap { bytes -> [Sweep] in
      let factors: [Double] = bytes.map { 1 + (Double($0) - 128) * 0.5 / 128 }
      let lsb: Vector3 = 0.15 * Vector3(factors[0], factors[1], factors[2])
      return akm(.ak8963, .ak8963, [8, 100], adjustment: bytes, lsb: lsb)
    }
  }()

  /// The three axes together may have 4912 microtesla (table 8.3 and 8.3.5, tables 11.3 and 11.3.6): the sweep,
  /// which has all three at work, goes to 2800, where they are 4760. An AK8963 of less than full sensitivity
  /// comes to the end of its 16 bits before.
  fileprivate static func akm(
    _ chip: AKMVariant, _ twin: AKMTwinVariant, _ rates: [Double], adjustment: [UInt8] = [],
    lsb: Vector3 = Vector3(repeating: 0.15)
  ) -> [Sweep] {
    rates.map { rate in
      .axes(
        AKM(chip: chip, outputRate: rate), "\(adjustment)",
        [.field(limit: min(2800, 32000 * lsb.min()), lsb: lsb)], address: 0x0C,
        twin: { AKMTwin(twin, $0, adjustment: adjustment) })
    }
  }
}

extension Vector3 {
  fileprivate func min() -> Double { Swift.min(x, y, z) }
}

extension FaultContract {
  /// The noise is two counts: the datasheets name none.
  fileprivate static func akm(
    _ chip: AKMVariant, _ twin: AKMTwinVariant,
    identity: (register: UInt8, expected: UInt8, found: UInt8),
    reads: (first: Int, status: UInt8, output: UInt8, count: Int), lost: DriverError
  ) -> FaultContract {
    FaultContract(
      chip: chip.rawValue, address: 0x0C, twin: { AKMTwin(twin, TwinCore(source: $0)) },
      driver: { BoxedDriver(RegisterDriver($0, AKM(chip: chip, outputRate: 80), checks: $1)) },
      world: world, isRight: isField(within: Vector3(repeating: 6 * 0.3)),
      firstOfStart: Read(register: 0x00, count: reads.first),
      firstOfPoll: Read(register: reads.status, count: 1),
      data: Read(register: reads.output, count: reads.count),
      stranger: (
        .wrongIdentity(identity.found),
        .wrongIdentity(
          chip: chip.rawValue, register: identity.register, expected: identity.expected,
          found: identity.found)
      ), lost: .named(lost), alike: 51)
  }
}
