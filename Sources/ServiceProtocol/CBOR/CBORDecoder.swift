// CBOR to values: a `Decoder` that reads where the item lies and builds no tree.

/// Decodes values from CBOR. The bytes may come from anybody.
package enum CBORDecoder {
  /// Decodes a value from bytes that are to be exactly one data item.
  ///
  /// Keys of a map that the type does not know are skipped: they are a newer program's.
  /// - Throws: `CBORProblem` for bytes that are no item, `DecodingError` for an item that is not such a value.
  package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws
    -> Value
  {
    try decode(type, from: CBORReader(bytes), at: 0)
  }

  /// Decodes a value from the data item at a position.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from reader: CBORReader, at position: Int
  ) throws -> Value {
    try Item(reader: reader, position: position).value(type)
  }
}

/// One item of a message. Nobody reads where in a message an error was, so that no path is kept for it.
private struct Item {
  let reader: CBORReader
  let position: Int

  private var context: DecodingError.Context {
    DecodingError.Context(codingPath: [], debugDescription: "at byte \(position)")
  }

  private func mismatch(_ type: Any.Type) -> DecodingError { .typeMismatch(type, context) }

  var isNull: Bool { reader.bytes[position] == CBORByte.null }

  func bool() throws -> Bool {
    switch reader.bytes[position] {
    case CBORByte.yes: true
    case CBORByte.no: false
    default: throw mismatch(Bool.self)
    }
  }

  func string() throws -> String {
    let head = reader.head(at: position)
    guard head.kind == CBORByte.text else { throw mismatch(String.self) }
    guard let text = String(validating: reader.text(head), as: UTF8.self) else {
      throw DecodingError.dataCorrupted(context)
    }
    return text
  }

  func double() throws -> Double {
    switch reader.bytes[position] {
    case CBORByte.double: return Double(bitPattern: reader.head(at: position).argument)
    case CBORByte.float: return Double(try float())
    default: throw mismatch(Double.self)
    }
  }

  func float() throws -> Float {
    guard reader.bytes[position] == CBORByte.float else { throw mismatch(Float.self) }
    return Float(bitPattern: UInt32(truncatingIfNeeded: reader.head(at: position).argument))
  }

  func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    let head = reader.head(at: position)
    let value: Value? =
      switch head.kind {
      case CBORByte.unsigned: Value(exactly: head.argument)
      case CBORByte.negative: Int64(exactly: head.argument).flatMap { Value(exactly: ~$0) }
      default: throw mismatch(type)
      }
    guard let value else { throw DecodingError.dataCorrupted(context) }
    return value
  }

  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try Value(from: ItemDecoder(item: self))
  }

  func map<Key: CodingKey>(_ type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let head = reader.head(at: position)
    guard head.kind == CBORByte.map else { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(MapDecoder<Key>(item: self, head: head))
  }

  func array() throws -> ArrayDecoder {
    let head = reader.head(at: position)
    guard head.kind == CBORByte.array else { throw mismatch([Any].self) }
    return ArrayDecoder(item: self, head: head)
  }

  func missing(_ key: some CodingKey) -> DecodingError { .keyNotFound(key, context) }
  func ended() -> DecodingError { .valueNotFound(Any.self, context) }
}

private struct ItemDecoder: Decoder, SingleValueDecodingContainer {
  let item: Item
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try item.map(type)
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try item.array() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { item.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try item.bool() }
  func decode(_ type: String.Type) throws -> String { try item.string() }
  func decode(_ type: Double.Type) throws -> Double { try item.double() }
  func decode(_ type: Float.Type) throws -> Float { try item.float() }
  func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
    try item.integer(type)
  }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try item.value(type) }
}

