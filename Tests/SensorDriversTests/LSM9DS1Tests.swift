// The driver of the LSM9DS1's accelerometer and gyro against scripted transfers.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct LSM9DS1Tests {
  /// 238 Hz, 4 g, 2000 degrees a second, BDU and IF_ADD_INC, gyro data ready on INT1.
  static let image: [(UInt8, UInt8)] = [
    (0x22, 0x44), (0x11, 0x00), (0x12, 0x00), (0x13, 0x00), (0x23, 0x00), (0x0C, 0x02),
    (0x20, 0x90), (0x10, 0x98),
  ]
  static let start: [Transfer] =
    [.read(0x0F, [0x68]), .write(0x22, [0x01]), .read(0x22, [0x04])] + written(image)
    + [.read(0x18, [0, 0, 0, 0, 0, 0]), .read(0x28, [0, 0, 0, 0, 0, 0])]
  static let angular: [UInt8] = [0xE8, 0x03, 0x18, 0xFC, 0, 0]
  static let linear: [UInt8] = [0, 0, 0, 0, 0x05, 0x20]

  func ready(_ device: ScriptedDevice) throws -> RegisterDriver<LSM9DS1, ScriptedDevice> {
    device.then(Self.start)
    var chip = RegisterDriver(device, LSM9DS1(outputRate: 200, gathers: false))
    #expect(try startUp(&chip) == [0.01, 0.01, 0.3])
    device.expectDone()
    return chip
  }

  @Test("the datasheet's steps in every range")
  func conversions() throws {
    let thousand = block(Self.angular + Self.angular)
    for (angular, degrees) in [
      (LSM9DS1.AngularRateRange.dps245, 8.75), (.dps500, 17.5), (.dps2000, 70),
    ] {
      for (linear, g) in [
        (LSM9DS1.AccelerationRange.g2, 0.061), (.g4, 0.122), (.g8, 0.244), (.g16, 0.732),
      ] {
        let chip = LSM9DS1(
          outputRate: 200, accelerationRange: linear, angularRateRange: angular)
        expectMotion(
          // X is turned: the chip's own axes are left-handed.
          try chip.reading(thousand), degrees: Vector3(-degrees, -degrees, 0),
          g: Vector3(-g, -g, 0))
      }
    }
  }

  @Test("both are read when both are there, in two bursts")
  func poll() throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([
      .read(0x17, [0x02]), .read(0x17, [0x05]), .read(0x17, [0x07]), .read(0x18, Self.angular),
      .read(0x28, Self.linear),
    ])
    for _ in 0..<2 { #expect(try chip.poll() == nil) }
    expectMotion(
      try chip.poll(), degrees: Vector3(-70, -70, 0), g: Vector3(0, 0, 1.000_034))
    device.expectDone()
  }

  @Test("what a broken burst of either sensor left behind is dropped in both", arguments: [0, 1])
  func broken(half: Int) throws {
    let device = ScriptedDevice([])
    var chip = try ready(device)
    let whole: [Transfer] = [
      .read(0x17, [0x03]), .read(0x18, Self.angular), .read(0x28, Self.linear),
    ]
    let (register, count) = half == 0 ? (UInt8(0x18), 1) : (0x28, 2)
    device.then(Array(whole[..<count]))
    device.then([.readFails(register, 6, .timedOut)])
    device.then([.read(0x17, [0x00])] + Array(whole[1...]) + whole)
    #expect(
      failure { () throws(DriverError) in try chip.poll() }
        == .bus(device.error(.timedOut, register)))
    #expect(try chip.poll() == nil)
    #expect(try chip.poll() != nil)
    device.expectDone()
  }

  @Test("the next rate at or above the wanted one; sleep stops both")
  func rates() throws {
    for (wanted, rate, code) in [
      (1, 14.9, UInt8(0x20)), (50, 59.5, 0x40), (100, 119, 0x60), (239, 476, 0xA0),
      (1e6, 952, 0xC0),
    ] {
      let chip = LSM9DS1(outputRate: wanted, accelerationRange: .g2, angularRateRange: .dps245)
      #expect(chip.outputRate == rate)
      #expect(
        chip.registerImage.suffix(2) == [RegisterSetting(0x20, code), RegisterSetting(0x10, code)])
    }
    let device = ScriptedDevice([])
    var chip = try ready(device)
    device.then([.write(0x10, [0x18]), .write(0x20, [0x10])])
    try chip.sleep()
    device.expectDone()
  }

  @Test("above 208 Hz it queues: what is written, and that both halves come in one burst")
  func queue() throws {
    // DocID025715: CTRL_REG9 FIFO_EN, INT1_CTRL INT_FTH, FIFO_CTRL continuous with a threshold of nine.
    let image: [(UInt8, UInt8)] = [
      (0x22, 0x44), (0x11, 0x00), (0x12, 0x00), (0x13, 0x00), (0x23, 0x02), (0x0C, 0x08),
      (0x2E, 0xC9), (0x20, 0xD0), (0x10, 0xD8),
    ]
    let device = ScriptedDevice(
      [.read(0x0F, [0x68]), .write(0x22, [0x01]), .read(0x22, [0x04])] + written(image)
        + [.write(0x2E, [0x00]), .write(0x2E, [0xC9])])
    var chip = RegisterDriver(device, LSM9DS1(outputRate: 952))
    _ = try startUp(&chip)
    let sample = Self.angular + Self.linear
    device.then([.read(0x2F, [0x02]), .read(0x18, sample + sample)])
    for _ in 0..<2 {
      // 1000 counts of 70 millidegrees a second, X turned; 8197 of 0.122 mg.
      expectMotion(
        try chip.poll(), degrees: Vector3(-70, -70, 0), g: Vector3(0, 0, 8197 * 0.122e-3))
    }
    device.then([.read(0x2F, [0xE0]), .write(0x2E, [0x00]), .write(0x2E, [0xC9])])
    #expect(failure { () throws(DriverError) in try chip.poll() } == .samplesLost)
    device.expectDone()
  }
}
