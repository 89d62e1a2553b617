// JSON that a file, a person or a peer has written: read without harm, whatever it holds.

import FoundationEssentials

/// Reads JSON text (RFC 8259) in UTF-8.
///
/// Foundation's decoder alone does not do. That of Swift 6.0, which Debian 13 has, ends the process where the key of an object
/// is no string of JSON: one damaged byte in a stored file is enough. So every string is looked at first.
package enum JSONDocument {
  /// Decodes a value from the bytes of a JSON text.
  ///
  /// Throws a `DecodingError` where the bytes are no JSON in UTF-8, and where they hold another value than one of `type`.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8]
  ) throws -> Value {
    guard hasSoundStrings(bytes) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "A string is none of JSON in UTF-8."))
    }
    return try JSONDecoder().decode(type, from: Data(bytes))
  }

  /// Whether the bytes are UTF-8, and every string in them is one of JSON. What stands between strings is not looked at.
  static func hasSoundStrings(_ bytes: [UInt8]) -> Bool {
    // A zero stands in no JSON, but in every text of UTF-16 or UTF-32, which the decoder would take.
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else { return false }
    var rest = bytes[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "\"")) {
      rest = rest[(start + 1)...]
      guard takeString(&rest) else { return false }
    }
    return true
  }

  /// Takes a string off the front of the bytes behind its first quotation mark; `false` where it has no end, a control
  /// character, or an escape that JSON does not have.
  private static func takeString(_ rest: inout ArraySlice<UInt8>) -> Bool {
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return true
      case 0..<0x20: return false
      case UInt8(ascii: "\\"): guard takeEscape(&rest) else { return false }
      default: break
      }
    }
    return false
  }

  /// Takes an escape off the front of the bytes behind its backslash; surrogates come in pairs.
  private static func takeEscape(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard let kind = rest.popFirst() else { return false }
    guard kind == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(kind) }
    guard let unit = takeUnit(&rest) else { return false }
    switch unit {
    case 0xD800...0xDBFF:
      guard rest.starts(with: "\\u".utf8) else { return false }
      rest.removeFirst(2)
      guard let second = takeUnit(&rest) else { return false }
      return (0xDC00...0xDFFF).contains(second)
    case 0xDC00...0xDFFF: return false
    default: return true
    }
  }

  /// Takes four hexadecimal digits off the front of the bytes.
  private static func takeUnit(_ rest: inout ArraySlice<UInt8>) -> UInt16? {
    let digits = rest.prefix(4)
    rest = rest.dropFirst(4)
    guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
      return nil
    }
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
