// The driver of ST's barometers: what each is told, worked numbers, scripted transfers.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct LPS2xTests {
  /// 25 Hz.
  static let images: [(LPS2xVariant, [(UInt8, UInt8)])] = [
    (.lps22hb, [(0x11, 0x10), (0x12, 0x04), (0x10, 0x32)]),
    (.lps22hh, [(0x11, 0x12), (0x12, 0x04), (0x10, 0x32)]),
    (.lps25hb, [(0x10, 0x0F), (0x21, 0x00), (0x23, 0x01), (0x20, 0xC4)]),
    (.lps28dfw, [(0x11, 0x08), (0x12, 0x01), (0x13, 0x20), (0x10, 0x27)]),
  ]
  static let identities: [LPS2xVariant: UInt8] = [
    .lps22hb: 0xB1, .lps22hh: 0xB3, .lps25hb: 0xBD, .lps28dfw: 0xB4,
  ]

  @Test(
    "start: identity, reset until it ends, configuration, read-back; then sleep", arguments: images)
  func startOrder(chip: LPS2xVariant, image: [(UInt8, UInt8)]) throws {
    let identity = try #require(Self.identities[chip])
    let reset: UInt8 = chip == .lps25hb ? 0x21 : 0x11
    let start: [Transfer] = [
      .read(0x0F, [identity]), .write(reset, [0x04]), .read(reset, [0x04]), .read(reset, [0x00]),
    ]
    let device = ScriptedDevice(start + written(image))
    var driver = RegisterDriver(device, LPS2x(chip: chip, outputRate: 25))
    #expect(try startUp(&driver) == [0.01, 0.01])
    device.then([.write(chip == .lps25hb ? 0x20 : 0x10, [0x00])])
    try driver.sleep()
    device.expectDone()
  }

  @Test(
    "the LPS22HH leaves its low-noise mode where the rate asks for it, the LPS28DFW averages less")
  func fast() {
    #expect(
      LPS2x(chip: .lps22hh, outputRate: 100).registerImage.map(\.value) == [0x10, 0x04, 0x62])
    #expect(
      LPS2x(chip: .lps28dfw, outputRate: 999).registerImage.map(\.value)
        == [0x08, 0x01, 0x20, 0x43])
  }

  @Test(
    "worked numbers: 1013.25 hPa are 4150272 counts; 23.45 degrees are 2345, or -9144 in the LPS25HB"
  )
  func conversion() throws {
    for chip in LPS2xVariant.allCases {
      let temperature: [UInt8] = chip == .lps25hb ? [0x48, 0xDC] : [0x29, 0x09]
      let reading = try LPS2x(chip: chip, outputRate: 25).reading(
        block([0x00, 0x54, 0x3F] + temperature))
      guard case .atmosphere(let pressure, let celsius) = reading else {
        Issue.record("\(reading)")
        return
      }
      #expect(near(pressure, 101_325, 1e-9))
      #expect(near(celsius, 23.45, 1e-9))
    }
  }

  @Test(
    "the ends of the bits and what lies beyond the range are overflows",
    arguments: [
      [0xFF, 0xFF, 0x7F, 0x29, 0x09], [0x00, 0x00, 0x80, 0x29, 0x09],
      [0x00, 0x54, 0x3F, 0xFF, 0x7F],
      [0x00, 0x54, 0x3F, 0x00, 0x80], [0x00, 0x00, 0x4F, 0x29, 0x09],
    ] as [[UInt8]])
  func overflow(bytes: [UInt8]) {
    for chip in LPS2xVariant.allCases {
      #expect(
        failure { () throws(DriverError) in
          try LPS2x(chip: chip, outputRate: 25).reading(block(bytes))
        } == .overflow)
    }
  }

  @Test(
    "the datasheet's worked numbers (LPS22DF DS13316, figures 6 and 7): 1023.3 hPa and 25.00 degrees"
  )
  func workedExample() throws {
    let reading = try LPS2x(chip: .lps28dfw, outputRate: 25).reading(
      block([0x8D, 0xF5, 0x3F, 0xC4, 0x09]))
    guard case .atmosphere(let pressure, let celsius) = reading else {
      Issue.record("\(reading)")
      return
    }
    #expect(near(pressure, 102_330, 5))
    #expect(celsius == 25)
  }

  @Test(
    "poll waits for both flags, and reads the pressure last; only the LPS25HB gets the flag that moves on",
    arguments: LPS2xVariant.allCases)
  func poll(chip: LPS2xVariant) throws {
    let device = ScriptedDevice([])
    var driver = RegisterDriver(device, LPS2x(chip: chip, outputRate: 25))
    let moving: UInt8 = chip == .lps25hb ? 0x80 : 0x00
    let temperature = Transfer.read(0x2B | moving, [0x29, 0x09])
    let pressure = Transfer.read(0x28 | moving, [0x00, 0x54, 0x3F])
    let short = BusError.Reason.shortTransfer(expected: 3, actual: 1)
    device.then([
      .read(0x27, [0x30]), .read(0x27, [0x01]), .read(0x27, [0x02]),
      .read(0x27, [0x33]), temperature, pressure,
      // A pressure that is held since its reading broke off is dropped, with its temperature.
      .read(0x27, [0x03]), temperature, .readFails(0x28 | moving, 3, short),
      .read(0x27, [0x03]), temperature, pressure, .read(0x27, [0x03]), temperature, pressure,
    ])
    for _ in 0..<3 { #expect(try driver.poll() == nil) }
    #expect(try driver.poll() != nil)
    #expect(
      failure { () throws(DriverError) in try driver.poll() }
        == .bus(device.error(short, 0x28 | moving)))
    #expect(try driver.poll() == nil)
    #expect(try driver.poll() != nil)
    device.expectDone()
  }
}
