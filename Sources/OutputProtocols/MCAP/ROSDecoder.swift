// Messages of ROS 2 in words, read by the definition that goes along with them.

import TextForms

/// The definition of a message type in ROS 2's interface definition language, with those of the types in it.
///
/// It reads CDR, little endian, as `CDRBytes` writes it. Definitions and messages come from outside: both are bounded.
package struct ROSDefinition: Sendable {
  /// The greatest number of elements of an array, and of types within types.
  static let limits = (elements: 1_024, depth: 8)
  /// Bytes of the encapsulation header, from whose end alignment is counted.
  private static let headLength = 4

  private struct ROSField: Sendable {
    var type: String
    var name: String
    /// The number of elements; `nil` for a single value, and 0 for an array that says its own number.
    var count: Int?
    /// The names of values that stand before the field.
    var values: [String: String] = [:]
  }

  /// By the name without its package, which no two types of a message share here.
  private var types: [String: [ROSField]] = [:]

  /// Reads a definition, as `ROSSchema.text` has it.
  package init(_ text: String) {
    var name = ""
    var values: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let line = line.prefix { $0 != "#" }
      if line.hasPrefix("====") { continue }
      if line.hasPrefix("MSG: ") {
        name = Self.short(line.dropFirst(5))
        values = [:]
        continue
      }
      let words = line.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { continue }
      if let equals = words[1].firstIndex(of: "=") {
        // A value of the field that comes next.
        let constant = words[1][..<equals].filter { $0 != " " }
        values[words[1][equals...].dropFirst().filter { $0 != " " }] = constant
        continue
      }
      let (type, count) = Self.type(words[0])
      let field = ROSField(
        type: type, name: String(words[1].prefix { $0 != " " }), count: count, values: values)
      types[name, default: []].append(field)
      values = [:]
    }
  }

  /// Reads a message.
  ///
  /// - Parameter name: What the message is called, such as its topic.
  /// - Returns: `nil` for bytes that are no message of this type.
  package func decode(_ message: [UInt8], name: String) -> DecodedMessage? {
    guard message.count > Self.headLength, message[1] == 1 else { return nil }
    var reader = BinaryFields(message)
    guard reader.bytes(Self.headLength) != nil else { return nil }
    var decoded = DecodedMessage(name)
    for field in types[""] ?? [] {
      guard let value = read(field, &reader, depth: 0) else { return nil }
      decoded.append(field.name, value)
    }
    return decoded.fields.isEmpty ? nil : decoded
  }

  private static func short(_ name: some StringProtocol) -> String {
    String(name.split(separator: "/").last ?? "")
  }

  /// The type of an element, and how many there are.
  private static func type(_ word: some StringProtocol) -> (String, Int?) {
    guard let bracket = word.firstIndex(of: "[") else { return (short(word), nil) }
    let number = word[bracket...].dropFirst().prefix { $0 != "]" }
    return (short(word[..<bracket]), Int(number) ?? 0)
  }

  // MARK: Values

  /// Returns a field's value; `nil` where the message is no message of this type.
  private func read(_ field: ROSField, _ reader: inout BinaryFields, depth: Int) -> String? {
    guard let announced = field.count else {
      guard let value = element(field.type, &reader, depth: depth) else { return nil }
      // "0 is interpreted as variance unknown", as sensor_msgs has it.
      if field.name == "variance", value == "0" { return DecodedMessage.notKnown }
      return field.values[value] ?? value
    }
    var count = announced
    if announced == 0 {
      reader.skip(toMultipleOf: 4, from: Self.headLength)
      guard let own = reader.number(bits: 32) else { return nil }
      count = Int(own)
    }
    guard count <= Self.limits.elements else { return nil }
    var values: [String] = []
    for _ in 0..<count {
      guard let value = element(field.type, &reader, depth: depth) else { return nil }
      values.append(value)
    }
    if field.name.hasSuffix("covariance") {
      // Its first element is -1 where there is no such quantity, and all are 0 where nobody knows it.
      if values.first == "-1" { return "none: not measured" }
      if values.allSatisfy({ $0 == "0" }) { return DecodedMessage.notKnown }
    }
    return "[\(values.joined(separator: ", "))]"
  }

  private func element(_ type: String, _ reader: inout BinaryFields, depth: Int) -> String? {
    switch type {
    case "bool": return number(8, &reader).map { $0 == 0 ? "false" : "true" }
    case "byte", "char", "uint8": return number(8, &reader).map(String.init)
    case "uint16": return number(16, &reader).map(String.init)
    case "uint32": return number(32, &reader).map(String.init)
    case "uint64": return number(64, &reader).map(String.init)
    case "int8": return signed(8, &reader)
    case "int16": return signed(16, &reader)
    case "int32": return signed(32, &reader)
    case "int64": return signed(64, &reader)
    case "float32":
      return number(32, &reader).map {
        Self.text(Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0))))
      }
    case "float64": return number(64, &reader).map { Self.text(Double(bitPattern: $0)) }
    case "string": return string(&reader)
    case "Time": return seconds(&reader)
    default: return structure(type, &reader, depth: depth)
    }
  }

  private func structure(_ type: String, _ reader: inout BinaryFields, depth: Int) -> String? {
    guard let fields = types[type], !type.isEmpty, depth < Self.limits.depth else { return nil }
    var parts: [String] = []
    for field in fields {
      guard let value = read(field, &reader, depth: depth + 1) else { return nil }
      parts.append("\(field.name) \(value)")
    }
    return "{\(parts.joined(separator: ", "))}"
  }

  /// A moment of UTC; the beginning of 1970 says that it is not known.
  private func seconds(_ reader: inout BinaryFields) -> String? {
    guard let seconds = number(32, &reader), let nanoseconds = number(32, &reader) else {
      return nil
    }
    guard seconds > 0 || nanoseconds > 0 else { return DecodedMessage.notKnown }
    return DecodedNumber.utc(Double(seconds) + Double(nanoseconds) / 1e9)
  }

  private func string(_ reader: inout BinaryFields) -> String? {
    guard let length = number(32, &reader), length <= 65_536,
      let bytes = reader.bytes(Int(length))
    else { return nil }
    // A zero byte ends it.
    return "'\(String(decoding: bytes.dropLast(), as: UTF8.self))'"
  }

  private func number(_ bits: Int, _ reader: inout BinaryFields) -> UInt64? {
    reader.skip(toMultipleOf: bits / 8, from: Self.headLength)
    return reader.number(bits: bits)
  }

  private func signed(_ bits: Int, _ reader: inout BinaryFields) -> String? {
    number(bits, &reader).map { "\(BinaryFields.signed($0, bits: bits))" }
  }

  private static func text(_ value: Double) -> String {
    DecodedNumber.text(value, 9) ?? DecodedMessage.notKnown
  }
}
