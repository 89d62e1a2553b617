// How a chip is told by what its registers hold.

import SensorBus

/// A chip that was told by its registers.
package struct ChipIdentification: Sendable, Hashable {
  /// How sure it is.
  package enum Confidence: Int, Sendable, Hashable, Comparable {
    /// The registers do not speak against it.
    case possible = 1
    /// The identity fits; lookalikes exist that are rarer or behave the same.
    case likely = 2
    /// The identity is this chip's alone.
    case certain = 3

    /// Whether `a` is less sure than `b`.
    package static func < (a: Confidence, b: Confidence) -> Bool { a.rawValue < b.rawValue }
  }

  /// The chip's name, as in a board file.
  package var chip: String
  package var kind: ChipKind
  /// How sure it is.
  package var confidence: Confidence
  /// What was read, and who else would answer so; one line for a person.
  package var evidence: String
  /// Of chips that are as sure: the one with more comes first.
  var lean = 0.0
  /// What speaks for another that is as sure and reads otherwise, in one line; `nil` for nothing.
  package internal(set) var doubt: String?

  /// Whether it is told. What is merely possible, because nothing speaks against it, is not known.
  package var isTold: Bool { confidence >= .likely }

  package init(chip: String, kind: ChipKind, confidence: Confidence, evidence: String) {
    self.chip = chip
    self.kind = kind
    self.confidence = confidence
    self.evidence = evidence
  }
}

/// A register besides the identity, and what it can hold in whatever state the chip was left: bits that its datasheet
/// fixes. One byte alone is any other chip's at times: an output, the light, the seconds of a clock.
///
/// Reading it must change nothing: no status that is cleared, no output whose flag goes down.
struct Trait: Sendable {
  let register: UInt8
  let fits: @Sendable (UInt8) -> Bool

  /// Bits that are `value`, 0 most often.
  static func bits(_ mask: UInt8, of register: UInt8, are value: UInt8 = 0) -> Trait {
    Trait(register: register) { $0 & mask == value }
  }

  /// Another byte than `value`, such as that of a chip with one register only.
  static func not(_ value: UInt8, in register: UInt8) -> Trait {
    Trait(register: register) { $0 != value }
  }

  /// The high byte of an output around the middle of its range, or none yet.
  static func output(_ register: UInt8, in range: ClosedRange<UInt8>) -> Trait {
    Trait(register: register) { range.contains($0) || $0 == 0 }
  }
}

/// What some registers of a chip hold, and how much that says.
///
/// Only reads, and only registers whose reading changes nothing in any chip of the catalogue.
struct Fingerprint: Sendable {
  /// A burst: where it begins, with the transfer flag that the chip wants, and its bytes.
  struct Read: Sendable {
    let register: UInt8
    let count: Int
  }

  let reads: [Read]
  let confidence: ChipIdentification.Confidence
  /// Of chips that are as sure: the one with more comes first.
  var lean = 0.0
  /// What was read, in words, for bytes that fit; `nil` for those of another chip.
  let evidence: @Sendable ([RegisterBlock]) -> String?
  /// Whether bytes that fit are those of another chip as well, so that it is merely possible.
  var isShared: (@Sendable ([RegisterBlock]) -> Bool)?
  /// Asked where the bytes fit. A chip that lacks one of them is merely possible: what a datasheet calls reserved was
  /// read in no chip of ours.
  var traits: [Trait] = []

  /// One register that holds one of some values, and others that hold what they can; `note` says who else answers so.
  static func identity(
    _ register: UInt8, _ values: [UInt8], _ confidence: ChipIdentification.Confidence,
    _ note: String? = nil, _ traits: [Trait]
  ) -> Fingerprint {
    var fingerprint = Fingerprint(
      reads: [Read(register: register, count: 1)], confidence: confidence
    ) { blocks in
      let found = blocks[0][0]
      guard values.contains(found) else { return nil }
      let read = "register \(hexadecimal(register)) is \(hexadecimal(found))"
      return note.map { "\(read); \($0)" } ?? read
    }
    fingerprint.traits = traits
    return fingerprint
  }

  /// What the device's registers say, and how much that is; `nil` if no chip of this kind.
  ///
  /// Throws when the transfer itself fails, which says nothing about the chip.
  func evidence<Device: RegisterDevice & ~Copyable>(
    from device: borrowing Device
  ) throws(BusError) -> (text: String, confidence: ChipIdentification.Confidence)? {
    var blocks: [RegisterBlock] = []
    for read in reads { blocks.append(try device.burst(read.register, count: read.count)) }
    guard let text = evidence(blocks) else { return nil }
    for trait in traits {
      let found = try device.byte(trait.register)
      guard trait.fits(found) else {
        let register = hexadecimal(trait.register)
        return (
          "\(text); but register \(register) is \(hexadecimal(found)), which it should not be",
          .possible
        )
      }
    }
    return (text, isShared?(blocks) == true ? .possible : confidence)
  }
}
