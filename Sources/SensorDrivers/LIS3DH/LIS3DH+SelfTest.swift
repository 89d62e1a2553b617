// The self-test of the LIS3DH.

extension DeflectionTest {
  /// ST LIS3DH: CTRL_REG4 ST lets an electrostatic force move the accelerometer's mass.
  ///
  /// The course is that of ST's example (STMems_Standard_C_drivers, lis3dh_self_test.c): +-2 g in normal mode (10 bits) at
  /// 50 Hz, 90 ms, five conversions, ST 01, 90 ms, five conversions. The magnitude of the change must be 17 to 360
  /// steps of 4 mg (DocID17530 rev. 2, table 4, as the example has it). About 0.5 s. There is no reset: what matters
  /// is written.
  static let lis3dh: DeflectionTest = {
    let output = Output(
      statusRegister: LIS3DHRegister.status, ready: LIS3DHRegister.dataReady,
      register: LIS3DHRegister.output | LIS3DHRegister.autoIncrement, rate: 50,
      // The ends of the 10 bits, left-justified.
      largestCount: 510 * 64)
    let blockUpdate: UInt8 = 0x80
    return DeflectionTest(
      chip: "LIS3DH",
      steps: [
        .identify(register: LIS3DHRegister.whoAmI, value: LIS3DHRegister.identity),
        .write(
          [
            RegisterSetting(LIS3DHRegister.control2, 0x00),
            RegisterSetting(LIS3DHRegister.control5, 0x00, mask: 0x7F),
            RegisterSetting(LIS3DHRegister.control4, blockUpdate),
            RegisterSetting(LIS3DHRegister.control1, 0x47),
          ], settle: 0.09),
        .rest(output),
        .write([RegisterSetting(LIS3DHRegister.control4, blockUpdate | 0x02)], settle: 0.09),
        .deflected(
          output,
          DeflectionLimits(.acceleration, .milliG, unitPerCount: 4.0 / 64, all: 17 * 4...360 * 4)),
        .write(
          [
            RegisterSetting(LIS3DHRegister.control4, blockUpdate),
            RegisterSetting(LIS3DHRegister.control1, 0x07),
          ], settle: 0),
      ])
  }()
}
