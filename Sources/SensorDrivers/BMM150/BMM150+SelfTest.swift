// The self-test of the BMM150, which it evaluates itself.

extension DeflectionTest {
  /// Bosch BMM150, "normal self test" (BST-BMM150-DS001-01, 4.4.1): from sleep, with signals made on the chip; it checks the
  /// path of X and Y and the Hall sensor of Z, the connections of all three too, and leaves a bit for each.
  ///
  /// The bit that starts it goes down when it is over; Bosch's driver (BMM150_SensorAPI) looks after 2 ms. The advanced test,
  /// a coil's field on Z alone, is not run. About 0.02 s.
  static let bmm150: DeflectionTest = {
    typealias Register = BMM150.Register
    let wake = RegisterSetting(Register.power, Register.awake, mask: 0x01)
    return DeflectionTest(
      chip: "BMM150",
      steps: [
        // Asleep it has no identity to show.
        .send([wake], settle: 0.003),
        .identify(register: Register.chip, value: Register.identity),
        .send([RegisterSetting(Register.power, Register.reset)], settle: 0.003),
        .send([wake], settle: 0.003),
        .send([RegisterSetting(Register.mode, 0x07)], settle: 0.002),
        // Still in sleep, and the bit is down.
        .await(register: Register.mode, mask: 0x07, value: 0x06),
        .verdict(
          SelfTestStatus(
            quantity: .magneticField, register: Register.output, count: 5,
            bits: [(0, 0x01), (2, 0x01), (4, 0x01)])),
        .check([wake]), .send([RegisterSetting(Register.power, 0x00)], settle: 0),
      ])
  }()
}
