// The driver of the BMP180 against the datasheet's worked example and scripted transfers.

import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

@Suite struct BMP180Tests {
  /// The trim of the datasheet's example (BST-BMP180-DS000-09, figure 4), as it lies at 0xAA: AC = 408, -72, -14383,
  /// 32741, 32757, 23153; B1 = 6190, B2 = 4; MB = -32768, MC = -8711, MD = 2868.
  static let trim: [UInt8] = [
    0x01, 0x98, 0xFF, 0xB8, 0xC7, 0xD1, 0x7F, 0xE5, 0x7F, 0xF5, 0x5A, 0x71, 0x18, 0x2E, 0x00, 0x04,
    0x80, 0x00, 0xDD, 0xF9, 0x0B, 0x34,
  ]
  /// UT = 27898.
  static let temperature: Transfer = .read(0xF4, [0x0E, 0x00, 0x6C, 0xFA, 0x00])
  /// UP = 190742 in 19 bits, which is 23842.75 in 16: by the flow chart in whole numbers 69962 Pa.
  static let pressure: Transfer = .read(0xF4, [0xD4, 0x00, 0x5D, 0x22, 0xC0])
  static let start: [Transfer] = [
    .read(0xD0, [0x55]), .write(0xE0, [0xB6]), .read(0xAA, trim), .write(0xF4, [0x2E]),
  ]

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<BMP180, ScriptedDevice> {
    device.then(Self.start)
    var chip = RegisterDriver(device, BMP180(outputRate: 25))
    #expect(try startUp(&chip) == [0.01, 0.0045])
    device.expectDone()
    return chip
  }

  @Test("the datasheet's worked example: 15.0 degrees and 69964 Pa")
  func workedExample() throws {
    let trim = try BMP180Trim(block(Self.trim))
    let fine = try #require(BMP180Conversion.fineTemperature(27_898, trim))
    #expect(BMP180Conversion.temperature(fine: fine) == 15.0)
    #expect(BMP180Conversion.pressure(23_843, code: 0, fine: fine, trim) == 69_964)
  }

  @Test(
    "at every oversampling, cold and hot, within what rounding takes of the formulas in exact fractions",
    arguments: [
      (27_898, 190_742, 3, 14.997124208, 69_962.449489792),
      (29_000, 250_000, 3, 23.734475282, 93_906.978329227),
      (27_898, 23_843, 0, 14.997124208, 69_963.196084668),
    ])
  func fractions(ut: Int, up: Int, code: Int, celsius: Double, pascals: Double) throws {
    let trim = try BMP180Trim(block(Self.trim))
    let fine = try #require(BMP180Conversion.fineTemperature(ut, trim))
    #expect(near(BMP180Conversion.temperature(fine: fine), celsius, 0.06))
    let pressure = try #require(BMP180Conversion.pressure(up, code: code, fine: fine, trim))
    #expect(near(pressure, pascals, 1))
  }

  @Test("a trim with a blank word is refused, whichever it is")
  func blank() {
    for index in 0..<11 {
      for byte: UInt8 in [0x00, 0xFF] {
        var bytes = Self.trim
        bytes.replaceSubrange(2 * index..<2 * index + 2, with: [byte, byte])
        #expect(
          failure { () throws(DriverError) in try BMP180Trim(block(bytes)) }
            == .invalidTrim("BMP180: a word of the trim is blank"))
      }
    }
  }

  @Test("a trim that no factory burns gives a number or none, and no trap")
  func hostileTrim() throws {
    // Found by chance: b4 is 2, and the square of what it divides does not fit 64 bits.
    let words: [UInt16] = [
      0x46D5, 0x12B1, 0x69CD, 0x0003, 0x6ABB, 0xDFE4, 0xBB29, 0xE127, 0x3A92, 0x2748, 0xDC2C,
    ]
    let found = try BMP180Trim(
      block(words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }))
    let fine = try #require(BMP180Conversion.fineTemperature(27_898, found))
    #expect(BMP180Conversion.pressure(23_843, code: 0, fine: fine, found) == nil)

    var random = SeededGenerator(seed: 2026, stream: 180, index: 0)
    let corners: [UInt16] = [1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFE]
    for _ in 0..<100_000 {
      // Half of the words are at an end of what they can be.
      let bytes = (0..<11).flatMap { _ in
        let bits = random.next()
        let word =
          bits % 2 == 0 ? corners[Int(bits >> 8) % corners.count] : max(1, UInt16(bits >> 48))
        return [UInt8(word >> 8), UInt8(word & 0xFF)]
      }
      guard let trim = try? BMP180Trim(block(bytes)) else { continue }
      let bits = random.next()
      guard let fine = BMP180Conversion.fineTemperature(Int(bits & 0xFFFF), trim) else { continue }
      #expect(BMP180Conversion.temperature(fine: fine).isFinite)
      let code = Int(bits >> 16 & 3)
      let raw = Int(bits >> 32) & (1 << (16 + code) - 1)
      let pascals = BMP180Conversion.pressure(raw, code: code, fine: fine, trim)
      #expect(pascals.map(\.isFinite) != false)
    }
  }

  @Test("temperature and pressure are converted in turn, each waited for")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    #expect(near(chip.conversionTime ?? 0, 0.04 - 0.0255, 1e-12))
    device.then([
      .read(0xF4, [0x2E, 0x00, 0x80, 0x00, 0x00]), Self.temperature, .write(0xF4, [0xF4]),
      .read(0xF4, [0xF4, 0x00, 0x6C, 0xFA, 0x00]), Self.pressure, .write(0xF4, [0x2E]),
    ])
    for _ in 0..<3 { #expect(try chip.poll() == nil) }
    #expect(chip.conversionTime == 0.0255)
    #expect(try chip.poll() == .atmosphere(pressure: 69_962, temperature: 15.0))
    device.expectDone()
  }

  @Test("the value after a reset, and a conversion that nobody knows of, begin the round again")
  func again() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      Self.temperature, .write(0xF4, [0xF4]),
      .read(0xF4, [0x00, 0x00, 0x80, 0x00, 0x00]), .write(0xF4, [0x2E]),
      Self.temperature, .writeFails(0xF4, [0xF4], .noAnswer),
      Self.pressure, .write(0xF4, [0x2E]), .read(0xF4, [0, 0, 0, 0, 0]),
    ])
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == nil)
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(.noAnswer, 0xF4)))
    #expect(try chip.poll() == nil)
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .heldLow(register: 0xF4))
    device.expectDone()
  }
}
