// One point of InfluxDB's line protocol: measurement, tags, fields, time
// (docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol).

import TextForms

/// A line that is being written. Keys come in the order in which they were set: tags first, then fields.
package struct InfluxLine: Sendable {
  private var bytes: [UInt8] = []
  private var hasFields = false

  /// Begins a point.
  package init(_ measurement: String) {
    // An equals sign needs no escape in the name of a measurement.
    Self.append(measurement, to: &bytes, escaping: [UInt8(ascii: ","), UInt8(ascii: " ")])
  }

  /// Sets a tag. One without a value is left out, because a tag cannot be empty. It has no effect behind a field.
  package mutating func tag(_ key: String, _ value: String) {
    guard !hasFields, !value.isEmpty else { return }
    bytes.append(UInt8(ascii: ","))
    Self.append(key, to: &bytes, escaping: Self.special)
    bytes.append(UInt8(ascii: "="))
    Self.append(value, to: &bytes, escaping: Self.special)
  }

  /// Sets a field that is a floating-point number; one that is not known or not finite is left out.
  package mutating func set(_ key: String, _ value: Double?, digits: Int) {
    guard let value, value.isFinite else { return }
    name(key)
    bytes.append(fixed: value, digits: digits)
  }

  package mutating func set(_ key: String, _ value: Int?) {
    guard let value else { return }
    name(key)
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.append(decimal: UInt64(value.magnitude))
    bytes.append(UInt8(ascii: "i"))
  }

  package mutating func set(_ key: String, _ value: Bool?) {
    guard let value else { return }
    name(key)
    bytes.append(text: value ? "true" : "false")
  }

  /// Sets a field that is a text. Newlines become spaces, since the protocol has none.
  package mutating func set(_ key: String, _ value: String?) {
    guard let value else { return }
    name(key)
    bytes.append(UInt8(ascii: "\""))
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<32, 127: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Ends the line behind a text. A point without a field is no point: nothing is appended then.
  ///
  /// - Parameter utc: Seconds since 1970; `nil` where the date is not known. The server then uses the moment at which it receives the line.
  package func end(into text: inout [UInt8], utc: Double?) {
    guard hasFields else { return }
    text += bytes
    // Nanoseconds that 64 bits hold.
    if let utc, abs(utc) < 9.2e9 {
      // In two parts, which keeps the whole precision of the number.
      let whole = utc.rounded(.down)
      let nanoseconds = Int64(whole) * 1_000_000_000 + Int64(((utc - whole) * 1e9).rounded())
      text.append(text: nanoseconds < 0 ? " -" : " ")
      text.append(decimal: nanoseconds.magnitude)
    }
    text.append(UInt8(ascii: "\n"))
  }

  private mutating func name(_ key: String) {
    bytes.append(hasFields ? UInt8(ascii: ",") : UInt8(ascii: " "))
    hasFields = true
    Self.append(key, to: &bytes, escaping: Self.special)
    bytes.append(UInt8(ascii: "="))
  }

  private static let special = [UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " ")]

  private static func append(_ text: String, to bytes: inout [UInt8], escaping special: [UInt8]) {
    for byte in text.utf8 {
      switch byte {
      case 0..<32, 127:
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(UInt8(ascii: " "))
      // A backslash at the end would escape the separator behind it, and there is no escape for it.
      case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "/"))
      default:
        if special.contains(byte) { bytes.append(UInt8(ascii: "\\")) }
        bytes.append(byte)
      }
    }
  }
}
