// The MMC5603's driver against scripted transfers. Register numbers are the datasheet's, restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct MMC5603Tests {
  static func start(_ rate: UInt8, _ bandwidth: UInt8) -> [Transfer] {
    [
      .read(0x39, [0x10]), .write(0x1C, [0x80]), .write(0x1A, [rate]), .write(0x1C, [bandwidth]),
      .write(0x1B, [0xA0]), .write(0x1D, [0x10]),
    ]
  }

  @Test(
    "the next rate at or above the wanted one is taken, with the measurement that leaves time",
    arguments: [
      (0.1, 1.0, UInt8(0)), (25, 25, 0), (26, 50, 1), (75, 75, 1), (80, 100, 2), (150, 150, 2),
      (200, 200, 3), (201, 255, 3), (.infinity, 255, 3), (.nan, 255, 3),
    ])
  func rates(wanted: Double, rate: Double, bandwidth: UInt8) throws {
    let device = ScriptedDevice(Self.start(UInt8(rate), bandwidth), address: 0x30)
    var chip = RegisterDriver(device, MMC5603(outputRate: wanted))
    #expect(try startUp(&chip) == [0.02])
    #expect(chip.outputRate == rate)
    device.expectDone()
  }

  @Test("nothing is read back, neither at the start nor later: the registers are write-only")
  func verify() throws {
    let device = ScriptedDevice(Self.start(75, 1))
    var chip = RegisterDriver(device, MMC5603(outputRate: 75))
    _ = try startUp(&chip)
    for _ in 0..<10 { try chip.verify() }
    device.expectDone()
  }

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
    let device = ScriptedDevice(Self.start(75, 1))
    var chip = RegisterDriver(device, MMC5603(outputRate: 75))
    _ = try startUp(&chip)
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
