// The driver of BMP388 and BMP390 against a real chip's bytes and scripted transfers.

import SensorBus
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
  static let image: [(UInt8, UInt8)] = [
    (0x19, 0x42), (0x1C, 0x0C), (0x1D, 0x03), (0x1F, 0x00), (0x1B, 0x33),
  ]

  static func start(identity: UInt8 = 0x50, ready: [UInt8] = [0x10]) -> [Transfer] {
    [.read(0x00, [identity]), .write(0x7E, [0xB6])] + ready.map { .read(0x03, [$0]) }
      + [.read(0x31, trim)] + written(image) + [.read(0x02, [0x00])]
  }

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<BMP3xx, ScriptedDevice> {
    device.then(Self.start())
    var chip = RegisterDriver(device, BMP3xx(chip: .bmp388, outputRate: 25))
    _ = try startUp(&chip)
    device.expectDone()
    return chip
  }

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
    "the strongest oversampling that leaves time is taken (3.9.2)",
    arguments: [
      (0.1, 0.78125, [0x0D, 0x08]), (10, 12.5, [0x0D, 0x04]), (25, 25, [0x0C, 0x03]),
      (50, 50, [0x03, 0x02]), (100, 100, [0x01, 0x01]), (999, 200, [0x00, 0x00]),
      (.nan, 200, [0x00, 0x00]),
    ] as [(Double, Double, [UInt8])])
  func rates(wanted: Double, rate: Double, values: [UInt8]) {
    let chip = BMP3xx(chip: .bmp388, outputRate: wanted)
    #expect(chip.outputRate == rate)
    #expect(chip.registerImage.map(\.register) == [0x19, 0x1C, 0x1D, 0x1F, 0x1B])
    #expect(chip.registerImage.map(\.value) == [0x42] + values + [0x00, 0x33])
  }

  @Test("start: identity, reset, command ready, trim, configuration, read-back, no error")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start(ready: [0x00, 0x10]))
    var chip = RegisterDriver(device, BMP3xx(chip: .bmp388, outputRate: 25))
    #expect(try startUp(&chip) == [0.002, 0.002])
    device.expectDone()
  }

  @Test("a chip that refuses its configuration is not ready")
  func refused() {
    let device = ScriptedDevice(Self.start().dropLast() + [.read(0x02, [0x04])])
    var chip = RegisterDriver(device, BMP3xx(chip: .bmp388, outputRate: 25))
    #expect(
      failure { () throws(DriverError) in try startUp(&chip) }
        == .notReady("BMP388: it refuses its configuration"))
    device.expectDone()
  }

  @Test("one is not the other, and nothing is written")
  func wrongIdentity() {
    for (chip, expected, found) in [
      (BMP3xxVariant.bmp388, UInt8(0x50), UInt8(0x60)), (.bmp390, 0x60, 0x50),
    ] {
      let device = ScriptedDevice([.read(0x00, [found])])
      var driver = RegisterDriver(device, BMP3xx(chip: chip, outputRate: 25))
      #expect(
        failure { () throws(DriverError) in try driver.start() }
          == .wrongIdentity(
            chip: chip.rawValue, register: 0x00, expected: expected, found: found))
      device.expectDone()
    }
  }

  @Test("poll waits for both flags, and what lies beyond the range is an overflow")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x03, [0x10]), .read(0x03, [0x30]), .read(0x03, [0x70]), .read(0x04, Self.sample),
      .read(0x03, [0x70]), .read(0x04, [0x00, 0x00, 0x20, 0x73, 0xD8, 0x85]),
      .read(0x03, [0x70]), .read(0x04, [0x97, 0x9F, 0x6D, 0xFF, 0xFF, 0xFF]),
    ])
    for _ in 0..<2 { #expect(try chip.poll() == nil) }
    guard case .atmosphere(let pressure, let temperature) = try chip.poll() else {
      Issue.record("no sample")
      return
    }
    #expect(near(pressure, 100_876.00634692199, 1e-9))
    #expect(near(temperature, 30.499314453874284, 1e-12))
    for _ in 0..<2 {
      #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    }
    try chip.sleepsAs([.write(0x1B, [0x03])], device)
  }
}

extension RegisterDriver<BMP3xx, ScriptedDevice> {
  fileprivate mutating func sleepsAs(_ script: [Transfer], _ device: ScriptedDevice) throws {
    device.then(script)
    try sleep()
    device.expectDone()
  }
}
