// What is demanded of LIS3DH and LSM303DLHC-A: every setting swept, faults, self-test. The datasheets' figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  /// DocID17530 rev. 2, table 4: 17 to 360 steps of 4 mg.
  static let lis3dh = accelerometer(
    .lis3dh, .lis3dh, firstOfStart: 0x0F,
    stranger: (
      .wrongIdentity(0x32),
      .wrongIdentity(chip: "LIS3DH", register: 0x0F, expected: 0x33, found: 0x32)
    ),
    selfTest: [
      SelfTestContract.Sensor(
        quantity: .acceleration, unit: .milliG, limits: [68...1440, 68...1440, 68...1440],
        deflection: [360, 330, 300], noise: 8, passes: [0.4, 1.4], fails: [0.1, 0.15])
    ])

  /// It has no identity: one that does not give back what it was told is another.
  static let lsm303dlhcAccelerometer = accelerometer(
    .lsm303dlhc, .lsm303dlhc, firstOfStart: 0x25,
    stranger: (
      .bitFlip(register: 0x23, mask: 0x08),
      .wrongIdentity(chip: "LSM303DLHC-A", register: 0x23, expected: 0x98, found: 0x90)
    ))

  private static func accelerometer(
    _ chip: LIS3DHVariant, _ model: LIS3DHTwinVariant, firstOfStart: UInt8,
    stranger: (fault: SimulatedFault, error: DriverError), selfTest: [SelfTestContract.Sensor] = []
  ) -> ChipContract {
    ChipContract(
      settings: LIS3DH.Range.allCases.count * LIS3DH.outputRates.count,
      sweeps: Sweep.lis3dh(chip, model),
      // The noise: 220 micro-g a root hertz over half the rate (DocID018771 rev. 2, table 3).
      faults: FaultContract(
        chip: chip.rawValue, address: 0x19, twin: { LIS3DHTwin(TwinCore(source: $0), model) },
        driver: { BoxedDriver(RegisterDriver($0, LIS3DH(chip, outputRate: 100), checks: $1)) },
        world: FaultContract.world,
        isRight: { reading, world in
          guard case .acceleration(let force) = reading else { return false }
          let sigma = 220e-6 * standardGravity * 50.squareRoot()
          return isNear(force, world.specificForce, within: Vector3(repeating: 6 * sigma))
        }, firstOfStart: .init(register: firstOfStart, count: 1),
        firstOfPoll: .init(register: 0x27, count: 1), data: .init(register: 0xA8, count: 6),
        stranger: stranger,
        lost: .named(.configurationLost(register: 0x22, expected: 0x10, found: 0x00)), alike: 165),
      selfTest: selfTest)
  }
}

extension Sweep {
  /// LSM303DLHC, DocID018771 rev. 2, table 3: range in g, milli-g a count of 12 bits; table 20: the rates. LIS3DH,
  /// DocID17530 rev. 2: the same.
  fileprivate static func lis3dh(_ chip: LIS3DHVariant, _ model: LIS3DHTwinVariant) -> [Sweep] {
    let ranges: [(range: LIS3DH.Range, g: Double, step: Double)] = [
      (.g2, 2, 0.001), (.g4, 4, 0.002), (.g8, 8, 0.004), (.g16, 16, 0.012),
    ]
    return ranges.flatMap { range, end, step in
      [1.0, 10, 25, 50, 100, 200, 400, 1344].map { rate in
        .axes(
          LIS3DH(chip, outputRate: rate, range: range), "+-\(end) g",
          [.force(limit: end * standardGravity, lsb: step * standardGravity)], address: 0x19,
          twin: { LIS3DHTwin($0, model) })
      }
    }
  }
}
