// What is demanded of ST's barometers: every rate swept, their faults. The datasheets' figures, restated.

import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let lps22hb = lps2x(
    .lps22hb, .lps22hb, rates: [1, 10, 25, 50, 75], noise: 0.75, lost: (0x12, 0x04, 0x00))
  static let lps22hh = lps2x(
    .lps22hh, .lps22hh, rates: [1, 10, 25, 50, 75, 100, 200], noise: 0.65, lost: (0x11, 0x12, 0x10))
  static let lps25hb = lps2x(
    .lps25hb, .lps25hb, rates: [1, 7, 12.5, 25], noise: 1, lost: (0x23, 0x01, 0x00), data: 0xAB,
    coldest: -25, degree: 480)
  static let lps28dfw = lps2x(
    .lps28dfw, .lps28dfw, rates: [1, 4, 10, 25, 50, 75, 100, 200], noise: 0.59,
    lost: (0x11, 0x08, 0x00))

  /// 4096 counts a hectopascal from 260 to 1260 hPa; 100 counts a degree, 480 in the LPS25HB, the 16 bits of which
  /// end at -25.8 degrees. The noise: table 3 of each datasheet, of the
  /// LPS28DFW with 512 averages and without a filter (LPS22DF table 20).
  private static func lps2x(
    _ chip: LPS2xVariant, _ variant: LPS2xTwin.Variant, rates: [Double], noise: Double,
    lost: (register: UInt8, expected: UInt8, found: UInt8), data: UInt8 = 0x2B,
    coldest: Double = -40, degree: Double = 100
  ) -> ChipContract {
    var path = AirPath(from: 26_000, to: 126_000, step: 100 / 4096)
    path.temperatures.removeAll { $0 < coldest }
    let points = path.grid
    let sweeps = rates.map { rate in
      Sweep.air(
        LPS2x(chip: chip, outputRate: rate), "continuous", points, pressureStep: 100 / 4096,
        temperatureStep: 1 / degree, address: 0x5C, twin: { LPS2xTwin(variant, $0) })
    }
    let faults = FaultContract(
      chip: chip.rawValue, address: 0x5C, twin: { LPS2xTwin(variant, TwinCore(source: $0)) },
      driver: { BoxedDriver(RegisterDriver($0, LPS2x(chip: chip, outputRate: 25), checks: $1)) },
      world: FaultContract.world,
      isRight: FaultContract.isAir(pascals: 6 * noise, degrees: 6 * 0.01 + 0.01),
      firstOfStart: .init(register: 0x0F, count: 1), firstOfPoll: .init(register: 0x27, count: 1),
      data: .init(register: data, count: 2),
      stranger: (
        .wrongIdentity(0xBB),
        .wrongIdentity(
          chip: chip.rawValue, register: 0x0F, expected: variant.rawValue, found: 0xBB)
      ),
      lost: .named(
        .configurationLost(
          register: lost.register, expected: lost.expected, found: lost.found)), alike: 38)
    return ChipContract(settings: chip.outputRates.count, sweeps: sweeps, faults: faults)
  }
}
