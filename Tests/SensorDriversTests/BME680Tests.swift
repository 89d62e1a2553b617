// The BME680 against a real chip's bytes.

import SensorDrivers
import Testing

@Suite struct BME680Tests {
  /// A real chip's trim: par_t = 26195, 26290, 3; par_p = 35395, -10405, 88, 4836, -118, 30, 26, -765, -3367, 30; and
  /// one of its measurements, 480732 and 393705: 19.3113 degrees and 100977.52 Pa. (The datasheet prints no example.
  /// Numbers: the tests of github.com/elixir-sensors/bmp280, test/bmp280/sensor/bme680_sensor_test.exs; packed as the
  /// datasheet's memory map says.)
  static let trim: [UInt8] = [
    0xB2, 0x66, 0x03, 0x00, 0x43, 0x8A, 0x5B, 0xD7, 0x58, 0x00, 0xE4, 0x12, 0x8A, 0xFF, 0x1A, 0x1E,
    0x00, 0x00, 0x03, 0xFD, 0xD9, 0xF2, 0x1E,
  ]
  static let t1: [UInt8] = [0x53, 0x66]
  static let sample: [UInt8] = [0x60, 0x1E, 0x90, 0x75, 0x5D, 0xC0]
  @Test("a real chip's numbers come out to the printed digits")
  func vector() throws {
    let trim = try BMx280Trim(bme680: block(Self.trim), t1: 26195)
    let fine = BMx280Conversion.fineTemperature(480_732, trim)
    #expect(near(BMx280Conversion.temperature(fine: fine), 19.3113, 0.00005))
    let pressure = try #require(BMx280Conversion.pressure(393_705, fine: fine, trim))
    #expect(near(pressure, 100_977.52, 0.005))
  }

  @Test("a trim without par_t1 or par_p1 is refused", arguments: [0x0000, 0xFFFF] as [UInt16])
  func blank(word: UInt16) {
    var bytes = Self.trim
    bytes.replaceSubrange(4..<6, with: [UInt8(word & 0xFF), UInt8(word & 0xFF)])
    let invalid = DriverError.invalidTrim("BME680: par_t1 or par_p1 is blank")
    #expect(
      failure { () throws(DriverError) in try BMx280Trim(bme680: block(bytes), t1: 26195) }
        == invalid)
    #expect(
      failure { () throws(DriverError) in try BMx280Trim(bme680: block(Self.trim), t1: word) }
        == invalid)
  }
}
