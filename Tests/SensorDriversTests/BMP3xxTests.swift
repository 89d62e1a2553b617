// The driver of BMP388 and BMP390 against a real chip's bytes.

import SensorDrivers
import SensorTypes
import Testing

@Suite struct BMP3xxTests {
  /// A real BMP388's trim, as it lies at 0x31, and one of its measurements: 100876.00634692199 Pa and
  /// 30.499314453874284 degrees by the datasheet's double precision formulas. (The datasheet prints no example.
  /// Bytes and results: the tests of github.com/elixir-sensors/bmp3xx, test/bmp3xx/bmp388/calibration_test.exs.)
  static let trim: [UInt8] = [
    0x23, 0x6B, 0x58, 0x49, 0xF6, 0x5C, 0xFF, 0xCE, 0xF4, 0x23, 0x00, 0xEA, 0x63, 0x6E, 0x79, 0xF3,
    0xF6, 0xAA, 0x43, 0x12, 0xC4,
  ]
  static let sample: [UInt8] = [0x97, 0x9F, 0x6D, 0x73, 0xD8, 0x85]

  @Test("a real chip's bytes come out to the printed digits")
  func vector() throws {
    let trim = try BMP3xxTrim(block(Self.trim))
    let temperature = BMP3xxConversion.temperature(0x85D873, trim)
    #expect(near(temperature, 30.499314453874284, 1e-12))
    let pressure = BMP3xxConversion.pressure(0x6D9F97, temperature: temperature, trim)
    #expect(near(pressure, 100_876.00634692199, 1e-9))
  }

  @Test("a real BMP390's bytes come out to its driver's single precision")
  func vector390() throws {
    // Bytes and results: the tests of github.com/asasine/bmp390, src/lib.rs: 98370.55 Pa, 25.770746 degrees.
    let trim = try BMP3xxTrim(
      block([
        0x98, 0x6C, 0xA9, 0x4A, 0xF9, 0xE3, 0x1C, 0x61, 0x16, 0x06, 0x01, 0x51, 0x4A, 0xDE, 0x5D,
        0x03, 0xFA, 0xF9, 0x0E, 0x06, 0xF5,
      ]))
    let temperature = BMP3xxConversion.temperature(0x82BAD1, trim)
    #expect(near(temperature, 25.770746, 1e-5))
    let pressure = BMP3xxConversion.pressure(0x6BB3CB, temperature: temperature, trim)
    #expect(near(pressure, 98_370.55, 0.02))
  }

  @Test("every coefficient comes from its own bytes, with its sign")
  func decode() throws {
    let trim = try BMP3xxTrim(block(Self.trim))
    let found = [
      trim.t1, trim.t2, trim.t3, trim.p1, trim.p2, trim.p3, trim.p4, trim.p5, trim.p6, trim.p7,
      trim.p8, trim.p9, trim.p10, trim.p11,
    ]
    // As the datasheet scales them (8.4).
    let integers: [Double] = [
      27_427, 18_776, -10, -164 - 16384, -2866 - 16384, 35, 0, 25_578, 31_086, -13, -10, 17_322, 18,
      -60,
    ]
    let scales: [Double] = [
      0x1p8, 0x1p-30, 0x1p-48, 0x1p-20, 0x1p-29, 0x1p-32, 0x1p-37, 0x1p3, 0x1p-6, 0x1p-8, 0x1p-15,
      0x1p-48, 0x1p-48, 0x1p-65,
    ]
    #expect(found == zip(integers, scales).map { $0 * $1 })
  }

  @Test("a blank trim is refused", arguments: [0x00, 0xFF] as [UInt8])
  func blank(byte: UInt8) {
    let bytes = block([UInt8](repeating: byte, count: 21))
    #expect(
      failure { () throws(DriverError) in try BMP3xxTrim(bytes) }
        == .invalidTrim("BMP3xx: the trim is blank"))
  }

  @Test(
    "what lies beyond the range is an overflow",
    arguments: [[0x00, 0x00, 0x20, 0x73, 0xD8, 0x85], [0x97, 0x9F, 0x6D, 0xFF, 0xFF, 0xFF]]
      as [[UInt8]])
  func overflow(bytes: [UInt8]) throws {
    var chip = BMP3xx(chip: .bmp388, outputRate: 25)
    try chip.take(block(Self.trim), from: 0x31)
    guard
      case .atmosphere(let pressure, let temperature, _) = try chip.reading(block(Self.sample))
    else {
      Issue.record("no sample")
      return
    }
    #expect(near(pressure, 100_876.00634692199, 1e-9))
    #expect(near(temperature, 30.499314453874284, 1e-12))
    #expect(failure { () throws(DriverError) in try chip.reading(block(bytes)) } == .overflow)
  }
}
