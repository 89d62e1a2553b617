// A line of a table: where its fields are, and what numbers they hold. No field has memory of its own.

import LinearAlgebra

/// What stands between the fields of a table; decimal commas are read wherever no comma does.
enum SampleSeparator: CaseIterable {
  case semicolon, tab, comma, blanks

  /// Where the fields of a line are, without blanks and quotation marks about them. Separators at the line's end are
  /// none; within quotation marks they are not either.
  func split(_ line: [UInt8], into fields: inout [Range<Int>]) {
    fields.removeAll(keepingCapacity: true)
    var end = line.count
    while end > 0, Self.isTrailing(line[end - 1]) { end -= 1 }
    var (start, isQuoted) = (0, false)
    func trimmed(_ low: Int, _ high: Int) -> Range<Int> {
      var (low, high) = (low, high)
      while low < high, Self.isBlank(line[low]) || line[low] == 0x22 { low += 1 }
      while low < high, Self.isBlank(line[high - 1]) || line[high - 1] == 0x22 {
        high -= 1
      }
      return low..<high
    }
    for i in 0..<end {
      if line[i] == 0x22 { isQuoted.toggle() }
      guard !isQuoted, separates(line[i]) else { continue }
      if self != .blanks || i > start { fields.append(trimmed(start, i)) }
      start = i + 1
    }
    if start < end { fields.append(trimmed(start, end)) }
  }

  private func separates(_ byte: UInt8) -> Bool {
    switch self {
    case .semicolon: byte == 0x3B
    case .tab: byte == 0x09
    case .comma: byte == 0x2C
    case .blanks: Self.isBlank(byte)
    }
  }

  private static func isTrailing(_ byte: UInt8) -> Bool {
    isBlank(byte) || byte == 0x3B || byte == 0x2C
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  /// The number in a field; `nil` for anything else. Decimal numbers alone: `nan`, `inf` and hexadecimal are none
  /// here, nor is what has a blank inside.
  func number(_ line: [UInt8], _ field: Range<Int>) -> Double? {
    guard let last = field.last, line[last] != 0x2C, field.count < 64 else { return nil }
    // A comma within quotation marks is a decimal one whatever separates; `split` leaves none elsewhere.
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text -> Double? in
      for (place, i) in field.enumerated() {
        switch line[i] {
        case 0x30...0x39, 0x2B, 0x2D, 0x2E, 0x45, 0x65: text[place] = CChar(line[i])
        case 0x2C: text[place] = 0x2E
        default: return nil
        }
      }
      text[field.count] = 0
      guard let start = text.baseAddress else { return nil }
      var end: UnsafeMutablePointer<CChar>?
      let value = strtod(start, &end)
      guard end == start + field.count, value.isFinite else { return nil }
      return value
    }
  }
}

/// Lines out of a file's bytes, however it comes in pieces: UTF-8 or UTF-16, lines that end by LF, CR or both.
struct SampleLines {
  private enum Encoding { case unknown, bytes, little, big }

  private var encoding = Encoding.unknown
  private var line: [UInt8] = []
  private var isAfterReturn = false
  /// Half of a UTF-16 unit, or what is too little to know the encoding by.
  private var carry: [UInt8] = []

  /// No line that is read is longer; of such a one so much is given that it is seen to be too long.
  static let longest = 65_536

  /// Takes a piece and gives the lines that end in it, without their ends; `give` returns false to stop.
  mutating func take(_ piece: some Collection<UInt8>, _ give: ([UInt8]) -> Bool) {
    if encoding == .bytes {
      if piece.withContiguousStorageIfAvailable({ take(bytes: $0, give) }) == nil {
        Array(piece).withUnsafeBufferPointer { take(bytes: $0, give) }
      }
      return
    }
    carry += piece
    if encoding == .unknown {
      guard carry.count >= 4 else { return }
      begin()
    }
    decode(give)
  }

  /// Gives the last line where it has no end.
  mutating func finish(_ give: ([UInt8]) -> Bool) {
    if encoding == .unknown {
      begin()
      decode(give)
    }
    if !line.isEmpty { _ = give(line) }
    line = []
  }

  private mutating func begin() {
    func starts(_ bytes: UInt8...) -> Bool { carry.starts(with: bytes) }
    if starts(0xFF, 0xFE) {
      (encoding, carry) = (.little, Array(carry.dropFirst(2)))
    } else if starts(0xFE, 0xFF) {
      (encoding, carry) = (.big, Array(carry.dropFirst(2)))
    } else if carry.count >= 4, carry[0] != 0, carry[1] == 0, carry[2] != 0, carry[3] == 0 {
      encoding = .little
    } else {
      encoding = .bytes
      if starts(0xEF, 0xBB, 0xBF) { carry.removeFirst(3) }
    }
  }

  private mutating func decode(_ give: ([UInt8]) -> Bool) {
    let raw = carry
    carry = []
    guard encoding != .bytes else {
      raw.withUnsafeBufferPointer { take(bytes: $0, give) }
      return
    }
    var text: [UInt8] = []
    text.reserveCapacity(raw.count)
    let (low, high) = encoding == .little ? (0, 1) : (1, 0)
    for i in stride(from: 0, to: raw.count - 1, by: 2) {
      let unit = UInt16(raw[i + low]) | UInt16(raw[i + high]) << 8
      // A half of a pair is nothing that a table needs.
      text += String(Character(Unicode.Scalar(unit) ?? "\u{FFFD}")).utf8
    }
    if raw.count % 2 == 1, let last = raw.last { carry = [last] }
    text.withUnsafeBufferPointer { take(bytes: $0, give) }
  }

  private mutating func take(bytes: UnsafeBufferPointer<UInt8>, _ give: ([UInt8]) -> Bool) {
    var start = 0
    for i in bytes.indices {
      let byte = bytes[i]
      guard byte == 0x0A || byte == 0x0D else {
        isAfterReturn = false
        continue
      }
      // The line feed of a pair ends nothing more.
      let isPair = byte == 0x0A && isAfterReturn
      isAfterReturn = byte == 0x0D
      defer { start = i + 1 }
      if isPair { continue }
      append(bytes[start..<i])
      let goesOn = give(line)
      line.removeAll(keepingCapacity: true)
      guard goesOn else { return }
    }
    append(bytes[start...])
  }

  private mutating func append(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
    line += bytes.prefix(max(0, Self.longest - line.count))
  }
}
