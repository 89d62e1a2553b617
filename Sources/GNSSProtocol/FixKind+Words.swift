// Each protocol's words for the kind of a fix.

package import SensorTypes

extension FixKind {
  /// The quality of a GGA (NMEA 0183, version 4.11); `nil` for a number without a meaning there.
  init?(quality: Int) {
    switch quality {
    case 0: self = .none
    case 1: self = .autonomous
    case 2: self = .differential
    case 3: self = .preciseCode
    case 4: self = .rtkFixed
    case 5: self = .rtkFloat
    case 6: self = .deadReckoning
    case 7: self = .manual
    case 8: self = .simulated
    // Beyond the standard: NovAtel writes 9 for corrections by satellite (OEM7 commands and logs, GPGGA).
    case 9: self = .differential
    default: return nil
    }
  }

  /// The mode indicator of a GNS, RMC, VTG or GLL (NMEA 0183, version 4.11); `nil` for another letter, and for P, "precise": several
  /// frequencies, SBAS, precise point positioning or the encrypted code (IEC 61162-1).
  init?(mode: UInt8) {
    switch mode {
    case UInt8(ascii: "N"): self = .none
    case UInt8(ascii: "A"): self = .autonomous
    case UInt8(ascii: "D"): self = .differential
    case UInt8(ascii: "R"): self = .rtkFixed
    case UInt8(ascii: "F"): self = .rtkFloat
    case UInt8(ascii: "E"): self = .deadReckoning
    case UInt8(ascii: "M"): self = .manual
    case UInt8(ascii: "S"): self = .simulated
    default: return nil
    }
  }

  /// The quality of a GGA. Where the standard has no word, a coarser one.
  package var quality: Int {
    switch self {
    case .none, .timeOnly: 0
    // u-blox receivers give what they have by satellites and sensors together as measured by satellites.
    case .autonomous, .combined: 1
    case .differential, .precisePoint: 2
    case .preciseCode: 3
    case .rtkFixed: 4
    case .rtkFloat: 5
    case .deadReckoning: 6
    case .manual: 7
    case .simulated: 8
    }
  }

  /// The mode indicator of a GNS, RMC, VTG or GLL. Where the standard has no letter, a coarser one's.
  package var mode: UInt8 {
    switch self {
    case .none, .timeOnly: UInt8(ascii: "N")
    case .autonomous, .combined: UInt8(ascii: "A")
    case .differential, .precisePoint: UInt8(ascii: "D")
    case .preciseCode: UInt8(ascii: "P")
    case .rtkFixed: UInt8(ascii: "R")
    case .rtkFloat: UInt8(ascii: "F")
    case .deadReckoning: UInt8(ascii: "E")
    case .manual: UInt8(ascii: "M")
    case .simulated: UInt8(ascii: "S")
    }
  }

  /// The status of a `PUBX,00` (u-blox M8 protocol description, section 31.3.4).
  init?(pubx status: Slice<UnsafeBufferPointer<UInt8>>) {
    let letters = status.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    switch letters {
    case 0x4E46: self = .none  // NF
    case 0x4452: self = .deadReckoning  // DR
    case 0x4732, 0x4733: self = .autonomous  // G2, G3
    case 0x4432, 0x4433: self = .differential  // D2, D3
    case 0x524B: self = .combined  // RK
    case 0x5454: self = .timeOnly  // TT
    default: return nil
    }
  }

  /// A u-blox receiver's fix type with its word on corrections: `carrier` is the state of carrier phases, 1 for float and 2 for
  /// fixed ambiguities (u-blox F9 interface description, NAV-PVT).
  init(ubx type: UInt8, isDifferential: Bool, carrier: UInt8) {
    self =
      switch (type, carrier) {
      case (1, _): .deadReckoning
      case (2...4, 2): .rtkFixed
      case (2...4, 1): .rtkFloat
      case (4, _): .combined
      case (2...3, _): isDifferential ? .differential : .autonomous
      case (5, _): .timeOnly
      default: .none
      }
  }

  /// The `status` of a TPV (gpsd_json(5)). gpsd leaves it out both where the fix is an autonomous one and where it does not know;
  /// `nil` then.
  init?(gpsd status: Int?) {
    switch status {
    case 1: self = .autonomous
    case 2: self = .differential
    case 3: self = .rtkFixed
    case 4: self = .rtkFloat
    case 5: self = .deadReckoning
    case 6: self = .combined
    case 7: self = .timeOnly
    case 8: self = .simulated
    case 9: self = .preciseCode
    default: return nil
    }
  }
}

/// What the sentences of one epoch have said of the kind of its fix.
struct FixKindReport: Sendable {
  private var measured: FixKind?
  private var unmeasured: FixKind?
  /// What a sentence without a time said, which may be another epoch's.
  private var timeless: FixKind?

  /// Takes the word of a sentence. That of one with none takes nothing from another's.
  mutating func take(_ kind: FixKind?) {
    guard let kind, kind > .none else { return }
    // Older sentences have no word for the finer kinds.
    if kind.isMeasured {
      measured = max(kind, measured ?? kind)
    } else {
      unmeasured = min(kind, unmeasured ?? kind)
    }
  }

  /// Takes the word of a sentence without a time. It counts if no other has one.
  mutating func take(timeless kind: FixKind?) {
    if let kind, kind > .none { timeless = kind }
  }

  mutating func formUnion(_ other: FixKindReport) {
    take(other.measured)
    take(other.unmeasured)
    timeless = timeless ?? other.timeless
  }

  /// A sentence that calls the position a guess is believed before one that calls it measured.
  var kind: FixKind? { unmeasured ?? measured ?? timeless }
}
