// The frames of MAVLink 2.

/// A message of MAVLink 2: its number, its payload, and the byte that guards its definition.
package struct MAVLinkMessage: Sendable, Hashable {
  /// The messages that are known here.
  package enum MessageKind: UInt32, Sendable, Hashable, CaseIterable {
    case heartbeat = 0
    case scaledPressure = 29
    case globalPosition = 33
    case attitude = 61
    case gpsInput = 232
    case odometry = 331

    /// CRC_EXTRA: a checksum of the names and types of the message's fields, so that both ends have the same definition.
    var guardByte: UInt8 {
      switch self {
      case .heartbeat: 50
      case .scaledPressure: 115
      case .globalPosition: 104
      case .attitude: 167
      case .gpsInput: 151
      case .odometry: 91
      }
    }
  }

  package var kind: MessageKind
  /// The payload with all its fields, 1 to 255 bytes.
  package var payload: [UInt8]
}

/// Frames messages of one component, each with the next sequence number.
package struct MAVLinkFramer: Sendable {
  private static let start: UInt8 = 0xFD

  /// The system, 1 to 255: that of the vehicle.
  package let system: UInt8
  /// The component: 191 is the first onboard computer, 220 the first receiver.
  package let component: UInt8
  private var sequence: UInt8 = 0

  package init(system: UInt8, component: UInt8 = 191) {
    self.system = max(system, 1)
    self.component = max(component, 1)
  }

  /// Returns a frame without a signature. Zeros at the end of the payload are not sent, but for the first byte.
  package mutating func frame(_ message: MAVLinkMessage) -> [UInt8] {
    var payload = message.payload.prefix(255)
    while payload.count > 1, payload.last == 0 { payload.removeLast() }
    let number = message.kind.rawValue
    var bytes: [UInt8] = [
      Self.start, UInt8(payload.count), 0, 0, sequence, system, component,
      UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8),
      UInt8(truncatingIfNeeded: number >> 16),
    ]
    bytes += payload
    var checksum = MAVLinkChecksum()
    for byte in bytes.dropFirst() { checksum.add(byte) }
    checksum.add(message.kind.guardByte)
    bytes.append(UInt8(truncatingIfNeeded: checksum.value))
    bytes.append(UInt8(truncatingIfNeeded: checksum.value >> 8))
    sequence &+= 1
    return bytes
  }
}

/// The checksum of MAVLink: CRC-16/MCRF4XX, which is that of X.25 without its final inversion.
struct MAVLinkChecksum {
  private(set) var value: UInt16 = 0xFFFF

  mutating func add(_ byte: UInt8) {
    var low = byte ^ UInt8(truncatingIfNeeded: value)
    low ^= low << 4
    let wide = UInt16(low)
    value = value >> 8 ^ wide << 8 ^ wide << 3 ^ wide >> 4
  }
}

/// Writes the fields of a payload, little-endian.
struct MAVLinkFields {
  private(set) var bytes: [UInt8] = []

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// Writes a number, or NaN where it is not known.
  mutating func float(_ number: Double?) {
    append(Float(number ?? .nan).bitPattern)
  }

  /// Writes a number as an integer, or `none` where it is not known or does not fit.
  mutating func integer<Number: FixedWidthInteger>(_ number: Double?, none: Number) {
    append(number.flatMap { Number(exactly: $0.rounded()) } ?? none)
  }
}
