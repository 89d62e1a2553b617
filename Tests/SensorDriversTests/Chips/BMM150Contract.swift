// What is demanded of the BMM150: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let bmm150 = ChipContract(
    settings: 2 * BMM150.outputRates.count, sweeps: Sweep.bmm150, faults: .bmm150,
    // Bit 0 of 0x42, 0x44 and 0x46 (4.4.1).
    selfTest: [.verdict(.magneticField, .ofEach)], selfTestFirstSteps: 3)
}

extension Sweep {
  /// BMM150 (BST-BMM150-DS001-01): +-1300 microtesla on X and Y, which Z (+-2500) has too, at each of its rates (5.6)
  /// and with the trims of two chips, in the second of which every sign that may differ between chips does, and a bit
  /// that is nobody's is set.
  ///
  /// The datasheet's 0.3 microtesla are the trimmed output's: a count of the raw one is what the trim makes of it.
  fileprivate static let bmm150: [Sweep] = {
    var other = BMM150TwinTrim()
    (other.x1, other.y1, other.x2, other.y2) = (-5, 7, -20, 40)
    (other.z1, other.z2, other.z3, other.z4) = (20000, -600, 250, -40)
    (other.xy1, other.xy2, other.xyz1, other.hasTopBit) = (200, 12, 7200, true)
    return [BMM150TwinTrim(), other].flatMap { trim -> [Sweep] in
      let hall = Double(trim.z2) + Double(trim.z1) * Double(trim.xyz1) / 32768
      let lsb = Vector3(
        256 * Double(trim.x2 + 160) / 8192 / 16, 256 * Double(trim.y2 + 160) / 8192 / 16,
        131_072 / (64 * hall))
      return [2.0, 6, 8, 10, 15, 20, 25, 30].map { rate in
        .axes(
          BMM150(outputRate: rate), "trim \(trim.xyz1)", [.field(limit: 1100, lsb: lsb)],
          address: 0x10, twin: { BMM150Twin($0, trim: trim) })
      }
    }
  }()
}

extension FaultContract {
  /// The noise: 0.3 microtesla (table 3), and a count is more than that. A chip without its configuration is in suspend.
  fileprivate static let bmm150 = FaultContract(
    chip: "BMM150", address: 0x10, twin: { BMM150Twin(source: $0) },
    driver: { BoxedDriver(RegisterDriver($0, BMM150(outputRate: 20), checks: $1)) },
    world: world, isRight: isField(within: Vector3(repeating: 6 * 0.3 + 0.2)),
    firstOfStart: Read(register: 0x4B, count: 1), firstOfPoll: Read(register: 0x42, count: 8),
    data: Read(register: 0x42, count: 8),
    stranger: (
      .wrongIdentity(0x33),
      .wrongIdentity(chip: "BMM150", register: 0x40, expected: 0x32, found: 0x33)
    ), lost: .named(.configurationLost(register: 0x4B, expected: 0x01, found: 0x00)), alike: 31)
}
