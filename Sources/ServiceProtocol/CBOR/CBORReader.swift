// The data items of CBOR in bytes that anybody may have sent.

/// The reason why bytes cannot be a message.
package enum CBORProblem: Error, Hashable, Sendable {
  /// The bytes end within an item.
  case truncated
  /// Bytes follow the item.
  case trailingBytes
  /// Arrays and maps are nested too deep.
  case tooDeep
  /// An item begins with a byte that no message has: byte strings, tags, half-precision numbers, reserved values.
  case unsupported(UInt8)
  /// The key of a map is not a text.
  case keyIsNoText
}

/// One data item that has been checked: whole, and within the limits. Positions in it are therefore never out of bounds, and no
/// number in it decides how much memory is used.
struct CBORReader: Sendable {
  /// The most arrays and maps that an item may lie in. Messages need about ten.
  static let deepest = 24

  let bytes: [UInt8]

  /// Checks bytes that are to be exactly one item.
  init(_ bytes: [UInt8]) throws(CBORProblem) {
    self.bytes = bytes
    let end = try Self.end(of: bytes, at: 0, depth: 0)
    guard end == bytes.count else { throw .trailingBytes }
  }

  /// What stands in the first byte and the argument of an item.
  struct Head {
    /// The first byte without its argument.
    var kind: UInt8
    var argument: UInt64
    /// Whether items follow up to a stop.
    var isIndefinite: Bool
    /// The position of the first byte after the item's head.
    var next: Int
  }

  /// Reads the head of an item in bytes that may end anywhere.
  private static func head(_ bytes: [UInt8], at start: Int) throws(CBORProblem) -> Head {
    guard start < bytes.count else { throw .truncated }
    let first = bytes[start]
    let (kind, low) = (first & 0xE0, first & 0x1F)
    var head = Head(kind: kind, argument: UInt64(low), isIndefinite: false, next: start + 1)
    if kind == 0xE0 {
      switch first {
      case CBORByte.no, CBORByte.yes, CBORByte.null: return head
      case CBORByte.float, CBORByte.double: break
      default: throw .unsupported(first)
      }
    }
    guard kind != 0x40, kind != 0xC0 else { throw .unsupported(first) }
    switch low {
    case 0..<24: return head
    case 24...27:
      let count = 1 << (low - 24)
      guard bytes.count - head.next >= count else { throw .truncated }
      head.argument = 0
      for byte in bytes[head.next..<head.next + count] {
        head.argument = head.argument << 8 | UInt64(byte)
      }
      head.next += count
      return head
    case 31 where kind == CBORByte.array || kind == CBORByte.map:
      head.isIndefinite = true
      return head
    default: throw .unsupported(first)
    }
  }

  /// Checks an item and returns the position behind it.
  private static func end(of bytes: [UInt8], at start: Int, depth: Int) throws(CBORProblem) -> Int {
    let head = try head(bytes, at: start)
    switch head.kind {
    case CBORByte.text:
      guard head.argument <= UInt64(bytes.count - head.next) else { throw .truncated }
      return head.next + Int(head.argument)
    case CBORByte.array, CBORByte.map:
      guard depth < deepest else { throw .tooDeep }
      var (position, left) = (head.next, head.argument)
      while true {
        if head.isIndefinite {
          guard position < bytes.count else { throw .truncated }
          if bytes[position] == CBORByte.stop { return position + 1 }
        } else {
          guard left > 0 else { return position }
          left -= 1
        }
        if head.kind == CBORByte.map {
          guard position < bytes.count else { throw .truncated }
          guard bytes[position] & 0xE0 == CBORByte.text else { throw .keyIsNoText }
          position = try end(of: bytes, at: position, depth: depth + 1)
        }
        position = try end(of: bytes, at: position, depth: depth + 1)
      }
    default: return head.next
    }
  }

  /// The head of the item at a position where one begins.
  func head(at position: Int) -> Head {
    // Checked by `init`.
    (try? Self.head(bytes, at: position))
      ?? Head(kind: CBORByte.null, argument: 0, isIndefinite: false, next: bytes.count)
  }

  /// The position behind the item at a position where one begins.
  func end(of position: Int) -> Int {
    (try? Self.end(of: bytes, at: position, depth: 0)) ?? bytes.count
  }

  /// Returns the position of the value that has a key in the map at a position, or `nil` if there is no such map, or no such key.
  func value(of key: StaticString, in map: Int) -> Int? {
    let head = head(at: map)
    guard head.kind == CBORByte.map else { return nil }
    var (position, left) = (head.next, head.isIndefinite ? UInt64.max : head.argument)
    while left > 0, !head.isIndefinite || bytes[position] != CBORByte.stop {
      let text = text(self.head(at: position))
      let isFound = key.withUTF8Buffer { text.elementsEqual($0) }
      if isFound { return text.endIndex }
      position = end(of: text.endIndex)
      left -= 1
    }
    return nil
  }

  /// The bytes of the text whose head is given.
  func text(_ head: Head) -> ArraySlice<UInt8> {
    bytes[head.next..<head.next + Int(head.argument)]
  }
}
