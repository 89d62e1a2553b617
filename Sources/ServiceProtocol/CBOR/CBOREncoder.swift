// Values to CBOR: an `Encoder` that writes at once and keeps no tree.

/// Encodes values as CBOR (RFC 8949). Structures become maps with text keys. Numbers keep all their bits, infinity and NaN included.
package enum CBOREncoder {
  /// Appends a value's data item to bytes.
  ///
  /// - Throws: `EncodingError`, whatever the value throws itself, and an error if a type writes to a container after the one around it
  ///   has gone on. The bytes are unchanged then.
  package static func append(_ value: some Encodable, to bytes: inout [UInt8]) throws {
    let (writer, count) = (CBORWriter(bytes), bytes.count)
    // The writer alone holds them now, and appends without a copy.
    bytes = []
    do {
      try writer.encode(value)
      writer.resume(0)
      guard !writer.isBroken else {
        throw EncodingError.invalidValue(
          value, .init(codingPath: [], debugDescription: "containers are not written in order"))
      }
      bytes = writer.bytes
    } catch {
      bytes = writer.bytes
      bytes.removeLast(bytes.count - count)
      throw error
    }
  }
}

extension CBORWriter {
  /// Writes a value by its own `encode(to:)`.
  func encode(_ value: some Encodable) throws {
    let before = bytes.count
    try value.encode(to: ValueEncoder(writer: self))
    // It has nothing to say.
    if bytes.count == before { resume(begin(CBORByte.map) - 1) }
  }
}

private struct ValueEncoder: Encoder {
  let writer: CBORWriter
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(MapEncoder(writer: writer, depth: writer.begin(CBORByte.map)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    ArrayEncoder(writer: writer, depth: writer.begin(CBORByte.array))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleEncoder(writer: writer) }
}

private struct SingleEncoder: SingleValueEncodingContainer {
  let writer: CBORWriter
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { writer.write(CBORByte.null) }
  func encode(_ value: Bool) { writer.write(value ? CBORByte.yes : CBORByte.no) }
  func encode(_ value: String) { writer.write(value) }
  func encode(_ value: Double) { writer.write(value) }
  func encode(_ value: Float) { writer.write(value) }
  func encode<Value: BinaryInteger & Encodable>(_ value: Value) { writer.write(value) }
  func encode(_ value: some Encodable) throws { try writer.encode(value) }
}

private struct MapEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: CBORWriter
  let depth: Int
  var codingPath: [any CodingKey] { [] }

  private func begin(_ key: some CodingKey) -> CBORWriter {
    writer.resume(depth)
    writer.write(key.stringValue)
    return writer
  }

  func encodeNil(forKey key: Key) { begin(key).write(CBORByte.null) }
  func encode(_ value: Bool, forKey key: Key) {
    begin(key).write(value ? CBORByte.yes : CBORByte.no)
  }
  func encode(_ value: String, forKey key: Key) { begin(key).write(value) }
  func encode(_ value: Double, forKey key: Key) { begin(key).write(value) }
  func encode(_ value: Float, forKey key: Key) { begin(key).write(value) }
  func encode<Value: BinaryInteger & Encodable>(_ value: Value, forKey key: Key) {
    begin(key).write(value)
  }
  func encode(_ value: some Encodable, forKey key: Key) throws { try begin(key).encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    ValueEncoder(writer: begin(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    ValueEncoder(writer: begin(key)).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { ValueEncoder(writer: begin(CBORKey("super"))) }
  func superEncoder(forKey key: Key) -> any Encoder { ValueEncoder(writer: begin(key)) }
}

private struct ArrayEncoder: UnkeyedEncodingContainer {
  let writer: CBORWriter
  let depth: Int
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }

  init(writer: CBORWriter, depth: Int) { (self.writer, self.depth) = (writer, depth) }

  private mutating func begin() -> CBORWriter {
    writer.resume(depth)
    count += 1
    return writer
  }

  mutating func encodeNil() { begin().write(CBORByte.null) }
  mutating func encode(_ value: Bool) { begin().write(value ? CBORByte.yes : CBORByte.no) }
  mutating func encode(_ value: String) { begin().write(value) }
  mutating func encode(_ value: Double) { begin().write(value) }
  mutating func encode(_ value: Float) { begin().write(value) }
  mutating func encode<Value: BinaryInteger & Encodable>(_ value: Value) { begin().write(value) }
  mutating func encode(_ value: some Encodable) throws { try begin().encode(value) }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    ValueEncoder(writer: begin()).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    ValueEncoder(writer: begin()).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { ValueEncoder(writer: begin()) }
}

/// A key that is a text or a number.
struct CBORKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ text: String) { (stringValue, intValue) = (text, nil) }
  init(stringValue: String) { self.init(stringValue) }
  init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
