// An HMC5883L from the magnetometer of an LSM303DLHC: only ST's has a temperature sensor.

import SensorBus

/// Turns the temperature sensor on, makes one measurement, and puts both settings back.
///
/// TEMP_EN (LSM303DLHC, DocID018771 rev. 2, 7.2.1) is a reserved bit in an HMC5883L, whose writing is ignored, and the
/// temperature's registers 0x31 and 0x32 are none of its: they read as zeros (form 900405 rev. E, "Register Access").
/// An HMC5983 has both, and is used like an HMC5883L: with an LSM303DLHC's accelerometer beside it, which no board has,
/// it would pass for one.
struct HMC5883Trial: ChipTrial {
  private static let temperatureEnabled: UInt8 = 0x80
  private static let temperature: UInt8 = 0x31
  /// A single measurement takes 6 ms.
  private static let conversionTime = 0.01

  let model: HMC5883Variant

  func verdict<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, usualPressure: Double?, wait: (_ seconds: Double) -> Void
  ) throws(BusError) -> TrialResult? {
    typealias Register = HMC5883Register
    let configuration = try device.byte(Register.configurationA)
    // The outputs come with the mode: reading it alone would lock them.
    let mode = try device.burst(Register.mode, count: 7)[0]
    let hasTemperature: Bool
    do {
      try device.write(Register.configurationA, configuration | Self.temperatureEnabled)
      try device.write(Register.mode, Register.single)
      wait(Self.conversionTime)
      let isKept = try device.byte(Register.configurationA) & Self.temperatureEnabled != 0
      // One by one: beyond 0x0C the pointer goes back to 0x00.
      let high = try device.byte(Self.temperature)
      let low = try device.byte(Self.temperature + 1)
      hasTemperature = isKept || high | low != 0
    } catch {
      // It is left as it was found, if it hears at all.
      try? device.write(Register.configurationA, configuration)
      try? device.write(Register.mode, mode)
      throw error
    }
    try device.write(Register.configurationA, configuration)
    try device.write(Register.mode, mode)
    let isST = model == .lsm303dlhc
    guard hasTemperature else {
      return isST
        ? nil : TrialResult(confidence: .likely, evidence: "it has no temperature sensor")
    }
    return TrialResult(
      confidence: .likely,
      evidence: "it has a temperature sensor"
        + (isST ? "" : ", as an LSM303DLHC has, or an HMC5983, which is used as an HMC5883L"))
  }
}
