// The self-test of the LSM6DSOX.

extension DeflectionTest {
  /// ST LSM6DSOX: CTRL5_C ST_XL and ST_G let electrostatic forces move the accelerometer's mass and the
  /// gyro's. An LSM6DSO has the same limits (DS12140 rev. 2, table 2).
  ///
  /// The course is AN5272's (section "Self-test"), which ST's own example follows
  /// (STMems_Standard_C_drivers, lsm6dsox_self_test.c): the accelerometer alone at +-4 g and 52 Hz, 100 ms,
  /// five conversions, positive self-test (ST_XL 01), 100 ms, five conversions; then the gyro alone at +-2000
  /// degrees a second and 208 Hz, likewise (ST_G 01). Unlike that example it drops the gyro's first
  /// conversion with the self-test on, too: an owner of a relative (LSM6DS33) saw it come half-way.
  ///
  /// The magnitude of the change must be 50 to 1700 mg and 150 to 700 degrees a second (datasheet DS12814
  /// rev. 4, table 2, rows "Vst"; 0.122 mg and 70 mdps a count). About 0.7 s.
  public static let lsm6dsox: DeflectionTest = {
    let linearRange = LSM6DSOX.AccelerationRange.g4
    let angularRange = LSM6DSOX.AngularRateRange.dps2000
    // ODR codes of tables 43 and 45: 52 Hz is 0011, 208 Hz is 0101.
    let linearOn = 0x30 | linearRange.rawValue << 2
    let angularOn = 0x50 | angularRange.rawValue << 2
    let linear = Output(
      statusRegister: LSM6DSOXRegister.status, ready: LSM6DSOXRegister.linearReady,
      register: LSM6DSOXRegister.linearOutput, rate: 52, largestCount: 32766)
    let angular = Output(
      statusRegister: LSM6DSOXRegister.status, ready: LSM6DSOXRegister.angularReady,
      register: LSM6DSOXRegister.output, rate: 208, largestCount: 32766)
    return DeflectionTest(
      chip: "LSM6DSOX",
      steps: [
        .identify(register: LSM6DSOXRegister.whoAmI, value: LSM6DSOXRegister.identity),
        .reset(register: LSM6DSOXRegister.control3, bit: LSM6DSOXRegister.softwareReset),
        .write(
          [
            // BDU and IF_INC.
            RegisterSetting(LSM6DSOXRegister.control3, 0x44),
            RegisterSetting(LSM6DSOXRegister.control5, 0x00),
            RegisterSetting(LSM6DSOXRegister.control2, 0x00),
            RegisterSetting(LSM6DSOXRegister.control1, linearOn),
          ], settle: 0.1),
        .rest(linear),
        .write([RegisterSetting(LSM6DSOXRegister.control5, 0x01)], settle: 0.1),
        .deflected(
          linear,
          Limits(
            quantity: .acceleration, unit: .milliG, unitPerCount: linearRange.gPerCount * 1000,
            x: 50...1700, y: 50...1700, z: 50...1700)),
        .write(
          [
            RegisterSetting(LSM6DSOXRegister.control5, 0x00),
            RegisterSetting(LSM6DSOXRegister.control1, 0x00),
            RegisterSetting(LSM6DSOXRegister.control2, angularOn),
          ], settle: 0.1),
        .rest(angular),
        .write([RegisterSetting(LSM6DSOXRegister.control5, 0x04)], settle: 0.1),
        .deflected(
          angular,
          Limits(
            quantity: .angularRate, unit: .degreesPerSecond,
            unitPerCount: angularRange.degreesPerSecondPerCount, x: 150...700, y: 150...700,
            z: 150...700)),
        .write(
          [
            RegisterSetting(LSM6DSOXRegister.control5, 0x00),
            RegisterSetting(LSM6DSOXRegister.control2, 0x00),
          ], settle: 0),
      ])
  }()
}
