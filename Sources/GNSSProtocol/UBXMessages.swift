// Messages that configure a u-blox receiver. They are sent a few times in a receiver's life, so plain
// arrays do.

public import SensorTypes

/// Builds UBX messages.
public enum UBXMessages {
  /// A message with frame and check sum.
  public static func frame(messageClass: UInt8, id: UInt8, payload: [UInt8]) -> [UInt8] {
    var body: [UInt8] = [messageClass, id, UInt8(payload.count & 0xFF), UInt8(payload.count >> 8)]
    body += payload
    var (a, b): (UInt8, UInt8) = (0, 0)
    for byte in body {
      a &+= byte
      b &+= a
    }
    return [0xB5, 0x62] + body + [a, b]
  }

  /// CFG-VALSET into RAM: what is set is forgotten at the next power-up, which is why it is asked for
  /// again then. `values` holds key and little-endian value, of the size that the key names.
  public static func valset(_ values: [(key: UInt32, value: UInt32)]) -> [UInt8] {
    var payload: [UInt8] = [0, 1, 0, 0]
    for (key, value) in values {
      payload += (0..<4).map { UInt8(truncatingIfNeeded: key >> (8 * $0)) }
      // Bits 28 to 30 of a key: 1 bit, 1, 2, 4 or 8 bytes.
      let size = [0, 1, 1, 2, 4, 8][Int(key >> 28 & 7) % 6]
      payload += (0..<min(4, size)).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    return frame(messageClass: 0x06, id: 0x8A, payload: payload)
  }

  /// NAV-PVT once an epoch on `port`, and the time between epochs, milliseconds, by key.
  public static func enablePVT(on port: UBXPortID, milliseconds: UInt16) -> [UInt8] {
    valset([(port.ubxOutKey, 1), (port.navPVTKey, 1), (rateKey, UInt32(milliseconds))])
  }

  /// No NMEA on `port`, by key.
  public static func disableNMEA(on port: UBXPortID) -> [UInt8] { valset([(port.nmeaOutKey, 0)]) }

  /// CFG-RATE-MEAS.
  private static let rateKey: UInt32 = 0x3021_0001

  /// The time between epochs, milliseconds, by key (CFG-RATE-MEAS).
  public static func rate(milliseconds: UInt16) -> [UInt8] {
    valset([(rateKey, UInt32(milliseconds))])
  }

  /// CFG-MSG: how often a message comes on the port it is sent to; 0 is never.
  public static func messageRate(messageClass: UInt8, id: UInt8, every: UInt8) -> [UInt8] {
    frame(messageClass: 0x06, id: 0x01, payload: [messageClass, id, every])
  }

  /// CFG-RATE: the time between epochs, milliseconds, one solution a measurement, aligned to UTC.
  public static func legacyRate(milliseconds: UInt16) -> [UInt8] {
    frame(
      messageClass: 0x06, id: 0x08,
      payload: [UInt8(milliseconds & 0xFF), UInt8(milliseconds >> 8), 1, 0, 0, 0])
  }

  /// The question who is there (MON-VER).
  public static let identityQuestion = frame(messageClass: 0x0A, id: 0x04, payload: [])

  /// NAV-SAT every so many epochs on `port`, by key: the satellites.
  public static func satellites(on port: UBXPortID, every: UInt8) -> [UInt8] {
    valset([(port == .ddc ? 0x2091_0015 : 0x2091_0016, UInt32(every))])
  }

  /// MON-RF and NAV-STATUS every so many epochs on `port`, by key: antenna, interference and spoofing.
  public static func condition(on port: UBXPortID, every: UInt8) -> [UInt8] {
    let place = UInt32(port.index)
    return valset([(0x2091_0359 + place, UInt32(every)), (0x2091_001A + place, UInt32(every))])
  }

  /// NAV-TIMELS every so many epochs on `port`, by key: the next leap second.
  public static func leapSecond(on port: UBXPortID, every: UInt8) -> [UInt8] {
    valset([(0x2091_0060 + UInt32(port.index), UInt32(every))])
  }

  /// NAV-RELPOSNED once an epoch on `port`, by key (CFG-MSGOUT-UBX_NAV_RELPOSNED): the heading of a rover whose base
  /// moves with it.
  public static func relativePosition(on port: UBXPortID) -> [UInt8] {
    valset([(port == .ddc ? 0x2091_008D : 0x2091_008E, 1)])
  }

  /// NAV-DAHEADING once an epoch on `port`, by key (CFG-MSGOUT-UBX_NAV_DAHEADING): the heading of a receiver with two antennas
  /// (ZED-X20D). The numbers of the keys are those of published drivers, and were not compared with the interface description.
  package static func antennaHeading(on port: UBXPortID) -> [UInt8] {
    valset([(port == .ddc ? 0x2091_03DF : 0x2091_03E0, 1)])
  }

  /// RTCM 3 in at `port`, by key (CFG-UART1INPROT-RTCM3X, CFG-I2CINPROT-RTCM3X; u-blox F9 HPG interface description UBX-21022436).
  package static func takeCorrections(on port: UBXPortID) -> [UInt8] {
    valset([(port == .ddc ? 0x1071_0004 : 0x1073_0004, 1)])
  }

  /// How the carrier moves, by key (CFG-NAVSPG-DYNMODEL).
  public static func dynamicModel(_ model: DynamicModel) -> [UInt8] {
    valset([(0x2011_0021, UInt32(model.ubx))])
  }

  /// CFG-NAV5: how the carrier moves, and nothing else of it.
  public static func legacyDynamicModel(_ model: DynamicModel) -> [UInt8] {
    frame(
      messageClass: 0x06, id: 0x24,
      payload: [1, 0, model.ubx] + [UInt8](repeating: 0, count: 33))
  }

  /// The rate of the first serial port, by key (CFG-UART1-BAUDRATE).
  public static func baudRate(_ rate: Int) -> [UInt8] {
    valset([(0x4052_0001, UInt32(clamping: rate))])
  }

  /// CFG-PRT of the first serial port: its rate, 8 bits without parity, UBX and NMEA both ways, RTCM in.
  public static func legacyBaudRate(_ rate: Int) -> [UInt8] {
    let rate = UInt32(clamping: rate)
    return frame(
      messageClass: 0x06, id: 0x00,
      payload: [1, 0, 0, 0, 0xD0, 0x08, 0, 0]
        + (0..<4).map { UInt8(truncatingIfNeeded: rate >> (8 * $0)) } + [7, 0, 3, 0, 0, 0, 0, 0])
  }

  /// RXM-PMREQ: asleep until something comes in at the serial port. From generation 9 on what wakes is named; before,
  /// any activity does. It is not answered.
  public static func sleep(namesWakeUp: Bool) -> [UInt8] {
    frame(
      messageClass: 0x02, id: 0x41,
      payload: namesWakeUp
        ? [0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0] : [0, 0, 0, 0, 2, 0, 0, 0])
  }

  /// The messages of class 0x01 that together say what NAV-PVT says: NAV-SOL, NAV-POSLLH, NAV-VELNED, NAV-TIMEUTC, and
  /// NAV-DOP besides. Receivers have them that do not have NAV-PVT: u-blox 5 and 6.
  public static let epochParts: [UInt8] = [0x06, 0x02, 0x12, 0x21, 0x04]

  /// The NMEA sentences that receivers send by themselves: GGA, GLL, GSA, GSV, RMC, VTG.
  public static let defaultSentences: [UInt8] = [0, 1, 2, 3, 4, 5]
}

/// The port of the receiver by which its settings are named.
public enum UBXPortID: Sendable, Hashable {
  /// I2C.
  case ddc
  /// The first serial port.
  case uart1

  // Configuration keys (u-blox M9 interface description, section 4.9).
  var navPVTKey: UInt32 { self == .ddc ? 0x2091_0006 : 0x2091_0007 }
  var nmeaOutKey: UInt32 { self == .ddc ? 0x1072_0002 : 0x1074_0002 }
  var ubxOutKey: UInt32 { self == .ddc ? 0x1072_0001 : 0x1074_0001 }
  /// The port's place in the rate list of CFG-MSG.
  var index: Int { self == .ddc ? 0 : 1 }
}

extension DynamicModel {
  /// CFG-NAV5's number.
  fileprivate var ubx: UInt8 {
    switch self {
    case .portable: 0
    case .stationary: 2
    case .pedestrian: 3
    case .automotive: 4
    case .sea: 5
    // Below 2 g.
    case .airborne: 7
    }
  }
}
