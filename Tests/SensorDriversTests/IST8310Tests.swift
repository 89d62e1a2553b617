// The IST8310's driver against scripted transfers. Register numbers are the datasheet's, restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct IST8310Tests {
  static let image: [(UInt8, UInt8)] = [(0x41, 0x24), (0x42, 0xC0), (0x0D, 0x70), (0x0B, 0x00)]
  static let start: [Transfer] =
    [.read(0x00, [0x10]), .write(0x0B, [0x01]), .read(0x0B, [0x0C])] + written(image)
    + [.write(0x0A, [0x01])]

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<IST8310, ScriptedDevice> {
    device.then(Self.start)
    var chip = RegisterDriver(device, IST8310(outputRate: 40))
    #expect(try startUp(&chip) == [0.05])
    device.expectDone()
    return chip
  }

  @Test("a poll takes what was measured and has the chip measure again; Z is turned")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    #expect(chip.outputRate == 50)
    #expect(chip.conversionTime == 0.02)
    #expect(near(chip.latency, 0.017, 1e-12))
    device.then([
      .read(0x02, [0x00]),
      .read(0x02, [0x01]), .read(0x03, [0x28, 0x05, 0xD8, 0xFA, 0x28, 0x05]),
      .write(0x0A, [0x01]), .write(0x0A, [0x00]),
    ])
    #expect(try chip.poll() == nil)
    guard case .magneticField(let field) = try chip.poll() else {
      Issue.record("no field")
      return
    }
    #expect(near(field, Vector3(100, -100, -100), 1e-9))
    try chip.sleep()
    device.expectDone()
  }

  @Test("after a failure between reading and telling, the next poll tells it again")
  func failures() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x02, [0x01]), .readFails(0x03, 6, .timedOut),
      .read(0x02, [0x01]), .write(0x0A, [0x01]),
      // What the broken burst left behind is dropped.
      .read(0x02, [0x01]), .read(0x03, [9, 0, 2, 0, 3, 0]), .write(0x0A, [0x01]),
      .read(0x02, [0x01]), .read(0x03, [1, 0, 2, 0, 3, 0]), .writeFails(0x0A, [0x01], .noAnswer),
      .read(0x02, [0x00]), .write(0x0A, [0x01]),
      .read(0x02, [0x01]), .read(0x03, [1, 0, 2, 0, 3, 0]), .write(0x0A, [0x01]),
    ])
    #expect(failure { () throws(DriverError) in try chip.poll() } != nil)
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == nil)
    #expect(failure { () throws(DriverError) in try chip.poll() } != nil)
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("an overflow is said, and the chip measures on")
  func overflow() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    // 21120 counts are 1600 microtesla.
    for (bytes, isValue): ([UInt8], Bool) in [
      ([0x80, 0x52, 0, 0, 0, 0], true), ([0x81, 0x52, 0, 0, 0, 0], false),
      ([0, 0, 0x7F, 0xAD, 0, 0], false), ([0, 0, 0, 0, 0xFE, 0x7F], true),
      ([0, 0, 0, 0, 0xFF, 0x7F], false), ([0, 0, 0, 0, 0x00, 0x80], false),
    ] {
      device.then([.read(0x02, [0x01]), .read(0x03, bytes), .write(0x0A, [0x01])])
      #expect(
        failure { () throws(DriverError) in try chip.poll() } == (isValue ? nil : .overflow))
    }
    device.expectDone()
  }
}
