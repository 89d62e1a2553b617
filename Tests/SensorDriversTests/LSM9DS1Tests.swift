// The driver of the LSM9DS1's accelerometer and gyro against scripted transfers.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@Suite struct LSM9DS1Tests {
  static let angular: [UInt8] = [0xE8, 0x03, 0x18, 0xFC, 0, 0]
  static let linear: [UInt8] = [0, 0, 0, 0, 0x05, 0x20]

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

  @Test("what a broken burst of either sensor left behind is dropped in both", arguments: [0, 1])
  func broken(half: Int) throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, LSM9DS1(outputRate: 200, gathers: false))
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

  @Test("both halves of a queued sample come in one burst, and a queue that ran over is emptied")
  func queue() throws {
    let device = ScriptedDevice([])
    var chip = RegisterDriver(device, LSM9DS1(outputRate: 952))
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
