// One JSON object a line. Written by hand because the order of keys and the form of numbers are part of
// the interface, and because a line a sample must be cheap.

/// Builds one object; keys come out in the order in which they were set.
package struct JSONLine {
  /// The text, and behind it room that is not written yet.
  private var bytes: [UInt8] = []
  /// The length of the text in bytes.
  private var count = 0

  /// Makes an object that has nothing in it.
  package init() { put(UInt8(ascii: "{")) }

  /// Makes an object behind a text that it takes over, until `end` gives it back: no line needs memory of its own.
  package init(behind text: inout [UInt8]) {
    swap(&bytes, &text)
    count = bytes.count
    put(UInt8(ascii: "{"))
  }

  /// Ends the object, and its line, in the text that it was begun behind.
  package mutating func end(into text: inout [UInt8]) {
    put(UInt8(ascii: "}"))
    put(UInt8(ascii: "\n"))
    bytes.removeLast(bytes.count - count)
    count = 0
    swap(&bytes, &text)
  }

  /// A number; one that is not finite is left out, as JSON has none.
  package mutating func set(_ key: String, _ value: Double?, digits: Int) {
    guard let value, value.isFinite else { return }
    guard let number = FixedDecimal(short: value, digits: digits) else {
      name(key)
      return put("\(value)")
    }
    name(key, before: number.size) { number.write(to: $0) }
  }

  /// `null`, for a key that is always there and has no value.
  package mutating func setNull(_ key: String) {
    name(key)
    put("null")
  }

  package mutating func set(_ key: String, _ value: Int?) {
    guard let value else { return }
    let number = FixedDecimal(value)
    name(key, before: number.size) { number.write(to: $0) }
  }

  package mutating func set(_ key: String, _ value: Bool) {
    let word: StaticString = value ? "true" : "false"
    name(key, before: word.utf8CodeUnitCount) { memory in
      memory.update(from: word.utf8Start, count: word.utf8CodeUnitCount)
      return word.utf8CodeUnitCount
    }
  }

  package mutating func set(_ key: String, _ value: String?) {
    guard let value else { return }
    name(key)
    quote(value)
  }

  /// UTC of a moment, seconds since 1970, which may lie in a leap second.
  package mutating func set(_ key: String, time: Double?, isLeapSecond: Bool = false) {
    guard let time, CivilDate(time) != nil else { return }
    name(key)
    quote(time: time, isLeapSecond: isLeapSecond)
  }

  /// Numbers in a row; one that is not finite leaves all of them out.
  package mutating func set(_ key: String, _ values: [Double]?, digits: Int) {
    guard let values, values.allSatisfy(\.isFinite) else { return }
    name(key)
    list(values, digits: digits)
  }

  package mutating func set(_ key: String, rows: [[Double]]?, digits: Int) {
    guard let rows, rows.allSatisfy({ $0.allSatisfy(\.isFinite) }) else { return }
    name(key)
    list(rows) { $0.list($1, digits: digits) }
  }

  /// Numbers in a row, `null` for what is none; all of them are left out where none is one.
  package mutating func set(_ key: String, orNull values: [Double?], digits: Int) {
    guard values.contains(where: { $0?.isFinite ?? false }) else { return }
    name(key)
    list(values) { line, value in
      if let value, value.isFinite {
        line.put(value, digits: digits)
      } else {
        line.put("null")
      }
    }
  }

  /// Texts in a row, in the same way.
  package mutating func set(_ key: String, orNull values: [String?]) {
    guard values.contains(where: { $0 != nil }) else { return }
    name(key)
    list(values) { line, value in
      if let value { line.quote(value) } else { line.put("null") }
    }
  }

  /// Moments of UTC in a row, seconds since 1970, in the same way.
  package mutating func set(_ key: String, times: [Double?]) {
    guard times.contains(where: { $0.map { CivilDate($0) != nil } ?? false }) else { return }
    name(key)
    list(times) { line, time in
      guard let time, CivilDate(time) != nil else { return line.put("null") }
      line.quote(time: time)
    }
  }

  /// Texts in a row.
  package mutating func set(_ key: String, _ values: [String]) {
    name(key)
    list(values) { $0.quote($1) }
  }

  /// Objects in a row, each filled in by `fill`.
  ///
  /// It can be inlined, so that a list of a known type is written without the generic function's detours.
  @inlinable
  package mutating func set<Element>(
    _ key: String, objects: [Element], _ fill: (inout JSONLine, Element) -> Void
  ) {
    beginList(key)
    var isFirst = true
    for element in objects {
      beginObject(isFirst: isFirst)
      isFirst = false
      fill(&self, element)
      endObject()
    }
    endList()
  }

  @usableFromInline
  mutating func beginList(_ key: String) {
    name(key)
    put(UInt8(ascii: "["))
  }

  @usableFromInline
  mutating func beginObject(isFirst: Bool) {
    if !isFirst { put(UInt8(ascii: ",")) }
    put(UInt8(ascii: "{"))
  }

  @usableFromInline
  mutating func endObject() { put(UInt8(ascii: "}")) }

  @usableFromInline
  mutating func endList() { put(UInt8(ascii: "]")) }

  package mutating func set(_ key: String, _ value: JSONLine) {
    name(key)
    value.bytes[..<value.count].withUnsafeBufferPointer { put(text: $0) }
    put(UInt8(ascii: "}"))
  }

  /// The finished line, without a newline.
  package var line: String { String(decoding: bytes[..<count], as: UTF8.self) + "}" }

  private mutating func list(_ values: [Double], digits: Int) {
    list(values) { $0.put($1, digits: digits) }
  }

  private mutating func list<Element>(
    _ elements: [Element], _ write: (inout JSONLine, Element) -> Void
  ) {
    put(UInt8(ascii: "["))
    // No pairs of numbers and elements: of a type that is not known here the runtime looks a pair's up each time.
    var isFirst = true
    for element in elements {
      if !isFirst { put(UInt8(ascii: ",")) }
      isFirst = false
      write(&self, element)
    }
    put(UInt8(ascii: "]"))
  }

  private mutating func quote(time: Double, isLeapSecond: Bool = false) {
    put(UInt8(ascii: "\""))
    if let date = CivilDate(isLeapSecond ? time - 1 : time) {
      write(atMost: CivilDate.size) { date.write(to: $0, isLeapSecond: isLeapSecond) }
    }
    put(UInt8(ascii: "\""))
  }

  /// A control character as JSON spells it.
  package static func escape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private mutating func escape(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": put("\\\"")
    case "\\": put("\\\\")
    case "\n": put("\\n")
    case "\r": put("\\r")
    case "\t": put("\\t")
    // JSON asks it of the first ones only; a terminal heeds the others as well.
    case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value):
      put(Self.escape(scalar))
    default: for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { put(byte) }
    }
  }
}

