// What can be asked of a receiver besides where it is, who it says that it is, and how it is set.

/// How whatever carries the receiver moves: a receiver smooths and refuses by it.
public enum DynamicModel: String, Sendable, Hashable, Codable, CaseIterable {
  /// Nothing is known: little is taken for granted.
  case portable
  /// It does not move: a surveyed antenna.
  case stationary
  /// Someone walks with it.
  case pedestrian
  /// A car or a train.
  case automotive
  /// On the water, at its height.
  case sea
  /// An aircraft, up to 2 g where the receiver tells accelerations apart.
  case airborne
}

/// How a receiver is connected and told what to send, and what it does not do of that.
public struct ReceiverLink: Sendable, Hashable, Codable {
  /// The rate of the line, bits per second; `nil` where it has none (I2C, gpsd).
  public var baudRate: Int?
  /// What it sends; `nil` for one that is not configured, not yet or not at all: it is read as it is.
  public var language: ReceiverProtocol?
  /// Seconds from one epoch to the next as they were asked for; `nil` where nobody asked, or it was refused.
  public var interval: Double?
  /// What it has refused of all that was asked, or cannot be asked for, in words for a person.
  public var notTaken: [String]
  /// Whether its pulse per second tells the moments of its fixes; `nil` where the board file names no line for it.
  public var pulse: PulseUse?
  /// What it reports of its antenna and of the signals; `nil` where it reports nothing of them.
  public var condition: ReceiverCondition?
  /// How its corrections are doing; `nil` where the board file names none.
  public var corrections: CorrectionStatus?
  /// Its state as a base station of RTK, or `nil` for a receiver that is not one.
  public var base: BaseStatus?
  /// The services that its time goes to, and whether they take it; `nil` where the board file names none.
  public var timeServices: [TimeService]?

  /// Makes the link to a receiver that was not asked for anything.
  public init(baudRate: Int? = nil, language: ReceiverProtocol? = nil) {
    self.baudRate = baudRate
    self.language = language
    notTaken = []
  }
}

/// What a receiver sends, and in brackets the commands by which it was told so.
public enum ReceiverProtocol: String, Sendable, Hashable, Codable, CaseIterable {
  /// UBX, by keys: u-blox from generation 9 on.
  case ubxKeys = "UBX (CFG-VALSET)"
  /// UBX, by messages: u-blox up to generation 9.
  case ubxMessages = "UBX (CFG-MSG)"
  /// NMEA of a MediaTek receiver.
  case mediaTek = "NMEA (PMTK)"
  /// NMEA of an Airoha receiver.
  case airoha = "NMEA (PAIR)"
  /// NMEA of a CASIC receiver.
  case casic = "NMEA (PCAS)"
  /// NMEA and logs of a Unicore receiver.
  case unicore = "NMEA (Unicore's commands)"
  /// NMEA of Quectel's LG290P and LGx80P.
  case quectel = "NMEA (PQTM)"
  /// NMEA of a SkyTraq receiver: Venus 6 and 8, Phoenix (PX1122R).
  case skyTraq = "NMEA (SkyTraq's messages)"
  /// NMEA of an Allystar receiver: HD80xx, HD9310, HD95xx, as in TAU modules.
  case allystar = "NMEA (Allystar's messages)"
  /// The reports of gpsd, which talks to the receiver itself.
  case gpsd = "gpsd"
}

/// Whether a receiver's pulse per second (PPS) tells the moments of its fixes.
public enum PulseUse: Sendable, Hashable, Codable {
  /// Not yet, or not while there is no fix.
  case waiting
  /// It does: to some tens of microseconds.
  case inUse
  /// It does not, though there is a fix: why, in words for a person.
  case unusable(String)
}

/// A service of this machine that a receiver's time goes to: chrony, at one of its sockets.
public struct TimeService: Sendable, Hashable, Codable {
  /// The path of its socket.
  public var path: String
  /// Whether its samples are pulses (PPS); those of messages otherwise.
  public var isPulse: Bool
  /// Whether it takes what is sent.
  public var state: TimeServiceState

  /// Makes a service that nothing was sent to yet.
  public init(path: String, isPulse: Bool) {
    (self.path, self.isPulse, state) = (path, isPulse, .waiting)
  }

  /// In one line, for a person.
  package var words: String {
    let what = isPulse ? "pulses" : "messages"
    return switch state {
    case .waiting:
      "time of its \(what) not given to chrony at present (\(isPulse ? "no pulse is used" : "no valid time"))"
    case .sending: "time of its \(what) given to chrony at \(path)"
    case .refused(let why): "time of its \(what): \(why)"
    }
  }
}

/// Whether a service takes the time that is sent to it.
public enum TimeServiceState: Sendable, Hashable, Codable {
  /// Nothing was sent yet, or is sent at present: the receiver has no valid time, or no pulse that is used.
  case waiting
  /// The newest sample was taken.
  case sending
  /// The newest sample was not taken: why, in words for a person.
  case refused(String)
}

/// What a sensor itself says that it is.
public struct SensorIdentity: Sendable, Hashable, Codable {
  /// Maker and model: `u-blox NEO-M9N`, `Quectel-L76B`.
  public var name: String
  /// The version of its firmware, as it says it; `nil` where it says none.
  public var firmware: String?

  /// Makes an identity.
  public init(name: String, firmware: String?) {
    self.name = name
    self.firmware = firmware
  }

  /// As in messages: `u-blox NEO-M9N, firmware SPG 4.04`.
  public var description: String { name + (firmware.map { ", firmware \($0)" } ?? "") }
}
