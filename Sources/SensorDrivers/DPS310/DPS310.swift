// The Infineon DPS310 and DPS368 and the Goertek SPL06 and SPA06 barometers on I2C (0x77 or 0x76).

package import SensorBus
package import SensorTypes

/// Infineon DPS310 or one of its family: pressure and temperature in the background at one rate, temperature with
/// single precision (its noise hardly reaches the pressure).
package struct DPS310: RegisterChip, Hashable {
  /// The rates that the chip has, Hz (7.3); the code is the index.
  package static let outputRates: [Double] = [1, 2, 4, 8, 16, 32, 64, 128]
  /// Milliseconds of a measurement by the code of its oversampling, x1 to x128 (8.3, table 16).
  static let measurementTimes = [3.6, 5.2, 8.4, 14.8, 27.6, 53.2, 104.4, 206.8]

  package let chip: DPS310Variant
  /// Conversions a second, one of `outputRates`.
  package let outputRate: Double
  /// The code of the pressure oversampling: 0 (x1) to 7 (x128).
  package let pressurePrecision: Int
  private let rateIndex: Int
  private var coefficients: DPS310Trim?
  /// Whether the coefficients belong to the sensor in the pressure cell; an SPA06 has one sensor.
  private var hasExternalTemperature: Bool { chip != .spa06 }

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is, and the strongest
  /// oversampling that leaves time for both measurements within a second (8.1).
  package init(chip: DPS310Variant = .dps310, outputRate: Double) {
    self.chip = chip
    rateIndex = nextRate(Self.outputRates, atLeast: outputRate)
    let rate = Self.outputRates[rateIndex]
    let single = Self.measurementTimes[0]
    pressurePrecision =
      Self.measurementTimes.lastIndex { rate * ($0 + single) <= 1000 } ?? 0
    self.outputRate = rate
  }

  /// How often pressure is measured for one output: 1 to 128.
  package var pressureOversampling: Int { 1 << pressurePrecision }

  /// What is written, in this order; the measurement comes last, because it starts conversions. Temperature is
  /// measured where the chip's coefficients belong.
  package var registerImage: [RegisterSetting] {
    let rate = UInt8(rateIndex) << 4
    // Results of more than x8 have more than 24 bits and must be shifted by the chip.
    let shift: UInt8 = pressurePrecision > 3 ? 0x04 : 0
    return [
      RegisterSetting(DPS310Register.configuration, shift),
      RegisterSetting(DPS310Register.pressureConfiguration, rate | UInt8(pressurePrecision)),
      RegisterSetting(
        DPS310Register.temperatureConfiguration, (hasExternalTemperature ? 0x80 : 0) | rate),
      RegisterSetting(DPS310Register.measurement, 0x07, mask: 0x07),
    ]
  }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// Their pin for it is the one that chooses the address.
  package var raisesPin: Bool { false }

  /// Half the pressure measurement.
  package var latency: Double { Self.measurementTimes[pressurePrecision] / 2000 }

  /// Identity, soft reset, until sensor and coefficients are ready (40 ms by the datasheet, at most
  /// 140 ms here), coefficients, their source and the temperature mend of Infineon's chips, configuration,
  /// read-back.
  package var startSteps: [StartStep] {
    let infineon: [StartStep] = [
      .read(register: DPS310Register.coefficientSource, count: 1),
      .write(DPS310Register.temperatureMend),
    ]
    return [
      .identify(register: DPS310Register.identity, anyOf: [chip.identity]),
      .write([RegisterSetting(DPS310Register.reset, DPS310Register.softReset)]),
      .wait(seconds: 0.04),
      .await(
        register: DPS310Register.measurement, mask: DPS310Register.started,
        value: DPS310Register.started, every: 0.01, looks: 11,
        what: "sensor or coefficients do not become ready"),
      .read(register: DPS310Register.coefficients, count: chip.coefficientCount),
    ] + (chip.isInfineon ? infineon : []) + [.configure()]
  }

  /// Takes the coefficients, and of a chip of Infineon's where they belong: throws `.otherChip` for an SPL06, whose
  /// coefficients are those of the cell although it does not say so. As one of Infineon's it would be measured in the ASIC,
  /// and be wrong by any amount.
  package mutating func take(
    _ block: RegisterBlock, from register: UInt8
  ) throws(DriverError) {
    if register == DPS310Register.coefficients {
      coefficients = try DPS310Trim(block, chip)
    } else if block[0] & 0x80 == 0 {
      throw .otherChip(
        "this is no \(name) but an SPL06: register 0x28 is \(hexadecimal(block[0])), as in no chip of Infineon's that is "
          + "known")
    }
  }

  /// Idle; registers are kept.
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(DPS310Register.measurement, 0x00)]
  }

  /// Pressure in pascals and temperature in degrees Celsius of one conversion: both flags must be up,
  /// and both values come in one burst, whose reading takes the flags down.
  package mutating func poll<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ outputs: inout OutputChecks
  ) throws(DriverError) -> Reading? {
    guard let coefficients else { return nil }
    let status = try device.get(DPS310Register.measurement)
    // A rig's chip that may stand still may have no flags either: each look counts then. (QEMU's loses
    // them, those of its start included, to the write that starts the measurement; on a real chip they
    // are read-only.)
    let hasFlags = outputs.change || status & DPS310Register.started != 0
    guard status & DPS310Register.dataReady == DPS310Register.dataReady || !hasFlags else {
      return nil
    }
    let block = try device.get(DPS310Register.output, count: 6)
    let value = try DPS310Conversion.atmosphere(
      block, precision: pressurePrecision, coefficients)
    try outputs.check(block)
    return .atmosphere(pressure: value.pressure, temperature: value.temperature)
  }
}

