// What is demanded of the DPS310 and its family: every setting swept, their faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let dps310 = dps(.dps310, .infineon, stranger: 0x11)
  static let dps368 = dps(.dps368, .infineon, stranger: 0x11)
  static let spl06 = dps(.spl06, .spl06, stranger: 0x11)
  static let spa06 = dps(.spa06, .spa06, stranger: 0x10)

  private typealias Coefficients = SimulatedDevices.DPS310TwinTrim

  /// DPS310 (datasheet rev. 1.2) at each of its rates (7.3) and with the coefficients of two chips, in
  /// the second of which every sign that may differ between chips does.
  ///
  /// The output has 24 bits, of which the datasheet says no step in pascals: it is the slope of the
  /// polynomial at its middle (c10) by the scale factor of table 9, and for the temperature c1 by that
  /// of x1. The noise: 0.35 Pa with 16 samples (table 16); 0.005 degrees. Stuck are 1.5 seconds at 32 Hz.
  private static func dps(
    _ chip: DPS310Variant, _ variant: DPS310Twin.Variant, stranger: UInt8
  ) -> ChipContract {
    let factors: [Int: Double] = [
      1: 524_288, 2: 1_572_864, 4: 3_670_016, 8: 7_864_320, 16: 253_952, 32: 516_096,
      64: 1_040_384, 128: 2_088_960,
    ]
    let quartic = variant == .spa06
    let mirrored = Coefficients(
      c0: 222, c1: -297, c00: 79832, c10: -56308, c01: 2295, c11: -1444, c20: 9701, c21: -111,
      c30: -1289, c31: quartic ? 41 : 0, c40: quartic ? -198 : 0)
    let usual: Coefficients = quartic ? .quartic : .typical
    let sweeps = [("typical", usual), ("mirrored", mirrored)].flatMap { name, coefficients in
      [1.0, 2, 4, 8, 16, 32, 64, 128].map { rate -> Sweep in
        let configuration = DPS310(chip: chip, outputRate: rate)
        let factor = factors[configuration.pressureOversampling] ?? .infinity
        let step = abs(Double(coefficients.c10)) / factor
        let path = AirPath(from: 30_000, to: 120_000, step: step).grid
        return .air(
          configuration, "\(name) x\(configuration.pressureOversampling)", path,
          pressureStep: step, temperatureStep: abs(Double(coefficients.c1)) / 524_288,
          address: 0x77, twin: { DPS310Twin($0, variant, coefficients: coefficients) })
      }
    }
    let identity: UInt8 = stranger == 0x11 ? 0x10 : 0x11
    let faults = FaultContract(
      chip: chip.rawValue, address: 0x77,
      twin: { DPS310Twin(TwinCore(source: $0), variant, coefficients: usual) },
      driver: { BoxedDriver(RegisterDriver($0, DPS310(chip: chip, outputRate: 25), checks: $1)) },
      world: FaultContract.world,
      isRight: FaultContract.isAir(pascals: 6 * 0.35, degrees: 6 * 0.005),
      firstOfStart: .init(register: 0x0D, count: 1), firstOfPoll: .init(register: 0x08, count: 1),
      data: .init(register: 0x00, count: 6),
      stranger: (
        .wrongIdentity(stranger),
        .wrongIdentity(chip: chip.rawValue, register: 0x0D, expected: identity, found: stranger)
      ), lost: .named(.configurationLost(register: 0x09, expected: 0x04, found: 0x00)), alike: 49)
    return ChipContract(
      settings: 2 * DPS310.outputRates.count, sweeps: sweeps, faults: faults)
  }
}
