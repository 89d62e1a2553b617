// The drivers of ICM20948 and ICM42688P against scripted transfers.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct ICM20948Tests {
  /// Bank 2: 225 Hz behind the filters of code 2, 1000 degrees a second, 4 g, aligned.
  static let measurement: [(UInt8, UInt8)] = [
    (0x01, 0x15), (0x14, 0x13), (0x09, 0x01), (0x00, 0x04), (0x10, 0x00), (0x11, 0x04),
  ]
  static let image: [(UInt8, UInt8)] = [
    (0x7F, 0x00), (0x06, 0x01), (0x07, 0x00), (0x03, 0x00), (0x0F, 0x02), (0x11, 0x01),
  ]
  static let identity: [Transfer] = [
    .read(0x7F, [0x20]), .write(0x7F, [0x00]), .read(0x00, [0xEA]),
  ]
  static let start: [Transfer] =
    identity + [
      .write(0x06, [0x80]), .read(0x06, [0x41]), .write(0x06, [0x01]), .write(0x7F, [0x20]),
    ] + written(measurement) + [.write(0x7F, [0x00])] + written(image)

  @Test("start: bank 0, identity, reset, bank 2 and its read-back, bank 0 and its own")
  func startOrder() throws {
    let device = ScriptedDevice(Self.start)
    var chip = RegisterDriver(device, ICM20948(outputRate: 208, gathers: false))
    #expect(try startUp(&chip) == [0.1, 0.08])
    device.then([
      .read(0x1A, [0x00]), .read(0x1A, [0x01]),
      // 1 g along Z, 100 degrees a second about X.
      .read(0x2D, [0, 0, 0, 0, 0x20, 0, 0x0C, 0xD0, 0, 0, 0, 0]),
    ])
    #expect(try chip.poll() == nil)
    expectMotion(try chip.poll())
    device.then([.write(0x06, [0x41])])
    try chip.sleep()
    device.expectDone()
  }

  @Test("a start that broke off in bank 2 begins in bank 0")
  func brokenStart() throws {
    let head = Array(Self.start.prefix { $0 != .write(0x14, [0x13]) })
    let device = ScriptedDevice(head + [.writeFails(0x14, [0x13], .timedOut)])
    var chip = RegisterDriver(device, ICM20948(outputRate: 208, gathers: false))
    #expect(
      failure { () throws(DriverError) in try startUp(&chip) }
        == .bus(device.error(.timedOut, 0x14)))
    device.then(Self.start)
    #expect(try startUp(&chip) == [0.1, 0.08])
    device.expectDone()
  }

  @Test("a range that is not kept ends the start")
  func lostRange() {
    var script = Self.start.prefix { $0 != .read(0x14, [0x13]) }
    script.append(.read(0x14, [0x01]))
    let device = ScriptedDevice(Array(script))
    var chip = RegisterDriver(device, ICM20948(outputRate: 208, gathers: false))
    #expect(
      failure { () throws(DriverError) in try startUp(&chip) }
        == .configurationLost(register: 0x14, expected: 0x13, found: 0x01))
  }

  @Test(
    "the next rate at or above the wanted one is taken, with a filter of half of it at most",
    arguments: [
      (1, 5, 224, 6), (11.25, 11.25, 99, 6), (25, 25, 44, 5), (50, 56.25, 19, 4),
      (100, 112.5, 9, 3), (200, 225, 4, 2), (226, 281.25, 3, 2), (500, 562.5, 1, 1),
      (1e6, 1125, 0, 1),
    ] as [(Double, Double, UInt8, UInt8)])
  func rates(wanted: Double, rate: Double, divider: UInt8, filter: UInt8) throws {
    #expect(ICM20948(outputRate: wanted).outputRate == rate)
    let settings: [(UInt8, UInt8)] = [
      (0x01, filter << 3 | 0x05), (0x14, filter << 3 | 0x03), (0x09, 0x01), (0x00, divider),
      (0x10, 0x00), (0x11, divider),
    ]
    let head = Array(Self.start.prefix { $0 != .write(0x01, [0x15]) })
    let device = ScriptedDevice(
      head + written(settings) + [.write(0x7F, [0x00])] + written(Self.image))
    var chip = RegisterDriver(device, ICM20948(outputRate: wanted, gathers: false))
    _ = try startUp(&chip)
    device.expectDone()
  }

  @Test("above 208 Hz it queues, and is looked at by time")
  func queue() {
    // DS-000189: FIFO_EN of USER_CTRL; FIFO_EN_2 of the accelerometer and X, Y, Z; stream; no interrupt.
    let image = ICM20948(outputRate: 1125).registerImage
    for (register, value): (UInt8, UInt8) in [
      (0x03, 0x40), (0x67, 0x1E), (0x69, 0x00), (0x11, 0x00), (0x0F, 0x02),
    ] { #expect(image.contains(RegisterSetting(register, value))) }
    #expect(
      ICM20948(outputRate: 1125).startSteps.last
        == .write([RegisterSetting(0x68, 0x1F), RegisterSetting(0x68, 0x00)]))
  }
}

