// The DPS310's driver against what the makers' own code computes, its formulas in exact fractions, and scripted transfers.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct DPS310Tests {
  /// A real chip's coefficients, as they lie at 0x10: c0 = 222, c1 = -297, c00 = 79832, c10 = -56308,
  /// c01 = -2295, c11 = 1444, c20 = -9701, c21 = 111, c30 = -1289. (Values from Infineon's issue
  /// tracker; packed by an independent script.)
  static let coefficients: [UInt8] = [
    0x0D, 0xEE, 0xD7, 0x13, 0x7D, 0x8F, 0x24, 0x0C, 0xF7, 0x09, 0x05, 0xA4, 0xDA, 0x1B, 0x00, 0x6F,
    0xFA, 0xF7,
  ]
  /// Pressure -101581 and temperature 100000 counts.
  static let sample: [UInt8] = [0xFE, 0x73, 0x33, 0x01, 0x86, 0xA0]
  static let mend: [Transfer] = [
    .write(0x0E, [0xA5]), .write(0x0F, [0x96]), .write(0x62, [0x02]), .write(0x0E, [0x00]),
    .write(0x0F, [0x00]),
  ]

  static func begin(source: UInt8) -> [Transfer] {
    [
      .read(0x0D, [0x10]), .write(0x0C, [0x09]), .read(0x08, [0xC0]), .read(0x10, coefficients),
      .read(0x28, [source]),
    ]
  }
  static func start() -> [Transfer] {
    begin(source: 0x80) + mend + [
      .write(0x09, [0x04]), .write(0x06, [0x54]), .write(0x07, [0xD0]), .write(0x08, [0x07]),
      .read(0x09, [0x04]), .read(0x06, [0x54]), .read(0x07, [0xD0]), .read(0x08, [0xC7]),
    ]
  }

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<DPS310, ScriptedDevice> {
    device.then(Self.start())
    var chip = RegisterDriver(device, DPS310(outputRate: 25))
    _ = try startUp(&chip)
    device.expectDone()
    return chip
  }

  @Test("every coefficient comes from its own bits, with its sign")
  func decode() throws {
    let c = try DPS310Trim(block(Self.coefficients))
    #expect([c.c0, c.c1, c.c00, c.c10] == [222, -297, 79832, -56308])
    #expect([c.c01, c.c11, c.c20, c.c21, c.c30] == [-2295, 1444, -9701, 111, -1289])
  }

  @Test("C01 lies at 0x18 and C11 at 0x1A")
  func addresses() throws {
    var bytes = [UInt8](repeating: 0, count: 18)
    bytes[0x19 - 0x10] = 5
    bytes[0x1B - 0x10] = 7
    let c = try DPS310Trim(block(bytes))
    #expect([c.c00, c.c10, c.c01, c.c11, c.c20, c.c21, c.c30] == [0, 0, 5, 7, 0, 0, 0])
  }

  @Test("C31 and C40 of the SPA06 share 0x23, and every other chip has none")
  func quartic() throws {
    let bytes = block(Self.coefficients + [0xFD, 0xB0, 0xD7])
    let c = try DPS310Trim(bytes, .spa06)
    #expect([c.c30, c.c31, c.c40] == [-1289, -37, 215])
    let none = try DPS310Trim(bytes, .spl06)
    #expect([none.c30, none.c31, none.c40] == [-1289, 0, 0])
    // 92329.4296875 + 215 / 256 + 37 * 0.375 / 64.
    #expect(
      near(
        DPS310Conversion.pressure(scaled: -0.25, temperature: 0.375, c), 92_330.486328125, 1e-9))
  }

  @Test(
    "Goertek's chips are neither asked for a source nor mended; the SPA06 has one temperature sensor",
    arguments: [(DPS310Variant.spl06, UInt8(0x10), UInt8(0xD0)), (.spa06, 0x11, 0x50)])
  func goertek(chip: DPS310Variant, identity: UInt8, temperature: UInt8) throws {
    let more: [UInt8] = chip == .spa06 ? [0xFD, 0xB0, 0xD7] : []
    let image: [(UInt8, UInt8)] = [(0x09, 0x04), (0x06, 0x54), (0x07, temperature), (0x08, 0x07)]
    let device = ScriptedDevice(
      [
        .read(0x0D, [identity]), .write(0x0C, [0x09]), .read(0x08, [0xC0]),
        .read(0x10, Self.coefficients + more),
      ] + written(image))
    var driver = RegisterDriver(device, DPS310(chip: chip, outputRate: 25))
    _ = try startUp(&driver)
    device.expectDone()
  }

  @Test("the extreme values of 12 and 20 bits keep their sign")
  func extremes() throws {
    let c = try DPS310Trim(
      block([0x80, 0x07, 0xFF, 0x80, 0x00, 0x07, 0xFF, 0xFF, 0x80, 0x00, 0x7F, 0xFF]))
    #expect([c.c0, c.c1, c.c00, c.c10] == [-2048, 2047, -524_288, 524_287])
    #expect([c.c01, c.c11] == [-32768, 32767])
  }

  @Test("blank coefficients are refused")
  func blank() {
    for byte: UInt8 in [0x00, 0xFF] {
      guard
        case .invalidTrim = failure({ () throws(DriverError) in
          try DPS310Trim(block([UInt8](repeating: byte, count: 18)))
        })
      else {
        Issue.record("accepted")
        continue
      }
    }
  }

  @Test("the scale factors are the datasheet's")
  func scaleFactors() {
    #expect(
      (0...7).map(DPS310Conversion.scaleFactor) == [
        524_288, 1_572_864, 3_670_016, 7_864_320, 253_952, 516_096, 1_040_384, 2_088_960,
      ])
  }

  @Test("temperature and pressure agree with exact fractions")
  func formulas() throws {
    let c = try DPS310Trim(block(Self.coefficients))
    #expect(
      near(DPS310Conversion.temperature(scaled: 200_498.0 / 524_288, c), -2.5786170959472656, 1e-12)
    )
    #expect(
      near(DPS310Conversion.pressure(scaled: -0.25, temperature: 0.375, c), 92_329.4296875, 1e-9))
    // x16: -101581 / 253952 and 100000 / 524288.
    let value = try DPS310Conversion.atmosphere(block(Self.sample), precision: 4, c)
    #expect(near(value.pressure, 100_341.05699997615, 1e-7))
    #expect(near(value.temperature, 54.35174560546875, 1e-10))
  }

  /// What others' code makes of counts, with the coefficients above.
  struct Vector: Sendable {
    var temperature: Int
    var pressure: Int
    /// The code of the pressure oversampling.
    var precision: Int
    /// `Dps3xx::calcPressure` and `calcTemp` of Infineon/arduino-xensiv-dps3xx, src/Dps3xx.cpp, commit d8c32de4: Pa and
    /// degrees in single precision.
    var infineon: (pascals: Float, degrees: Float)
    /// `spl06_compensate_pressure_int32` and `_temperature_int32` of Goertek's spl06.c 1.0.0 (1 November 2017, GPL), in whole
    /// numbers that each division cuts off: Pa and hundredths of a degree.
    var goertek: (pascals: Int, hundredths: Int)
    /// `SPL07_003::readPressure` of Seeed-Studio/Seeed_Arduino_SPA06, src/SPL07-003.cpp, commit 10ff7567, in double
    /// precision, with c31 = -37 and c40 = 215 besides.
    var spa06: Double
  }

  static let vectors = [
    Vector(
      temperature: 200_000, pressure: -157_286, precision: 0,
      infineon: (94849.1641, -2.29650879), goertek: (94_848, -229), spa06: 94851.282358711),
    Vector(
      temperature: 100_000, pressure: -101_581, precision: 4,
      infineon: (100341.062, 54.3517456), goertek: (100_340, 5435), spa06: 100347.012706147),
    Vector(
      temperature: 260_000, pressure: -1_101_004, precision: 2,
      infineon: (94538.1094, -36.2854614), goertek: (94_537, -3628), spa06: 94540.349703173),
    Vector(
      temperature: 60_000, pressure: -312_115, precision: 6,
      infineon: (95575.0234, 77.0110474), goertek: (95_574, 7700), spa06: 95576.884632028),
    Vector(
      temperature: 140_000, pressure: -20_000, precision: 4,
      infineon: (83563.9844, 31.6924438), goertek: (83_563, 3169), spa06: 83563.998080867),
  ]

  @Test("the makers' own code makes the same of the same counts", arguments: vectors)
  func makers(_ vector: Vector) throws {
    func bytes(_ value: Int) -> [UInt8] { [16, 8, 0].map { UInt8(value >> $0 & 0xFF) } }
    let sample = block(bytes(vector.pressure) + bytes(vector.temperature))
    let trim = block(Self.coefficients + [0xFD, 0xB0, 0xD7])
    for chip: DPS310Variant in [.dps310, .spl06] {
      let air = try DPS310Conversion.atmosphere(
        sample, precision: vector.precision, DPS310Trim(trim, chip))
      // Two last places of single precision.
      #expect(near(air.pressure, Double(vector.infineon.pascals), 2 / 128.0))
      #expect(near(air.temperature, Double(vector.infineon.degrees), 1e-5))
      // Cut off: at the end, and a little before it.
      #expect((-0.2..<1.2).contains(air.pressure - Double(vector.goertek.pascals)))
      #expect(near(air.temperature, Double(vector.goertek.hundredths) / 100, 0.0125))
    }
    let air = try DPS310Conversion.atmosphere(
      sample, precision: vector.precision, DPS310Trim(trim, .spa06))
    #expect(near(air.pressure, vector.spa06, 1e-8))
  }

  @Test(
    "the ends of the 24 bits and what lies beyond the specified range are overflows",
    arguments: [
      [0x7F, 0xFF, 0xFF, 0x01, 0x86, 0xA0], [0x80, 0x00, 0x00, 0x01, 0x86, 0xA0],
      [0xFE, 0x73, 0x33, 0x80, 0x00, 0x00], [0xFE, 0x73, 0x33, 0x7F, 0xFF, 0xFF],
      // p = -1: about 127 kPa and more; 111 degrees.
      [0xFC, 0x20, 0x00, 0x01, 0x86, 0xA0], [0xFE, 0x73, 0x33, 0x00, 0x00, 0x00],
    ] as [[UInt8]])
  func overflow(bytes: [UInt8]) throws {
    let c = try DPS310Trim(block(Self.coefficients))
    #expect(
      failure { () throws(DriverError) in
        try DPS310Conversion.atmosphere(block(bytes), precision: 4, c).pressure
      } == .overflow)
  }

  @Test(
    "the strongest oversampling that leaves time for both measurements is taken",
    arguments: [
      (0.5, 1, 128, [0x04, 0x07, 0x80]), (3, 4, 128, [0x04, 0x27, 0xA0]),
      (8, 8, 64, [0x04, 0x36, 0xB0]), (10, 16, 32, [0x04, 0x45, 0xC0]),
      (25, 32, 16, [0x04, 0x54, 0xD0]), (50, 64, 4, [0x00, 0x62, 0xE0]),
      (100, 128, 1, [0x00, 0x70, 0xF0]), (999, 128, 1, [0x00, 0x70, 0xF0]),
    ] as [(Double, Double, Int, [UInt8])])
  func rates(wanted: Double, rate: Double, oversampling: Int, values: [UInt8]) {
    let configuration = DPS310(outputRate: wanted)
    #expect(configuration.outputRate == rate)
    #expect(configuration.pressureOversampling == oversampling)
    #expect(configuration.registerImage.map(\.register) == [0x09, 0x06, 0x07, 0x08])
    #expect(configuration.registerImage.map(\.value) == values + [0x07])
  }

  @Test("start: identity, reset, readiness, coefficients, source, mend, configuration, read-back")
  func startOrder() throws {
    var script = Self.start()
    // First only the sensor is ready, then the coefficients as well.
    script.insert(contentsOf: [.read(0x08, [0x00]), .read(0x08, [0x40])], at: 2)
    let device = ScriptedDevice(script)
    var chip = RegisterDriver(device, DPS310(outputRate: 25))
    #expect(try startUp(&chip) == [0.04, 0.01, 0.01])
    device.expectDone()
    #expect(near(chip.latency, 0.0138, 1e-12))
  }

  @Test(
    "an SPL06 that does not say where its coefficients belong is no chip of Infineon's",
    arguments: [DPS310Variant.dps310, .dps368])
  func source(chip: DPS310Variant) throws {
    let device = ScriptedDevice(Self.begin(source: 0x7F))
    var driver = RegisterDriver(device, DPS310(chip: chip, outputRate: 25))
    guard case .otherChip(let text) = failure({ () throws(DriverError) in try startUp(&driver) })
    else {
      Issue.record("no .otherChip")
      return
    }
    #expect(text.contains(chip.rawValue) && text.contains("SPL06"))
    device.expectDone()
  }

  @Test("a chip that never becomes ready is given up")
  func neverReady() {
    let device = ScriptedDevice(
      [.read(0x0D, [0x10]), .write(0x0C, [0x09])]
        + [Transfer](repeating: .read(0x08, [0x40]), count: 11))
    var chip = RegisterDriver(device, DPS310(outputRate: 25))
    guard case .notReady = failure({ () throws(DriverError) in try startUp(&chip) }) else {
      Issue.record("no .notReady")
      return
    }
    device.expectDone()
  }

  @Test("another chip at the address is named, and nothing is written to it")
  func wrongIdentity() {
    let device = ScriptedDevice([.read(0x0D, [0x11])])
    var chip = RegisterDriver(device, DPS310(outputRate: 25))
    #expect(
      failure { () throws(DriverError) in try chip.start() }
        == .wrongIdentity(chip: "DPS310", register: 0x0D, expected: 0x10, found: 0x11))
    device.expectDone()
  }

  @Test("poll waits for both flags and takes both values from one burst")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x08, [0xC7]), .read(0x08, [0xD7]), .read(0x08, [0xE7]),
      .read(0x08, [0xF7]), .read(0x00, Self.sample),
    ])
    for _ in 0..<3 { #expect(try chip.poll() == nil) }
    guard case .atmosphere(let pressure, let temperature) = try chip.poll() else {
      Issue.record("no sample")
      return
    }
    #expect(near(pressure, 100_341.05699997615, 1e-7))
    #expect(near(temperature, 54.35174560546875, 1e-10))
    device.expectDone()
  }

  @Test("an overflow and a short read pass, and the next poll goes on")
  func faults() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    let short = BusError.Reason.shortTransfer(expected: 6, actual: 2)
    device.then([
      .read(0x08, [0xF7]), .read(0x00, [0x80, 0, 0, 0, 0, 0]),
      .read(0x08, [0xF7]), .readFails(0x00, 6, short),
      .read(0x08, [0xF7]), .read(0x00, Self.sample),
    ])
    #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(short, 0x00)))
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("a chip that repeats itself is stuck within 1.6 s at 32 Hz")
  func stuck() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    for _ in 0..<49 { device.then([.read(0x08, [0xF7]), .read(0x00, Self.sample)]) }
    let outcome = pollUntilFailure(&chip, limit: 60)
    #expect(outcome.error == .stuck)
    #expect(outcome.readings == 48)
    device.expectDone()
  }

  @Test("QEMU's chip: another identity, flags that stay down, the same data for ever")
  func emulated() throws {
    let device = ScriptedDevice([])
    let start = Self.start().dropFirst().dropLast() + [.read(0x08, [0x07])]
    device.then(Array(start))
    var chip = RegisterDriver(
      device, DPS310(outputRate: 25),
      checks: DriverChecks(identity: false, change: false))
    _ = try startUp(&chip)
    for _ in 0..<200 { device.then([.read(0x08, [0x07]), .read(0x00, Self.sample)]) }
    let outcome = pollUntilFailure(&chip, limit: 200)
    #expect(outcome.error == nil)
    #expect(outcome.readings == 200)
    device.expectDone()
  }

  @Test("verify notices a brown-out and does not mind the flags; sleep stops the measurement")
  func verify() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x09, [0x04]), .read(0x06, [0x54]), .read(0x07, [0xD0]), .read(0x08, [0xF7]),
      .read(0x09, [0x00]),
    ])
    for _ in 0..<4 { try chip.verify() }
    #expect(
      failure { () throws(DriverError) in try chip.verify() }
        == .configurationLost(register: 0x09, expected: 0x04, found: 0x00))
    device.then([.write(0x08, [0x00])])
    try chip.sleep()
    device.expectDone()
  }
}
