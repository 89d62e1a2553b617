// BMP280 and BME280 against the datasheet's worked example, and what is a new conversion.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct BMx280Tests {
  /// The trim of the datasheet's example (BMP280 section 3.12), as it lies at 0x88: dig_T = 27504,
  /// 26435, -1000; dig_P = 36477, -10685, 3024, 2855, 140, -7, 15500, -14600, 6000.
  static let trim: [UInt8] = [
    0x70, 0x6B, 0x43, 0x67, 0x18, 0xFC, 0x7D, 0x8E, 0x43, 0xD6, 0xD0, 0x0B,
    0x27, 0x0B, 0x8C, 0x00, 0xF9, 0xFF, 0x8C, 0x3C, 0xF8, 0xC6, 0x70, 0x17,
  ]
  /// 415148 and 519888 as 20 bits, left-justified in three bytes each.
  static let sample: [UInt8] = [0x65, 0x5A, 0xC0, 0x7E, 0xED, 0x00]

  static func burst(_ data: [UInt8], status: UInt8 = 0) -> Transfer {
    .read(0xF3, [status, 0x57, 0x00, 0x00] + data)
  }

  func ready(
    _ device: ScriptedDevice, _ mode: BMx280Mode = .normal
  ) throws -> RegisterDriver<BMx280, ScriptedDevice> {
    var chip = BMx280(chip: .bmp280, outputRate: 25, mode: mode)
    try chip.take(block(Self.trim), from: 0x88)
    return RegisterDriver(device, chip)
  }

  @Test("the datasheet's worked example comes out to its printed digits")
  func workedExample() throws {
    let trim = try BMx280Trim(block(Self.trim))
    let fine = BMx280Conversion.fineTemperature(519_888, trim)
    #expect(near(fine, 128_422, 0.5))
    #expect(near(BMx280Conversion.temperature(fine: fine), 25.08, 0.005))
    let pressure = try #require(BMx280Conversion.pressure(415_148, fine: fine, trim))
    #expect(near(pressure, 100_653.27, 0.005))
    // The same in exact fractions.
    #expect(near(pressure, 100_653.26677582515, 1e-7))
    let value = try #require(
      try BMx280Conversion.atmosphere(block(Self.sample), at: 0, trim))
    #expect(near(value.pressure, 100_653.27, 0.005))
    #expect(near(value.temperature, 25.08, 0.005))
  }

  @Test("20-bit values are high, low, and the upper half of the last byte")
  func uint20() {
    #expect(BMx280Conversion.uint20(block([0xFF, 0x12, 0x34, 0x5F]), 1) == 0x12345)
    #expect(BMx280Conversion.uint20(block([0xFF, 0xFF, 0xF0]), 0) == 0xFFFFF)
  }

  @Test("the value after a reset is no value")
  func blank() throws {
    let trim = try BMx280Trim(block(Self.trim))
    let bytes = block([0x80, 0x00, 0x00, 0x80, 0x00, 0x00])
    #expect(try BMx280Conversion.atmosphere(bytes, at: 0, trim) == nil)
  }

  @Test(
    "the ends of the 20 bits and what lies beyond the specified range are overflows",
    arguments: [
      [0x00, 0x00, 0x00, 0x7E, 0xED, 0x00], [0xFF, 0xFF, 0xF0, 0x7E, 0xED, 0x00],
      [0x65, 0x5A, 0xC0, 0x00, 0x00, 0x00], [0x65, 0x5A, 0xC0, 0xFF, 0xFF, 0xF0],
      // About 1115 hPa and about 250 hPa at 25 degrees; about 118 degrees.
      [0x57, 0x00, 0x00, 0x7E, 0xED, 0x00], [0xD0, 0x00, 0x00, 0x7E, 0xED, 0x00],
      [0x65, 0x5A, 0xC0, 0xC8, 0x00, 0x00],
    ] as [[UInt8]])
  func overflow(bytes: [UInt8]) throws {
    let trim = try BMx280Trim(block(Self.trim))
    #expect(
      failure { () throws(DriverError) in
        try BMx280Conversion.atmosphere(block(bytes), at: 0, trim) != nil
      } == .overflow)
  }

  @Test("a trim without dig_T1 or dig_P1, or of all ones, is refused")
  func invalidTrim() {
    var withoutT1 = Self.trim
    withoutT1.replaceSubrange(0..<2, with: [0, 0])
    var withoutP1 = Self.trim
    withoutP1.replaceSubrange(6..<8, with: [0, 0])
    for bytes in [withoutT1, withoutP1, [UInt8](repeating: 0xFF, count: 24)] {
      guard
        case .invalidTrim = failure({ () throws(DriverError) in try BMx280Trim(block(bytes)) })
      else {
        Issue.record("\(bytes) was accepted")
        continue
      }
    }
  }

  @Test("poll gives each conversion once, whatever the status says")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    var next = Self.sample
    next[2] = 0xD0
    device.then([
      Self.burst([0x80, 0, 0, 0x80, 0, 0]), Self.burst(Self.sample, status: 0x08),
      Self.burst(Self.sample), Self.burst(next),
    ])
    #expect(try chip.poll() == nil)
    guard case .atmosphere(let pressure, let temperature, _) = try chip.poll() else {
      Issue.record("no sample")
      return
    }
    #expect(near(pressure, 100_653.27, 0.005))
    #expect(near(temperature, 25.08, 0.005))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("one conversion may be looked at often; fifty looks without a new one are a stuck chip")
  func stuck() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for _ in 0..<51 { device.then([Self.burst(Self.sample)]) }
    let outcome = pollUntilFailure(&chip, limit: 60)
    #expect(outcome.error == .stuck)
    #expect(outcome.readings == 1)
    device.expectDone()
  }

  @Test("in forced mode a poll reads the finished conversion and starts the next")
  func forced() throws {
    let device = ScriptedDevice([
      .read(0xF3, [0x08, 0x55, 0, 0] + Self.sample),
      .read(0xF3, [0x00, 0x54, 0, 0] + Self.sample), .write(0xF4, [0x55]),
    ])
    var chip = try ready(device, .forced)
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }
}
