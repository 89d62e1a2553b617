// The self-test of the LIS2MDL.

extension DeflectionTest {
  /// ST LIS2MDL: CFG_REG_C bit Self_test lets a current in the chip add to the field.
  ///
  /// The course is AN5069's ("Self-test"), as in ST's own example (STMems_Standard_C_drivers,
  /// lis2mdl_self_test.c): 100 Hz in high resolution, temperature compensation, block data update; 20 ms;
  /// conversions; Self_test; 60 ms; conversions. The change must be 15 to 500 milligauss on every axis. ST
  /// averages 50 conversions, a second in all; five take 0.2 s, and with offset cancellation, as in service, the
  /// noise of their mean is a tenth of the lower limit.
  package static let lis2mdl: DeflectionTest = {
    let output = Output(
      statusRegister: LIS2MDLRegister.status, ready: LIS2MDLRegister.dataReady,
      register: LIS2MDLRegister.output | LIS2MDLRegister.autoIncrement, rate: 100,
      largestCount: LIS2MDL.largestCount)
    let running = LIS2MDLRegister.temperatureCompensation | 0x0C
    let limits = 0.015...0.5
    return DeflectionTest(
      chip: "LIS2MDL",
      steps: [
        .identify(register: LIS2MDLRegister.whoAmI, value: LIS2MDLRegister.identity),
        .reset(register: LIS2MDLRegister.configurationA, bit: LIS2MDLRegister.softReset),
        .write(
          [
            RegisterSetting(LIS2MDLRegister.configurationB, LIS2MDLRegister.offsetCancellation),
            RegisterSetting(LIS2MDLRegister.configurationC, LIS2MDLRegister.blockUpdate),
            RegisterSetting(LIS2MDLRegister.configurationA, running),
          ], settle: 0.02),
        .rest(output),
        .write(
          [
            RegisterSetting(
              LIS2MDLRegister.configurationC,
              LIS2MDLRegister.blockUpdate | LIS2MDLRegister.selfTest)
          ], settle: 0.06),
        .deflected(
          output,
          DeflectionLimits(
            quantity: .magneticField, unit: .gauss, unitPerCount: 0.0015,
            x: limits, y: limits, z: limits)),
        .write(
          [
            RegisterSetting(LIS2MDLRegister.configurationC, LIS2MDLRegister.blockUpdate),
            RegisterSetting(
              LIS2MDLRegister.configurationA,
              LIS2MDLRegister.temperatureCompensation | LIS2MDLRegister.idle),
          ], settle: 0),
      ])
  }()
}
