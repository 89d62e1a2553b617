// What is demanded of the BMP280 and of the BME280: every setting swept, its faults. The datasheet's figures, restated.

import LinearAlgebra
import SensorDrivers
import SensorTypes

@testable import SimulatedDevices

extension ChipContract {
  // Each of the two is sold as the other.
  static let bmp280 = ChipContract(
    sweeps: Sweep.bosch(.bmp280), faults: .bosch(.bmp280, stranger: 0x60, identity: 0x58))
  static let bme280 = ChipContract(
    sweeps: Sweep.bosch(.bme280), faults: .bosch(.bme280, stranger: 0x58, identity: 0x60))
}

extension Sweep {
  /// What the data have by oversampling with the filter off, and at any oversampling with it on.
  ///
  /// BMP280 (BST-BMP280-DS001 rev. 1.23), tables 4 and 5: 16 bits are 2.62 Pa, 20 bits 0.16 Pa; 16 bits
  /// are 0.0050 degrees, 17 bits 0.0025; 3.3.3: 20 bits (0.0003 degrees) with the filter. BME280
  /// (BST-BME280-DS002 rev. 1.6), table 3: 0.18 Pa at the highest oversampling, one bit less for each
  /// halving (3.4.2); the temperature is the same transducer with as many bits.
  fileprivate static func bosch(_ chip: BMx280Variant) -> [Sweep] {
    let pressureSteps: [Int: Double] =
      chip == .bmp280
      ? [1: 2.62, 2: 1.31, 4: 0.66, 8: 0.33, 16: 0.16]
      : [1: 2.88, 2: 1.44, 4: 0.72, 8: 0.36, 16: 0.18]
    let temperatureSteps: [Int: Double] = [1: 0.0050, 2: 0.0025]
    var seen: Set<BMx280> = []
    var sweeps: [Sweep] = []
    for mode in [BMx280Mode.normal, .forced] {
      // Finely enough that no two of the chip's rates lie between two of these.
      for wanted in (0..<1200).map({ 0.1 * pow2(Double($0) / 100) }) {
        let configuration = BMx280(chip: chip, outputRate: wanted, mode: mode)
        guard seen.insert(configuration).inserted else { continue }
        let filter = configuration.filterCoefficient
        let step =
          (filter > 1 ? pressureSteps[16] : pressureSteps[configuration.pressureOversampling]) ?? 0
        let temperatureStep =
          (filter > 1 ? 0.0003 : temperatureSteps[configuration.temperatureOversampling]) ?? 0
        let path = AirPath(from: 30_000, to: 110_000, step: step)
        let points = filter > 1 ? path.diagonals : path.grid
        sweeps.append(
          .air(
            configuration,
            "\(mode) x\(configuration.pressureOversampling) filter \(filter)", points,
            pressureStep: step, temperatureStep: temperatureStep,
            settling: filter > 1 ? 12 * filter : 1, address: 0x76,
            twin: { BMP280Twin(chip == .bmp280 ? .bmp280 : .bme280, $0) }))
      }
    }
    return sweeps
  }
}

extension FaultContract {
  /// The noise: 1.3 Pa with 16 samples of the pressure and no filter (BST-BMP280-DS001 rev. 1.23,
  /// 3.5); 0.005 degrees. 50 equal looks are stuck.
  fileprivate static func bosch(
    _ chip: BMx280Variant, stranger: UInt8, identity: UInt8
  ) -> FaultContract {
    // At 25 Hz either has time for 16 samples of the pressure.
    let length = chip == .bme280 ? 12 : 10
    let lost: (register: UInt8, setting: UInt8) = chip == .bme280 ? (0xF2, 0x01) : (0xF4, 0x57)
    return FaultContract(
      chip: chip.rawValue, address: 0x76,
      twin: { BMP280Twin(chip == .bmp280 ? .bmp280 : .bme280, TwinCore(source: $0)) },
      driver: {
        BoxedDriver(RegisterDriver($0, BMx280(chip: chip, outputRate: 25), checks: $1))
      },
      world: world, isRight: isAir(pascals: 6 * 1.3, degrees: 6 * 0.005),
      firstOfStart: Read(register: 0xD0, count: 1),
      firstOfPoll: Read(register: 0xF3, count: length), data: Read(register: 0xF3, count: length),
      stranger: (
        .wrongIdentity(stranger),
        .wrongIdentity(
          chip: chip.rawValue, register: 0xD0, expected: identity, found: stranger)
      ),
      lost: .named(
        .configurationLost(register: lost.register, expected: lost.setting, found: 0x00)),
      alike: 51)
  }
}

/// Two to the power of `exponent`, of which a test needs no more digits than this has.
private func pow2(_ exponent: Double) -> Double {
  let whole = exponent.rounded(.down)
  var result = 1.0
  for _ in 0..<Int(whole) { result *= 2 }
  return result * (1 + (exponent - whole))
}
