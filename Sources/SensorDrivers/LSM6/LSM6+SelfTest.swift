// The self-test of the LSM6 family.

extension DeflectionTest {
  /// ST's LSM6 family: CTRL5_C ST_XL and ST_G let electrostatic forces move the accelerometer's mass and the
  /// gyro's.
  ///
  /// The course is AN5272's (section "Self-test"), which ST's own examples follow
  /// (STMems_Standard_C_drivers, *_self_test.c): the accelerometer alone at +-4 g and 52 Hz, 100 ms,
  /// five conversions, positive self-test (ST_XL 01), 100 ms, five conversions; then the gyro alone at +-2000
  /// degrees a second and 208 Hz, likewise (ST_G 01). Unlike those it drops the gyro's first conversion
  /// with the self-test on, too: an owner of an LSM6DS33 saw it come half-way.
  ///
  /// The magnitude of the change must be 50 to 1700 mg (LSM6DSOX: DS12814 rev. 4, table 2; LSM6DSO: DS12140
  /// rev. 2, table 2) or 90 to 1700 (LSM6DSL: DocID028475 rev. 7, table 3; LSM6DS3, LSM6DS3TR-C and ISM330DHCX: ST's
  /// examples; LSM6DS33: as the LSM6DS3), and in all 150 to 700 degrees a second. About 0.7 s.
  package static func lsm6(_ chip: LSM6Variant) -> DeflectionTest {
    let least: Double = chip == .lsm6dso || chip == .lsm6dsox ? 50 : 90
    let linearRange = LSM6.AccelerationRange.g4
    let angularRange = LSM6.AngularRateRange.dps2000
    // ODR codes of tables 43 and 45: 52 Hz is 0011, 208 Hz is 0101.
    let linearOn = 0x30 | linearRange.rawValue << 2
    let angularOn = 0x50 | angularRange.rawValue << 2
    func output(_ register: UInt8, ready: UInt8, rate: Double) -> Output {
      Output(
        statusRegister: LSM6Register.status, ready: ready, register: register, rate: rate,
        largestCount: InertialScale.largestCount)
    }
    let off = RegisterSetting(LSM6Register.control5, 0x00)
    return inertial(
      chip: chip.rawValue,
      start: [
        .identify(register: LSM6Register.whoAmI, value: chip.identity),
        .reset(register: LSM6Register.control3, bit: LSM6Register.softwareReset),
      ],
      Half(
        output: output(LSM6Register.linearOutput, ready: LSM6Register.linearReady, rate: 52),
        on: [
          // BDU and IF_INC.
          RegisterSetting(LSM6Register.control3, 0x44), off,
          RegisterSetting(LSM6Register.control2, 0x00),
          RegisterSetting(LSM6Register.control1, linearOn),
        ], test: RegisterSetting(LSM6Register.control5, 0x01),
        limits: DeflectionLimits(
          .acceleration, .milliG, unitPerCount: linearRange.gPerCount * 1000, all: least...1700),
        settle: 0.1, testSettle: 0.1),
      Half(
        output: output(LSM6Register.output, ready: LSM6Register.angularReady, rate: 208),
        on: [
          off, RegisterSetting(LSM6Register.control1, 0x00),
          RegisterSetting(LSM6Register.control2, angularOn),
        ], test: RegisterSetting(LSM6Register.control5, 0x04),
        limits: DeflectionLimits(
          .angularRate, .degreesPerSecond, unitPerCount: angularRange.degreesPerSecondPerCount,
          all: 150...700),
        settle: max(0.1, chip.gyroStart), testSettle: 0.1),
      end: [off, RegisterSetting(LSM6Register.control2, 0x00)])
  }
}