// Bytes of the text, with one look at the room behind it for each piece.
extension JSONLine {
  /// The room that is made at once.
  private static let blank = [UInt8](repeating: 0, count: 1_024)

  /// Writes what `body` writes at the end of the text, and counts.
  @inline(__always)
  private mutating func write(
    atMost most: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int
  ) {
    if bytes.count - count < most { makeRoom(most) }
    let end = count
    count += bytes.withUnsafeMutableBufferPointer { all in
      all.baseAddress.map { body($0 + end) } ?? 0
    }
  }

  @inline(never)
  private mutating func makeRoom(_ most: Int) {
    repeat { bytes.append(contentsOf: Self.blank) } while bytes.count - count < most
  }

  private mutating func put(_ byte: UInt8) {
    write(atMost: 1) { memory in
      memory.pointee = byte
      return 1
    }
  }

  private mutating func put(text: UnsafeBufferPointer<UInt8>) {
    guard let start = text.baseAddress else { return }
    write(atMost: text.count) { memory in
      memory.update(from: start, count: text.count)
      return text.count
    }
  }

  private mutating func put(_ text: String) {
    var text = text
    text.withUTF8 { put(text: $0) }
  }

  private mutating func put(_ value: Double, digits: Int) {
    guard let number = FixedDecimal(short: value, digits: digits) else { return put("\(value)") }
    write(atMost: number.size) { number.write(to: $0) }
  }

