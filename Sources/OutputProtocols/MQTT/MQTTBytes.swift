// How MQTT 5 writes numbers, texts and properties (OASIS MQTT 5.0, sections 1.5 and 2.2.2).

/// A property of an MQTT packet, by its identifier (OASIS MQTT 5.0, section 2.2.2.2).
enum MQTTProperty: UInt8 {
  case payloadFormat = 0x01
  case messageExpiry = 0x02
  case contentType = 0x03
  case responseTopic = 0x08
  case correlationData = 0x09
  case subscriptionIdentifier = 0x0B
  case sessionExpiry = 0x11
  case assignedIdentifier = 0x12
  case serverKeepAlive = 0x13
  case authenticationMethod = 0x15
  case authenticationData = 0x16
  case willDelay = 0x18
  case responseInformation = 0x1A
  case serverReference = 0x1C
  case reasonString = 0x1F
  case receiveMaximum = 0x21
  case topicAliasMaximum = 0x22
  case topicAlias = 0x23
  case maximumQuality = 0x24
  case retainAvailable = 0x25
  case userProperty = 0x26
  case maximumPacketSize = 0x27
  case wildcardsAvailable = 0x28
  case identifiersAvailable = 0x29
  case sharingAvailable = 0x2A

  /// How the value of a property is written.
  enum PropertyForm {
    case byte
    case two
    case four
    case variable
    case text
    case pair
  }

  var form: PropertyForm {
    switch self {
    case .payloadFormat, .maximumQuality, .retainAvailable, .wildcardsAvailable,
      .identifiersAvailable, .sharingAvailable:
      .byte
    case .serverKeepAlive, .receiveMaximum, .topicAliasMaximum, .topicAlias: .two
    case .messageExpiry, .sessionExpiry, .willDelay, .maximumPacketSize: .four
    case .subscriptionIdentifier: .variable
    case .contentType, .responseTopic, .correlationData, .assignedIdentifier,
      .authenticationMethod, .authenticationData, .responseInformation, .serverReference,
      .reasonString:
      .text
    case .userProperty: .pair
    }
  }
}

extension [UInt8] {
  mutating func append(two value: UInt16) {
    append(UInt8(value >> 8))
    append(UInt8(value & 0xFF))
  }

  mutating func append(four value: UInt32) {
    append(two: UInt16(value >> 16))
    append(two: UInt16(value & 0xFFFF))
  }

  /// Appends a variable byte integer of at most 268,435,455: seven bits a byte, the lowest first.
  mutating func append(variable value: Int) {
    var rest = Swift.max(0, Swift.min(value, 268_435_455))
    repeat {
      let byte = UInt8(rest & 0x7F)
      rest >>= 7
      append(rest > 0 ? byte | 0x80 : byte)
    } while rest > 0
  }

  /// Appends bytes behind their number in two bytes. What is longer than 65,535 bytes is cut off.
  mutating func append(counted bytes: some Collection<UInt8>) {
    let bytes = bytes.prefix(65_535)
    append(two: UInt16(bytes.count))
    append(contentsOf: bytes)
  }

  mutating func append(_ property: MQTTProperty, two value: UInt16) {
    append(property.rawValue)
    append(two: value)
  }

  mutating func append(_ property: MQTTProperty, four value: UInt32) {
    append(property.rawValue)
    append(four: value)
  }
}

/// Reads the fields of one packet that is whole. Nothing is read beyond its end.
struct MQTTFields {
  private let bytes: ArraySlice<UInt8>
  private var place: Int

  init(_ bytes: ArraySlice<UInt8>) { (self.bytes, place) = (bytes, bytes.startIndex) }

  var isAtEnd: Bool { place >= bytes.endIndex }
  var count: Int { bytes.endIndex - place }

  mutating func byte() throws(MQTTPacketError) -> UInt8 {
    guard place < bytes.endIndex else { throw .malformed("a packet ends too early") }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func two() throws(MQTTPacketError) -> UInt16 {
    let high = try byte()
    return UInt16(high) << 8 | UInt16(try byte())
  }

  mutating func four() throws(MQTTPacketError) -> UInt32 {
    let high = try two()
    return UInt32(high) << 16 | UInt32(try two())
  }

  mutating func variable() throws(MQTTPacketError) -> Int {
    var value = 0
    for shift in stride(from: 0, to: 28, by: 7) {
      let byte = try byte()
      value |= Int(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return value }
    }
    throw .malformed("a number has more than four bytes")
  }

  /// Returns where the body of the packet that begins at `start` is; `nil` while some of it is missing.
  ///
  /// - Parameter limit: The greatest length of a body. A longer one is an error before a byte of it is waited for.
  static func body(
    of bytes: [UInt8], from start: Int, limit: Int
  ) throws(MQTTPacketError) -> Range<Int>? {
    var (length, place, shift) = (0, start + 1, 0)
    while true {
      guard shift < 28 else { throw .malformed("a length has more than four bytes") }
      guard place < bytes.count else { return nil }
      let byte = bytes[place]
      length |= Int(byte & 0x7F) << shift
      (place, shift) = (place + 1, shift + 7)
      if byte & 0x80 == 0 { break }
    }
    guard length <= limit else { throw .tooLarge(length) }
    guard bytes.count - place >= length else { return nil }
    return place..<place + length
  }

  mutating func take(_ count: Int) throws(MQTTPacketError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= self.count else { throw .malformed("a packet ends too early") }
    defer { place += count }
    return bytes[place..<place + count]
  }

  mutating func counted() throws(MQTTPacketError) -> ArraySlice<UInt8> {
    try take(Int(try two()))
  }

  mutating func text() throws(MQTTPacketError) -> String {
    guard let text = String(validating: try counted(), as: UTF8.self), !text.utf8.contains(0)
    else { throw .malformed("a text is not UTF-8") }
    return text
  }

  mutating func rest() -> ArraySlice<UInt8> {
    defer { place = bytes.endIndex }
    return bytes[place...]
  }

  /// Reads the properties of a packet: numbers by their identifiers. Texts are checked and left out.
  mutating func properties(_ allowed: Set<MQTTProperty>) throws(MQTTPacketError) -> [MQTTProperty:
    Int]
  {
    var fields = MQTTFields(try take(try variable()))
    var found: [MQTTProperty: Int] = [:]
    while !fields.isAtEnd {
      guard let property = MQTTProperty(rawValue: try fields.byte()), allowed.contains(property)
      else { throw .malformed("a packet has a property that it may not have") }
      let value: Int
      switch property.form {
      case .byte: value = Int(try fields.byte())
      case .two: value = Int(try fields.two())
      case .four: value = Int(try fields.four())
      case .variable: value = try fields.variable()
      case .text: value = try fields.counted().count
      case .pair: value = try fields.counted().count + (try fields.counted().count)
      }
      guard
        found.updateValue(value, forKey: property) == nil || property == .userProperty
          || property == .subscriptionIdentifier
      else { throw .broken("a packet has a property twice") }
    }
    return found
  }
}
