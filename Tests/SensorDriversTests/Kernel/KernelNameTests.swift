// Chips are identified by the names that Linux's drivers give them.

import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

@Suite struct KernelNameTests {
  /// By the names that Linux 6.12 has in its drivers' `name`.
  @Test(
    "a chip that the kernel calls otherwise than we do is known by that name",
    arguments: [
      (["lps25h"], [.pressure, .temp], 0x5C, ["LPS25HB"]),
      (["lps22hb"], [.pressure, .temp], 0x5C, ["LPS22HB"]),
      (["bmp380"], [.pressure, .temp], 0x77, ["BMP388", "BMP390"]),
      (["bmp580"], [.pressure, .temp], 0x47, ["BMP581", "BMP585"]),
      (["dps310"], [.pressure, .temp], 0x77, ["SPL06", "DPS310", "DPS368"]),
      (["lps22df"], [.pressure, .temp], 0x5C, ["LPS28DFW"]),
      (["lsm6ds3_gyro", "lsm6ds3_accel"], [.anglvel, .accel], 0x6A, ["LSM6DS3", "LSM6DS33"]),
      (["icm42688-gyro", "icm42688-accel"], [.anglvel, .accel], 0x68, ["ICM42688P"]),
      (["lsm9ds1-imu_gyro", "lsm9ds1-imu_accel"], [.anglvel, .accel], 0x6B, ["LSM9DS1-AG"]),
      (["lsm9ds1_magn"], [.magn], 0x1C, ["LSM9DS1-M"]),
      (["lsm303agr_magn"], [.magn], 0x1E, ["LIS2MDL"]),
      (["lsm303agr_accel"], [.accel], 0x19, ["LIS3DH"]),
      (["mmc5633"], [.magn], 0x30, ["MMC5603"]), (["mmc5983"], [.magn], 0x30, ["MMC5983MA"]),
      (["lps25h"], [.pressure, .temp], 0x76, []), (["lps33hw"], [.pressure, .temp], 0x5C, []),
    ] as [([String], [IIOChannelType], UInt8, [String])])
  func names(
    kernel: [String], quantities: [IIOChannelType], address: UInt8, chips: [String]
  ) throws {
    var devices: [SimulatedIIODevice] = []
    for (index, quantity) in quantities.enumerated() {
      let group = KernelView.Group(quantity, scales: ["0.001"])
      if index < kernel.count {
        devices.append(.init(kernel[index], [group], rates: []))
      } else {
        devices[0].groups.append(group)
      }
    }
    let bench = try KernelBench(
      "LIS3MDL", KernelView(driver: "driver", devices), kind: .magnetometer, rate: 10)
    let survey = try KernelSurvey(
      try bench.provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C))
    #expect(ChipCatalog.identify(survey, at: address).map(\.chip) == chips)
  }
}
