// What is demanded of the QMC5883L: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let qmc5883l = ChipContract(settings: 2 * 4, sweeps: Sweep.qmc5883l, faults: .qmc5883l)
}

extension Sweep {
  /// Datasheet 1.0, table 2: range in gauss, counts a gauss; table 18: the rates.
  fileprivate static let qmc5883l: [Sweep] = {
    let ranges: [(range: QMC5883L.Range, gauss: Double, counts: Double)] = [
      (.gauss2, 2, 12_000), (.gauss8, 8, 3_000),
    ]
    return ranges.flatMap { range, gauss, counts in
      [10.0, 50, 100, 200].map { rate in
        .axes(
          QMC5883L(outputRate: rate, range: range), "+-\(gauss) gauss",
          [.field(limit: 100 * gauss, lsb: Vector3(repeating: 100 / counts))], address: 0x0D,
          twin: QMC5883LTwin.init)
      }
    }
  }()
}

extension FaultContract {
  /// The noise: 2 mgauss (datasheet 1.0, table 2).
  fileprivate static let qmc5883l = FaultContract(
    chip: "QMC5883L", address: 0x0D, twin: { QMC5883LTwin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, QMC5883L(outputRate: 50), checks: $1)) },
    world: world, isRight: isField(within: Vector3(repeating: 6 * 0.2)),
    firstOfStart: Read(register: 0x00, count: 6), firstOfPoll: Read(register: 0x06, count: 1),
    data: Read(register: 0x00, count: 6),
    stranger: (
      .wrongIdentity(0x10),
      .wrongIdentity(chip: "QMC5883L", register: 0x0D, expected: 0xFF, found: 0x10)
    ), lost: .named(.configurationLost(register: 0x0B, expected: 0x01, found: 0x00)), alike: 51)
}
