// The receivers that there are twins of.

/// What kind of receiver.
package enum ReceiverTwinModel: String, Sendable, Hashable {
  /// Generation 8: no VALSET (it is answered by ACK-NAK).
  case ubloxM8
  /// Generation 9: VALSET and the older messages.
  case ubloxM9
  /// Generation 10: VALSET only.
  case ubloxM10
  /// MediaTek MT3339: `PMTK` sentences, each acknowledged.
  case mediaTek
  /// Airoha AG3335 as in Quectel's LC29H: `PAIR` sentences, each acknowledged.
  case airoha
  /// CASIC AT6558: `PCAS` sentences, none acknowledged.
  case casic
  /// Unicore UM982: lines of words, each echoed with its result. It says nothing before it is told to.
  case unicore
  /// Quectel LG290P: `PQTM` sentences, each acknowledged; with two antennas LG580P.
  case quectel
  /// NMEA only; what is sent to it is not heard.
  case nmea

  /// Whether it is one of u-blox.
  var isUBlox: Bool { self == .ubloxM8 || self == .ubloxM9 || self == .ubloxM10 }

  /// The rate of the serial port after power-on, bits a second.
  package var defaultBaudRate: Int {
    switch self {
    case .ubloxM8, .mediaTek, .casic, .nmea: 9600
    case .airoha, .unicore: 115_200
    case .quectel: 460_800
    case .ubloxM9, .ubloxM10: 38400
    }
  }

  /// Its sentences in the order in which it sends them.
  var sentences: [SimulatedSentence] {
    switch self {
    // As a UM980 and an LG290P have sent theirs.
    case .unicore: [.rmc, .gga, .gll, .gsa, .vtg, .gst, .zda]
    case .quectel: [.gga, .rmc, .gll, .vtg, .gsa, .gst, .zda]
    default: SimulatedSentence.allCases
    }
  }
}
