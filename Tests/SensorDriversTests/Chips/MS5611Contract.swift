// What is demanded of the MS5611 and the MS5607: every oversampling swept, their faults. The datasheets' figures,
// restated.

import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  static let ms5611 = ms56xx(.ms5611, .ms5611, noise: 1.2)
  static let ms5607 = ms56xx(.ms5607, .ms5607, noise: 2.4)

  /// The result has 24 bits, of which the datasheet says no step in pascals: it is the sensitivity by 2 to the
  /// 21st and the 15th (figure 2); the temperature's is C6 by 2 to the 23rd in hundredths.
  private static func ms56xx(
    _ chip: MS5611Variant, _ prom: MS5611Prom, noise: Double
  ) -> ChipContract {
    let step = prom.c[0] * 32768 * (prom.isMS5607 ? 2 : 1) / 2_097_152 / 32768
    let degree = prom.c[5] / 8_388_608 / 100
    let points = AirPath(from: 1000, to: 120_000, step: step).grid
    let sweeps = [(55.0, 4096), (110, 2048), (219, 1024), (427, 512), (1000, 256)].map {
      rate, oversampling in
      Sweep.air(
        MS5611(chip: chip, outputRate: rate), "x\(oversampling)", points, pressureStep: step,
        temperatureStep: degree, address: 0x77, twin: { MS5611Twin($0, prom) })
    }
    let faults = FaultContract(
      chip: chip.rawValue, address: 0x77, twin: { MS5611Twin(TwinCore(source: $0), prom) },
      driver: { BoxedDriver(RegisterDriver($0, MS5611(chip: chip, outputRate: 25), checks: $1)) },
      world: FaultContract.world,
      isRight: FaultContract.isAir(pascals: 6 * noise, degrees: 6 * 0.002),
      firstOfStart: .init(register: 0x1E, count: 0), firstOfPoll: .init(register: 0x00, count: 3),
      data: .init(register: 0x00, count: 3),
      stranger: (
        .bitFlip(register: 0xA4, mask: 0x10),
        .invalidTrim(
          "\(chip.rawValue): the check sum of its PROM is wrong, or a coefficient is blank")
      ), lost: .nothing, alike: 38, looks: 2)
    return ChipContract(sweeps: sweeps, faults: faults)
  }
}
