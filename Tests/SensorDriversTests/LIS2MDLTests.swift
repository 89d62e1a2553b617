// The LIS2MDL's driver against scripted transfers. Register numbers are the datasheet's, restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct LIS2MDLTests {
  @Test("start asks for the identity, resets, configures, reads back; poll, sleep")
  func startOrder() throws {
    // Offset cancellation; BDU and the pin; temperature compensation, 50 Hz, continuous.
    let image: [(UInt8, UInt8)] = [(0x61, 0x02), (0x62, 0x11), (0x60, 0x88)]
    let device = ScriptedDevice(
      [.read(0x4F, [0x40]), .write(0x60, [0x20]), .read(0x60, [0x03])] + written(image))
    var chip = RegisterDriver(device, LIS2MDL(outputRate: 25))
    #expect(try startUp(&chip) == [0.01])
    #expect(chip.outputRate == 50)
    device.then([
      .read(0x67, [0x07]), .read(0x67, [0x0F]), .read(0xE8, [0xE8, 0x03, 0x18, 0xFC, 0xC8, 0x00]),
      .write(0x60, [0x83]),
    ])
    #expect(try chip.poll() == nil)
    // Z is turned: the chip's own axes are left-handed.
    #expect(try chip.poll() == .magneticField(Vector3(150, -150, -30)))
    try chip.sleep()
    device.expectDone()
  }

  @Test("what a broken burst left behind is fetched at once, ready or not")
  func broken() throws {
    let image: [(UInt8, UInt8)] = [(0x61, 0x02), (0x62, 0x11), (0x60, 0x80)]
    let device = ScriptedDevice(
      [.read(0x4F, [0x40]), .write(0x60, [0x20]), .read(0x60, [0x03])] + written(image))
    var chip = RegisterDriver(device, LIS2MDL(outputRate: 10))
    _ = try startUp(&chip)
    device.then([
      .read(0x67, [0x0F]), .readFails(0xE8, 6, .noAnswer),
      .read(0x67, [0x00]), .read(0xE8, [1, 0, 2, 0, 3, 0]), .read(0x67, [0x00]),
    ])
    #expect(failure { () throws(DriverError) in try chip.poll() } != nil)
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == nil)
    device.expectDone()
  }

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
