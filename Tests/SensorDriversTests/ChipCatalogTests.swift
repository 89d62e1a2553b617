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

  /// A lost chip is back within five seconds (`LodestoneTests/FaultTests`). Up to two of them are
  /// the pause before it is tried again.
  @Test("every start ends: it looks at a flag at most 20 times, and waits for less than 3 s in all")
  func starts() {
    for description in ChipCatalog.chips {
      guard let make = description.chip else { continue }
      for rate in [25.0, 80, 200] {
        var seconds = 0.0
        for step in make(rate).startSteps {
          switch step {
          case .wait(let pause):
            #expect(pause >= 0, "\(description.name)")
            seconds += pause
          case .await(_, _, _, let every, let looks, _):
            #expect((1...20).contains(looks) && every >= 0, "\(description.name)")
            seconds += every * Double(looks)
          default: break
          }
        }
        #expect(seconds < 3, "\(description.name) at \(rate) Hz")
      }
    }
  }

  /// IF_CONF, PWR_CTRL, OSR, ODR, one that is not used, CONFIG.
  static let bmp3xx = Transfer.read(0x1A, [0x00, 0x33, 0x02, 0x04, 0x00, 0x02])
  private static let dps = held((0x08, 0xF7), (0x07, 0xF7), (0x06, 0x7F))
  private static let cell: [Transfer] = [.read(0x0D, [0x10]), .read(0x28, [0x80])] + dps
  private static let asic: [Transfer] = [.read(0x0D, [0x10]), .read(0x28, [0x00])] + dps

  /// Registers that a chip is asked for besides its identity, with every bit up that can be.
  private static func held(_ registers: (UInt8, UInt8)...) -> [Transfer] {
    registers.map { .read($0.0, [$0.1]) }
  }

  private static let lis3mdl =
    [Transfer.read(0x0F, [0x3D])] + held((0x21, 0x6C), (0x22, 0x27), (0x23, 0x0E), (0x24, 0xC0))
  private static let interrupts = held((0x32, 0x7F), (0x33, 0x7F))
  private static func lsm6(_ identity: UInt8) -> [Transfer] {
    [.read(0x0F, [identity])]
      + (identity == 0x6B ? held((0x01, 0x21), (0x12, 0xFD)) : held((0x01, 0x21), (0x11, 0xFE)))
  }
  /// An MPU's identity, and what a BMI160 would have.
  private static func asked(
    _ identity: UInt8, trim: UInt8 = 0x37, outputs: [UInt8] = [0x0C, 0x3F, 0x04]
  ) -> [Transfer] {
    [.read(0x75, [identity]), .read(0x00, [trim]), .read(0x41, outputs)]
  }
  private static func bmi160(ranges: [UInt8] = [0x0C, 0x3F, 0x04], offset: UInt8) -> [Transfer] {
    [.read(0x00, [0xD1]), .read(0x41, ranges), .read(0x75, [offset])]
  }
  private static func mpu(
    _ identity: UInt8, gyroscope: UInt8 = 0xFB, queue: UInt8 = 0x1F
  ) -> [Transfer] {
    asked(identity) + held((0x1A, 0x7F), (0x67, 0x9F), (0x1B, gyroscope), (0x72, queue))
  }
  private static func bmx280(_ identity: UInt8) -> [Transfer] {
    [.read(0xD0, [identity])] + held((0xE0, 0x00), (0xF9, 0xF0), (0xFC, 0xF0))
  }
  @Test(
    "a name on a chip leads to what drives it, and another chip's to nothing",
    arguments: [
      ("MPU-6050", ["MPU6050"]), ("icm_20948", ["ICM20948"]), ("QMC-5883L", ["QMC5883L"]),
      ("LIS3MDLTR", ["LIS3MDL"]), ("LSM6DS3TR", ["LSM6DS3TR-C"]), ("LSM6DS3TRC", ["LSM6DS3TR-C"]),
      ("ICM42688", ["ICM42688P"]), ("LSM303DLHC", ["LSM303DLHC-M", "LSM303DLHC-A"]),
      ("LPS28", ["LPS28DFW"]), ("LSI3MDL", ["LIS3MDL"]), ("MPU6005", ["MPU6050"]),
      ("BMP085", ["BMP180"]), ("mmc5633", ["MMC5603"]), ("LPS35HW", ["LPS22HB"]),
      ("ublox", ["u-blox"]), ("nmea", ["NMEA"]), ("Gpsd", ["gpsd"]), ("NEO-M8N", ["u-blox"]),
      ("SAM-M8Q", ["u-blox"]), ("L76K", ["GNSS"]), ("PA1010D", ["GNSS"]),
      ("um980", ["GNSS"]), ("Unicore", ["GNSS"]), ("LG290P", ["GNSS"]), ("Quectel", ["GNSS"]),
      ("Allystar", ["GNSS"]), ("skytraq", ["GNSS"]), ("MediaTek", ["GNSS"]), ("CASIC", ["GNSS"]),
      ("Septentrio", ["NMEA"]), ("Trimble", ["NMEA"]), ("Garmin", ["NMEA"]),
      ("GY-91", ["MPU9250", "AK8963", "BMP280"]), ("M8N", ["u-blox"]), ("BN-220", ["u-blox"]),
      ("LSM303", ["LSM303DLHC-M", "LSM303DLHC-A", "LIS2MDL", "LIS3DH"]),
      ("LSM6DSO32", []), ("LSM6DSOX32", []), ("LSM303D", []), ("LSM303DLH", []), ("LIS3DHH", []),
      ("ICM20", []), ("ICM20602", []), ("BMP38", []), ("MAX30102", []), ("", []), ("é", []),
      ("-", []),
    ] as [(String, [String])])
  func names(_ written: String, _ meant: [String]) {
    #expect(ChipCatalog.chips(meantBy: written) == meant)
  }

  @Test("a name in small letters leads to its chip alone")
  func everyName() {
    for chip in ChipCatalog.chips {
      #expect(ChipCatalog.chips(meantBy: chip.name.lowercased()) == [chip.name])
    }
  }

  private static let bmp58x = held((0x28, 0xFB), (0x15, 0x0F), (0x31, 0x3F), (0x36, 0x7F))

  private static let identities: [(String, [Transfer], ChipIdentification.Confidence)] = [
    ("LIS3MDL", Self.lis3mdl, .likely),
    ("BMM150", [.read(0x40, [0x32]), .read(0x4B, [0x05])], .likely),
    ("BMM150", [.read(0x40, [0]), .read(0x40, [0]), .read(0x4B, [0])], .possible),
    (
      "MMC5603",
      [.read(0x39, [0x10])]
        + Self.held((0x18, 0xFF), (0x00, 0x60), (0x02, 0x9F), (0x04, 0x00)), .likely
    ),
    (
      "MMC5603", [.read(0x39, [0x00]), .read(0x39, [0x00]), .read(0x18, [0x10])], .possible
    ),
    (
      "MMC5983MA",
      [.read(0x2F, [0x30])]
        + Self.held((0x08, 0x13), (0x00, 0x40), (0x02, 0xBF), (0x04, 0x00)), .certain
    ),
    (
      "RM3100",
      [.read(0x36, [0x22])]
        + Self.held((0x0B, 0x9F), (0x04, 0x0F), (0x06, 0x0F), (0x08, 0x0F)), .certain
    ),
    ("LSM9DS1-M", Self.lis3mdl, .likely),
    ("HMC5883L", [.read(0x0A, [0x48, 0x34, 0x33])], .likely),
    ("IST8310", [.read(0x00, [0x10])] + Self.held((0x0A, 0x0F), (0x0B, 0x0D)), .certain),
    (
      "LIS2MDL", [.read(0x4F, [0x40])] + Self.held((0x61, 0x1F), (0x62, 0x5F), (0x63, 0xE7)),
      .certain
    ),
    ("LSM303DLHC-M", [.read(0x0A, [0x48, 0x34, 0x33])], .likely),
    ("QMC5883L", [.read(0x09, [0x1D, 0x00, 0x01, 0x00, 0xFF])], .likely),
    (
      "QMC5883L",
      [Transfer](repeating: .read(0x09, [0x00, 0x41, 0x01, 0x00, 0xE8]), count: 2), .possible
    ),
    ("QMC5883P", [.read(0x00, [0x80]), .read(0x0B, [0x4F])], .likely),
    ("QMC6310", [.read(0x00, [0x80]), .read(0x0B, [0x4F])], .likely),
    ("LIS3DH", [.read(0x0F, [0x33]), .read(0x1F, [0xC0])] + Self.interrupts, .likely),
    (
      "LSM303DLHC-A",
      [.read(0x0F, [0x33])] + Self.interrupts
        + Self.held((0x23, 0xF9), (0x36, 0x7F), (0x37, 0x7F)), .likely
    ),
    (
      "LSM303DLHC-A", [.read(0x0F, [0x00]), .read(0xA0, [0x07, 0, 0, 0, 0, 0])], .possible
    ),
    (
      "ICM20948",
      [.read(0x00, [0xEA]), .read(0x75, [0x00])]
        + Self.held((0x7F, 0xCF), (0x05, 0x70), (0x06, 0xEF), (0x07, 0x3F)), .certain
    ),
    (
      "ICM42688P",
      [.read(0x75, [0x47])]
        + Self.held((0x76, 0xF8), (0x11, 0x11), (0x4E, 0x3F), (0x4F, 0xEF), (0x50, 0xEF)),
      .certain
    ),
    (
      "BMI160",
      Self.bmi160(offset: 0x00) + Self.held((0x03, 0x3F), (0x40, 0x28)), .certain
    ),
    // Its gyro's offset can be an MPU's identity, and an MPU6500's trim and outputs what it has.
    (
      "BMI160",
      Self.bmi160(offset: 0x70) + Self.held((0x03, 0x3F), (0x40, 0x28)), .possible
    ),
    (
      "MPU6500",
      Self.asked(0x70, trim: 0xD1)
        + Self.held((0x1A, 0x7F), (0x67, 0x9F), (0x1B, 0xFB), (0x72, 0x1F)), .possible
    ),
    (
      "MPU6500",
      Self.asked(0x70, trim: 0xD1, outputs: [0x0C, 0x3F, 0x05])
        + Self.held((0x1A, 0x7F), (0x67, 0x9F), (0x1B, 0xFB), (0x72, 0x1F)), .certain
    ),
    (
      "QMI8658",
      [.read(0x00, [0x05])] + Self.held((0x01, 0x7C), (0x02, 0xFD), (0x03, 0xBF), (0x06, 0x77)),
      .likely
    ),
    ("MPU6050", Self.mpu(0x68, gyroscope: 0xF8, queue: 0x07), .certain),
    ("MPU6500", Self.mpu(0x70), .certain),
    ("MPU6500", Self.mpu(0x74), .certain),
    ("MPU9250", Self.mpu(0x71), .certain),
    ("MPU9250", Self.mpu(0x73), .certain),
    ("LSM6DSOX", Self.lsm6(0x6C), .likely),
    ("LSM6DSO", Self.lsm6(0x6C), .likely),
    (
      "LSM9DS1-AG",
      [.read(0x0F, [0x68])] + Self.held((0x11, 0x0F), (0x1E, 0x3B), (0x24, 0x05)), .certain
    ),
    ("ISM330DHCX", Self.lsm6(0x6B), .likely),
    ("LSM6DS3", Self.lsm6(0x69), .likely), ("LSM6DS33", Self.lsm6(0x69), .likely),
    ("LSM6DS3TR-C", Self.lsm6(0x6A), .likely), ("LSM6DSL", Self.lsm6(0x6A), .likely),
    ("BMP280", Self.bmx280(0x58), .certain),
    ("BME680", [.read(0xD0, [0x61])] + Self.held((0x21, 0xF0), (0x24, 0xF0)), .certain),
    ("BMP180", [.read(0xD0, [0x55])] + Self.held((0xF8, 0xF8), (0xF4, 0xFE)), .certain),
    ("BMP280", Self.bmx280(0x56), .certain),
    ("BME280", Self.bmx280(0x60), .certain),
    ("BMP388", [.read(0x00, [0x50]), Self.bmp3xx, .read(0x00, [0x50])], .certain),
    ("BMP390", [.read(0x00, [0x60]), Self.bmp3xx, .read(0x00, [0x60])], .certain),
    ("DPS310", Self.cell, .likely), ("DPS368", Self.cell, .likely),
    ("SPL06", Self.cell, .likely), ("SPL06", Self.asic, .likely),
    ("DPS310", Self.asic, .possible),
    (
      "SPA06",
      [.read(0x0D, [0x11]), .read(0x28, [0x00])] + Self.held((0x08, 0xF7), (0x07, 0xF7)),
      .likely
    ),
    (
      "LPS22HB", [.read(0x0F, [0xB1])] + Self.held((0x10, 0x7F), (0x11, 0xF5), (0x1A, 0x07)),
      .likely
    ),
    (
      "LPS22HH",
      [.read(0x0F, [0xB3])]
        + Self.held((0x10, 0x7F), (0x11, 0xF7), (0x12, 0x3F), (0x13, 0x0F)), .likely
    ),
    ("LPS25HB", [.read(0x0F, [0xBD])] + Self.held((0x21, 0xF7), (0x23, 0x0F)), .likely),
    (
      "LPS28DFW",
      [.read(0x0F, [0xB4])] + Self.held((0x10, 0x7F), (0x11, 0xFD), (0x12, 0x0B)), .likely
    ),
    ("MS5607", MS5611Tests.prom, .likely), ("MS5611", MS5611Tests.prom, .likely),
    ("BMP581", [.read(0x01, [0x50])] + Self.bmp58x, .certain),
    ("BMP585", [.read(0x01, [0x51])] + Self.bmp58x, .certain),
    ("u-blox", [.read(0xFD, [0x01, 0x80])], .possible),
  ]

  @Test("each chip is told by its identity", arguments: identities)
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
    "an identity beside a register that this chip cannot hold is merely possible, and says which")
  func strange() throws {
    let device = ScriptedDevice([.read(0x36, [0x22]), .read(0x0B, [0x22])])
    let chip = try #require(ChipCatalog.chip(named: "RM3100"))
    let told = try #require(try chip.identify(device))
    #expect(told.confidence == .possible && told.evidence.contains("0x0b is 0x22"))
    device.expectDone()
  }

  private static let others: [(String, [Transfer])] = [
    ("LIS3MDL", [.read(0x0F, [0x40])]),
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
    ("MPU6050", script(Self.asked(0x70), Self.asked(0x70), Self.asked(0x70))),
    // The trim of an MPU6500's self-test is at 0x00, and can be anything.
    ("ICM20948", [.read(0x00, [0xEA]), .read(0x75, [0x70])]),
    ("ICM42688P", [.read(0x75, [0x42])]),
    ("BMI160", Self.bmi160(ranges: [0x04, 0x3F, 0x04], offset: 0x00)),
    ("BMI160", Self.bmi160(ranges: [0x0C, 0x7F, 0x04], offset: 0x00)),
    ("BMI160", Self.bmi160(ranges: [0x0C, 0x3F, 0x05], offset: 0x00)),
    ("QMI8658", [.read(0x00, [0x6C])]),
    ("MMC5603", [.read(0x39, [0x00]), .read(0x39, [0x00]), .read(0x18, [0xEF])]),
    ("MPU6500", Self.asked(0x71)), ("MPU9250", Self.asked(0x70)),
    ("BMP280", [.read(0xD0, [0x60])]),
    ("BME280", [.read(0xD0, [0x61])]),
    ("BMP388", [.read(0x00, [0x60]), Self.bmp3xx, .read(0x00, [0x60])]),
    (
      "DPS310", [.read(0x0D, [0x11]), .read(0x28, [0x80])]
    ),
    ("u-blox", [.read(0xFD, [0xFF, 0xFF])]), ("GNSS", []), ("NMEA", []),
  ]

  @Test("another identity is a no", arguments: others)
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

  @Test("every gyro says what it may say at rest: a heading's bar begins with it")
  func zeroRate() {
    for chip in ChipCatalog.chips where chip.kind == .inertial {
      #expect(chip.zeroRateLevel.map { (0.1...40).contains($0) } == true, "\(chip.name)")
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
    // An SPA06 is asked for too, and is another.
    var transfers = identity + bosch + bosch
    for _ in 0..<3 { transfers += Self.cell }
    transfers += blank + blank + Self.cell.prefix(2)
    let device = ScriptedDevice(transfers)
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
      (SignedAxis.plusY, SignedAxis.minusX, SignedAxis.plusZ), (.minusZ, .plusX, .minusY),
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
