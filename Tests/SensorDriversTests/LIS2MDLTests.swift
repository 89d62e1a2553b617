// The LIS2MDL: where its outputs end.

import SensorBus
import SensorDrivers
import Testing

@Suite struct LIS2MDLTests {
  @Test("an axis at an end of the 16 bits is an overflow", arguments: [0, 2, 4])
  func overflow(axis: Int) throws {
    for (bytes, isValue): ([UInt8], Bool) in [
      ([0xFE, 0x7F], true), ([0xFF, 0x7F], false), ([0x02, 0x80], true), ([0x01, 0x80], false),
      ([0x00, 0x80], false),
    ] {
      var block = block([0, 0, 0, 0, 0, 0])
      (block[axis], block[axis + 1]) = (bytes[0], bytes[1])
      #expect(
        failure { () throws(DriverError) in try LIS2MDL.field(block) }
          == (isValue ? nil : .overflow))
    }
  }
}
