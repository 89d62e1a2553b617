// Registers of the QMI8658.

extension QMI8658 {
  /// Registers of the QMI8658A and QMI8658C (datasheets rev. A and 0.6).
  enum Register {
    /// Always 0x05.
    static let whoAmI: UInt8 = 0x00
    /// Differs from chip to chip: 0x68 and more.
    static let revision: UInt8 = 0x01
    /// SIM | ADDR_AI | BE | INT2_EN | INT1_EN | FIFO_INT_SEL | 0 | SensorDisable.
    static let control1: UInt8 = 0x02
    /// aST | aFS2:0 | aODR3:0.
    static let control2: UInt8 = 0x03
    /// gST | gFS2:0 | gODR3:0.
    static let control3: UInt8 = 0x04
    /// Low-pass filters of both.
    static let control5: UInt8 = 0x06
    /// syncSample | ... | gEN bit 1 | aEN bit 0.
    static let control7: UInt8 = 0x08
    /// Bit 0: what pin INT2 would say; here that the self-test is over.
    static let interruptStatus: UInt8 = 0x2D
    /// gDA bit 1, aDA bit 0.
    static let status0: UInt8 = 0x2E
    /// Accelerometer X low ... Z high, then at once gyro X low ... Z high.
    static let output: UInt8 = 0x35
    /// 0x80 once a reset is over.
    static let resetResult: UInt8 = 0x4D
    /// dVX_L to dVZ_H.
    static let testResult: UInt8 = 0x51
    static let reset: UInt8 = 0x60

    static let identity: UInt8 = 0x05
    static let softReset: UInt8 = 0xB0
  }
}
