// The drivers of BMI160 and QMI8658 against scripted transfers.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct BMI160Tests {
  /// 200 Hz, 4 g, 1000 degrees a second; data ready on INT1.
  static let image: [(UInt8, UInt8)] = [
    (0x40, 0x29), (0x41, 0x05), (0x42, 0x29), (0x43, 0x01), (0x54, 0x00), (0x56, 0x80),
    (0x51, 0x10), (0x53, 0x0A),
  ]

  @Test("start: reset, both sensors awake one after the other, then configuration; polling, sleep")
  func startOrder() throws {
    let device = ScriptedDevice(
      [
        .read(0x00, [0xD1]), .write(0x7E, [0xB6]), .write(0x7E, [0x11]), .write(0x7E, [0x15]),
        .read(0x03, [0x10]), .read(0x03, [0x14]),
      ] + written(Self.image) + [.read(0x0C, [UInt8](repeating: 0, count: 12))])
    var chip = RegisterDriver(device, BMI160(outputRate: 200))
    #expect(try startUp(&chip) == [0.02, 0.01, 0.08, 0.01, 0.01])
    device.then([
      .read(0x1B, [0x40]), .read(0x1B, [0xD0]),
      // 100 degrees a second about X, 1 g along Z.
      .read(0x0C, [0xD0, 0x0C, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20]),
    ])
    #expect(try chip.poll() == nil)
    expectMotion(try chip.poll())
    device.then([.write(0x7E, [0x10]), .write(0x7E, [0x14])])
    try chip.sleep()
    device.expectDone()
  }

  @Test(
    "the next rate at or above the wanted one is taken",
    arguments: [
      (1, 25, UInt8(0x26)), (50, 50, 0x27), (100, 100, 0x28), (208, 400, 0x2A), (800, 800, 0x2B),
      (1e6, 1600, 0x2C),
    ])
  func rates(wanted: Double, rate: Double, code: UInt8) {
    let chip = BMI160(outputRate: wanted)
    #expect(chip.outputRate == rate)
    #expect(chip.registerImage.contains(RegisterSetting(0x40, code)))
    #expect(chip.registerImage.contains(RegisterSetting(0x42, code)))
  }

  @Test("above 208 Hz frames without headers gather, with a threshold in words of four bytes")
  func queue() {
    // BST-BMI160-DS000: FIFO_CONFIG_0 eight frames of twelve bytes, FIFO_CONFIG_1 gyro and accelerometer, int_fwm_en on INT1;
    // fifo_flush 0xB0.
    let image = BMI160(outputRate: 800).registerImage
    for (register, value): (UInt8, UInt8) in [
      (0x45, 0x88), (0x46, 24), (0x47, 0xC0), (0x51, 0x40), (0x56, 0x40), (0x53, 0x0A),
    ] { #expect(image.contains(RegisterSetting(register, value))) }
    #expect(
      BMI160(outputRate: 800).startSteps.last == .write([RegisterSetting(0x7E, 0xB0)]))
  }

  @Test("both ends of the 16 bits are an overflow on any of the six axes", arguments: 0..<6)
  func overflow(axis: Int) {
    for value: [UInt8] in [[0xFF, 0x7F], [0x00, 0x80]] {
      var bytes = [UInt8](repeating: 0, count: 12)
      bytes.replaceSubrange(2 * axis..<2 * axis + 2, with: value)
      let bytesRead = block(bytes)
      #expect(
        failure { () throws(DriverError) in try BMI160(outputRate: 200).reading(bytesRead) }
          == .overflow)
      #expect(
        failure { () throws(DriverError) in try QMI8658(outputRate: 200).reading(bytesRead) }
          == .overflow)
    }
  }
}

@Suite struct QMI8658Tests {
  /// 224.2 Hz, 4 g, 1024 degrees a second; data ready on INT2.
  static let image: [(UInt8, UInt8)] = [
    (0x02, 0x50), (0x03, 0x15), (0x04, 0x65), (0x06, 0x00), (0x08, 0x03),
  ]

  @Test("start: reset until it says that it is over, configuration, settling; polling, sleep")
  func startOrder() throws {
    let device = ScriptedDevice(
      [
        .read(0x00, [0x05]), .write(0x60, [0xB0]), .read(0x4D, [0x00]), .read(0x4D, [0x80]),
      ] + written(Self.image) + [.read(0x35, [UInt8](repeating: 0, count: 12))])
    var chip = RegisterDriver(device, QMI8658(outputRate: 208))
    #expect(try startUp(&chip) == [0.02, 0.01, 0.08 + 3 / 224.2])
    device.then([
      .read(0x2E, [0x01]), .read(0x2E, [0x03]),
      // 1 g along Z, 100 degrees a second about X: 8192 a g, 32 a degree a second.
      .read(0x35, [0, 0, 0, 0, 0, 0x20, 0x80, 0x0C, 0, 0, 0, 0]),
    ])
    #expect(try chip.poll() == nil)
    expectMotion(try chip.poll())
    device.then([.write(0x08, [0x00])])
    try chip.sleep()
    device.expectDone()
  }

  @Test(
    "the next rate at or above the wanted one is taken, and the ranges have their codes",
    arguments: [
      (1, 28.025, UInt8(8)), (56.05, 56.05, 7), (100, 112.1, 6), (208, 224.2, 5), (300, 448.4, 4),
      (500, 896.8, 3), (1e6, 1793.6, 2),
    ])
  func rates(wanted: Double, rate: Double, code: UInt8) {
    #expect(QMI8658(outputRate: wanted).outputRate == rate)
    for (range, bits) in zip(AccelerationRange.allCases, UInt8(0)...) {
      let image = QMI8658(outputRate: wanted, accelerationRange: range).registerImage
      #expect(image.contains(RegisterSetting(0x03, bits << 4 | code)))
    }
    for (range, bits) in zip(QMI8658.AngularRateRange.allCases, UInt8(0)...) {
      let image = QMI8658(outputRate: wanted, angularRateRange: range).registerImage
      #expect(image.contains(RegisterSetting(0x04, bits << 4 | code)))
    }
  }
}
