// The self-test of the LIS3MDL and of the LSM9DS1's magnetometer.

extension DeflectionTest {
  /// ST LIS3MDL: CTRL_REG1 bit ST lets a current in the chip add to the field.
  ///
  /// The course is AN4602's (section "Self-test", figure 6), which ST's own example follows
  /// (STMems_Standard_C_drivers, lis3mdl_self_test.c): +-12 gauss, 80 Hz in low-power mode, block data
  /// update; 20 ms, continuous conversion, 20 ms; five conversions; ST; 60 ms; five conversions. The change
  /// must be 1.0 to 3.0 gauss on X and Y and 0.1 to 1.0 gauss on Z (AN4602, table 17, and datasheet
  /// DocID024204 rev. 6, table 3, for a full scale of 12 gauss; 2281 counts a gauss). About 0.3 s.
  ///
  /// The magnitude is that of the difference, as in ST's example: the field around the board is in both
  /// means.
  ///
  /// The LSM9DS1's has the same course and the same limits (lsm9ds1_self_test.c), on its own scale.
  static func lis3mdl(_ model: LIS3MDLVariant) -> DeflectionTest {
    let range = LIS3MDL.Range.gauss12
    let countsPerGauss = model.countsPerGauss(range)
    let lowPower80 = model.temperatureBit | 0x1C
    let output = Output(
      statusRegister: LIS3MDLRegister.status, ready: LIS3MDLRegister.dataReady,
      register: LIS3MDLRegister.output | LIS3MDLRegister.autoIncrement, rate: 80,
      largestCount: range.gauss * countsPerGauss)
    return DeflectionTest(
      chip: model.rawValue,
      steps: [
        .identify(register: LIS3MDLRegister.whoAmI, value: LIS3MDLRegister.identity),
        .reset(register: LIS3MDLRegister.control2, bit: LIS3MDLRegister.softReset),
        .write(
          [
            RegisterSetting(LIS3MDLRegister.control5, 0x40),
            RegisterSetting(LIS3MDLRegister.control2, range.rawValue << 5),
            RegisterSetting(LIS3MDLRegister.control4, 0x00),
            RegisterSetting(LIS3MDLRegister.control1, lowPower80),
          ], settle: 0.02),
        .write([RegisterSetting(LIS3MDLRegister.control3, 0x00)], settle: 0.02),
        .rest(output),
        .write(
          [RegisterSetting(LIS3MDLRegister.control1, lowPower80 | LIS3MDLRegister.selfTest)],
          settle: 0.06),
        .deflected(
          output,
          DeflectionLimits(
            quantity: .magneticField, unit: .gauss, unitPerCount: 1 / countsPerGauss,
            x: 1.0...3.0, y: 1.0...3.0, z: 0.1...1.0)),
        .write(
          [
            RegisterSetting(LIS3MDLRegister.control1, lowPower80),
            RegisterSetting(LIS3MDLRegister.control3, LIS3MDLRegister.powerDown),
          ], settle: 0),
      ])
  }

  /// The LIS3MDL's.
  package static let lis3mdl = lis3mdl(.lis3mdl)
}
