// The driver of BMP280 and BME280 against the datasheet's worked example and scripted transfers.

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
  /// x16 and x2, 0.5 ms, filter off, normal.
  static let image: [(UInt8, UInt8)] = [(0xF5, 0x00), (0xF4, 0x57)]

  static func burst(_ data: [UInt8], status: UInt8 = 0) -> Transfer {
    .read(0xF3, [status, 0x57, 0x00, 0x00] + data)
  }

  static func start(identity: UInt8 = 0x58) -> [Transfer] {
    [
      .read(0xD0, [identity]), .write(0xE0, [0xB6]), .read(0xF3, [0x00]), .read(0x88, trim),
    ] + written(image)
  }

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<BMx280, ScriptedDevice> {
    device.then(Self.start())
    var chip = RegisterDriver(device, BMx280(chip: .bmp280, outputRate: 25))
    _ = try startUp(&chip)
    device.expectDone()
    return chip
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

  /// What a wanted rate leads to; the rates are those of table 7 or of the formula in 9.1.
  struct Choice: Sendable {
    var wanted: Double
    var pressure: Int
    var temperature: Int
    var config: UInt8
    var measurement: UInt8
    var milliseconds: Double
  }

  static let choices: [Choice] = [
    Choice(
      wanted: 0.2, pressure: 16, temperature: 2, config: 0xE0, measurement: 0x57,
      milliseconds: 4037.5),
    Choice(
      wanted: 1, pressure: 16, temperature: 2, config: 0x80, measurement: 0x57,
      milliseconds: 537.5),
    Choice(
      wanted: 10, pressure: 16, temperature: 2, config: 0x20, measurement: 0x57, milliseconds: 100),
    Choice(
      wanted: 25, pressure: 16, temperature: 2, config: 0x00, measurement: 0x57, milliseconds: 38),
    Choice(
      wanted: 40, pressure: 8, temperature: 1, config: 0x04, measurement: 0x33, milliseconds: 20),
    Choice(
      wanted: 80, pressure: 4, temperature: 1, config: 0x08, measurement: 0x2F, milliseconds: 12),
    Choice(
      wanted: 125, pressure: 2, temperature: 1, config: 0x0C, measurement: 0x2B, milliseconds: 8),
    Choice(
      wanted: 1000, pressure: 1, temperature: 1, config: 0x0C, measurement: 0x27, milliseconds: 6),
    Choice(
      wanted: .nan, pressure: 1, temperature: 1, config: 0x0C, measurement: 0x27, milliseconds: 6),
  ]

  @Test(
    "the strongest oversampling that reaches the rate is taken, then the longest standby",
    arguments: choices)
  func rates(choice: Choice) {
    let configuration = BMx280(chip: .bmp280, outputRate: choice.wanted)
    #expect(configuration.pressureOversampling == choice.pressure)
    #expect(configuration.temperatureOversampling == choice.temperature)
    #expect(near(configuration.outputRate, 1000 / choice.milliseconds, 1e-9))
    #expect(configuration.registerImage.map(\.register) == [0xF5, 0xF4])
    #expect(configuration.registerImage.map(\.value) == [choice.config, choice.measurement])
  }

  @Test("standby codes 6 and 7 are 10 and 20 ms on a BME280")
  func standby() {
    // 37.5 ms + 10 ms = 21.05 Hz with code 6; + 20 ms = 17.4 Hz with code 7.
    let twenty = BMx280(chip: .bme280, outputRate: 20)
    #expect(twenty.registerImage.map(\.register) == [0xF2, 0xF5, 0xF4])
    #expect(twenty.registerImage.map(\.value) == [0x00, 0xC0, 0x57])
    let fifteen = BMx280(chip: .bme280, outputRate: 15)
    #expect(fifteen.registerImage.map(\.value) == [0x00, 0xE0, 0x57])
    #expect(near(fifteen.outputRate, 1000 / 57.5, 1e-9))
  }

  @Test(
    "start: identity, reset, trim copied, trim, configuration, read-back",
    arguments: [0x56, 0x57, 0x58] as [UInt8])
  func startOrder(identity: UInt8) throws {
    var script = Self.start(identity: identity)
    // The copying lasts for two looks.
    script.insert(contentsOf: [.read(0xF3, [0x01]), .read(0xF3, [0x09])], at: 2)
    let device = ScriptedDevice(script)
    var chip = RegisterDriver(device, BMx280(chip: .bmp280, outputRate: 25))
    #expect(try startUp(&chip) == [0.002, 0.002, 0.002])
    device.expectDone()
    // Half of 32.5 ms, no filter.
    #expect(near(chip.latency, 0.01625, 1e-12))
  }

  @Test("a copying that does not end is given up")
  func neverReady() {
    let device = ScriptedDevice(
      [.read(0xD0, [0x58]), .write(0xE0, [0xB6])]
        + [Transfer](repeating: .read(0xF3, [0x01]), count: 10))
    var chip = RegisterDriver(device, BMx280(chip: .bmp280, outputRate: 25))
    guard case .notReady = failure({ () throws(DriverError) in try startUp(&chip) }) else {
      Issue.record("no .notReady")
      return
    }
    device.expectDone()
  }

  @Test("a BMP280 sold as a BME280 is told, and the other way round, and nothing is written")
  func wrongIdentity() {
    for (chip, found) in [(BMx280Variant.bme280, UInt8(0x58)), (.bmp280, 0x60)] {
      let device = ScriptedDevice([.read(0xD0, [found])])
      var driver = RegisterDriver(device, BMx280(chip: chip, outputRate: 25))
      #expect(
        failure { () throws(DriverError) in try driver.start() }
          == .wrongIdentity(
            chip: chip.rawValue, register: 0xD0, expected: chip == .bmp280 ? 0x58 : 0x60,
            found: found))
      device.expectDone()
    }
  }

  @Test("a BME280's humidity is switched off before the rest is configured")
  func humidity() throws {
    let device = ScriptedDevice(
      [
        .read(0xD0, [0x60]), .write(0xE0, [0xB6]), .read(0xF3, [0x00]), .read(0x88, Self.trim),
      ] + written([(0xF2, 0x00), (0xF5, 0x00), (0xF4, 0x57)]))
    var chip = RegisterDriver(device, BMx280(chip: .bme280, outputRate: 25))
    _ = try startUp(&chip)
    device.expectDone()
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
    guard case .atmosphere(let pressure, let temperature) = try chip.poll() else {
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

  @Test("an overflow and a bus error pass, and the next poll goes on")
  func faults() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      Self.burst([0xFF, 0xFF, 0xF0, 0x7E, 0xED, 0x00]), .readFails(0xF3, 10, .noAnswer),
      Self.burst(Self.sample),
    ])
    #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(.noAnswer, 0xF3)))
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("in forced mode a poll reads the finished conversion and starts the next")
  func forced() throws {
    let configuration = BMx280(chip: .bmp280, outputRate: 1, mode: .forced)
    let device = ScriptedDevice([
      .read(0xD0, [0x58]), .write(0xE0, [0xB6]), .read(0xF3, [0x00]), .read(0x88, Self.trim),
      .write(0xF5, [0x00]), .write(0xF4, [0x55]),
      // The chip has put the mode back to sleep meanwhile.
      .read(0xF5, [0x00]), .read(0xF4, [0x54]),
      .read(0xF3, [0x08, 0x55, 0, 0] + Self.sample),
      .read(0xF3, [0x00, 0x54, 0, 0] + Self.sample), .write(0xF4, [0x55]),
    ])
    var chip = RegisterDriver(device, configuration)
    _ = try startUp(&chip)
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("verify notices a brown-out, sleep sleeps")
  func verify() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([.read(0xF5, [0x02]), .read(0xF4, [0x00])])
    try chip.verify()
    #expect(
      failure { () throws(DriverError) in try chip.verify() }
        == .configurationLost(register: 0xF4, expected: 0x57, found: 0x00))
    device.then([.write(0xF4, [0x54])])
    try chip.sleep()
    device.expectDone()
  }
}
