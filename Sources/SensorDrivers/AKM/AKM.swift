// Asahi Kasei's magnetometers AK8963, AK09916 and AK09918 on I2C (0x0C).

import LinearAlgebra
package import SensorBus
package import SensorTypes

/// Asahi Kasei AK8963, AK09916 or AK09918, three-axis magnetometer, measuring continuously with 16 bits.
///
/// An AK8963 is in every MPU9250, an AK09916 in every ICM20948: there it hangs on the inertial chip's own bus and
/// answers the host only while that chip's bypass is on, which is the inertial driver's affair. Its axes
/// are not that chip's (AK8963: X and Y exchanged, Z the other way; AK09916: Y and Z the other way), which is the
/// mount's. By themselves all three are right-handed.
package struct AKM: FlaggedChip, Hashable {
  /// Which chip it is.
  package let chip: AKMVariant
  /// Conversions a second, one of the chip's.
  package let outputRate: Double
  private let mode: UInt8
  private var adjustment = Vector3(1, 1, 1)

  /// Picks the next rate at or above `outputRate` (Hz), or the fastest there is.
  package init(chip: AKMVariant, outputRate: Double) {
    let index = nextRate(chip.outputRates, atLeast: outputRate)
    self.chip = chip
    self.outputRate = chip.modes[index].rate
    mode = chip.modes[index].code
  }

  /// The mode, which starts conversions. The AK8963 has the width of its outputs in the same register.
  package var registerImage: [RegisterSetting] {
    let width = chip == .ak8963 ? AKMRegister.sixteenBits : 0
    return [RegisterSetting(chip.registers.mode, width | mode, mask: 0x1F)]
  }

  /// The name in board files.
  package var name: String { chip.rawValue }

  /// The pins of an AK09916 (five) and of an AK09918 (four) are for the supply and the bus.
  package var raisesPin: Bool { chip == .ak8963 }

  /// Half a measurement: 7.2 ms (AK8963 5.3.2, AK09916 and AK09918 8.4).
  package var latency: Double { 0.0036 }

  /// Identity, soft reset, the AK8963's adjustment, mode, read-back. The AK8963 has no identity of its own (older
  /// chips of the maker hold the same): one that does not keep a mode is another.
  package var startSteps: [StartStep] {
    [.identifyAll(register: AKMRegister.company, chip.identity)]
      + StartStep.reset(chip.registers.reset, bit: AKMRegister.softReset)
      + (chip == .ak8963 ? adjustmentSteps : []) + [.configure(identifies: chip == .ak8963)]
  }

  /// The fuse ROM is read in a mode of its own; between two modes power-down takes 100 microseconds (6.3).
  private var adjustmentSteps: [StartStep] {
    let mode = chip.registers.mode
    return [
      .write([RegisterSetting(mode, AKMRegister.fuseAccess)]), .wait(seconds: 0.0001),
      .read(register: AKMRegister.adjustment, count: 3),
      .write([RegisterSetting(mode, AKMRegister.powerDown)]), .wait(seconds: 0.0001),
    ]
  }

  /// Takes the sensitivity adjustment.
  package mutating func take(
    _ block: RegisterBlock, from register: UInt8
  ) throws(DriverError) {
    adjustment = try AKMConversion.adjustment(block)
  }

  /// Power-down (3 microamperes, of the AK09916 and AK09918 1).
  package var sleepSettings: [RegisterSetting] {
    [RegisterSetting(chip.registers.mode, AKMRegister.powerDown)]
  }

  /// DRDY of ST1.
  package var dataReady: (register: UInt8, mask: UInt8) {
    (chip.registers.status, AKMRegister.dataReady)
  }

  /// Three axes, and ST2.
  package var output: (register: UInt8, count: Int) {
    (chip.registers.output, chip.registers.outputCount)
  }

  /// The field in microtesla.
  package func reading(_ block: RegisterBlock) throws(DriverError) -> Reading {
    .magneticField(
      try AKMConversion.field(
        block, count: chip.registers.outputCount, adjustment: adjustment))
  }
}

/// Which chip it is; the raw value is its name in board files.
package enum AKMVariant: String, Sendable, Hashable, CaseIterable {
  /// With a fuse ROM: the host adjusts the sensitivity.
  case ak8963 = "AK8963"
  case ak09916 = "AK09916"
  /// The AK09916 in a smaller package.
  case ak09918 = "AK09918"

  /// The rates of continuous measurement, Hz, ascending, and their codes (AK8963 8.3.6; AK09916 and AK09918
  /// 11.3.8).
  var modes: [(rate: Double, code: UInt8)] {
    switch self {
    case .ak8963: [(8, 0x02), (100, 0x06)]
    case .ak09916, .ak09918: [(10, 0x02), (20, 0x04), (50, 0x06), (100, 0x08)]
    }
  }

  /// The rates of continuous measurement, Hz, ascending.
  package var outputRates: [Double] { modes.map(\.rate) }

  var registers: AKMRegisters { self == .ak8963 ? .ak8963 : .ak099xx }

  /// What the first registers hold.
  var identity: [UInt8] {
    switch self {
    case .ak8963: [AKMRegister.asahiKasei]
    case .ak09916: [AKMRegister.asahiKasei, 0x09]
    case .ak09918: [AKMRegister.asahiKasei, 0x0C]
    }
  }
}

extension ChipDescription {
  /// Asahi Kasei AK8963.
  ///
  /// Its pins can put it at 0x0D too, where no module has it: a QMC5883L is there, whose first register is an output that
  /// a scan must not read.
  static let ak8963 = akm(.ak8963, addresses: [0x0C, 0x0E, 0x0F])
  /// Asahi Kasei AK09916; see `ak8963`.
  static let ak09916 = akm(.ak09916, addresses: [0x0C])
  /// Asahi Kasei AK09918; see `ak8963`.
  static let ak09918 = akm(.ak09918, addresses: [0x0C])

  private static func akm(_ chip: AKMVariant, addresses: [UInt8]) -> ChipDescription {
    // Device identities of the family's others: AK09912, AK09911, AK09916, AK09913, AK09918, AK09915.
    let others: [UInt8] = [0x04, 0x05, 0x09, 0x08, 0x0C, 0x10]
    var fingerprint = Fingerprint(
      reads: [.init(register: AKMRegister.company, count: 2)],
      confidence: chip == .ak8963 ? .likely : .certain
    ) { blocks in
      let (company, device) = (blocks[0][0], blocks[0][1])
      let fits = chip == .ak8963 ? !others.contains(device) : chip.identity.last == device
      guard company == AKMRegister.asahiKasei, fits else { return nil }
      let read =
        "register 0x00 is \(hexadecimal(company)), register 0x01 is \(hexadecimal(device))"
      return chip == .ak8963 ? "\(read); an AK8975 answers much the same" : read
    }
    if chip == .ak8963 {
      // CNTL1, CNTL2 and ASTC: bits that are 0 in the register map (AK8963).
      fingerprint.traits = [
        .bits(0xE0, of: 0x0A), .bits(0xFE, of: 0x0B), .bits(0xBF, of: AKMRegister.selfTest),
      ]
    }
    return ChipDescription(
      chip.rawValue, .magnetometer, addresses: addresses, fingerprints: [fingerprint],
      selfTest: DeflectionTest.akm(chip)
    ) { AKM(chip: chip, outputRate: $0) }
  }
}
