// A chip as the catalogue knows it: everything that is not its registers' business.

package import SensorBus
package import SensorTypes

/// What a chip measures.
package enum ChipKind: String, Sendable, Hashable, CaseIterable {
  case magnetometer
  case accelerometer
  /// Angular rate and specific force.
  case inertial
  case barometer
  case receiver
}

/// A chip's name in board files, where it can be, how it is told, and how it is driven. It stands in the chip's own
/// folder; the catalogue is the list of all.
package struct ChipDescription: Sendable {
  /// A property of a chip that follows from documents alone.
  package struct Unconfirmed: Sendable, Hashable {
    /// What has not been confirmed, as a clause that follows the chip's name and a colon.
    package let what: String
    /// How a user checks it, and what to do if it is wrong, as an imperative sentence without a full stop.
    package let check: String
  }

  /// The name in a board file.
  package let name: String
  package let kind: ChipKind
  /// The I2C addresses it can have, the usual one first; empty for what hangs on a serial port only.
  package let addresses: [UInt8]
  /// The chip as it is to measure at so many conversions a second, or the next more; `nil` for a receiver, which
  /// has no registers worth the name.
  package let chip: (@Sendable (_ outputRate: Double) -> any RegisterChip)?
  /// The chip's own self-test at its beginning, or `nil` for a chip that has none.
  package let selfTest: (any SelfTesting)?
  /// The name of the other half of its package, whose answer on the same bus tells it from lookalikes.
  package let partner: String?
  /// How that other half sits in the package: its mount where this one is aligned. Of its axes as both drivers deliver
  /// them.
  package let partnerMount: Mount
  /// What its start sets to let the host through to chips behind it, its partner among them: until then, and while it is
  /// being reset, those do not answer. `nil` for a chip that has none behind it.
  package let bypass: RegisterSetting?
  /// What its gyro may say at rest, degrees a second either way, by its datasheet; `nil` where it has none.
  package let zeroRateLevel: Double?
  /// What could turn its readings around and has not been checked on a real chip; `nil` for a chip about which nothing
  /// in particular is in doubt. `scan`, `doctor` and the README's table of chips say it.
  package let unconfirmed: Unconfirmed?
  let fingerprints: [Fingerprint]
  /// What tells it when its registers do not, or `nil`.
  let trial: (any ChipTrial)?
  /// Those of `addresses` at which nothing may be read to find out who is there: someone else would lose what is read.
  let unasked: Set<UInt8>

  init(
    _ name: String, _ kind: ChipKind, addresses: [UInt8], fingerprints: [Fingerprint],
    trial: (any ChipTrial)? = nil, unasked: Set<UInt8> = [], partner: String? = nil,
    partnerMount: Mount = .aligned, bypass: RegisterSetting? = nil,
    zeroRateLevel: Double? = nil, unconfirmed: Unconfirmed? = nil,
    selfTest: (any SelfTesting)? = nil,
    chip: (@Sendable (_ outputRate: Double) -> any RegisterChip)? = nil
  ) {
    self.name = name
    self.kind = kind
    self.addresses = addresses
    self.fingerprints = fingerprints
    self.trial = trial
    self.unasked = unasked
    self.partner = partner
    self.partnerMount = partnerMount
    self.bypass = bypass
    self.zeroRateLevel = zeroRateLevel
    self.unconfirmed = unconfirmed
    self.selfTest = selfTest
    self.chip = chip
  }

  /// Whether a device at one of `addresses` is this chip: `nil` if its registers say no.
  ///
  /// Only reads, and only registers whose reading changes nothing in any chip of this catalogue.
  /// Throws when the transfer itself fails, which says nothing about the chip.
  package func identify<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(BusError) -> ChipIdentification? {
    for fingerprint in fingerprints {
      guard let evidence = try fingerprint.evidence(from: device) else { continue }
      var told = ChipIdentification(
        chip: name, kind: kind, confidence: evidence.confidence, evidence: evidence.text)
      told.lean = fingerprint.lean
      return told
    }
    return nil
  }

  /// Whether it has a pin whose edges tell of readings, at the slowest rate at least, and its driver sets it.
  package var hasDataReadyPin: Bool { chip?(0).raisesPin ?? false }

  /// Whether its start lets the host through to chips behind it.
  package var opensBypass: Bool { bypass != nil }

  /// Whether the host is let through now. Only reads; of a device that is this chip.
  package func letsThrough<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device
  ) throws(BusError) -> Bool {
    guard let bypass else { return false }
    return try device.byte(bypass.register) & bypass.mask == bypass.value
  }

  /// Whether registers of the chip may be read at `address` for no other purpose than to see that it answers: a receiver
  /// would lose what is read.
  package func canBeAsked(at address: UInt8) -> Bool {
    kind != .receiver && !unasked.contains(address)
  }

  /// What can be said of an address where naming a register may move the outputs of a port expander.
  func unheard(at address: UInt8) -> ChipIdentification {
    ChipIdentification(
      chip: name, kind: kind, confidence: .possible,
      evidence:
        "something answers at \(hexadecimal(address)) as a port expander does, whose outputs would move if it "
        + "were asked what it is; say in the board file which it is")
  }

  /// Whether anyone answers at an address at which nothing may be read: a register is named, and not asked for.
  func knock<Device: RegisterDevice & ~Copyable>(
    _ device: borrowing Device, at address: UInt8
  ) throws(BusError) -> ChipIdentification {
    try device.write(0x40, from: UnsafeRawBufferPointer(start: nil, count: 0))
    return ChipIdentification(
      chip: name, kind: kind, confidence: .possible,
      evidence: "something answers at \(hexadecimal(address)) and was not asked what it is: "
        + "a receiver there would lose what is read; say in the board file which it is")
  }
}
