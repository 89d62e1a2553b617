// Another chip than the board file's at an address: the error names both.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct StrangerNameTests {
  private func startFailure(
    _ meant: String, _ bench: ContractBench, asks: Bool = true
  ) throws -> DriverError? {
    let chip = try #require(ChipCatalog.chip(named: meant)?.chip?(50))
    return failure(of: chip, bench, asks)
  }

  private func failure(
    of chip: some RegisterChip, _ bench: ContractBench, _ asks: Bool
  ) -> DriverError? {
    var driver = RegisterDriver(bench.device, chip, checks: DriverChecks(asksStrangers: asks))
    return SensorDriversTests.failure { () throws(DriverError) in
      for _ in 0..<30 {
        guard case .wait(let seconds) = try driver.start() else { return }
        bench.clock.advance(bySeconds: seconds)
      }
    }
  }

  private func bench(_ name: String, at address: UInt8) throws -> ContractBench {
    let twin = try #require(TwinCatalog.twin(named: name))
    return ContractBench(address: address) { twin.make(TwinCore(source: $0)) }
  }

  @Test(
    "the registers say which chip it is",
    arguments: [
      ("BMP280", "BME280", UInt8(0x76)), ("BMP280", "BMP390", 0x76), ("DPS310", "BMP388", 0x77),
      ("LIS3MDL", "LIS2MDL", 0x1E), ("MPU9250", "MPU6500", 0x68), ("MMC5603", "MMC5983MA", 0x30),
      ("ICM20948", "BMI160", 0x68), ("LSM6DSOX", "LSM9DS1-AG", 0x6A), ("LPS22HB", "LPS25HB", 0x5C),
    ])
  func named(meant: String, real: String, address: UInt8) throws {
    let bench = try bench(real, at: address)
    guard case .wrongIdentity(meant, _, _, _, let other)? = try startFailure(meant, bench) else {
      Issue.record("no .wrongIdentity")
      return
    }
    #expect(other == [real])
    // A rig, or a test, that asks for no more is told no more.
    guard case .wrongIdentity(_, _, _, _, [])? = try startFailure(meant, bench, asks: false) else {
      Issue.record("named without being asked for")
      return
    }
  }

  @Test("a chip that is told by its trim names the other too")
  func trim() throws {
    guard
      case .invalidTrim(let words)? = try startFailure("MS5611", try bench("BMP280", at: 0x77))
    else {
      Issue.record("no .invalidTrim")
      return
    }
    #expect(words.hasPrefix("MS5611") && words.hasSuffix("BMP280"), "\(words)")
  }

  @Test(
    "one that nobody knows has no name, and a chip with a disturbed identity is not called another")
  func unknown() throws {
    let bench = try bench("LIS3MDL", at: 0x1C)
    bench.begin(.wrongIdentity(0xEE))
    guard case .wrongIdentity(_, _, _, 0xEE, [])? = try startFailure("LIS3MDL", bench) else {
      Issue.record("it has a name")
      return
    }
  }
}
