// The BME680 against a real chip's bytes.

import SensorBus
import SensorDrivers
import SensorTypes
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
  /// par_h = 717, 1021, 0, 45, 20, 120, -100 of the same chip; its humidity was 16820: 25.2 percent.
  static let humidityTrim: [UInt8] = [0x3F, 0xDD, 0x2C, 0x00, 0x2D, 0x14, 0x78, 0x9C]
  static let sample: [UInt8] = [0x60, 0x1E, 0x90, 0x75, 0x5D, 0xC0, 0x41, 0xB4]

  @Test("a real chip's numbers come out to the printed digits")
  func vector() throws {
    let trim = try BMx280Trim(bme680: block(Self.trim), t1: 26195)
    let fine = BMx280Conversion.fineTemperature(480_732, trim)
    #expect(near(BMx280Conversion.temperature(fine: fine), 19.3113, 0.00005))
    let pressure = try #require(BMx280Conversion.pressure(393_705, fine: fine, trim))
    #expect(near(pressure, 100_977.52, 0.005))
  }

  @Test("humidity keeps its limits, and there is none without a trim")
  func noHumidity() throws {
    let trim = try #require(BME680HumidityTrim(block(Self.humidityTrim)))
    #expect(trim.humidity(0xFFFF, fine: 100_000) == 100)
    #expect(trim.humidity(0, fine: 100_000) == 0)
    for blank: UInt8 in [0x00, 0xFF] {
      #expect(BME680HumidityTrim(block([UInt8](repeating: blank, count: 8))) == nil)
    }
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

  @Test("each conversion is told, waited for and taken once; what broke off is dropped")
  func poll() throws {
    let device = ScriptedDevice([])
    var trimmed = BME680(outputRate: 20)
    try trimmed.take(block(Self.trim), from: 0x8A)
    try trimmed.take(block(Self.humidityTrim + Self.t1), from: 0xE1)
    var chip = RegisterDriver(device, trimmed)
    let short = BusError.Reason.shortTransfer(expected: 10, actual: 3)
    let result = Transfer.read(0x1D, [0x80, 0x00] + Self.sample)
    device.then([
      .read(0x1D, [0x20, 0x00, 0x80, 0, 0, 0x80, 0, 0, 0x80, 0]), result, .write(0x74, [0x55]),
      .readFails(0x1D, 10, short), result, .write(0x74, [0x55]), result, .write(0x74, [0x55]),
      .read(0x1D, [UInt8](repeating: 0, count: 10)),
    ])
    #expect(try chip.poll() == nil)
    guard case .atmosphere(let pressure, let temperature, let humidity?) = try chip.poll() else {
      Issue.record("no sample")
      return
    }
    #expect(near(pressure, 100_977.52, 0.005))
    #expect(near(temperature, 19.3113, 0.00005))
    #expect(near(humidity, 25.2, 0.05))
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(short, 0x1D)))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    #expect(failure { () throws(DriverError) in try chip.poll() } == .heldLow(register: 0x1D))
    device.expectDone()
  }
}
