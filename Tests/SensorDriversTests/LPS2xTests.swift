// ST's barometers: worked numbers, and the ends of their ranges.

import SensorDrivers
import SensorTypes
import Testing

@Suite struct LPS2xTests {
  @Test(
    "worked numbers: 1013.25 hPa are 4150272 counts; 23.45 degrees are 2345, or -9144 in the LPS25HB"
  )
  func conversion() throws {
    for chip in LPS2xVariant.allCases {
      let temperature: [UInt8] = chip == .lps25hb ? [0x48, 0xDC] : [0x29, 0x09]
      let reading = try LPS2x(chip: chip, outputRate: 25).reading(
        block([0x00, 0x54, 0x3F] + temperature))
      guard case .atmosphere(let pressure, let celsius, _) = reading else {
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
    guard case .atmosphere(let pressure, let celsius, _) = reading else {
      Issue.record("\(reading)")
      return
    }
    #expect(near(pressure, 102_330, 5))
    #expect(celsius == 25)
  }
}
