// Chips that the catalogue lacks, at addresses of chips that it has, stay unknown.

import SensorBus
import SensorDrivers
import SimulatedDevices
import Testing

/// A chip that answers to an MS5611's commands, with conversions that do not change.
private final class NextGeneration: RegisterDevice {
  private let prom: Stranger
  private let pressure: UInt32, temperature: UInt32
  private var result: UInt32 = 0

  init(_ prom: Stranger, pressure: UInt32, temperature: UInt32) {
    (self.prom, self.pressure, self.temperature) = (prom, pressure, temperature)
  }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    guard register == 0x00 else { return try prom.read(register, into: buffer) }
    for index in buffer.indices {
      buffer[index] = UInt8(truncatingIfNeeded: index < 3 ? result >> (16 - 8 * index) : 0)
    }
    result = 0
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    if 0x40..<0x50 ~= register { result = pressure }
    if 0x50..<0x60 ~= register { result = temperature }
  }
}

@Suite struct UnknownChipTests {
  /// Chips that share an address with ours, by what tells them: Linux's drivers and headers have these numbers.
  private static let strangers: [(name: String, address: UInt8, identity: [UInt8: UInt8])] = [
    ("AK09911", 0x0C, [0x00: 0x48, 0x01: 0x05]), ("AK09912", 0x0C, [0x00: 0x48, 0x01: 0x04]),
    ("MAG3110", 0x0E, [0x07: 0xC4]), ("MMA8452Q", 0x1C, [0x0D: 0x2A]),
    ("LSM303D", 0x1E, [0x0F: 0x49]), ("BMA400", 0x14, [0x00: 0x90]), ("BMA255", 0x18, [0x00: 0xFA]),
    ("KXTJ2", 0x0F, [0x0F: 0x09]), ("BMI088 accelerometer", 0x18, [0x00: 0x1E]),
    ("ITG3200", 0x68, [0x00: 0x68]), ("BMI270", 0x68, [0x00: 0x24]), ("BMG160", 0x69, [0x00: 0x0F]),
    ("ICM20602", 0x68, [0x75: 0x12]), ("ICM42605", 0x69, [0x75: 0x42]),
    ("L3GD20", 0x6A, [0x0F: 0xD4]), ("L3GD20H", 0x6B, [0x0F: 0xD7]),
    ("LSM6DSV", 0x6B, [0x0F: 0x70]), ("LPS331AP", 0x5C, [0x0F: 0xBB]),
    ("INA219", 0x46, [0x00: 0x39]),
    // Clocks, at 11:22:33 on a Tuesday; the DS3231 behind its alarms has control, status and temperature.
    (
      "DS3231", 0x68,
      [
        0x00: 0x33, 0x01: 0x22, 0x02: 0x11, 0x03: 0x02, 0x04: 0x17, 0x05: 0x11, 0x06: 0x26,
        0x0E: 0x1C, 0x0F: 0x88, 0x11: 0x19, 0x12: 0x40,
      ]
    ),
    ("DS1307", 0x68, [0x00: 0x33, 0x01: 0x22, 0x02: 0x11, 0x03: 0x02, 0x07: 0x03]),
    ("PCF8523", 0x68, [0x00: 0x00, 0x02: 0x80, 0x03: 0x33, 0x04: 0x22, 0x05: 0x11]),
    // At a QMC5883L's: AD5933 with its status.
    ("AD5933", 0x0D, [0x80: 0xA0, 0x81: 0x00, 0x8F: 0x06]),
    // Memsic's others, by their product identities.
    ("MMC5883MA", 0x30, [0x2F: 0x0C]), ("MMC3416", 0x30, [0x20: 0x06]),
    // VEML7700: words with the lower byte first, of which each command gives one; PMSA003I: a frame from any address.
    ("VEML7700", 0x10, [0x07: 0x81, 0x08: 0xC4]), ("PMSA003I", 0x12, [0x00: 0x42, 0x01: 0x4D]),
    ("VCNL4010", 0x13, [0x80: 0x80, 0x81: 0x21]), ("Si4713", 0x11, [0x00: 0x80]),
    ("VL53L0X", 0x29, [0xC0: 0xEE, 0xC1: 0xAA, 0xC2: 0x10]),
    ("TSL2591", 0x29, [0xB2: 0x50]), ("BNO055", 0x29, [0x00: 0xA0, 0x01: 0xFB, 0x02: 0x32]),
    // Barometers: commands where others have registers. HP206C: parameters from 0x80 on.
    ("HP206C", 0x76, [0x8D: 0x40, 0x8F: 0x02]), ("FBM320", 0x76, [0x6B: 0x42]),
    ("LPS22HB at another's", 0x77, [0x0F: 0xB1]),
  ]

