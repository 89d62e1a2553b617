// The ST LIS2MDL magnetometer on I2C (0x1E), which is also in an LSM303AGR and sold as IIS2MDC.

package import LinearAlgebra
package import SensorBus
package import SensorTypes

/// ST LIS2MDL, three-axis magnetometer: high resolution, continuous, temperature compensation, offset cancellation
/// at every conversion, block data update, data ready on the pin. One range. The magnetometer of an LSM303AGR
/// and the IIS2MDC have the same registers, identity and scale: this driver serves all three.
///
/// The chip's low-pass filter stays off: its delay would be that of two conversions.
package struct LIS2MDL: FlaggedChip, Hashable {
  /// The rates that the chip has, Hz (CFG_REG_A, ODR).
  package static let outputRates: [Double] = [10, 20, 50, 100]
  /// Microtesla a count: 1.5 milligauss (magnetic characteristics). The end of the range, +-49.152 gauss, is that
  /// of the 16 bits.
  package static let microteslaPerCount = 0.15
  /// Beyond it an axis stands at its end stop.
  static let largestCount = 32_766.0

  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(outputRate: Double) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    self.outputRate = Self.outputRates[rateIndex]
  }

  /// What is written, in this order; the mode comes last, because it starts conversions. REBOOT and SOFT_RST clear
  /// themselves.
  package var registerImage: [RegisterSetting] {
    [
      RegisterSetting(LIS2MDLRegister.configurationB, LIS2MDLRegister.offsetCancellation),
      RegisterSetting(
        LIS2MDLRegister.configurationC,
        LIS2MDLRegister.blockUpdate | LIS2MDLRegister.dataReadyOnPin),
      RegisterSetting(
        LIS2MDLRegister.configurationA,
        LIS2MDLRegister.temperatureCompensation | UInt8(rateIndex) << 2, mask: 0x9F),
    ]
  }

  /// The name in board files.
  package var name: String { "LIS2MDL" }

  /// Half of the 9.4 ms from idle to a conversion in high resolution (operating modes, "Turn-on time").
  package var latency: Double { 0.0047 }

  /// Identity, soft reset (10 ms, at most 100 ms), configuration, read-back.
  package var startSteps: [StartStep] {
    [.identify(register: LIS2MDLRegister.whoAmI, anyOf: [LIS2MDLRegister.identity])]
      + StartStep.reset(LIS2MDLRegister.configurationA, bit: LIS2MDLRegister.softReset)
      + [.configure()]
  }

  /// Idle mode; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [
      RegisterSetting(
        LIS2MDLRegister.configurationA,
        LIS2MDLRegister.temperatureCompensation | LIS2MDLRegister.idle)
    ]
  }

  package var dataReady: (register: UInt8, mask: UInt8) {
    (LIS2MDLRegister.status, LIS2MDLRegister.dataReady)
  }

  package var output: (register: UInt8, count: Int) {
    (LIS2MDLRegister.output | LIS2MDLRegister.autoIncrement, 6)
  }

  /// The field in microtesla.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    .magneticField(try Self.field(block))
  }

  /// Magnetic flux density in microtesla, sensor frame, from the six output bytes.
  ///
  /// The chip's own axes are left-handed (section 1.2, figure of the axes): X and Y as they are printed on breakouts, and
  /// Z turned, as ArduPilot's and PX4's drivers do. Throws `.overflow` for an axis at an end of the 16 bits. Worked number: the bytes E8 03 are 1000 counts =
  /// 1.5 gauss = 150 microtesla.
  package static func field(_ block: RegisterBlock) throws(DriverError) -> Vector3 {
    let counts = try AxisCounts.littleEndian(block, limit: largestCount)
    return Vector3(counts.x, counts.y, -counts.z) * microteslaPerCount
  }
}

extension ChipDescription {
  /// ST LIS2MDL, and what is the same.
  static let lis2mdl = ChipDescription(
    "LIS2MDL", .magnetometer, addresses: [0x1E],
    fingerprints: [
      // Bits 7 to 5 of CFG_REG_B, bit 7 of CFG_REG_C and bits 4 and 3 of INT_CRTL_REG are 0; I2C_DIS is down in a
      // chip that answers.
      .identity(
        LIS2MDLRegister.whoAmI, [LIS2MDLRegister.identity], .certain,
        "an LSM303AGR's magnetometer and an IIS2MDC are the same chip",
        [
          .bits(0xE0, of: LIS2MDLRegister.configurationB),
          .bits(0xA0, of: LIS2MDLRegister.configurationC),
          .bits(0x18, of: LIS2MDLRegister.interruptControl),
        ])
    ], selfTest: DeflectionTest.lis2mdl
  ) { LIS2MDL(outputRate: $0) }
}
