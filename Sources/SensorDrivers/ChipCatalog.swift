// Every chip that Lodestone knows: its name in board files, where it can be, how it is told.

public import SensorBus

/// What a chip measures.
public enum ChipKind: String, Sendable, Hashable, CaseIterable {
  /// Magnetic field.
  case magnetometer
  /// Specific force.
  case accelerometer
  /// Angular rate and specific force.
  case inertial
  /// Pressure and temperature.
  case barometer
  /// Position.
  case receiver
}

/// A chip that was told by its registers.
public struct ChipIdentification: Sendable, Hashable {
  /// How sure it is.
  public enum Confidence: Int, Sendable, Hashable, Comparable {
    /// The registers do not speak against it.
    case possible = 1
    /// The identity fits; lookalikes exist that are rarer or behave the same.
    case likely = 2
    /// The identity is this chip's alone.
    case certain = 3

    /// Whether `a` is less sure than `b`.
    public static func < (a: Confidence, b: Confidence) -> Bool { a.rawValue < b.rawValue }
  }

  /// The chip's name, as in a board file.
  public var chip: String
  /// What it measures.
  public var kind: ChipKind
  /// How sure it is.
  public var confidence: Confidence
  /// What was read, and who else would answer so; one line for a person.
  public var evidence: String

  /// Makes an identification.
  public init(chip: String, kind: ChipKind, confidence: Confidence, evidence: String) {
    self.chip = chip
    self.kind = kind
    self.confidence = confidence
    self.evidence = evidence
  }
}

/// A chip as the catalogue knows it.
public struct ChipDescription: Sendable, Hashable {
  /// The name in a board file.
  public let name: String
  /// What it measures.
  public let kind: ChipKind
  /// The I2C addresses it can have, the usual one first; empty for what hangs on a serial port only.
  public let addresses: [UInt8]

  /// Whether a device at one of `addresses` is this chip: `nil` if its registers say no.
  ///
  /// Only reads, and only registers whose reading changes nothing in any chip of this catalogue.
  /// Throws when the transfer itself fails, which says nothing about the chip.
  public func identify<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(BusError) -> ChipIdentification? {
    switch name {
    case "LIS3MDL":
      return try byIdentity(
        device, 0x0F, [0x3D], .likely, "an LSM9DS1's magnetometer answers the same")
    case "LSM303DLHC-M":
      let letters = try device.burst(0x0A, count: 3)
      guard letters[0] == 0x48, letters[1] == 0x34, letters[2] == 0x33 else { return nil }
      return identification(
        .likely,
        "registers 0x0a to 0x0c are 48 34 33; an HMC5883L answers the same, with another scale on Z"
      )
    case "LSM303DLHC-A":
      return try accelerometer(device)
    case "LSM6DSOX":
      return try byIdentity(
        device, 0x0F, [0x6C], .certain, "an LSM6DSO answers the same and is used the same")
    case "BMP280":
      return try byIdentity(device, 0xD0, [0x58, 0x56, 0x57], .certain, nil)
    case "BME280":
      return try byIdentity(device, 0xD0, [0x60], .certain, nil)
    case "DPS310":
      return try byIdentity(device, 0x0D, [0x10], .likely, "an SPL06-001 answers the same")
    case "u-blox":
      let count = try device.burst(0xFD, count: 2)
      let waiting = Int(count[0]) << 8 | Int(count[1])
      guard waiting <= 8192 else { return nil }
      return identification(
        .possible, "registers 0xfd and 0xfe say that \(waiting) bytes wait, as a receiver's would")
    default:
      return nil
    }
  }

  private func byIdentity<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, _ register: UInt8, _ values: [UInt8],
    _ confidence: ChipIdentification.Confidence, _ lookalike: String?
  ) throws(BusError) -> ChipIdentification? {
    let found = try device.byte(register)
    guard values.contains(found) else { return nil }
    let read = "register \(hexadecimal(register)) is \(hexadecimal(found))"
    return identification(confidence, lookalike.map { "\(read); \($0)" } ?? read)
  }

  /// The LSM303DLHC's accelerometer has no documented identity. Chips from the shop hold 0x33 in 0x0F,
  /// as their relatives do; failing that, bits that must be 0 and axes that are on by default.
  private func accelerometer<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(BusError) -> ChipIdentification? {
    if try device.byte(0x0F) == 0x33 {
      return identification(
        .likely, "register 0x0f is 0x33; an LIS3DH or LSM303AGR answers the same")
    }
    let control = try device.burst(0x20 | 0x80, count: 6)
    guard control[0] & 0x07 == 0x07, control[3] & 0x06 == 0, control[4] & 0x30 == 0,
      control[5] & 0x05 == 0
    else { return nil }
    return identification(
      .possible, "no identity register, but registers 0x20 to 0x25 hold what this chip's can hold")
  }

  private func identification(
    _ confidence: ChipIdentification.Confidence, _ evidence: String
  ) -> ChipIdentification {
    ChipIdentification(chip: name, kind: kind, confidence: confidence, evidence: evidence)
  }
}

/// All chips that Lodestone has a driver for.
public enum ChipCatalog {
  /// The chips, by kind.
  public static let chips: [ChipDescription] = [
    ChipDescription(name: "LIS3MDL", kind: .magnetometer, addresses: [0x1C, 0x1E]),
    ChipDescription(name: "LSM303DLHC-M", kind: .magnetometer, addresses: [0x1E]),
    ChipDescription(name: "LSM303DLHC-A", kind: .accelerometer, addresses: [0x19]),
    ChipDescription(name: "LSM6DSOX", kind: .inertial, addresses: [0x6A, 0x6B]),
    ChipDescription(name: "BMP280", kind: .barometer, addresses: [0x76, 0x77]),
    ChipDescription(name: "BME280", kind: .barometer, addresses: [0x76, 0x77]),
    ChipDescription(name: "DPS310", kind: .barometer, addresses: [0x77, 0x76]),
    ChipDescription(name: "u-blox", kind: .receiver, addresses: [0x42]),
    ChipDescription(name: "NMEA", kind: .receiver, addresses: []),
  ]

  /// Every address at which one of the chips can be, ascending: what a scan has to ask.
  public static let addresses: [UInt8] = Set(chips.flatMap(\.addresses)).sorted()

  /// The chip called `name` in board files (exactly so written), or `nil`.
  public static func chip(named name: String) -> ChipDescription? {
    chips.first { $0.name == name }
  }

  /// Which chips the device at `address` can be, the surest first; empty when it is none of ours.
  ///
  /// A chip that does not acknowledge one of the registers asked is not that chip; when every question
  /// failed, the last error is thrown.
  public static func identify<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, at address: UInt8
  ) throws(BusError) -> [ChipIdentification] {
    var found: [ChipIdentification] = []
    var answered = false
    var failure: BusError?
    for chip in chips where chip.addresses.contains(address) {
      do {
        let identification = try chip.identify(device)
        answered = true
        if let identification { found.append(identification) }
      } catch {
        failure = error
      }
    }
    if let failure, !answered { throw failure }
    return found.sorted { $0.confidence > $1.confidence }
  }
}
