// What is demanded of the LSM303DLHC's accelerometer: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let lsm303dlhcAccelerometer = ChipContract(
    settings: LSM303DLHCAccelerometer.Range.allCases.count
      * LSM303DLHCAccelerometer.outputRates.count,
    sweeps: Sweep.lsm303dlhcAccelerometer, faults: .lsm303dlhcAccelerometer)
}

extension Sweep {
  /// LSM303DLHC, DocID018771 rev. 2, table 3: range in g, milli-g a count of 12 bits; table 20: the
  /// rates.
  fileprivate static let lsm303dlhcAccelerometer: [Sweep] = {
    let ranges: [(range: LSM303DLHCAccelerometer.Range, g: Double, step: Double)] = [
      (.g2, 2, 0.001), (.g4, 4, 0.002), (.g8, 8, 0.004), (.g16, 16, 0.012),
    ]
    return ranges.flatMap { range, end, step in
      [1.0, 10, 25, 50, 100, 200, 400, 1344].map { rate in
        .axes(
          LSM303DLHCAccelerometer(outputRate: rate, range: range), "+-\(end) g",
          [.force(limit: end * standardGravity, lsb: step * standardGravity)], address: 0x19,
          twin: LSM303DLHCAccelerometerTwin.init)
      }
    }
  }()
}

extension FaultContract {
  /// It has no identity: one that does not give back what it was told is another. The noise: 220
  /// micro-g a root hertz over half the rate (DocID018771 rev. 2, table 3).
  fileprivate static let lsm303dlhcAccelerometer = FaultContract(
    chip: "LSM303DLHC-A", address: 0x19, twin: { LSM303DLHCAccelerometerTwin(source: $0) },
    driver: {
      BoxedDriver(
        RegisterDriver($0, LSM303DLHCAccelerometer(outputRate: 100), checks: $1))
    }, world: world,
    isRight: { reading, world in
      guard case .acceleration(let force) = reading else { return false }
      let sigma = 220e-6 * standardGravity * 50.squareRoot()
      return isNear(force, world.specificForce, within: Vector3(repeating: 6 * sigma))
    }, firstOfStart: Read(register: 0x21, count: 1),
    firstOfPoll: Read(register: 0x27, count: 1), data: Read(register: 0xA8, count: 6),
    stranger: (
      .bitFlip(register: 0x23, mask: 0x08),
      .wrongIdentity(chip: "LSM303DLHC-A", register: 0x23, expected: 0x98, found: 0x90)
    ), lost: .named(.configurationLost(register: 0x22, expected: 0x10, found: 0x00)), alike: 51)
}
