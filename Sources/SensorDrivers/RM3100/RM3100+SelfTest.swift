// The self-test of the RM3100: whether its coils oscillate.

extension DeflectionTest {
  /// PNI RM3100: with STE up in BIST, a write to POLL lets each coil oscillate, and the chip says of each whether it did.
  ///
  /// User manual 1017252 r04, 5.6.1: four periods (BP) within the longest time there is, four cycles of the sleep oscillator
  /// (BW, 120 microseconds); the end is told by DRDY; XOK, YOK and ZOK stand as long as STE does. PX4's driver (rm3100.cpp)
  /// takes the same. It says nothing of a field. About 0.01 s.
  static let rm3100: DeflectionTest = {
    typealias Register = RM3100.Register
    // STE, BW and BP; what is between them is the chip's.
    let test = RegisterSetting(Register.selfTest, 0x8F, mask: 0x8F)
    return DeflectionTest(
      chip: "RM3100",
      steps: [
        .identify(register: Register.revision, value: Register.identity),
        // Any write takes down a DRDY that is up.
        .send(
          [
            RegisterSetting(Register.mode, Register.stopped), test,
            RegisterSetting(Register.poll, 0x70),
          ], settle: 0.01),
        .await(register: Register.status, mask: 0x80, value: 0x80), .check([test]),
        .verdict(
          SelfTestStatus(
            quantity: .magneticField, register: Register.selfTest,
            bits: [(0, 0x10), (0, 0x20), (0, 0x40)])),
        .send([RegisterSetting(Register.selfTest, 0x00)], settle: 0),
      ])
  }()
}
