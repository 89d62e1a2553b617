// What is demanded of the QMC5883P and the QMC6310: every setting swept, their faults. The datasheets' figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let qmc5883p = qmc5883p(.qmc5883p, "QMC5883P", address: 0x2C)
  static let qmc6310 = qmc5883p(.qmc6310, "QMC6310", address: 0x1C)

  private static func qmc5883p(
    _ model: QMC5883PVariant, _ name: String, address: UInt8
  ) -> ChipContract {
    ChipContract(
      settings: 4 * 4, sweeps: Sweep.qmc5883p(model, address: address),
      faults: .qmc5883p(model, name, address: address))
  }
}

extension Sweep {
  /// Both datasheets, table 2: range in gauss, counts a gauss; table 17 (QMC6310: 15): the rates.
  fileprivate static func qmc5883p(_ model: QMC5883PVariant, address: UInt8) -> [Sweep] {
    let ranges: [(range: QMC5883P.Range, gauss: Double, counts: Double)] = [
      (.gauss30, 30, 1_000), (.gauss12, 12, 2_500), (.gauss8, 8, 3_750), (.gauss2, 2, 15_000),
    ]
    return ranges.flatMap { range, gauss, counts in
      [10.0, 50, 100, 200].map { rate in
        .axes(
          QMC5883P(model, outputRate: rate, range: range), "+-\(gauss) gauss",
          [.field(limit: 100 * gauss, lsb: Vector3(repeating: 100 / counts))], address: address,
          twin: QMC5883PTwin.init)
      }
    }
  }
}

extension FaultContract {
  /// The noise: 2 mgauss on X and Y, 3 on Z (both datasheets, table 2).
  fileprivate static func qmc5883p(
    _ model: QMC5883PVariant, _ name: String, address: UInt8
  ) -> FaultContract {
    FaultContract(
      chip: name, address: address, twin: { QMC5883PTwin(source: $0) },
      driver: { BoxedDriver(RegisterDriver($0, QMC5883P(model, outputRate: 50), checks: $1)) },
      world: world, isRight: isField(within: 6 * Vector3(0.2, 0.2, 0.3)),
      firstOfStart: Read(register: 0x00, count: 1), firstOfPoll: Read(register: 0x09, count: 1),
      data: Read(register: 0x01, count: 6),
      stranger: (
        .wrongIdentity(0x90),
        .wrongIdentity(chip: name, register: 0x00, expected: 0x80, found: 0x90)
      ), lost: .named(.configurationLost(register: 0x0B, expected: 0x08, found: 0x00)), alike: 51)
  }
}
