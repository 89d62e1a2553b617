// The RM3100's driver against scripted transfers. Register numbers are the manual's, restated.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct RM3100Tests {
  static func start(_ cycles: UInt8, _ rate: UInt8) -> [Transfer] {
    let image: [(UInt8, UInt8)] = [
      (0x04, 0), (0x05, cycles), (0x06, 0), (0x07, cycles), (0x08, 0), (0x09, cycles), (0x0B, rate),
    ]
    return [
      .read(0x36, [0x22]), .write(0x01, [0x00]), .read(0x24, [UInt8](repeating: 0, count: 9)),
    ] + written(image) + [.write(0x01, [0x79])]
  }

  @Test(
    "the next rate at or above the wanted one is taken, with as many cycles as fit",
    arguments: [
      (0.1, 0.6, UInt8(0x9C), UInt8(200)), (1, 1.2, 0x9B, 200), (37.1, 75, 0x95, 200),
      (76, 150, 0x94, 100), (151, 300, 0x93, 50), (.infinity, 300, 0x93, 50), (.nan, 300, 0x93, 50),
    ])
  func rates(wanted: Double, rate: Double, code: UInt8, cycles: UInt8) throws {
    let device = ScriptedDevice(Self.start(cycles, code))
    var chip = RegisterDriver(device, RM3100(outputRate: wanted))
    #expect(try startUp(&chip).isEmpty)
    #expect(chip.outputRate == rate)
    device.expectDone()
  }

  @Test("the mode is never read: that would end continuous measurement")
  func verify() throws {
    let device = ScriptedDevice(Self.start(200, 0x95))
    var chip = RegisterDriver(device, RM3100(outputRate: 75))
    _ = try startUp(&chip)
    let values: [(UInt8, UInt8)] = [
      (0x04, 0), (0x05, 200), (0x06, 0), (0x07, 200), (0x08, 0), (0x09, 200), (0x0B, 0x95),
    ]
    device.then(values.map { .read($0.0, [$0.1]) })
    for _ in values { try chip.verify() }
    device.expectDone()
  }

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

  @Test("a poll waits for DRDY and ignores the bits below it; sleep stops")
  func poll() throws {
    let device = ScriptedDevice(Self.start(200, 0x95))
    var chip = RegisterDriver(device, RM3100(outputRate: 75))
    _ = try startUp(&chip)
    device.then([
      .read(0x34, [0x7F]), .read(0x34, [0x80]),
      .read(0x24, [0, 0, 75, 0, 0, 150, 0xFF, 0xFF, 0xB5]),
      .write(0x01, [0x00]),
    ])
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() == .magneticField(Vector3(1, 2, -1)))
    try chip.sleep()
    device.expectDone()
  }
}
