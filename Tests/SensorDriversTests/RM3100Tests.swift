// The RM3100: worked numbers by cycles, and the end of its range.

import LinearAlgebra
import SensorDrivers
import SensorTypes
import Testing

@Suite struct RM3100Tests {
  // Table 3-1: 75, 38 and 20 counts a microtesla at 200, 100 and 50 cycles.
  @Test("100 microtesla by cycles", arguments: [(75.0, 7500), (150, 3800), (300, 2000)])
  func gain(rate: Double, counts: Int) throws {
    let chip = RM3100(outputRate: rate)
    let high = UInt8(counts >> 8)
    let low = UInt8(counts & 0xFF)
    let reading = try chip.reading(block([0, 0, 0, 0, high, low, 0xFF, ~high, ~low &+ 1]))
    #expect(reading == .magneticField(Vector3(0, 100, -100)))
  }

  @Test("the end of the range is a value, one count more is an overflow")
  func overflow() throws {
    let chip = RM3100(outputRate: 75)
    // 60000 counts are 800 microtesla.
    #expect(
      try chip.reading(block([0x00, 0xEA, 0x60, 0xFF, 0x15, 0xA0]))
        == .magneticField(Vector3(800, -800, 0)))
    for bytes: [UInt8] in [[0x00, 0xEA, 0x61], [0, 0, 0, 0xFF, 0x15, 0x9F]] {
      #expect(failure { () throws(DriverError) in try chip.reading(block(bytes)) } == .overflow)
    }
  }
}
