// The receivers that there are twins of.

/// What kind of receiver.
package enum ReceiverTwinModel: String, Sendable, Hashable {
  /// u-blox 5: neither NAV-PVT nor NAV-SAT, four epochs a second.
  case ublox5
  /// u-blox 6: neither NAV-PVT nor NAV-SAT, five epochs a second.
  case ublox6
  /// u-blox 7: a NAV-PVT of 84 bytes, no NAV-SAT, ten epochs a second.
  case ublox7
  /// Generation 8: no VALSET (it is answered by ACK-NAK).
  case ubloxM8
  /// Generation 9: VALSET and the older messages.
  case ubloxM9
  /// ZED-F9P: as generation 9, with RTK and a base mode.
  case ubloxF9P
  /// Generation 10: VALSET only.
  case ubloxM10
  /// ZED-X20D: VALSET only, two antennas.
  case ubloxX20D
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
  /// SkyTraq Venus 8: binary messages, each acknowledged; with two antennas a PX1172RH.
  case skyTraq
  /// SkyTraq Venus 6: the messages without sub-identifiers alone.
  case skyTraqVenus6
  /// Allystar TAU1201: binary messages; the interval of positions by CFG-PWRCTL.
  case allystar
  /// Allystar TAU951M, which computes RTK: five positions a second as delivered; their interval by CFG-PWRCTL2.
  case allystarRTK
  /// NMEA only; what is sent to it is not heard.
  case nmea

  /// Whether it is one of u-blox.
  var isUBlox: Bool { generation != nil }

  /// u-blox's generation; an X20 is counted as the tenth, whose commands it takes.
  var generation: Int? {
    switch self {
    case .ublox5: 5
    case .ublox6: 6
    case .ublox7: 7
    case .ubloxM8: 8
    case .ubloxM9, .ubloxF9P: 9
    case .ubloxM10, .ubloxX20D: 10
    case .mediaTek, .airoha, .casic, .unicore, .quectel, .skyTraq, .skyTraqVenus6, .allystar,
      .allystarRTK, .nmea:
      nil
    }
  }

  /// What its binary frames begin with.
  var sync: FrameSync { self == .allystar || self == .allystarRTK ? .allystar : .ubx }

  /// The least time between two measurements of a u-blox receiver, milliseconds: data sheets of LEA-5 (4 Hz), NEO-6 (5 Hz) and
  /// NEO-7 (10 Hz); 25 Hz from there on.
  var shortestPeriod: Int {
    switch self {
    case .ublox5: 250
    case .ublox6: 200
    case .ublox7: 100
    default: 40
    }
  }

  /// Whether a u-blox receiver has a navigation message (class 0x01): those that its interface description lists.
  func knows(navigation identity: UInt8) -> Bool {
    let old: Set<UInt8> = [
      0x01, 0x02, 0x03, 0x04, 0x06, 0x11, 0x12, 0x20, 0x21, 0x22, 0x30, 0x31, 0x32, 0x40, 0x60,
    ]
    switch self {
    case .ublox5, .ublox6: return old.contains(identity)
    case .ublox7: return old.contains(identity) || identity == 0x07
    default: return true
    }
  }

  /// The rate of the serial port after power-on, bits a second.
  package var defaultBaudRate: Int {
    switch self {
    case .ublox5, .ublox6, .ublox7, .ubloxM8, .mediaTek, .casic, .skyTraq, .skyTraqVenus6, .nmea:
      9600
    case .airoha, .unicore, .allystar, .allystarRTK: 115_200
    case .quectel: 460_800
    case .ubloxM9, .ubloxF9P, .ubloxM10, .ubloxX20D: 38400
    }
  }

  /// Its sentences in the order in which it sends them.
  var sentences: [SimulatedSentence] {
    switch self {
    // As a UM980 and an LG290P have sent theirs.
    case .unicore: [.rmc, .gga, .gll, .gsa, .vtg, .gst, .zda]
    case .quectel: [.gga, .rmc, .gll, .vtg, .gsa, .gst, .zda]
    // As a PX1172RH has sent them.
    case .skyTraq, .skyTraqVenus6: [.gga, .gsa, .gll, .rmc, .vtg, .zda, .gst]
    // By the numbers of the specification.
    case .allystar, .allystarRTK: [.gga, .gll, .gsa, .rmc, .vtg, .zda, .gst]
    default: SimulatedSentence.allCases
    }
  }
}
