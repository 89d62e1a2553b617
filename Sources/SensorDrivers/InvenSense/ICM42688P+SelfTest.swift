// The self-test of the ICM42688P: the change of the outputs as a share of what the maker measured.

extension DeflectionTest {
  /// TDK InvenSense ICM42688P: SELF_TEST_CONFIG lets electrostatic forces move the masses of the accelerometer, then of the
  /// gyro.
  ///
  /// Course and limits are those of the maker's own driver (Icm426xxSelfTest.c, Embedded Motion Driver): at +-4 g and
  /// +-250 degrees a second behind a filter of 100 Hz, the accelerometer's output settles in 25 ms, the gyro's in 200; the
  /// changes are half to half as much again of what the trim codes of banks 1 and 2 say. For the gyro that driver has no
  /// upper end; its sister's (Ixm42xxxSelfTest.c) is the accelerometer's. It averages 200 samples at 1 kHz, here five at
  /// 200 Hz behind the same filter are. About 0.6 s.
  static let icm42688p: DeflectionTest = {
    typealias Register = ICM42688PRegister
    func bank(_ number: UInt8) -> DeflectionStep {
      .write([RegisterSetting(Register.bank, number)], settle: 0)
    }
    func output(_ register: UInt8) -> Output {
      Output(
        statusRegister: Register.interruptStatus, ready: Register.dataReady, register: register,
        rate: 200, largestCount: InertialScale.largestCount, isBigEndian: true)
    }
    func half(
      _ output: Output, _ bits: UInt8, settle: Double, _ limits: DeflectionLimits
    ) -> [DeflectionStep] {
      [
        .rest(output), .write([RegisterSetting(Register.selfTest, bits)], settle: settle),
        .deflected(output, limits),
        .write([RegisterSetting(Register.selfTest, 0x00)], settle: settle),
      ]
    }
    let timing = [
      // 250 degrees a second and 4 g at 200 Hz, of which half passes.
      RegisterSetting(Register.gyroscope, 0x67), RegisterSetting(Register.accelerometer, 0x47),
      RegisterSetting(Register.filters, 0x00),
    ]
    let on = RegisterSetting(Register.power, 0x0F)
    let start: [DeflectionStep] = [
      bank(0), .identify(register: Register.whoAmI, value: Register.identity),
      .reset(register: Register.device, bit: 0x01), bank(1),
      .trim(register: Register.angularTrim, count: 3), bank(2),
      .trim(register: Register.linearTrim, count: 3), bank(0), .write(timing + [on], settle: 0.1),
    ]
    // The codes are counts at 2 g.
    let linear = half(
      output(Register.output), 0x78, settle: 0.05,
      DeflectionLimits(quantity: .acceleration, percent: 50...150) {
        0.5 * InvenSense.trim($0, at: 3)
      })
    let angular = half(
      output(Register.output + 6), 0x07, settle: 0.2,
      DeflectionLimits(quantity: .angularRate, percent: 50...150) { InvenSense.trim($0, at: 0) })
    return DeflectionTest(
      chip: "ICM42688P",
      steps: start + linear + angular + [
        .check(timing), .write([RegisterSetting(Register.power, 0x00)], settle: 0),
      ])
  }()
}
