// Registers and configuration of the Infineon DPS310 (datasheet rev. 1.2, sections 7 and 8).

/// The registers that the driver touches.
enum DPS310Register {
  /// Pressure (three bytes, high first), then temperature (three bytes).
  static let output: UInt8 = 0x00
  /// PM_RATE in bits 6:4, PM_PRC in bits 3:0.
  static let pressureConfiguration: UInt8 = 0x06
  /// TMP_EXT bit 7, TMP_RATE in bits 6:4, TMP_PRC in bits 2:0.
  static let temperatureConfiguration: UInt8 = 0x07
  /// COEF_RDY | SENSOR_RDY | TMP_RDY | PRS_RDY | 0 | MEAS_CTRL2:0.
  static let measurement: UInt8 = 0x08
  /// INT_HL | INT_FIFO | INT_TMP | INT_PRS | T_SHIFT | P_SHIFT | FIFO_EN | SPI_MODE.
  static let configuration: UInt8 = 0x09
  /// 0x09 is a soft reset.
  static let reset: UInt8 = 0x0C
  /// Revision 1, product 0: 0x10.
  static let identity: UInt8 = 0x0D
  /// 18 bytes of coefficients, 0x10 to 0x21.
  static let coefficients: UInt8 = 0x10
  /// Bit 7: the coefficients belong to the temperature sensor in the pressure cell (1) or in the
  /// ASIC (0); the same one has to be measured.
  static let coefficientSource: UInt8 = 0x28

  static let product: UInt8 = 0x10
  static let softReset: UInt8 = 0x09
  /// COEF_RDY and SENSOR_RDY.
  static let started: UInt8 = 0xC0
  /// TMP_RDY and PRS_RDY.
  static let dataReady: UInt8 = 0x30

  /// Some chips read about 60 degrees at room temperature until an undocumented setting of the ASIC is
  /// mended; this is the manufacturer's published sequence, harmless to the others.
  static let temperatureMend = [
    RegisterSetting(0x0E, 0xA5), RegisterSetting(0x0F, 0x96), RegisterSetting(0x62, 0x02),
    RegisterSetting(0x0E, 0x00), RegisterSetting(0x0F, 0x00),
  ]
}

/// How a DPS310 is to measure: pressure and temperature in the background at one rate, temperature
/// with single precision (its noise hardly reaches the pressure).
public struct DPS310Configuration: Sendable, Hashable {
  /// The rates that the chip has, Hz (7.3); the code is the index.
  public static let outputRates: [Double] = [1, 2, 4, 8, 16, 32, 64, 128]
  /// Milliseconds of a measurement by the code of its oversampling, x1 to x128 (8.3, table 16).
  static let measurementTimes = [3.6, 5.2, 8.4, 14.8, 27.6, 53.2, 104.4, 206.8]

  /// Conversions a second, one of `outputRates`.
  public let outputRate: Double
  /// The code of the pressure oversampling: 0 (x1) to 7 (x128).
  public let pressurePrecision: Int
  private let rateIndex: Int

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is, and the strongest
  /// oversampling that leaves time for both measurements within a second (8.1).
  public init(outputRate: Double) {
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    let rate = Self.outputRates[rateIndex]
    let single = Self.measurementTimes[0]
    pressurePrecision =
      Self.measurementTimes.lastIndex { rate * ($0 + single) <= 1000 } ?? 0
    self.outputRate = rate
  }

  /// How often pressure is measured for one output: 1 to 128.
  public var pressureOversampling: Int { 1 << pressurePrecision }

  /// What is written for a chip whose coefficients belong to the sensor in its pressure cell, as those
  /// of all chips sold do.
  public var registerImage: [RegisterSetting] { registerImage(externalTemperature: true) }

  /// What is written, in this order; the measurement comes last, because it starts conversions.
  /// `externalTemperature` is the coefficient source that the chip itself names.
  public func registerImage(externalTemperature: Bool) -> [RegisterSetting] {
    let rate = UInt8(rateIndex) << 4
    // Results of more than x8 have more than 24 bits and must be shifted by the chip.
    let shift: UInt8 = pressurePrecision > 3 ? 0x04 : 0
    return [
      RegisterSetting(DPS310Register.configuration, shift),
      RegisterSetting(DPS310Register.pressureConfiguration, rate | UInt8(pressurePrecision)),
      RegisterSetting(
        DPS310Register.temperatureConfiguration, (externalTemperature ? 0x80 : 0) | rate),
      RegisterSetting(DPS310Register.measurement, 0x07, mask: 0x07),
    ]
  }
}
