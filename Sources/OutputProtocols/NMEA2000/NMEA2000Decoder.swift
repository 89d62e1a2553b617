// Frames of NMEA 2000 in words.

package import SensorTypes
import TextForms

/// Reads the frames that a board sends.
///
/// It knows the parameter groups that a board sends without being asked. Of others it says the number.
package struct NMEA2000Decoder: Sendable {
  private var assembler = FastPacketAssembler()

  package init() {}

  /// Reads a frame; `nil` while more frames of its message are to come.
  package mutating func decode(_ frame: CANFrame, at now: Timestamp) -> DecodedMessage? {
    let header = NMEA2000Header(identifier: frame.identifier)
    guard NMEA2000PGN.fast.contains(header.pgn) else {
      return Self.message(header.pgn, frame.bytes)
    }
    return assembler.take(frame, header, at: now).map { Self.message(header.pgn, $0) }
  }

  /// Reads the payload of a message.
  package static func message(_ pgn: UInt32, _ payload: [UInt8]) -> DecodedMessage {
    guard let group = NMEA2000Group.known[pgn] else { return DecodedMessage("\(pgn)") }
    var message = DecodedMessage("\(pgn) \(group.name)")
    var reader = BinaryFields(payload)
    read(group.fields, &reader, "", &message)
    return message
  }

  private static func read(
    _ fields: [NMEA2000Field], _ reader: inout BinaryFields, _ prefix: String,
    _ message: inout DecodedMessage
  ) {
    var last: UInt64?
    for field in fields {
      if case .repeated(let parts) = field.form {
        // The number of entries stands in the field before; one entry has a byte at least.
        for index in 0..<min(last ?? 0, 255) where reader.left >= 8 {
          read(parts, &reader, "#\(index + 1) ", &message)
        }
        continue
      }
      guard let raw = reader.number(bits: field.bits) else {
        if field.form != .reserved { message.append(prefix + field.name, "missing") }
        continue
      }
      last = field.isUnknown(raw) ? nil : raw
      guard field.form != .reserved else { continue }
      message.append(prefix + field.name, last == nil ? nil : field.text(raw))
    }
  }
}

/// A field of a parameter group: how many bits it has, and what they say.
struct NMEA2000Field: Sendable, Hashable {
  enum FieldForm: Sendable, Hashable {
    case reserved
    /// Every value means itself: there is no word for a value that is not known.
    case plain
    case unsigned(scale: Double, offset: Double, digits: Int, unit: String)
    case signed(scale: Double, digits: Int, unit: String)
    /// The meanings of values from 0 on.
    case list([String])
    /// Days since 1970.
    case date
    /// Ten-thousandths of a second since midnight.
    case time
    /// As many entries as the field before says.
    case repeated([NMEA2000Field])
  }

  var name: String
  var bits: Int
  var form: FieldForm

  private var hasSign: Bool { if case .signed = form { true } else { false } }

  /// The largest value of a field, which says that the value is not known.
  private var largest: UInt64 { UInt64.max >> UInt64(64 - bits + (hasSign ? 1 : 0)) }

  func isUnknown(_ raw: UInt64) -> Bool {
    switch form {
    case .reserved, .plain, .repeated: false
    // A short list may have a meaning for its largest value as well.
    case .list(let names): raw == largest && raw >= UInt64(names.count)
    default: raw == largest
    }
  }

  func text(_ raw: UInt64) -> String? {
    switch form {
    case .unsigned, .signed, .date, .time:
      if raw == largest - 1 { return "out of range" }
      if raw == largest - 2 { return "reserved" }
    default: break
    }
    switch form {
    case .reserved, .repeated: return nil
    case .plain: return "\(raw)"
    case .unsigned(let scale, let offset, let digits, let unit):
      return DecodedNumber.text(Double(raw) * scale + offset, digits, unit)
    case .signed(let scale, let digits, let unit):
      let number = BinaryFields.signed(raw, bits: bits)
      return DecodedNumber.text(Double(number) * scale, digits, unit)
    case .list(let names):
      return raw < UInt64(names.count) ? names[Int(raw)] : "number \(raw)"
    case .date:
      return DecodedNumber.utc(Double(raw) * 86_400).map { String($0.prefix(10)) }
    case .time: return Self.time(raw)
    }
  }

  /// A time of day; a leap second is the 60th of its minute.
  private static func time(_ ticks: UInt64) -> String {
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: 10_000)
    let whole = min(seconds, 86_399)
    var text: [UInt8] = []
    text.append(decimal: whole / 3_600, width: 2)
    text.append(text: ":")
    text.append(decimal: whole / 60 % 60, width: 2)
    text.append(text: ":")
    text.append(decimal: (whole % 60 + seconds - whole) * 10_000 + rest, places: 4, width: 6)
    return String(decoding: text, as: UTF8.self)
  }
}

extension NMEA2000Field {
  static func reserved(_ bits: Int) -> NMEA2000Field {
    NMEA2000Field(name: "", bits: bits, form: .reserved)
  }

  static func plain(_ name: String, _ bits: Int) -> NMEA2000Field {
    NMEA2000Field(name: name, bits: bits, form: .plain)
  }

  static func list(_ name: String, _ bits: Int, _ values: [String]) -> NMEA2000Field {
    NMEA2000Field(name: name, bits: bits, form: .list(values))
  }

  static func unsigned(
    _ name: String, _ bits: Int, _ scale: Double = 1, digits: Int = 0, offset: Double = 0,
    unit: String = ""
  ) -> NMEA2000Field {
    NMEA2000Field(
      name: name, bits: bits,
      form: .unsigned(scale: scale, offset: offset, digits: digits, unit: unit))
  }

  static func signed(
    _ name: String, _ bits: Int, _ scale: Double, digits: Int, unit: String = ""
  ) -> NMEA2000Field {
    NMEA2000Field(name: name, bits: bits, form: .signed(scale: scale, digits: digits, unit: unit))
  }

  static func repeated(_ fields: [NMEA2000Field]) -> NMEA2000Field {
    NMEA2000Field(name: "", bits: 0, form: .repeated(fields))
  }
}

extension CANFrame {
  /// The frame as `candump` of can-utils prints it.
  ///
  /// - Parameter interface: The name of the interface.
  package func dump(_ interface: String) -> String {
    func hex(_ number: UInt64, _ width: Int) -> String {
      let digits = String(number, radix: 16, uppercase: true)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let bytes = bytes.map { " " + hex(UInt64($0), 2) }.joined()
    return "  \(interface)  \(hex(UInt64(identifier), 8))   [\(count)] \(bytes)"
  }
}
