// The self-test of the LSM9DS1's accelerometer and gyro.

extension DeflectionTest {
  /// ST LSM9DS1: CTRL_REG10 ST_XL and ST_G let electrostatic forces move the accelerometer's mass and the gyro's.
  ///
  /// The datasheet has the bits and no limits. Course and limits are those of ST's example (STMems_Standard_C_drivers,
  /// lsm9ds1_self_test.c): the accelerometer alone at 50 Hz, 200 ms before each five conversions, 70 to
  /// 1500 mg; the gyro alone at +-2000 degrees a second and 238 Hz, 800 ms, 200 to 800 degrees a second.
  /// About 2.3 s. At the example's +-2 g the largest deflection and gravity together would be beyond the range.
  static let lsm9ds1: DeflectionTest = {
    let linearRange = LSM9DS1.AccelerationRange.g4
    let angularRange = LSM9DS1.AngularRateRange.dps2000
    func output(_ register: UInt8, ready: UInt8, rate: Double) -> Output {
      Output(
        statusRegister: LSM9DS1.Register.status, ready: ready, register: register, rate: rate,
        largestCount: InertialScale.largestCount)
    }
    let off = RegisterSetting(LSM9DS1.Register.control10, 0x00)
    // ODR codes: 50 Hz is 010, 238 Hz is 100.
    return inertial(
      chip: "LSM9DS1-AG",
      start: [
        .identify(register: LSM9DS1.Register.whoAmI, value: LSM9DS1.Register.identity),
        .reset(register: LSM9DS1.Register.control8, bit: LSM9DS1.Register.softwareReset),
      ],
      Half(
        output: output(LSM9DS1.Register.linear, ready: LSM9DS1.Register.linearReady, rate: 50),
        on: [
          RegisterSetting(LSM9DS1.Register.control8, 0x44), off,
          RegisterSetting(LSM9DS1.Register.control1, 0x00),
          RegisterSetting(LSM9DS1.Register.control6, 0x40 | linearRange.rawValue << 3),
        ], test: RegisterSetting(LSM9DS1.Register.control10, 0x01),
        limits: DeflectionLimits(
          .acceleration, .milliG, unitPerCount: LSM9DS1.gPerCount(linearRange) * 1000,
          all: 70...1500),
        settle: 0.2, testSettle: 0.2),
      Half(
        output: output(LSM9DS1.Register.angular, ready: LSM9DS1.Register.angularReady, rate: 238),
        on: [
          off, RegisterSetting(LSM9DS1.Register.control6, 0x00),
          RegisterSetting(LSM9DS1.Register.control1, 0x80 | angularRange.rawValue << 3),
        ], test: RegisterSetting(LSM9DS1.Register.control10, 0x04),
        limits: DeflectionLimits(
          .angularRate, .degreesPerSecond, unitPerCount: angularRange.degreesPerSecondPerCount,
          all: 200...800),
        settle: 0.8, testSettle: 0.8),
      end: [off, RegisterSetting(LSM9DS1.Register.control1, 0x00)])
  }()
}