private final class MapDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let item: Item
  private let first: Int
  /// The number of entries, if it is written.
  private let count: UInt64?
  /// Where the next key is looked for: types ask in the order in which they were written.
  private var place: (position: Int, index: UInt64)
  /// The entry that was found last: an optional one is asked for three times.
  private var last: (key: ArraySlice<UInt8>, value: Int) = ([], 0)

  init(item: Item, head: CBORReader.Head) {
    self.item = item
    first = head.next
    count = head.isIndefinite ? nil : head.argument
    place = (head.next, 0)
  }

  var codingPath: [any CodingKey] { [] }

  private func isEnd(_ place: (position: Int, index: UInt64)) -> Bool {
    if let count {
      place.index >= count
    } else {
      item.reader.bytes[place.position] == CBORByte.stop
    }
  }

  var allKeys: [Key] {
    var (keys, place): ([Key], _) = ([], (position: first, index: UInt64(0)))
    while !isEnd(place) {
      let head = item.reader.head(at: place.position)
      let text = item.reader.text(head)
      if let key = String(validating: text, as: UTF8.self).flatMap(Key.init(stringValue:)) {
        keys.append(key)
      }
      place = (item.reader.end(of: text.endIndex), place.index + 1)
    }
    return keys
  }

  /// Looks from where the last key was found to the end, and then from the beginning.
  private func find(_ key: some CodingKey) -> Int? {
    var wanted = key.stringValue
    return wanted.withUTF8 { utf8 in
      if last.value > 0, last.key.elementsEqual(utf8) { return last.value }
      let begin = place
      for isSecond in [false, true] {
        if isSecond { place = (first, 0) }
        while !isEnd(place), !isSecond || place.position < begin.position {
          let text = item.reader.text(item.reader.head(at: place.position))
          let value = text.endIndex
          place = (item.reader.end(of: value), place.index + 1)
          if text.elementsEqual(utf8) {
            last = (text, value)
            return value
          }
        }
      }
      return nil
    }
  }

  private func at(_ key: some CodingKey) throws -> Item {
    guard let position = find(key) else { throw item.missing(key) }
    return Item(reader: item.reader, position: position)
  }

  func contains(_ key: Key) -> Bool { find(key) != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try at(key).isNull }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try at(key).bool() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try at(key).string() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try at(key).double() }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try at(key).float() }
  func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws
    -> Value
  {
    try at(key).integer(type)
  }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try at(key).value(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try at(key).map(type) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try at(key).array()
  }
  func superDecoder() throws -> any Decoder { ItemDecoder(item: try at(CBORKey("super"))) }
  func superDecoder(forKey key: Key) throws -> any Decoder { ItemDecoder(item: try at(key)) }
}

private struct ArrayDecoder: UnkeyedDecodingContainer {
  private let item: Item
  private var position: Int
  private(set) var currentIndex = 0
  private let first: Int
  /// The number of elements, if it is written.
  private let written: Int?

  init(item: Item, head: CBORReader.Head) {
    self.item = item
    (position, first) = (head.next, head.next)
    written = head.isIndefinite ? nil : Int(clamping: head.argument)
  }

  /// The number of elements, each of which has a byte at least: it is safe to reserve memory for so many. A vector wants to know it.
  var count: Int? {
    if let written { return written }
    var (count, position) = (0, first)
    while item.reader.bytes[position] != CBORByte.stop {
      position = item.reader.end(of: position)
      count += 1
    }
    return count
  }

  var codingPath: [any CodingKey] { [] }
  var isAtEnd: Bool {
    if let written { currentIndex >= written } else { item.reader.bytes[position] == CBORByte.stop }
  }

  private mutating func next() throws -> Item {
    guard !isAtEnd else { throw item.ended() }
    let next = Item(reader: item.reader, position: position)
    position = item.reader.end(of: position)
    currentIndex += 1
    return next
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd else { throw item.ended() }
    guard item.reader.bytes[position] == CBORByte.null else { return false }
    _ = try next()
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool { try next().bool() }
  mutating func decode(_ type: String.Type) throws -> String { try next().string() }
  mutating func decode(_ type: Double.Type) throws -> Double { try next().double() }
  mutating func decode(_ type: Float.Type) throws -> Float { try next().float() }
  mutating func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
    try next().integer(type)
  }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next().value(type)
  }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try next().map(type) }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next().array()
  }
  mutating func superDecoder() throws -> any Decoder { ItemDecoder(item: try next()) }
}
