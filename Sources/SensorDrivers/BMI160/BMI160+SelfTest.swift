// The self-test of the BMI160.

extension DeflectionTest {
  /// Bosch BMI160: SELF_TEST lets electrostatic forces move the accelerometer's mass one way, then the other.
  ///
  /// Course and limit are those of Bosch's own driver (BMI160_driver, bmi160.c and bmi160_defs.h): +-8 g at 1600 Hz, the
  /// larger amplitude, negative, 50 ms, positive, 50 ms; the outputs must differ by more than 8192 counts, which are 2 g, on
  /// every axis. It has no upper end: what the range can show is taken. Then the gyro tests itself (gyr_self_test_start), for
  /// which that driver gives it 65 ms, and gyr_self_test_ok of STATUS says whether all three axes passed. About 0.35 s. (Both
  /// sensors run, as in service.)
  static let bmi160: DeflectionTest = {
    typealias Register = BMI160Register
    let output = Output(
      statusRegister: Register.status, ready: 0x80, register: Register.output + 6, rate: 1600,
      largestCount: InertialScale.largestCount)
    func command(_ value: UInt8, _ settle: Double) -> DeflectionStep {
      .send([RegisterSetting(Register.command, value)], settle: settle)
    }
    func excitation(_ value: UInt8) -> RegisterSetting { RegisterSetting(Register.selfTest, value) }
    let on = [
      RegisterSetting(Register.accelerometer, 0x2C), RegisterSetting(Register.gyroscope, 0x2C),
      RegisterSetting(Register.accelerometerRange, 0x08),
    ]
    return DeflectionTest(
      chip: "BMI160",
      steps: [
        .identify(register: Register.chip, value: Register.identity),
        command(Register.softReset, 0.02), command(0x11, 0.01), command(0x15, 0.08),
        .await(register: Register.powerStatus, mask: 0x3C, value: 0x14),
        .write(on + [excitation(0x09)], settle: 0.05), .rest(output),
        .write([excitation(0x0D)], settle: 0.05),
        .deflected(
          output,
          DeflectionLimits(
            .acceleration, .milliG, unitPerCount: AccelerationRange.g8.gPerCount * 1000,
            all: 2000...16_000)),
        .write([excitation(0x00)], settle: 0), .send([excitation(0x10)], settle: 0.065),
        .verdict(
          SelfTestStatus(quantity: .angularRate, register: Register.status, bits: [(0, 0x02)])),
        .check(on), .send([excitation(0x00)], settle: 0), command(0x10, 0),
        command(0x14, 0),
      ])
  }()
}