  /// MS5637, MS5837 and MS8607: the example of the MS5637's datasheet (figure 9) and more, seven words with their check
  /// sum in the upper four bits of the first (application note AN520, for 112 bits).
  private static func sevenWords(_ random: inout SeededGenerator, rest: UInt8) -> NextGeneration {
    var words =
      [1 + random.next() % 0x0FFF]
      + ([46372, 43981, 29059, 27842, 31553, 28165] as [Int]).map {
        UInt64(random.spread($0, by: 0.1))
      }
    // A division by x^4 + x + 1, bit by bit, of the words with an eighth of zeros.
    var remainder: UInt64 = 0
    for word in words + [0] {
      for byte in [word >> 8, word & 0xFF] {
        remainder ^= byte
        for _ in 0..<8 {
          remainder = (remainder & 0x8000 != 0 ? remainder << 1 ^ 0x3000 : remainder << 1) & 0xFFFF
        }
      }
    }
    words[0] |= (remainder >> 12) << 12
    var registers: [UInt8: UInt8] = [:]
    for (index, word) in words.enumerated() {
      registers[0xA0 + 2 * UInt8(index)] = UInt8(word >> 8)
      registers[0xA1 + 2 * UInt8(index)] = UInt8(word & 0xFF)
    }
    // 20 degrees, where there is no difference to the reference, and a pressure that there is on earth (figure 8).
    let pascals = 31_000 + 78_000 * random.unit()
    let (sensitivity, offset) = (Double(words[1]) * 0x1p16, Double(words[2]) * 0x1p17)
    return NextGeneration(
      Stranger(rest: rest, registers: registers),
      pressure: UInt32((pascals * 0x1p15 + offset) * 0x1p21 / sensitivity),
      temperature: UInt32(words[5]) << 8)
  }

  @Test("the next generation of the MS5611 is none, whatever its coefficients")
  func sevenWords() throws {
    var possible = 0
    for address: UInt8 in [0x76, 0x77] {
      for index in 0..<500 {
        var random = SeededGenerator(seed: 2026, stream: 90, index: UInt64(index))
        let device = Self.sevenWords(&random, rest: index % 2 == 0 ? 0x00 : 0xFF)
        let found = try ChipCatalog.identify(device, at: address)
        if !found.isEmpty { possible += 1 }
        let asked = try ChipCatalog.identify(device, at: address) { _ in }
        for told in found + asked {
          #expect(!told.isTold && told.evidence.contains("MS5637"), "\(index): \(told)")
        }
      }
    }
    // With an eighth word of zeros each has an MS5611's PROM, with one of ones one in 16.
    #expect((500...550).contains(possible))
  }

  @Test("unknown chips stay unknown, whatever else they hold")
  func unknown() throws {
    for (place, stranger) in Self.strangers.enumerated() {
      for index in 0..<20 {
        var random = SeededGenerator(seed: 2026, stream: UInt64(100 + place), index: UInt64(index))
        // What a register that is not there reads as.
        let rest: UInt8 = index % 2 == 0 ? 0x00 : 0xFF
        // Outputs are anything.
        let outputs = Dictionary(
          uniqueKeysWithValues: (0x22...0x2D).map { (UInt8($0), UInt8(random.next() & 0xFF)) })
        let device = Stranger(
          rest: rest, registers: outputs.merging(stranger.identity) { $1 })
        let found = try ChipCatalog.identify(device, at: stranger.address) { _ in }
        // What is possible is not told: a scan says that it is not known.
        #expect(found.allSatisfy { !$0.isTold }, "\(stranger.name) is said to be \(found)")
      }
    }
  }
}
