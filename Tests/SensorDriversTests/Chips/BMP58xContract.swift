// What is demanded of the BMP581 and the BMP585: every rate swept, their faults. The datasheet's figures, restated.

import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let bmp581 = bmp58x(.bmp581, identity: 0x50, stranger: 0x51)
  static let bmp585 = bmp58x(.bmp585, identity: 0x51, stranger: 0x50)

  /// BST-BMP581-DS004: 64 counts a pascal from 300 to 1250 hPa, 65536 a degree. The noise with 32 samples, from
  /// 0.08 Pa with 128.
  private static func bmp58x(
    _ chip: BMP58xVariant, identity: UInt8, stranger: UInt8
  ) -> ChipContract {
    let points = AirPath(from: 30_000, to: 125_000, step: 1.0 / 64).grid
    let rates = [
      1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 89.6, 100.2, 110.1, 120, 129.8,
      140, 149.3, 160, 179.2, 199.1, 218.5, 240,
    ]
    let sweeps = rates.map { rate in
      Sweep.air(
        BMP58x(chip: chip, outputRate: rate), "normal", points, pressureStep: 1.0 / 64,
        temperatureStep: 1.0 / 65536, address: 0x47, twin: { BMP581Twin($0, identity: identity) })
    }
    let faults = FaultContract(
      chip: chip.rawValue, address: 0x47,
      twin: { BMP581Twin(TwinCore(source: $0), identity: identity) },
      driver: { BoxedDriver(RegisterDriver($0, BMP58x(chip: chip, outputRate: 25), checks: $1)) },
      world: FaultContract.world,
      isRight: FaultContract.isAir(pascals: 6 * 0.16, degrees: 6 * 0.002),
      firstOfStart: .init(register: 0x01, count: 1), firstOfPoll: .init(register: 0x27, count: 1),
      data: .init(register: 0x1D, count: 6),
      stranger: (
        .wrongIdentity(stranger),
        .wrongIdentity(chip: chip.rawValue, register: 0x01, expected: identity, found: stranger)
      ), lost: .named(.configurationLost(register: 0x14, expected: 0x3A, found: 0x35)), alike: 38)
    return ChipContract(settings: BMP58x.outputRates.count, sweeps: sweeps, faults: faults)
  }
}
