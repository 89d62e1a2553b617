// The DPS310 and its kin against what the makers' own code computes, and its formulas in exact fractions.

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
    "an SPL06 that does not say where its coefficients belong is no chip of Infineon's",
    arguments: [DPS310Variant.dps310, .dps368])
  func source(variant: DPS310Variant) throws {
    var chip = DPS310(chip: variant, outputRate: 25)
    try chip.take(block(Self.coefficients), from: 0x10)
    guard
      case .otherChip(let text) = failure({ () throws(DriverError) in
        try chip.take(block([0x7F]), from: 0x28)
      })
    else {
      Issue.record("no .otherChip")
      return
    }
    #expect(text.contains(variant.rawValue) && text.contains("SPL06"))
  }

  @Test("QEMU's chip: flags that stay down, the same data for ever")
  func emulated() throws {
    let device = ScriptedDevice([])
    var trimmed = DPS310(outputRate: 25)
    try trimmed.take(block(Self.coefficients), from: 0x10)
    var chip = RegisterDriver(
      device, trimmed, checks: DriverChecks(identity: false, change: false))
    for _ in 0..<200 { device.then([.read(0x08, [0x07]), .read(0x00, Self.sample)]) }
    let outcome = pollUntilFailure(&chip, limit: 200)
    #expect(outcome.error == nil)
    #expect(outcome.readings == 200)
    device.expectDone()
  }
}
