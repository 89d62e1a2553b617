// The catalogue: names, addresses, and that telling a chip only reads.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct ChipCatalogTests {
  @Test("every chip of the design is there under its name in board files")
  func names() {
    #expect(
      ChipCatalog.chips.map(\.name) == [
        "AK09916", "AK09918", "AK8963", "BMM150", "BMM350", "HMC5883L", "IST8310", "LIS2MDL",
        "LIS3MDL", "LSM303DLHC-M", "LSM9DS1-M", "MMC5603", "MMC5983MA", "QMC5883L", "QMC5883P",
        "QMC6310", "RM3100",
        "LIS3DH", "LSM303DLHC-A",
        "BMI160", "ICM20948", "ICM42688P", "ISM330DHCX", "LSM6DS3", "LSM6DS33", "LSM6DS3TR-C",
        "LSM6DSL", "LSM6DSOX", "LSM6DSO", "LSM9DS1-AG", "MPU6050", "MPU6500", "MPU9250", "QMI8658",
        "BME280", "BME680", "BMP180", "BMP280", "BMP388", "BMP390", "BMP581", "BMP585", "SPL06",
        "DPS310", "DPS368", "LPS22HB", "LPS22HH", "LPS25HB", "LPS28DFW", "MS5611", "MS5607",
        "SPA06", "u-blox", "GNSS", "NMEA", "gpsd",
      ])
    #expect(ChipCatalog.chip(named: "LSM6DSOX")?.kind == .inertial)
    #expect(ChipCatalog.chip(named: "lsm6dsox") == nil)
    #expect(
      ChipCatalog.addresses == [
        0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x18, 0x19, 0x1C, 0x1E, 0x20,
        0x21,
        0x22, 0x23, 0x2C, 0x30, 0x3C, 0x42, 0x46, 0x47, 0x5C, 0x5D, 0x68, 0x69, 0x6A, 0x6B, 0x76,
        0x77,
      ])
  }

  /// IF_CONF, PWR_CTRL, OSR, ODR, one that is not used, CONFIG.
  static let bmp3xx = Transfer.read(0x1A, [0x00, 0x33, 0x02, 0x04, 0x00, 0x02])
  private static let cell: [Transfer] = [.read(0x0D, [0x10]), .read(0x28, [0x80])]
  private static let asic: [Transfer] = [.read(0x0D, [0x10]), .read(0x28, [0x00])]

  @Test(
    "each chip is told by its identity",
    arguments: [
      ("LIS3MDL", [Transfer.read(0x0F, [0x3D])], ChipIdentification.Confidence.likely),
      ("BMM150", [.read(0x40, [0x32])], .likely),
      ("BMM150", [.read(0x40, [0]), .read(0x40, [0]), .read(0x4B, [0])], .possible),
      ("MMC5603", [.read(0x39, [0x10])], .likely),
      ("MMC5983MA", [.read(0x2F, [0x30])], .certain), ("RM3100", [.read(0x36, [0x22])], .certain),
      ("LSM9DS1-M", [.read(0x0F, [0x3D])], .likely),
      ("HMC5883L", [.read(0x0A, [0x48, 0x34, 0x33])], .likely),
      ("IST8310", [.read(0x00, [0x10])], .certain), ("LIS2MDL", [.read(0x4F, [0x40])], .certain),
      ("LSM303DLHC-M", [.read(0x0A, [0x48, 0x34, 0x33])], .likely),
      ("QMC5883L", [.read(0x09, [0x1D, 0x00, 0x01, 0x00, 0xFF])], .likely),
      (
        "QMC5883L",
        [Transfer](repeating: .read(0x09, [0x00, 0x41, 0x01, 0x00, 0xE8]), count: 2), .possible
      ),
      ("QMC5883P", [.read(0x00, [0x80])], .likely), ("QMC6310", [.read(0x00, [0x80])], .likely),
      ("LIS3DH", [.read(0x0F, [0x33])], .likely), ("LSM303DLHC-A", [.read(0x0F, [0x33])], .likely),
      (
        "LSM303DLHC-A", [.read(0x0F, [0x00]), .read(0xA0, [0x07, 0, 0, 0, 0, 0])], .possible
      ),
      ("ICM20948", [.read(0x00, [0xEA]), .read(0x75, [0x00])], .certain),
      ("ICM42688P", [.read(0x75, [0x47])], .certain),
      ("BMI160", [.read(0x00, [0xD1]), .read(0x75, [0x00])], .certain),
      ("QMI8658", [.read(0x00, [0x05])], .likely),
      ("MPU6050", [.read(0x75, [0x68])], .certain), ("MPU6500", [.read(0x75, [0x70])], .certain),
      ("MPU6500", [.read(0x75, [0x74])], .certain), ("MPU9250", [.read(0x75, [0x71])], .certain),
      ("MPU9250", [.read(0x75, [0x73])], .certain),
      ("LSM6DSOX", [.read(0x0F, [0x6C])], .likely),
      ("LSM6DSO", [.read(0x0F, [0x6C])], .likely),
      ("LSM9DS1-AG", [.read(0x0F, [0x68])], .certain),
      ("ISM330DHCX", [.read(0x0F, [0x6B])], .likely),
      ("LSM6DS3", [.read(0x0F, [0x69])], .likely), ("LSM6DS33", [.read(0x0F, [0x69])], .likely),
      ("LSM6DS3TR-C", [.read(0x0F, [0x6A])], .likely), ("LSM6DSL", [.read(0x0F, [0x6A])], .likely),
      ("BMP280", [.read(0xD0, [0x58])], .certain),
      ("BME680", [.read(0xD0, [0x61])], .certain), ("BMP180", [.read(0xD0, [0x55])], .certain),
      ("BMP280", [.read(0xD0, [0x56])], .certain),
      ("BME280", [.read(0xD0, [0x60])], .certain),
      ("BMP388", [.read(0x00, [0x50]), Self.bmp3xx, .read(0x00, [0x50])], .certain),
      ("BMP390", [.read(0x00, [0x60]), Self.bmp3xx, .read(0x00, [0x60])], .certain),
      ("DPS310", Self.cell + Self.cell, .likely), ("DPS368", Self.cell + Self.cell, .likely),
      ("SPL06", Self.cell + Self.cell, .likely), ("SPL06", Self.asic, .likely),
      ("DPS310", Self.asic, .likely),
      ("SPA06", [.read(0x0D, [0x11]), .read(0x28, [0x00])], .likely),
      ("LPS22HB", [.read(0x0F, [0xB1])], .likely), ("LPS22HH", [.read(0x0F, [0xB3])], .certain),
      ("LPS25HB", [.read(0x0F, [0xBD])], .likely), ("LPS28DFW", [.read(0x0F, [0xB4])], .likely),
      ("MS5607", MS5611Tests.prom, .likely), ("MS5611", MS5611Tests.prom, .likely),
      ("BMP581", [.read(0x01, [0x50])], .certain), ("BMP585", [.read(0x01, [0x51])], .certain),
      ("u-blox", [.read(0xFD, [0x01, 0x80])], .possible),
    ])
  func told(
    name: String, script: [Transfer], confidence: ChipIdentification.Confidence
  ) throws {
    let device = ScriptedDevice(script)
    let chip = try #require(ChipCatalog.chip(named: name))
    let identification = try #require(try chip.identify(device))
    #expect(identification.chip == name)
    #expect(identification.kind == chip.kind)
    #expect(identification.confidence == confidence)
    #expect(identification.evidence.contains("0x"))
    device.expectDone()
  }

  @Test(
    "another identity is a no",
    arguments: [
      ("LIS3MDL", [Transfer.read(0x0F, [0x40])]),
      ("BMM150", [.read(0x40, [1]), .read(0x40, [1]), .read(0x4B, [0])]),
      ("LSM9DS1-M", [.read(0x0F, [0x40])]),
      ("HMC5883L", [.read(0x0A, [0x48, 0x34, 0x00])]),
      ("IST8310", [.read(0x00, [0x48])]), ("LIS2MDL", [.read(0x4F, [0x3D])]),
      ("LSM303DLHC-M", [.read(0x0A, [0x48, 0x34, 0x00])]),
      (
        "QMC5883L",
        [Transfer](repeating: .read(0x09, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), count: 3)
      ),
      ("QMC5883P", [.read(0x00, [0x90])]), ("QMC6310", [.read(0x00, [0x00])]),
      ("LIS3DH", [.read(0x0F, [0x32])]),
      ("LSM303DLHC-A", [.read(0x0F, [0xFF]), .read(0xA0, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])]),
      ("LSM6DSOX", [.read(0x0F, [0x6A])]),
      ("MPU6050", [Transfer](repeating: .read(0x75, [0x70]), count: 3)),
      // The trim of an MPU6500's self-test is at 0x00, and can be anything.
      ("ICM20948", [.read(0x00, [0xEA]), .read(0x75, [0x70])]),
      ("ICM42688P", [.read(0x75, [0x42])]),
      ("BMI160", [.read(0x00, [0xD1]), .read(0x75, [0x70])]), ("QMI8658", [.read(0x00, [0x6C])]),

      ("MPU6500", [.read(0x75, [0x71])]), ("MPU9250", [.read(0x75, [0x70])]),
      ("BMP280", [.read(0xD0, [0x60])]),
      ("BME280", [.read(0xD0, [0x61])]),
      ("BMP388", [.read(0x00, [0x60]), Self.bmp3xx, .read(0x00, [0x60])]),
      (
        "DPS310",
        [.read(0x0D, [0x11]), .read(0x28, [0x80]), .read(0x0D, [0x11]), .read(0x28, [0x80])]
      ),
      ("u-blox", [.read(0xFD, [0xFF, 0xFF])]), ("GNSS", []), ("NMEA", []),
    ])
  func notTold(name: String, script: [Transfer]) throws {
    let device = ScriptedDevice(script)
    let chip = try #require(ChipCatalog.chip(named: name))
    #expect(try chip.identify(device) == nil)
    device.expectDone()
  }

  @Test("a chip takes every range above its usual one, and has no other")
  func widerRanges() {
    // From 2.5 and 1.9 G to 8.1 (Honeywell), 4 to 16 (ST), 8 to 30 (QST); accelerometers from 4 g to 16.
    let steps = [
      "HMC5883L": 4, "LSM303DLHC-M": 5, "LIS3MDL": 3, "LSM9DS1-M": 3, "QMC5883P": 2, "QMC6310": 2,
      "LIS3DH": 2, "LSM303DLHC-A": 2,
    ]
    for entry in ChipCatalog.chips {
      guard var chip = entry.chip?(50) else { continue }
      var count = 0
      while count < 10, chip.widen() { count += 1 }
      #expect(count == (entry.kind == .inertial ? 2 : steps[entry.name] ?? 0), "\(entry.name)")
    }
  }

  @Test("at an address that several chips share, all are asked")
  func shared() throws {
    // The MS5607 and the MS5611 are asked for their PROMs.
    let blank = (0..<8).map { Transfer.read(0xA0 + 2 * UInt8($0), [0x00, 0x00]) }
    let identity: [Transfer] = (0..<4).map { _ in .read(0xD0, [0x00]) }
    let bosch: [Transfer] = [
      .read(0x00, [0x50]), .read(0x1A, [0xFF, 0, 0, 0, 0, 0]), .read(0x00, [0x50]),
    ]
    let twice = Self.cell + Self.cell
    let device = ScriptedDevice(
      identity + bosch + bosch + twice + twice + twice + blank + blank + twice)
    #expect(
      try ChipCatalog.identify(device, at: 0x77).map(\.chip) == ["DPS310", "DPS368", "SPL06"])
    device.expectDone()
    #expect(try ChipCatalog.identify(device, at: 0x50).isEmpty)
  }

  @Test("how the second chip of a package sits is its host's to say")
  func packages() throws {
    let turned = ChipCatalog.chips.filter { $0.partnerMount != .aligned }
    #expect(turned.map(\.name) == ["ICM20948", "MPU9250"])
    #expect(turned.map(\.partner) == ["AK09916", "AK8963"])
    #expect(turned.map(\.partnerMount.words) == ["[+x, -y, -z]", "[+y, +x, -z]"])
    #expect(turned.allSatisfy { !$0.partnerMount.isMirrored })
    // A package that lies on its side, against the matrices.
    for axes in [
      (Mount.Axis.plusY, Mount.Axis.minusX, Mount.Axis.plusZ), (.minusZ, .plusX, .minusY),
    ] {
      let host = try #require(Mount(x: axes.0, y: axes.1, z: axes.2))
      for part in turned.map(\.partnerMount) {
        #expect(host.carrying(part).matrix == host.matrix * part.matrix)
      }
    }
  }

  @Test("a register that is not acknowledged rules one chip out; nothing acknowledged is an error")
  func noAnswer() throws {
    let h43 = Transfer.read(0x0A, [0x48, 0x34, 0x33])
    let device = ScriptedDevice([
      h43, .read(0x4F, [0x00]), .readFails(0x0F, 1, .noAnswer), h43,
      .readFails(0x0F, 1, .noAnswer),
    ])
    #expect(
      try ChipCatalog.identify(device, at: 0x1E).map(\.chip) == ["HMC5883L", "LSM303DLHC-M"])
    device.then([
      .readFails(0x0A, 3, .noAnswer), .readFails(0x4F, 1, .noAnswer),
      .readFails(0x0F, 1, .noAnswer),
      .readFails(0x0A, 3, .noAnswer), .readFails(0x0F, 1, .noAnswer),
    ])
    #expect(throws: device.error(.noAnswer, 0x0F)) {
      try ChipCatalog.identify(device, at: 0x1E)
    }
    device.expectDone()
  }
}
