// A BMM150 that sleeps shows no identity: it has to be woken to be told.

import SensorBus

/// Wakes a chip that reads as zeros, looks at its identity, and lets it sleep again.
struct BMM150Trial: ChipTrial {
  /// From suspend to sleep, seconds (BST-BMM150-DS001-01, table 3: 3 ms).
  private static let wakeTime = 0.004

  func verdict<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, usualPressure: Double?, wait: (_ seconds: Double) -> Void
  ) throws(BusError) -> TrialVerdict? {
    typealias Register = BMM150.Register
    guard try device.byte(Register.power) & Register.awake == 0 else {
      return TrialVerdict(confidence: .likely, evidence: "it is awake")
    }
    try device.write(Register.power, Register.awake)
    wait(Self.wakeTime)
    let found = try device.byte(Register.chip)
    try device.write(Register.power, 0x00)
    guard found == Register.identity else { return nil }
    return TrialVerdict(
      confidence: .likely, evidence: "woken, it has \(hexadecimal(found)) in register 0x40")
  }
}
