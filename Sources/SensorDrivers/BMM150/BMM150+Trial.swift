// A BMM150 that sleeps shows no identity: it has to be woken to be told.

import SensorBus

/// Wakes a chip that reads as zeros, looks at its identity, and lets it sleep again.
struct BMM150Trial: ChipTrial {
  /// From suspend to sleep, seconds (BST-BMM150-DS001-01, table 3: 3 ms).
  private static let wakeTime = 0.004

  func verdict<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, usualPressure: Double?, wait: (_ seconds: Double) -> Void
  ) throws(BusError) -> TrialResult? {
    typealias Register = BMM150.Register
    let (power, chip) = (try device.byte(Register.power), try device.byte(Register.chip))
    guard power == 0, chip == 0 else {
      return Register.isAwake(power) && chip == Register.identity
        ? TrialResult(confidence: .likely, evidence: "it is awake")
        : TrialResult(confidence: .possible, evidence: "it is neither asleep nor awake")
    }
    try device.write(Register.power, Register.awake)
    wait(Self.wakeTime)
    let (woken, found) = (try device.byte(Register.power), try device.byte(Register.chip))
    try device.write(Register.power, 0x00)
    guard Register.isAwake(woken), found == Register.identity else { return nil }
    return TrialResult(
      confidence: .likely, evidence: "woken, it has \(hexadecimal(found)) in register 0x40")
  }
}