/// Which of the family.
package enum DPS310Variant: String, Sendable, Hashable, CaseIterable {
  /// Identity 0x10.
  case dps310 = "DPS310"
  /// The same in a water-tight package.
  case dps368 = "DPS368"
  /// Goertek SPL06-001 and SPL06-007: the same registers and the same identity, coefficients of the sensor in the
  /// pressure cell whatever the register holds that says so in Infineon's chips, and nothing to mend.
  case spl06 = "SPL06"
  /// Goertek SPA06-003 and SPL07-003: identity 0x11, two more coefficients, one temperature sensor.
  case spa06 = "SPA06"

  var identity: UInt8 { self == .spa06 ? 0x11 : DPS310Register.product }
  var isInfineon: Bool { self == .dps310 || self == .dps368 }
  /// Bytes of coefficients.
  var coefficientCount: Int { self == .spa06 ? 21 : 18 }
}

extension ChipDescription {
  /// Infineon DPS310.
  static let dps310 = dps(.dps310)
  /// Infineon DPS368.
  static let dps368 = dps(.dps368)
  /// Goertek SPL06-001 and SPL06-007.
  static let spl06 = dps(.spl06)
  /// Goertek SPA06-003.
  static let spa06 = dps(.spa06)

  /// No self-test: none in the register map (datasheet rev. 1.2, section 7).
  ///
  /// Where 0x28 says that the coefficients belong to the sensor in the cell (bit 7 is up), nothing tells DPS310, DPS368 and
  /// SPL06 apart, and one driver serves all three; Infineon's come first, whose driver mends a fault that an SPL06 does not
  /// have. Goertek's datasheets do not have that register. One who used SPL06-007 found the bit down in them
  /// (Infineon/DPS310-Pressure-Sensor, issue 20), Paparazzi's driver for the SPL06 has it as Infineon does. No chip of
  /// Infineon's is known with the bit down: that is an SPL06, measured in the cell as ArduPilot, INAV and Betaflight do.
  private static func dps(_ chip: DPS310Variant) -> ChipDescription {
    let note =
      chip == .spa06
      ? "an SPL07-003 answers and works the same"
      : "DPS310, DPS368 and SPL06 answer the same and one driver serves them"
    var fingerprint = Fingerprint(
      reads: [
        .init(register: DPS310Register.identity, count: 1),
        .init(register: DPS310Register.coefficientSource, count: 1),
      ], confidence: .likely, lean: chip.isInfineon ? 1 : 0
    ) { blocks in
      let (identity, source) = (blocks[0][0], blocks[1][0])
      guard identity == chip.identity else { return nil }
      let read = "register 0x0d is \(hexadecimal(identity)), 0x28 \(hexadecimal(source))"
      let isStrange = chip.isInfineon && source & 0x80 == 0
      return "\(read); \(note)"
        + (isStrange ? "; none of Infineon's is known with bit 7 of 0x28 down" : "")
    }
    if chip.isInfineon { fingerprint.isShared = { $0[1][0] & 0x80 == 0 } }
    // A chip that has started is ready for ever. Bits that are none: bit 3 of MEAS_CFG and TMP_CFG, bit 7 of PRS_CFG, where
    // an SPA06 has rates of its own. A PCA9685, which drives servos, has 0x10 at 0x0d at first.
    fingerprint.traits = [
      .bits(0xC8, of: DPS310Register.measurement, are: DPS310Register.started),
      .bits(0x08, of: DPS310Register.temperatureConfiguration),
    ]
    if chip != .spa06 {
      fingerprint.traits.append(.bits(0x80, of: DPS310Register.pressureConfiguration))
    }
    return ChipDescription(
      chip.rawValue, .barometer, addresses: [0x77, 0x76], fingerprints: [fingerprint]
    ) { DPS310(chip: chip, outputRate: $0) }
  }
}
