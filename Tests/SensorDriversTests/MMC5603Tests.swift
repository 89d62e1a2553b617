// The MMC5603: the order of its bytes, the end of its range, and a flag that stays up.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct MMC5603Tests {
  // Rev. B: 524288 counts without a field, 16384 a gauss.
  @Test("each axis has its bytes, and its lowest bits at the end")
  func axes() throws {
    let bytes: [UInt8] = [0x84, 0x00, 0x7C, 0x00, 0x80, 0x00, 0x00, 0x00, 0x30]
    let field = try MemsicConversion.field20(block(bytes))
    #expect(near(field, Vector3(100, -100, 300 / 16384.0), 1e-9))
  }

  @Test("30 gauss are a value, more is an overflow")
  func overflow() throws {
    // 524288 + 491520 counts.
    let end = try MemsicConversion.field20(block([0xF8, 0x00, 0x08, 0x00, 0x80, 0x00]))
    #expect(near(end, Vector3(3000, -3000, 0), 1e-9))
    for bytes: [UInt8] in [
      [0xF8, 0x00, 0x80, 0x00, 0x80, 0x00, 0x10], [0x80, 0x00, 0x07, 0xFF, 0x80, 0x00],
      [0x80, 0x00, 0x80, 0x00, 0xFF, 0xFF, 0x00, 0x00, 0xF0],
    ] {
      #expect(
        failure { () throws(DriverError) in try MemsicConversion.field20(block(bytes)) }
          == .overflow)
    }
  }

  @Test("what was read before is not new, however long the flag stays up")
  func once() throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, MMC5603(outputRate: 75))
    let first: [UInt8] = [0x84, 0x00, 0x80, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00]
    let second: [UInt8] = [0x84, 0x00, 0x80, 0x00, 0x80, 0x00, 0x10, 0x00, 0x00]
    device.then([
      .read(0x18, [0x10]), .read(0x18, [0x50]), .read(0x00, first), .read(0x18, [0x50]),
      .read(0x00, first), .read(0x18, [0x50]), .read(0x00, second), .write(0x1D, [0x00]),
    ])
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == .magneticField(Vector3(100, 0, 0)))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    try chip.sleep()
    device.expectDone()
  }
}
