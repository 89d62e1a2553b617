// The humidity of the BME280 and the BME680, through twins that compensate by themselves.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct HumidityTests {
  /// Real chips (github.com/elixir-sensors/bmp280, bme280_sensor_test.exs): dig_H1, the bytes from 0xE1, raw humidity, degrees, percent.
  @Test(
    "numbers of two real BME280 come out to the printed digits",
    arguments: [
      (75, [0x52, 0x01, 0x00, 0x17, 0xC2, 0x03, 0x1E], 35_181, 26.7460, 59.2),
      (75, [0x8A, 0x01, 0x00, 0x0F, 0x82, 0x03, 0x1E], 26_270, 20.2649, 64.4),
    ] as [(UInt8, [UInt8], UInt16, Double, Double)])
  func vectors(h1: UInt8, bytes: [UInt8], raw: UInt16, celsius: Double, percent: Double) throws {
    let trim = try #require(BME280HumidityTrim(h1: h1, block(bytes)))
    #expect(near(trim.humidity(raw, fine: 5120 * celsius), percent, 0.05))
  }

  @Test("dig_H4 and dig_H5 share a byte and have a sign, and limits are kept")
  func packing() throws {
    // dig_H2 = 65536 / 181 or so, so that a step of dig_H4 is 64 counts: -1 and 0 lie 64 counts apart, dig_H5 counts by temperature alone.
    func trim(_ middle: [UInt8]) throws -> BME280HumidityTrim {
      try #require(BME280HumidityTrim(h1: 0, block([0x6A, 0x01, 0x00] + middle + [0x00])))
    }
    let (negative, zero) = (try trim([0xFF, 0x0F, 0x00]), try trim([0x00, 0x00, 0x00]))
    #expect(
      near(negative.humidity(10_000, fine: 76_800), zero.humidity(10_064, fine: 76_800), 1e-9))
    let warm = try trim([0x00, 0xF0, 0xFF])
    #expect(
      near(warm.humidity(10_000, fine: 76_800 + 16_384), zero.humidity(10_001, fine: 76_800), 1e-9))
    #expect(zero.humidity(0xFFFF, fine: 76_800) == 100)
    #expect(zero.humidity(0, fine: 76_800) == 0)
    for blank: UInt8 in [0x00, 0xFF] {
      #expect(BME280HumidityTrim(h1: 75, block([UInt8](repeating: blank, count: 7))) == nil)
    }
  }

  /// The steps: 0.008 percent (BME280, table 1: "resolution of humidity"; the BME680 has the same).
  @Test(
    "what the air holds is read over its whole range, in the cold and in the heat",
    arguments: ["BME280", "BME680"])
  func sweep(chip: String) throws {
    let (bench, driver) = try ContractBench.started(
      address: 0x76,
      { source in
        chip == "BME280"
          ? BMP280Twin(.bme280, TwinCore(source: source)) as any ChipTwin
          : BME680Twin(TwinCore(source: source))
      },
      { device -> any ContractDriver in
        chip == "BME280"
          ? BoxedDriver(RegisterDriver(device, BMx280(chip: .bme280, outputRate: 25)))
          : BoxedDriver(RegisterDriver(device, BME680(outputRate: 20)))
      })
    var worst = 0.0
    for celsius in [-20.0, 0, 25, 60] {
      for percent in stride(from: 0.0, through: 100, by: 5) {
        bench.source.set(
          Stimulus(pressure: 101_325 + 10 * percent, temperature: celsius, humidity: percent))
        guard
          case .atmosphere(_, _, let humidity?) = try bench.nextReading(driver)
        else {
          Issue.record("no humidity at \(percent) % and \(celsius) degrees")
          return
        }
        worst = max(worst, abs(humidity - percent))
      }
    }
    #expect(worst <= 0.02, "\(worst) percent off at worst")
  }

  @Test("a BMP280 has none")
  func none() throws {
    let (bench, driver) = try ContractBench.started(
      address: 0x76, { BMP280Twin(.bmp280, TwinCore(source: $0)) },
      { BoxedDriver(RegisterDriver($0, BMx280(chip: .bmp280, outputRate: 25))) })
    bench.source.set(Stimulus(pressure: 101_325, temperature: 20, humidity: 50))
    guard case .atmosphere(_, _, let humidity) = try bench.nextReading(driver) else {
      Issue.record("no reading")
      return
    }
    #expect(humidity == nil)
  }
}
