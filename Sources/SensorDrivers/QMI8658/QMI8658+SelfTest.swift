// The self-test of the QMI8658, which it evaluates itself.

extension DeflectionTest {
  /// QST QMI8658: aST and gST let electrostatic forces move the accelerometer's mass, then the gyro's; the chip leaves what
  /// came of it in dVX to dVZ, in 1/2048 g and in 1/16 of a degree a second.
  ///
  /// Course and limits are the QMI8658A's (datasheet rev. A, 15.1 and 15.2): sensors off, the bit set until STATUSINT bit 0 is
  /// up (25 periods, here of 1 kHz; 400 ms of the gyro), the bit cleared until that is down, more than 200 mg and 300 degrees
  /// a second on every axis. They have no upper end: what the ranges of the test can show is taken, 16 g and 2048 degrees a
  /// second. About 0.55 s.
  static let qmi8658: DeflectionTest = {
    typealias Register = QMI8658.Register
    func half(_ register: UInt8, _ setting: UInt8, _ settle: Double, _ limits: DeflectionLimits)
      -> [DeflectionStep]
    {
      [
        .write([RegisterSetting(register, setting)], settle: 0),
        .write([RegisterSetting(register, 0x80 | setting)], settle: settle),
        .await(register: Register.interruptStatus, mask: 0x01, value: 0x01),
        .write([RegisterSetting(register, setting)], settle: 0.001),
        .await(register: Register.interruptStatus, mask: 0x01, value: 0x00),
        .told(register: Register.testResult, limits), .check(on),
      ]
    }
    // ADDR_AI, INT2_EN, BE cleared.
    let on = [RegisterSetting(Register.control1, 0x50)]
    let start: [DeflectionStep] = [
      .identify(register: Register.whoAmI, value: Register.identity),
      .send([RegisterSetting(Register.reset, Register.softReset)], settle: 0.02),
      .await(register: Register.resetResult, mask: 0xFF, value: 0x80),
      .write(on + [RegisterSetting(Register.control7, 0x00)], settle: 0),
    ]
    // aODR 3, which is 1 kHz while the gyro is off (table 22).
    let linear = half(
      Register.control2, 0x03, 0.03,
      DeflectionLimits(.acceleration, .milliG, unitPerCount: 1000.0 / 2048, all: 200...16_000))
    let angular = half(
      Register.control3, 0x00, 0.45,
      DeflectionLimits(.angularRate, .degreesPerSecond, unitPerCount: 1.0 / 16, all: 300...2048))
    return DeflectionTest(chip: "QMI8658", steps: start + linear + angular)
  }()
}
