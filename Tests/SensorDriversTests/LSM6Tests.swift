// The driver of ST's LSM6 family: scales, batches, and a chip that was left as it is.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

@Suite struct LSM6Tests {
  @Test(
    "10000 counts are the datasheet's degrees a second and g in every range",
    arguments: zip(
      [
        (LSM6.AngularRateRange.dps250, 87.5), (.dps500, 175), (.dps1000, 350), (.dps2000, 700),
      ], [(LSM6.AccelerationRange.g2, 0.61), (.g4, 1.22), (.g8, 2.44), (.g16, 4.88)]))
  func scales(
    angular: (range: LSM6.AngularRateRange, degrees: Double),
    linear: (range: LSM6.AccelerationRange, g: Double)
  ) throws {
    let chip = LSM6(
      .lsm6dsox, outputRate: 208, accelerationRange: linear.range, angularRateRange: angular.range)
    expectMotion(
      try chip.reading(block([0x10, 0x27, 0xF0, 0xD8, 0, 0, 0, 0, 0x10, 0x27, 0xF0, 0xD8])),
      degrees: Vector3(angular.degrees, -angular.degrees, 0), g: Vector3(0, linear.g, -linear.g))
  }

  @Test(
    "a chip that another program has left in another bank, or with a range of its own, is told and starts"
  )
  func warm() throws {
    for bank: UInt8 in [0x00, 0x80, 0x40] {
      let bench = ContractBench(address: 0x6A) { LSM6Twin(TwinCore(source: $0), .industrial) }
      // 4000 degrees a second at 208 Hz (DS13012, CTRL2_G: FS_4000).
      try write(0x51, to: 0x11, of: bench.device)
      let told = try ChipCatalog.identify(bench.device, at: 0x6A)
      #expect(told.map(\.chip) == ["ISM330DHCX"] && told.first?.isTold == true)
      try write(bank, to: 0x01, of: bench.device)
      let driver = BoxedDriver(RegisterDriver(bench.device, LSM6(.ism330dhcx, outputRate: 208)))
      try bench.start(driver)
      #expect(try bench.nextReading(driver) != nil)
    }
  }

  private func write(_ value: UInt8, to register: UInt8, of device: some RegisterDevice) throws {
    try withUnsafeBytes(of: value) { bytes throws(BusError) in
      try device.write(register, from: bytes)
    }
  }

  @Test("up to 208 Hz every sample is fetched by itself; above, ten milliseconds of them gather")
  func batches() {
    for (wanted, batch) in [(12.5, 1), (208.0, 1), (416, 4), (833, 8), (1667, 16), (6667, 16)] {
      #expect(LSM6(.lsm6dsox, outputRate: wanted).batch == batch)
      #expect(LSM6(.lsm6dsox, outputRate: wanted, gathers: false).batch == 1)
    }
    #expect(LSM6(.lsm6ds3, outputRate: 1667).batch == 16)
  }
}
