// The driver of MS5611 and MS5607: the datasheets' worked numbers, the cold, the check sum, scripted transfers.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct MS5611Tests {
  /// MS5611-01BA03 and MS5607-02BA03, figure 2.
  static let ms5611 = MS5611Trim([0, 40127, 36924, 23317, 23282, 33464, 28312, 0])
  static let ms5607 = MS5611Trim([0, 46372, 43981, 29059, 27842, 31553, 28165, 8])

  struct Vector: Sendable {
    var chip: MS5611Variant
    var d1: UInt32
    var d2: UInt32
    /// By the flow charts, in whole numbers: the datasheet's own, or what Linux's driver computes
    /// (`ms5611_temp_and_pressure_compensate` and the MS5607's, drivers/iio/pressure/ms5611_core.c, commit 015dc089).
    var pascals: Double
    var hundredths: Double
    /// The same in exact fractions, by a script of our own.
    var pressure: Double?
    var temperature: Double?
  }

  /// The first of each chip is the datasheet's; the others are cold and very cold ones. TE's own C driver for the MS5611
  /// (TEConnectivity/MS5611_Generic_C_Driver, commit ec6deec3) is no witness of them: its second order is not that of the
  /// datasheet (it has 3/4 of its T2; 93904 and 79542 Pa for the second and third of these).
  static let vectors = [
    Vector(
      chip: .ms5611, d1: 9_085_466, d2: 8_569_150, pascals: 100_009, hundredths: 2007,
      pressure: 100_009.0702137971, temperature: 20.0798537636),
    Vector(
      chip: .ms5611, d1: 8_869_520, d2: 8_270_360, pascals: 93_937, hundredths: 959,
      pressure: 93_937.3748937659, temperature: 9.5863682148),
    Vector(
      chip: .ms5611, d1: 8_465_000, d2: 7_381_400, pascals: 80_041, hundredths: -2655,
      pressure: 80_042.2779314969, temperature: -26.5505138519),
    Vector(chip: .ms5611, d1: 8_600_000, d2: 7_900_000, pascals: 86_399, hundredths: -458),
    Vector(chip: .ms5611, d1: 8_300_000, d2: 7_150_000, pascals: 74_794, hundredths: -3716),
    Vector(
      chip: .ms5607, d1: 6_465_444, d2: 8_077_636, pascals: 110_002, hundredths: 2000,
      pressure: 110_002.9576391573, temperature: 20.0022831202),
    Vector(
      chip: .ms5607, d1: 6_300_000, d2: 7_780_000, pascals: 100_376, hundredths: 959,
      pressure: 100_376.2702103761, temperature: 9.5967384291),
    Vector(
      chip: .ms5607, d1: 6_000_000, d2: 6_900_000, pascals: 80_750, hundredths: -2599,
      pressure: 80_750.2577952925, temperature: -25.9943632174),
    Vector(chip: .ms5607, d1: 6_200_000, d2: 7_400_000, pascals: 93_048, hundredths: -488),
    Vector(chip: .ms5607, d1: 5_900_000, d2: 6_600_000, pascals: 73_961, hundredths: -3977),
  ]

  @Test("the datasheets' numbers, below 20 and below -15 degrees too", arguments: vectors)
  func vector(_ vector: Vector) {
    let trim = vector.chip == .ms5611 ? Self.ms5611 : Self.ms5607
    let air = MS5611Conversion.air(
      pressure: vector.d1, temperature: vector.d2, trim, chip: vector.chip)
    if let pressure = vector.pressure { #expect(near(air.pressure, pressure, 1e-9 * pressure)) }
    if let temperature = vector.temperature { #expect(near(air.temperature, temperature, 1e-9)) }
    // What rounding down at each step of the flow charts takes away.
    #expect(near(air.pressure, vector.pascals, 1.5))
    #expect(near(air.temperature, vector.hundredths / 100, 0.01))
  }

  @Test("the check sum is that of AN520's example, and it does not count its own byte")
  func checkSum() {
    var words: SIMD8<UInt16> = [
      0x3132, 0x3334, 0x3536, 0x3738, 0x3940, 0x4142, 0x4344, 0x4500,
    ]
    #expect(MS5611Trim(words).checkSum == 0xB)
    #expect(!MS5611Trim(words).isValid)
    words[7] = 0x450B
    #expect(MS5611Trim(words).isValid)
    for bit in 0..<112 {
      var flipped = words
      flipped[bit / 16] ^= 1 << UInt16(bit % 16)
      #expect(!MS5611Trim(flipped).isValid)
    }
  }

  @Test("a blank PROM has the right sum, and is refused all the same")
  func blank() {
    #expect(MS5611Trim(.zero).checkSum == 0)
    #expect(!MS5611Trim(.zero).isValid)
    #expect(!MS5611Trim(SIMD8(repeating: 0xFFFF)).isValid)
    #expect(MS5611Trim(Self.ms5611.words).isValid)
  }

  /// The example of the MS5637's datasheet (figure 9) with an eighth word of zeros: both check sums are right.
  static let ms5637: SIMD8<UInt16> = [0x8000, 46372, 43981, 29059, 27842, 31553, 28165, 0]

  @Test(
    "an MS5637 in the place of an MS5611 or MS5607 is refused, and both are named",
    arguments: MS5611Variant.allCases)
  func sevenWords(chip: MS5611Variant) throws {
    #expect(MS5611Trim(Self.ms5637).isValid)
    let prom: [Transfer] = (0..<8).map { index in
      let word = Self.ms5637[index]
      return .read(0xA0 + 2 * UInt8(index), [UInt8(word >> 8), UInt8(word & 0xFF)])
    }
    let device = ScriptedDevice(
      [.write(0x1E, [])] + prom + [
        .write(0x58, []), .read(0x00, [0x7B, 0x41, 0x44]), .write(0x48, []),
        .read(0x00, [0x62, 0xA7, 0xA4]), .write(0x58, []),
      ])
    var driver = RegisterDriver(device, MS5611(chip: chip, outputRate: 25))
    _ = try startUp(&driver)
    #expect(try driver.poll() == nil)
    guard
      case .otherChip(let text) = failure({ () throws(DriverError) in try driver.poll() })
    else {
      Issue.record("half the pressure is believed")
      return
    }
    #expect(text.contains(chip.rawValue) && text.contains("MS5637"))
    device.expectDone()
  }

  @Test("an MS5611 whose PROM could be an MS5637's measures what no MS5637 can")
  func sharedProm() throws {
    // The same with another factory word, by the check sum's own rule; 100009 Pa.
    var words = Self.ms5611.words
    words[0] =
      (1...0xFFFF).first {
        var tried = words
        tried[0] = $0
        return $0 >= 0x1000 && MS5611Trim(tried).checkSum == 0
      } ?? 0
    let prom: [Transfer] = (0..<8).map { index in
      .read(0xA0 + 2 * UInt8(index), [UInt8(words[index] >> 8), UInt8(words[index] & 0xFF)])
    }
    let device = ScriptedDevice(
      [.write(0x1E, [])] + prom + [.write(0x58, []), Self.d2, .write(0x48, []), Self.d1]
        + [.write(0x58, [])])
    var driver = RegisterDriver(device, MS5611(chip: .ms5611, outputRate: 25))
    _ = try startUp(&driver)
    #expect(try driver.poll() == nil)
    #expect(try driver.poll() != nil)
    device.expectDone()
  }

  static let prom: [Transfer] = (0..<8).map { index in
    let word = ms5611.words[index]
    return .read(0xA0 + 2 * UInt8(index), [UInt8(word >> 8), UInt8(word & 0xFF)])
  }
  static let start = [.write(0x1E, [])] + prom + [.write(0x58, [])]
  static let d1: Transfer = .read(0x00, [0x8A, 0xA2, 0x1A])
  static let d2: Transfer = .read(0x00, [0x82, 0xC1, 0x3E])

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<MS5611, ScriptedDevice> {
    device.then(Self.start)
    var chip = RegisterDriver(device, MS5611(chip: .ms5611, outputRate: 25))
    #expect(try startUp(&chip) == [0.003, 0.009_04])
    device.expectDone()
    return chip
  }

  @Test("temperature and pressure are converted in turn; the datasheet's example comes out")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([Self.d2, .write(0x48, []), Self.d1, .write(0x58, [])])
    #expect(try chip.poll() == nil)
    guard case .atmosphere(let pressure, let temperature, _) = try chip.poll() else {
      Issue.record("no sample")
      return
    }
    #expect(near(pressure, 100_009.0702137971, 1e-6))
    #expect(near(temperature, 20.0798537636, 1e-9))
    device.expectDone()
  }

  @Test("a conversion that was not made, or that nobody knows of, begins the round again")
  func again() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      Self.d2, .write(0x48, []), .read(0x00, [0, 0, 0]), .write(0x58, []),
      Self.d2, .writeFails(0x48, [], .noAnswer),
      // Nothing is known of this one.
      Self.d1, .write(0x58, []), Self.d2, .write(0x48, []), Self.d1, .write(0x58, []),
    ])
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == nil)
    #expect(
      failure { () throws(DriverError) in try chip.poll() } == .bus(device.error(.noAnswer, 0x48)))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("an MS5611 that is called MS5607 reads twice the pressure at once, and both are named")
  func otherScale() throws {
    let device = ScriptedDevice(
      Self.start + [Self.d2, .write(0x48, []), Self.d1, .write(0x58, [])])
    var chip = RegisterDriver(device, MS5611(chip: .ms5607, outputRate: 25))
    _ = try startUp(&chip)
    #expect(try chip.poll() == nil)
    guard case .otherChip(let words) = failure({ () throws(DriverError) in try chip.poll() }) else {
      Issue.record("no .otherChip")
      return
    }
    #expect(words.contains("no MS5607 but an MS5611") && words.contains("1000.0 hPa"), "\(words)")
    device.expectDone()
  }

  @Test("once a pressure was on earth, one beyond the range is no other chip")
  func laterOverflow() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    // The end stop, as under water.
    device.then([
      Self.d2, .write(0x48, []), Self.d1, .write(0x58, []), Self.d2, .write(0x48, []),
      .read(0x00, [0xFF, 0xFF, 0xFF]), .write(0x58, []),
    ])
    for _ in 0..<3 { _ = try chip.poll() }
    #expect(failure { () throws(DriverError) in try chip.poll() } == .overflow)
    device.expectDone()
  }
}