  /// Whether the next member of an object is not its first.
  private var needsComma: Bool { count == 0 || bytes[count - 1] != UInt8(ascii: "{") }

  private mutating func name(_ key: String) { name(key, before: 0) { _ in 0 } }

  /// Writes a key, and a value behind it that has at most so many bytes.
  @inline(__always)
  private mutating func name(
    _ key: String, before size: Int, _ value: (UnsafeMutablePointer<UInt8>) -> Int
  ) {
    let comma = needsComma ? 1 : 0
    let isPlain = key.utf8.withContiguousStorageIfAvailable { key in
      var isPlain = false
      write(atMost: comma + key.count + 3 + size) { memory in
        memory.pointee = UInt8(ascii: ",")
        memory[comma] = UInt8(ascii: "\"")
        let text = memory + comma + 1
        isPlain = Self.copyPlain(key, to: text)
        guard isPlain else { return comma }
        text[key.count] = UInt8(ascii: "\"")
        text[key.count + 1] = UInt8(ascii: ":")
        return comma + key.count + 3 + value(text + key.count + 2)
      }
      return isPlain
    }
    guard isPlain != true else { return }
    if isPlain == nil, comma > 0 { put(UInt8(ascii: ",")) }
    quote(key)
    write(atMost: 1 + size) { memory in
      memory.pointee = UInt8(ascii: ":")
      return 1 + value(memory + 1)
    }
  }

  private mutating func quote(_ text: String) {
    let isPlain = text.utf8.withContiguousStorageIfAvailable { text in
      var isPlain = false
      write(atMost: text.count + 2) { memory in
        memory.pointee = UInt8(ascii: "\"")
        isPlain = Self.copyPlain(text, to: memory + 1)
        guard isPlain else { return 1 }
        memory[text.count + 1] = UInt8(ascii: "\"")
        return text.count + 2
      }
      return isPlain
    }
    guard isPlain != true else { return }
    if isPlain == nil { put(UInt8(ascii: "\"")) }
    for scalar in text.unicodeScalars { escape(scalar) }
    put(UInt8(ascii: "\""))
  }

  /// Copies text. Returns whether JSON has all of its bytes as they are: none of control, above 126, no quotation mark, no backslash.
  private static func copyPlain(
    _ text: UnsafeBufferPointer<UInt8>, to memory: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    let (from, to) = (UnsafeRawBufferPointer(text), UnsafeMutableRawPointer(memory))
    let count = text.count
    if count >= 8 {
      var found: UInt64 = 0
      func copy(_ index: Int) {
        let word = from.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        to.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
        found |= marks(in: word)
      }
      var index = 0
      while index < count - 8 {
        copy(index)
        index += 8
      }
      // The last eight, some of them once more.
      copy(count - 8)
      return found == 0
    }
    if count >= 4 {
      let first = from.loadUnaligned(as: UInt32.self)
      let last = from.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      to.storeBytes(of: first, as: UInt32.self)
      to.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
      return marks(in: UInt64(first) << 32 | UInt64(last)) == 0
    }
    var isPlain = true
    for index in 0..<count {
      let byte = text[index]
      memory[index] = byte
      isPlain =
        isPlain && byte >= 32 && byte < 127 && byte != UInt8(ascii: "\"")
        && byte != UInt8(ascii: "\\")
    }
    return isPlain
  }

  /// Zero if all eight bytes of a word are plain.
  private static func marks(in word: UInt64) -> UInt64 {
    let each: UInt64 = 0x0101_0101_0101_0101
    let (quotes, backslashes) = (word ^ (0x22 * each), word ^ (0x5C * each))
    // The upper bit of a byte that is above 127, below 32, 127 or one of the two. A carry sets it in others only behind such a byte.
    return
      (word | (word &- 0x20 * each) | (word &+ each) | (quotes &- each)
      | (backslashes &- each)) & (0x80 * each)
  }
}
