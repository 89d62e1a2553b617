public import SensorTypes

/// Who a receiver says that it is.
public struct ReceiverIdentity: Sendable, Hashable {
  /// Whose commands it takes.
  public enum Family: Sendable, Hashable, CaseIterable {
    /// UBX.
    case uBlox
    /// MediaTek MT3333 and MT3339: `PMTK` sentences.
    case mediaTek
    /// Airoha AG333x, as in Quectel's LC29H and LC76G: `PAIR` sentences.
    case airoha
    /// CASIC AT6558, as in ATGM336H and Quectel's L76K: `PCAS` sentences, which it does not answer.
    case casic
    /// Unicore's NebulasIV: UM960, UM980, UM982: lines of words.
    case unicore
    /// Quectel LG290P and LGx80P: `PQTM` sentences.
    case quectel
    /// SkyTraq's Venus and Phoenix: a binary protocol, and NMEA.
    case skyTraq
    /// Allystar's HD80xx and HD9xxx, as in TAU modules: a binary protocol, and NMEA.
    case allystar
  }

  /// Whose commands it takes, once it has said something of itself.
  public var family: Family?
  /// The module: `PA1010D`, `LC29HDA`, `ATGM336H`.
  public var model: String?
  /// Version of its software: `ROM CORE 3.01 (107888)`, `AXN_5.1.7_3333_19020118`.
  public var software: String?
  /// Version of its hardware: `00080000`, `HD8020.45704e2d1`.
  public var hardware: String?
  /// What else it says of itself: `MOD=NEO-M9N`, `PROTVER=32.01`, `GPS;GLO;GAL;BDS`.
  public var extensions: [String] = []
  /// The number of this very chip.
  public var uniqueID: UInt64?

  /// Makes the identity of one that has said nothing.
  public init() {}

  /// Name and firmware for a person; `nil` before it has said who it is.
  public var summary: SensorIdentity? {
    switch family {
    case nil: nil
    case .uBlox:
      SensorIdentity(
        name: "u-blox " + (said("MOD=") ?? model ?? generationName),
        firmware: said("FWVER=") ?? software)
    case .mediaTek: SensorIdentity(name: model ?? "MediaTek receiver", firmware: software)
    case .airoha: SensorIdentity(name: model ?? "Airoha receiver", firmware: software)
    case .casic: SensorIdentity(name: model ?? "CASIC receiver", firmware: software)
    case .unicore: SensorIdentity(name: model ?? "Unicore receiver", firmware: software)
    case .quectel: SensorIdentity(name: model ?? "Quectel receiver", firmware: software)
    case .skyTraq: SensorIdentity(name: model ?? "SkyTraq receiver", firmware: software)
    case .allystar: SensorIdentity(name: model ?? "Allystar receiver", firmware: software)
    }
  }

  private func said(_ key: String) -> String? {
    extensions.first { $0.hasPrefix(key) }.map { String($0.dropFirst(key.count)) }
  }

  /// The generation of a u-blox receiver, 5 to 10, by its hardware's version (MON-VER of the interface descriptions); `nil` for
  /// another receiver, and for a version that is not known.
  public var generation: Int? {
    guard family == .uBlox else { return nil }
    return switch hardware {
    case "00040005": 5
    case "00040007": 6
    case "00070000": 7
    case "00080000": 8
    case "00190000": 9
    case "000A0000": 10
    default: nil
    }
  }

  private var generationName: String {
    switch generation {
    case 8?: "M8"
    case 9?: "M9 or F9"
    case 10?: "M10"
    case let number?: "\(number)"
    case nil: "receiver"
    }
  }
}

/// A receiver's answer to a command.
public struct ReceiverAnswer: Sendable, Hashable {
  /// In what the command was said.
  public var language: AnswerProtocol
  /// Which command.
  public var command: Int
  /// What the receiver makes of it.
  public var verdict: AnswerStatus
  /// The number that a question is answered with, where there is one.
  public var value: Int?

  /// Makes an answer.
  public init(
    _ language: AnswerProtocol, _ command: Int, _ verdict: AnswerStatus, value: Int? = nil
  ) {
    self.language = language
    self.command = command
    self.verdict = verdict
    self.value = value
  }

  /// A number for a command that has a name, its letters in either case; `nil` for a name with other characters than letters and
  /// digits, and for one of more than 11 (`UNIHEADINGA`), which the number could not hold.
  public static func number(of name: some Sequence<UInt8>) -> Int? {
    var (number, count) = (0, 0)
    for byte in name {
      let digit: UInt8
      switch byte {
      case 65...90: digit = byte - 64
      case 97...122: digit = byte - 96
      case 48...57: digit = byte - 21
      default: return nil
      }
      count += 1
      guard count <= 11 else { return nil }
      number = number * 37 + Int(digit)
    }
    return count > 0 ? number : nil
  }
}

/// What the receiver makes of it.
public enum AnswerStatus: Sendable, Hashable {
  /// Done.
  case accepted
  /// Not known, not possible, or failed.
  case refused
  /// Under way: another answer follows.
  case pending
}

/// In what the command was said.
public enum AnswerProtocol: Sendable, Hashable {
  /// UBX: the command is its class times 256 and its identity.
  case ubx
  /// `PMTK001`.
  case pmtk
  /// `PAIR001`.
  case pair
  /// `$command`, of Unicore: the command is `ReceiverAnswer.number(of:)` of its first word.
  case unicore
  /// `PQTM` with the command's name: `ReceiverAnswer.number(of:)` of what is behind `PQTM`.
  case pqtm
  /// SkyTraq's binary protocol: the command is its identifier times 256 and its sub-identifier, 0 where the answer names none.
  case skyTraq
  /// Allystar's binary protocol: the command is its class times 256 and its identity.
  case allystar
}
