// The LIS3MDL and the LSM9DS1's magnetometer: worked numbers, and the end of their ranges.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct LIS3MDLTests {
  @Test(
    "the sensitivity of every range is the datasheet's",
    arguments: [
      (LIS3MDL.Range.gauss4, 6842), (.gauss8, 3421), (.gauss12, 2281),
      (.gauss16, 1711),
    ])
  func sensitivity(range: LIS3MDL.Range, counts: Int) throws {
    let low = UInt8(counts & 0xFF)
    let high = UInt8(counts >> 8)
    let field = try LIS3MDLConversion.field(block([low, high, 0, 0, 0, 0]), range: range)
    #expect(near(field, Vector3(100, 0, 0), 1e-9))
  }

  @Test(
    "an LSM9DS1 has so many microtesla a thousand counts (DocID025715 rev. 3, table 3)",
    arguments: [(LIS3MDL.Range.gauss4, 14.0), (.gauss8, 29), (.gauss12, 43), (.gauss16, 58)])
  func lsm9ds1(range: LIS3MDL.Range, microtesla: Double) throws {
    let field = try LIS3MDLConversion.field(block([0xE8, 0x03]), .lsm9ds1, range: range)
    #expect(near(field, Vector3(microtesla, 0, 0), 1e-9))
  }

  @Test("an LSM9DS1's magnetometer compensates its temperature, and else is configured alike")
  func lsm9ds1Configuration() {
    for rate in LIS3MDL.outputRates {
      var alike = LIS3MDL(outputRate: rate).registerImage
      alike[0].value |= 0x80
      let chip = LIS3MDL(.lsm9ds1, outputRate: rate)
      #expect(chip.registerImage == alike)
      #expect(chip.name == "LSM9DS1-M")
    }
  }

  @Test("each axis stands at its own bytes, low byte first, with its sign")
  func axes() throws {
    // 1, -2 and 6842 counts.
    let field = try LIS3MDLConversion.field(
      block([0x01, 0x00, 0xFE, 0xFF, 0xBA, 0x1A]), range: .gauss4)
    #expect(near(field, Vector3(100 / 6842.0, -200 / 6842.0, 100), 1e-9))
  }

  @Test("the end of the range is a value, one count more is an overflow")
  func overflow() throws {
    // 27368 counts are 4 gauss.
    let end = try LIS3MDLConversion.field(block([0xE8, 0x6A, 0x18, 0x95]), range: .gauss4)
    #expect(near(end, Vector3(400, -400, 0), 1e-9))
    for bytes: [UInt8] in [
      [0xE9, 0x6A], [0, 0, 0x17, 0x95], [0, 0, 0, 0, 0xFF, 0x7F], [0, 0, 0, 0, 0x00, 0x80],
    ] {
      #expect(
        failure { () throws(DriverError) in
          try LIS3MDLConversion.field(block(bytes), range: .gauss4)
        } == .overflow)
    }
  }

  @Test("one count of noise keeps it from being stuck")
  func notStuck() throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, LIS3MDL(outputRate: 100))
    for index in 0..<200 {
      device.then([.read(0x27, [0x08]), .read(0xA8, [index % 40 == 0 ? 1 : 0, 0, 2, 0, 3, 0])])
    }
    let outcome = pollUntilFailure(&chip, limit: 200)
    #expect(outcome.error == nil)
    #expect(outcome.readings == 200)
  }
}
