// Messages that configure a u-blox receiver. They are sent a few times in a receiver's life, so plain
// arrays do.

/// Builds UBX messages.
public enum UBXMessages {
  /// The port of the receiver by which its settings are named.
  public enum Port: Sendable, Hashable {
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

  /// NAV-PVT once an epoch on `port`, by key.
  public static func enablePVT(on port: Port) -> [UInt8] {
    valset([(port.ubxOutKey, 1), (port.navPVTKey, 1)])
  }

  /// No NMEA on `port`, by key.
  public static func disableNMEA(on port: Port) -> [UInt8] { valset([(port.nmeaOutKey, 0)]) }

  /// The time between epochs, milliseconds, by key (CFG-RATE-MEAS).
  public static func rate(milliseconds: UInt16) -> [UInt8] {
    valset([(0x3021_0001, UInt32(milliseconds))])
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

  /// The NMEA sentences that receivers send by themselves: GGA, GLL, GSA, GSV, RMC, VTG.
  public static let defaultSentences: [UInt8] = [0, 1, 2, 3, 4, 5]
}
