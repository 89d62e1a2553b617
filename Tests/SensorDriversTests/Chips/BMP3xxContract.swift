// What is demanded of the BMP388 and of the BMP390: every setting swept, its faults. The datasheet's figures, restated.

import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let bmp388 = bmp3xx(.bmp388, identity: 0x50, stranger: 0x60)
  static let bmp390 = bmp3xx(.bmp390, identity: 0x60, stranger: 0x50)

  /// BST-BMP388-DS001: table 6, 16 bits are 2.64 Pa, each doubling halves it, 21 bits 0.085 Pa; table 7, 16 bits
  /// are 0.005 degrees. Table 45: the rates.
  private static func bmp3xx(
    _ chip: BMP3xxVariant, identity: UInt8, stranger: UInt8
  ) -> ChipContract {
    // A real BMP390's (github.com/asasine/bmp390, src/lib.rs).
    let another = BMP388Trim(
      t1: 27_800, t2: 19_113, t3: -7, p1: 7395, p2: 5729, p3: 6, p4: 1, p5: 19_025, p6: 24_030,
      p7: 3, p8: -6, p9: 3833, p10: 6, p11: -11)
    let settings: [(rate: Double, oversampling: Int, temperature: Double)] = [
      (200, 1, 1), (100, 2, 1), (50, 8, 1), (25, 16, 2), (12.5, 32, 2), (6.25, 32, 2),
      (3.125, 32, 2), (1.5625, 32, 2), (0.78125, 32, 2),
    ]
    let sweeps = [("typical", BMP388Trim.typical), ("another", another)].flatMap { name, trim in
      settings.map { rate, oversampling, temperature in
        let step = 2.64 / Double(oversampling)
        return Sweep.air(
          BMP3xx(chip: chip, outputRate: rate), "\(name) x\(oversampling)",
          AirPath(from: 30_000, to: 125_000, step: step).grid, pressureStep: step,
          temperatureStep: 0.005 / temperature, address: 0x77,
          twin: { BMP388Twin($0, identity: identity, trim: trim) })
      }
    }
    let faults = FaultContract(
      chip: chip.rawValue, address: 0x77,
      twin: { BMP388Twin(TwinCore(source: $0), identity: identity) },
      driver: {
        BoxedDriver(RegisterDriver($0, BMP3xx(chip: chip, outputRate: 25), checks: $1))
      },
      world: FaultContract.world,
      isRight: FaultContract.isAir(pascals: 6 * 1.3, degrees: 6 * 0.005),
      firstOfStart: .init(register: 0x00, count: 1), firstOfPoll: .init(register: 0x03, count: 1),
      data: .init(register: 0x04, count: 6),
      stranger: (
        .wrongIdentity(stranger),
        .wrongIdentity(chip: chip.rawValue, register: 0x00, expected: identity, found: stranger)
      ), lost: .named(.configurationLost(register: 0x19, expected: 0x42, found: 0x02)), alike: 38)
    return ChipContract(
      settings: 2 * BMP3xx.outputRates.count, sweeps: sweeps, faults: faults)
  }
}
