// The words of the talk with a receiver: what may be said, in what, and where it stands.

import SensorTypes

extension ReceiverSetup {
  /// What may be said to the receiver.
  enum Access: Sendable, Hashable {
    case reads
    /// What u-blox receivers understand.
    case configuresUBlox
    /// What any family understands, once it has said which it is.
    case configures
  }

  /// How the receiver is configured.
  enum Dialect: Sendable, Hashable {
    /// u-blox, CFG-VALSET: generation 9 and later.
    case keys
    /// u-blox, CFG-MSG and CFG-RATE: generations 7 to 9.
    case messages
    /// The same of a receiver without NAV-PVT, whose epochs are NAV-SOL and its like: generations 5 and 6.
    case parts
    case pmtk
    case pair
    /// CASIC, which answers nothing.
    case casic
    /// Unicore, lines of words.
    case unicore
    /// Quectel LG290P and LGx80P.
    case pqtm
    case skyTraq
    /// Allystar's receivers whose rate is set by CFG-PWRCTL.
    case allystar
    /// Allystar's receivers that compute RTK, CFG-PWRCTL2.
    case allystarRTK

    var isUBX: Bool { self == .keys || self == .messages || self == .parts }
    var isAllystar: Bool { self == .allystar || self == .allystarRTK }

    /// Whether a heading by antennas is asked for, so that it is said where it cannot be: it comes by a command, or no command for it
    /// is known.
    var asksHeading: Bool {
      isUBX || self == .unicore || self == .pqtm || self == .skyTraq || isAllystar
    }
  }

  /// What is to be done now.
  enum Command: Sendable, Hashable {
    /// Ask who is there, u-blox receivers alone or all.
    case identify(all: Bool)
    /// Send what sets this; `part` counts where it takes more than one message.
    case send(ReceiverSetting, Dialect, part: Int)
    /// Listen at another rate of the line.
    case changeBaudRate(Int)
  }

  /// Where the talk stands.
  enum Phase: Sendable, Hashable {
    case listening
    /// It was asked who it is.
    case identifying(attempt: Int)
    /// A message was sent; its answer is awaited.
    case asking(ReceiverSetting, Dialect, part: Int, attempt: Int)
    /// The epochs were granted; the first is awaited.
    case awaitingPVT(Dialect)
    /// It was told another rate of its line; we follow when the command has left.
    case changingSpeed(Dialect, from: Int, to: Int)
    /// We listen at the new rate.
    case tryingSpeed(Dialect, from: Int, to: Int)
    /// Configured: what was asked for comes.
    case running
    /// Not to be configured, or it understands no dialect: it is read as it is.
    case reading
    /// It was sent to sleep; silence from then on shows that it heard.
    case fallingAsleep(since: Timestamp)
    case asleep
  }
}

/// One thing to be set.
enum ReceiverSetting: Sendable, Hashable {
  /// NAV-PVT, or what says the same, once an epoch, on the port that we hang on, and an epoch a second: it may have been left at one a minute.
  case enablePVT
  /// No NMEA on this port: nobody reads it, and at 9600 baud it fills the line.
  case disableNMEA
  /// The satellites, every few seconds.
  case satellites
  /// The satellites in the older message (NAV-SVINFO), of a receiver that refuses the newer one: generation 7.
  case channels
  /// Antenna, interference and spoofing, every ten seconds.
  case condition
  /// The next leap second, every minute.
  case leapSecond
  /// The heading by antennas, once an epoch.
  case heading
  /// RTCM 3 in at this port.
  case corrections
  /// A place that it holds as a base station.
  case base
  /// How far the survey of that place has come, every five seconds.
  case survey
  /// The sentences that are read, and no others.
  case sentences
  /// The same by the message of older software, of a SkyTraq receiver that does not take the newer one.
  case basicSentences
  /// The sentence with its own accuracies, of a receiver that may not have it.
  case accuracies
  /// The rate of the line.
  case speed(Int)
  /// How the carrier moves.
  case model
  /// The time between epochs.
  case rate
  /// Until the line wakes it.
  case sleep
}
