// All that is demanded of a chip behind registers. Each stands in Chips/, in a file of its own.

import SensorDrivers
import Testing

/// One chip's part in the contract tests.
struct ChipContract: Sendable, CustomTestStringConvertible {
  /// How many settings of its driver there are to sweep; `nil` where the sweep itself finds them.
  var settings: Int?
  /// Every setting over the whole range.
  let sweeps: [Sweep]
  /// What its driver owes when something goes wrong.
  let faults: FaultContract
  /// What its self-test measures; empty for a chip that has none.
  var selfTest: [SelfTestContract.Sensor] = []
  /// Steps of its self-test until something of the test's own stands in the chip.
  var selfTestFirstSteps = 2
  /// What it owes of its queue; `nil` for a chip that has none, or whose is not used.
  var queue: QueueContract?

  var testDescription: String { faults.chip }

  static let all = [
    ak09916, ak09918, ak8963, bmm150, bmm350, hmc5883l, ist8310, lis2mdl, lis3mdl,
    lsm303dlhcMagnetometer, lsm9ds1Magnetometer, mmc5603, mmc5983ma, qmc5883l, qmc5883p,
    qmc6310, rm3100,
    lis3dh, lsm303dlhcAccelerometer,
    bmi160, icm20948, icm42688p, ism330dhcx, lsm6ds3, lsm6ds33, lsm6ds3trc, lsm6dsl, lsm6dsox,
    lsm6dso, lsm9ds1Inertial, mpu6050, mpu6500, mpu9250, qmi8658,
    bme280, bme680, bmp180, bmp280, bmp388, bmp390, bmp581, bmp585, dps310, dps368, lps22hb,
    lps22hh, lps25hb, lps28dfw, ms5607, ms5611, spa06, spl06,
  ]
}
