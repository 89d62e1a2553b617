// QST's QMI8658 on I2C (0x6B or 0x6A).

/// QST QMI8658 (A or C): accelerometer and gyro sampled together on the gyro's clock, data ready on pin INT2.
///
/// The axes of both are those of the datasheet's section 2.4: right-handed.
package struct QMI8658: InertialChip, Hashable {
  /// The gyro's range, degrees a second.
  package enum AngularRateRange: Int, MeasuringRange {
    /// +-16 degrees a second.
    case dps16 = 16
    /// +-32 degrees a second.
    case dps32 = 32
    /// +-64 degrees a second.
    case dps64 = 64
    /// +-128 degrees a second.
    case dps128 = 128
    /// +-256 degrees a second.
    case dps256 = 256
    /// +-512 degrees a second.
    case dps512 = 512
    /// +-1024 degrees a second.
    case dps1024 = 1024
    /// +-2048 degrees a second.
    case dps2048 = 2048

    /// gFS: 0 for 16 degrees a second, one more for each doubling, as the datasheets and most drivers have it; an early
    /// header of the maker's, still found in vendors' examples, counts from 32.
    var code: UInt8 { UInt8(rawValue.trailingZeroBitCount - 4) }
  }

  /// The rates of both while the gyro runs, Hz: 7174.4 halved. The code is 8 for the first, one less for each next. The
  /// chip has faster ones, which a bus cannot fetch.
  package static let outputRates = [28.025, 56.05, 112.1, 224.2, 448.4, 896.8, 1793.6]

  /// Ranges and rate, one of `outputRates`.
  package private(set) var setting: InertialSetting<AccelerationRange, AngularRateRange>

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  ///
  /// 4 g and 1024 degrees a second unless said otherwise: a hand turns a board at up to 800, and the gyro's step (31
  /// millidegrees a second) is below its own noise at 224 Hz.
  package init(
    outputRate: Double, accelerationRange: AccelerationRange = .g4,
    angularRateRange: AngularRateRange = .dps1024
  ) {
    setting = InertialSetting(
      outputRate, of: Self.outputRates, accelerationRange, angularRateRange)
  }

  /// What is written, in this order; what starts conversions comes last.
  ///
  /// BE is cleared: the maker's own example sets it and reads low bytes first all the same, the datasheets say that it
  /// turns the bytes round; without it all agree.
  package var registerImage: [RegisterSetting] {
    let code = UInt8(8 - setting.rateIndex)
    return [
      // ADDR_AI, INT2_EN.
      RegisterSetting(Register.control1, 0x50),
      RegisterSetting(Register.control2, setting.accelerationRange.index << 4 | code),
      RegisterSetting(Register.control3, setting.angularRateRange.code << 4 | code),
      RegisterSetting(Register.control5, 0x00),
      RegisterSetting(Register.control7, 0x03),
    ]
  }

  /// The name in board files.
  package var name: String { "QMI8658" }

  /// Conversions a second.
  package var outputRate: Double { setting.outputRate }

  /// Identity, reset (15 ms), configuration, read-back, and the gyro's turn-on time of 60 ms and 3 periods with a
  /// margin; what was converted meanwhile is read and dropped.
  package var startSteps: [StartStep] {
    [
      .identify(register: Register.whoAmI, anyOf: [Register.identity]),
      .write([RegisterSetting(Register.reset, Register.softReset)]), .wait(seconds: 0.02),
      .await(
        register: Register.resetResult, mask: 0xFF, value: 0x80, every: 0.01, looks: 10,
        what: "its reset does not end"),
      .configure(), .wait(seconds: 0.08 + 3 / outputRate),
      .discard(register: Register.output, count: 12),
    ]
  }

  /// Takes the next wider ranges.
  package mutating func widen() -> Bool { setting.widen() }

  /// Both sensors off; registers are kept.
  package var sleepSettings: [RegisterSetting] { [RegisterSetting(Register.control7, 0x00)] }

  /// Both have something new; reading it takes the bits down.
  package var dataReady: (register: UInt8, mask: UInt8) { (Register.status0, 0x03) }

  package var output: (register: UInt8, count: Int) { (Register.output, 12) }

  /// The accelerometer first, low byte first.
  package static let layout = InertialLayout(angularRate: 6, acceleration: 0)

  /// Sensitivities are powers of two: 32768 counts are the range.
  package var scale: InertialScale {
    InertialScale(
      gPerCount: setting.accelerationRange.gPerCount,
      countsPerDegree: 32_768 / Double(setting.angularRateRange.rawValue))
  }
}

extension ChipDescription {
  /// QST QMI8658.
  static let qmi8658 = ChipDescription(
    "QMI8658", .inertial, addresses: [0x6B, 0x6A],
    // The revision is another byte: a converter with one result (MCP3421) has 0x05 everywhere at some voltage. Bit 1 of
    // CTRL1 is 0, aFS has four values, and bits 7 and 3 of CTRL5 are reserved.
    fingerprints: [
      .identity(
        QMI8658.Register.whoAmI, [QMI8658.Register.identity], .likely, nil,
        [
          .not(QMI8658.Register.identity, in: QMI8658.Register.revision),
          .bits(0x02, of: QMI8658.Register.control1), .bits(0x40, of: QMI8658.Register.control2),
          .bits(0x88, of: QMI8658.Register.control5),
        ])
    ],
    zeroRateLevel: 10, selfTest: DeflectionTest.qmi8658
  ) { QMI8658(outputRate: $0) }
}