@Suite struct ICM42688PTests {
  /// 200 Hz, 1000 degrees a second, 4 g, half the rate passes.
  static let image: [(UInt8, UInt8)] = [
    (0x14, 0x03), (0x4C, 0x30), (0x4F, 0x27), (0x50, 0x47), (0x52, 0x00), (0x64, 0x00),
    (0x65, 0x08), (0x4E, 0x0F),
  ]

  @Test("start: identity, reset, configuration, read-back, settling; then polling and sleep")
  func startOrder() throws {
    let device = ScriptedDevice(
      [
        .read(0x76, [0x02]), .write(0x76, [0x00]), .read(0x75, [0x47]), .write(0x11, [0x01]),
        .read(0x11, [0x00]),
      ] + written(Self.image))
    var chip = RegisterDriver(device, ICM42688P(outputRate: 200))
    #expect(try startUp(&chip) == [0.01, 0.08])
    device.then([
      .read(0x2D, [0x00]), .read(0x2D, [0x08]),
      .read(0x1F, [0, 0, 0, 0, 0x20, 0, 0x0C, 0xD0, 0, 0, 0, 0]),
    ])
    #expect(try chip.poll() == nil)
    expectMotion(try chip.poll())
    device.then([.write(0x4E, [0x00])])
    try chip.sleep()
    device.expectDone()
  }

  @Test(
    "the next rate at or above the wanted one is taken; codes are not in order",
    arguments: [
      (1, 12.5, UInt8(0x0B)), (25, 25, 0x0A), (26, 50, 0x09), (100, 100, 0x08), (104, 200, 0x07),
      (208, 500, 0x0F), (501, 1000, 0x06), (1e6, 2000, 0x05),
    ])
  func rates(wanted: Double, rate: Double, code: UInt8) {
    let chip = ICM42688P(
      outputRate: wanted, accelerationRange: .g16, angularRateRange: .dps2000)
    #expect(chip.outputRate == rate)
    #expect(chip.registerImage.contains(RegisterSetting(0x4F, code)))
    #expect(chip.registerImage.contains(RegisterSetting(0x50, code)))
    let finest = ICM42688P(outputRate: wanted, accelerationRange: .g2, angularRateRange: .dps250)
    #expect(finest.registerImage.contains(RegisterSetting(0x4F, 0x60 | code)))
    #expect(finest.registerImage.contains(RegisterSetting(0x50, 0x60 | code)))
  }

  @Test("above 208 Hz packets of 16 bytes gather: what is written, and what a packet is")
  func queue() throws {
    // DS-000347: FIFO_CONFIG stream, FIFO_CONFIG1 temperature, gyro and accelerometer, FIFO_WM 10 packets of 16 bytes,
    // FIFO_THS_INT1_EN; SIGNAL_PATH_RESET FIFO_FLUSH.
    let image: [(UInt8, UInt8)] = [
      (0x16, 0x40), (0x5F, 0x27), (0x60, 160), (0x61, 0), (0x14, 0x03), (0x4C, 0x30),
      (0x4F, 0x26), (0x50, 0x46), (0x52, 0x00), (0x64, 0x00), (0x65, 0x04), (0x4E, 0x0F),
    ]
    let device = ScriptedDevice(
      [
        .read(0x76, [0x00]), .write(0x76, [0x00]), .read(0x75, [0x47]), .write(0x11, [0x01]),
        .read(0x11, [0x00]),
      ] + written(image) + [.write(0x4B, [0x02])])
    var chip = RegisterDriver(device, ICM42688P(outputRate: 1000))
    _ = try startUp(&chip)
    // Header (6.1): accelerometer bit 6, gyro bit 5, time bits 3:2. Of a message that there is nothing, and of a packet of
    // the accelerometer alone, nothing comes.
    let body: [UInt8] = [0, 0, 0, 0, 0x20, 0, 0x0C, 0xD0, 0, 0, 0, 0, 0x19, 0x12, 0x34]
    let packets: [[UInt8]] = [[0x68], body, [0x80], body, [0x48], body]
    device.then([.read(0x2E, [0x00, 48]), .read(0x30, Array(packets.joined()))])
    expectMotion(try chip.poll())
    #expect(chip.backlog == 0)
    device.expectDone()
  }
}
