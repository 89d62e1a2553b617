// Nobody wants a chip for a while: it is put to sleep, says so, and serves at once when it is wanted again.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// What a register holds in a chip's lowest power mode.
private struct Asleep: Sendable {
  let register: UInt8
  let mask: UInt8
  let value: UInt8
  /// Bytes that begin every read and mean nothing.
  var dummies = 0

  /// By chip, of the datasheets' register descriptions; empty for a chip that sleeps whenever it was not told to convert,
  /// and has no register that says so.
  static let all: [String: [Asleep]] = {
    var all: [String: [Asleep]] = [:]
    func add(_ names: [String], _ states: (UInt8, UInt8, UInt8)...) {
      for name in names {
        all[name] = states.map { Asleep(register: $0.0, mask: $0.1, value: $0.2) }
      }
    }
    // Mode register, MD 10 or 11: idle.
    add(["HMC5883L", "LSM303DLHC-M"], (0x02, 0x02, 0x02))
    // CTRL_REG3 MD 11: power-down.
    add(["LIS3MDL", "LSM9DS1-M"], (0x22, 0x03, 0x03))
    // CFG_REG_A MD 11: idle.
    add(["LIS2MDL"], (0x60, 0x02, 0x02))
    // Control 1, MODE 00: standby, suspend.
    add(["QMC5883L"], (0x09, 0x03, 0x00))
    add(["QMC5883P", "QMC6310"], (0x0A, 0x03, 0x00))
    // CNTL1: standby.
    add(["IST8310"], (0x0A, 0x0F, 0x00))
    // Internal control 2 of either is written only: that nothing is converted must do.
    add(["MMC5603", "MMC5983MA"])
    // Power control bit 0: suspend.
    add(["BMM150"], (0x4B, 0x01, 0x00))
    // CMM bit 0: no continuous measurement.
    add(["RM3100"], (0x01, 0x01, 0x00))
    // CNTL1 and CNTL2 MODE 0: power-down.
    add(["AK8963"], (0x0A, 0x0F, 0x00))
    add(["AK09916", "AK09918"], (0x31, 0x1F, 0x00))
    // CTRL_REG1 ODR 0000: power-down.
    add(["LIS3DH", "LSM303DLHC-A"], (0x20, 0xF0, 0x00))
    // ctrl_meas and PWR_CTRL mode 00: sleep.
    add(["BMP280", "BME280"], (0xF4, 0x03, 0x00))
    add(["BME680"], (0x74, 0x03, 0x00))
    add(["BMP388", "BMP390"], (0x1B, 0x30, 0x00))
    // ODR_CONFIG pwr_mode 00: standby.
    add(["BMP581", "BMP585"], (0x37, 0x03, 0x00))
    // MEAS_CFG MEAS_CTRL 000: idle.
    add(["DPS310", "DPS368", "SPL06", "SPA06"], (0x08, 0x07, 0x00))
    // CTRL_REG1: ODR 000, of the LPS25HB PD 0, of the LPS28DFW ODR 0000.
    add(["LPS25HB"], (0x20, 0x80, 0x00))
    add(["LPS22HB", "LPS22HH"], (0x10, 0x70, 0x00))
    add(["LPS28DFW"], (0x10, 0x78, 0x00))
    add(["BMP180", "MS5607", "MS5611"])
    // CTRL1_XL and CTRL2_G ODR 0000, of the LSM9DS1 CTRL_REG6_XL and CTRL_REG1_G ODR 000: power-down.
    add(
      ["ISM330DHCX", "LSM6DS3", "LSM6DS33", "LSM6DS3TR-C", "LSM6DSL", "LSM6DSO", "LSM6DSOX"],
      (0x10, 0xF0, 0x00), (0x11, 0xF0, 0x00))
    add(["LSM9DS1-AG"], (0x10, 0xE0, 0x00), (0x20, 0xE0, 0x00))
    // PWR_MGMT_1 SLEEP.
    add(["MPU6050", "MPU6500", "MPU9250"], (0x6B, 0x40, 0x40))
    add(["ICM20948"], (0x06, 0x40, 0x40))
    // PWR_MGMT0 GYRO_MODE 00 and ACCEL_MODE 00: off.
    add(["ICM42688P"], (0x4E, 0x0F, 0x00))
    // PMU_STATUS: both suspended.
    add(["BMI160"], (0x03, 0x3C, 0x00))
    // CTRL7 gEN and aEN.
    add(["QMI8658"], (0x08, 0x03, 0x00))
    // PMU_CMD_STATUS_0 pwr_mode_is_normal.
    all["BMM350"] = [Asleep(register: 0x07, mask: 0x08, value: 0x00, dummies: 2)]
    return all
  }()
}

@Suite("Contract: sleep") struct SleepContractTests {
  /// As the hub takes them, and with their queues.
  static let contracts =
    FaultContract.all + ChipContract.gathering.compactMap { $0.queue?.faults($0.faults) }

  /// Another attitude, another place: no reading of the world before is right in it.
  private let after = Stimulus(
    magneticField: Vector3(-20, 5, 30), specificForce: Vector3(-3, 5, -6),
    angularRate: Vector3(-0.3, 0.4, -0.1), pressure: 101_000, temperature: 12)

  @Test("every register chip has its line")
  func complete() {
    #expect(Set(Asleep.all.keys) == Set(FaultContract.all.map(\.chip)))
  }

  @Test(
    "asleep it says so and converts nothing; woken, its first reading is of the world as it is",
    arguments: contracts)
  func sleep(_ contract: FaultContract) throws {
    let bench = ContractBench(address: contract.address, contract.twin)
    bench.source.set(contract.world)
    let driver = contract.driver(bench.device, .all)
    let begin = bench.clock.now()
    try bench.start(driver)
    let firstStart = bench.clock.now().seconds(since: begin)
    for _ in 0..<10 { _ = try #require(try bench.nextReading(driver)) }
    for _ in 0..<3 {
      try driver.sleep()
      _ = bench.takeEdge()
      // What a chip was told to convert ends; then nothing comes any more.
      bench.clock.advance(bySeconds: 1)
      _ = bench.takeEdge()
      #expect(bench.nextDataReady() == nil)
      bench.clock.advance(bySeconds: 3)
      #expect(!bench.takeEdge())
      for state in try #require(Asleep.all[contract.chip]) {
        let found = try bench.device.burst(state.register, count: 1 + state.dummies)
        #expect(found[state.dummies] & state.mask == state.value, "register \(state.register)")
      }
      bench.source.set(after)
      bench.clock.advance(bySeconds: 1)
      let woken = bench.clock.now()
      try bench.start(driver)
      // No longer than the first time, when it had everything to do.
      #expect(bench.clock.now().seconds(since: woken) <= firstStart + 1e-9)
      for _ in 0..<3 {
        let reading = try #require(try bench.nextReading(driver))
        #expect(contract.isRight(reading, after), "\(reading)")
      }
      for _ in 0..<16 { try driver.verify() }
      bench.source.set(contract.world)
      _ = try bench.nextReading(driver)
    }
  }
}
