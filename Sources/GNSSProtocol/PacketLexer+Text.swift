// Lines of text in the lexer's buffer: sentences of NMEA 0183 with their tag blocks, Unicore's logs, and remarks in files.

import SensorTypes

extension PacketLexer {
  /// What stands before a sentence on a network (NMEA 0183 from 4.10 on): its source, group and number, which nobody needs here.
  func tagBlock() -> PacketFinding {
    let end = min(buffer.count, start + Self.longestTagBlock)
    var sum: UInt8 = 0
    var star: Int?
    for index in start + 1..<end {
      let byte = buffer[index]
      if byte == UInt8(ascii: "\\") {
        guard let star, index == star + 3, let high = Self.hex(buffer[star + 1]),
          let low = Self.hex(buffer[star + 2])
        else { return .rejected(index - start) }
        return sum == high << 4 | low
          ? .tagBlock(length: index + 1 - start) : .badChecksum(index - start)
      }
      guard byte >= 32, byte < 127 else { return .rejected(index - start) }
      if byte == UInt8(ascii: "*") { star = index }
      if star == nil { sum ^= byte }
    }
    return end == start + Self.longestTagBlock ? .rejected(end - start) : .incomplete
  }

  static func endsLine(_ byte: UInt8) -> Bool { byte == 10 || byte == 13 }

  /// A log (`#UNIHEADINGA,`), wherever it begins, or a line of a file that its keeper has written (`# Name:`): a sentence
  /// in that is an example. A log that has lost its end is neither, and may hide a sentence.
  func line(_ received: Timestamp) -> PacketFinding {
    let end = min(buffer.count, start + Self.longestLine)
    var index = start + 1
    while index < end, Self.isCapitalOrDigit(buffer[index]) { index += 1 }
    if index < end {
      let isLog = buffer[index] == UInt8(ascii: ",") && index > start + Self.shortestName
      guard isLog || (start > 0 ? Self.endsLine(buffer[start - 1]) : beginsLine) else {
        return .rejected(index - start)
      }
      while index < end {
        if Self.endsLine(buffer[index]) {
          return isLog ? log(upTo: index, received) : .remark(length: index - start)
        }
        // What is no text is neither.
        guard buffer[index] == 9 || (buffer[index] >= 32 && buffer[index] != 127) else {
          return .rejected(index - start)
        }
        index += 1
      }
    }
    return end == start + Self.longestLine ? .rejected(end - start) : .incomplete
  }

  private func log(upTo end: Int, _ received: Timestamp) -> PacketFinding {
    let star = end - 9
    guard star > start, buffer[star] == UInt8(ascii: "*"), let sent = number(star + 1..<end) else {
      return .rejected(end - start)
    }
    guard cyclicCheck(start + 1..<star) == sent else { return .badChecksum(end - start) }
    return .packet(
      GNSSPacket(kind: .log, range: start + 1..<star, received: received), length: end - start)
  }

  /// The number that hexadecimal digits write; `nil` for others.
  private func number(_ digits: Range<Int>) -> UInt32? {
    var value: UInt32 = 0
    for index in digits {
      guard let digit = Self.hex(buffer[index]) else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  private func cyclicCheck(_ range: Range<Int>) -> UInt32 { withBytes(range, LogCheck.sum) }

  func sentence(_ received: Timestamp) -> PacketFinding {
    let end = min(buffer.count, start + Self.longestSentence)
    let text = buffer.withUnsafeBufferPointer { PrintableText($0, start + 1..<end) }
    let index = text.end
    guard index < end else {
      return end == start + Self.longestSentence ? .rejected(end - start) : .incomplete
    }
    guard Self.endsLine(buffer[index]) else { return .rejected(index - start) }
    guard let star = text.star else {
      // Some receivers send no check sum; a sentence of a plausible form is taken.
      let content = start + 1..<index
      return !sendsChecksums && isAddressed(content)
        ? .packet(
          GNSSPacket(kind: .nmea, range: content, received: received), length: index - start)
        : .rejected(index - start)
    }
    guard index >= star + 3, let high = Self.hex(buffer[star + 1]),
      let low = Self.hex(buffer[star + 2])
    else { return .rejected(index - start) }
    let difference = text.sum ^ (high << 4 | low)
    guard difference == 0 || isUnicore(difference, star: star, end: index) else {
      return .badChecksum(index - start)
    }
    return .packet(
      GNSSPacket(kind: .nmea, range: start + 1..<star, received: received),
      length: index - start)
  }

  /// Whether a sentence has another check than the standard's: in Unicore's answers to commands the `$` is summed up as well, and
  /// some receivers write `KSXT` with the check of a log.
  private func isUnicore(_ difference: UInt8, star: Int, end: Int) -> Bool {
    if difference == UInt8(ascii: "$") {
      return buffer[start + 1..<star].starts(with: "command,".utf8)
    }
    return end == star + 9 && number(star + 1..<end) == cyclicCheck(start + 1..<star)
  }

  /// Whether a sentence begins like one: `GPGGA,`.
  private func isAddressed(_ range: Range<Int>) -> Bool {
    guard range.count > 6 else { return false }
    for index in range.lowerBound..<range.lowerBound + 5 {
      guard Self.isCapitalOrDigit(buffer[index]) else { return false }
    }
    return buffer[range.lowerBound + 5] == UInt8(ascii: ",")
  }

  private static func isCapitalOrDigit(_ byte: UInt8) -> Bool {
    (65...90).contains(byte) || (48...57).contains(byte)
  }

  private static func hex(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 48...57: digit - 48
    case 65...70: digit - 55
    case 97...102: digit - 87
    default: nil
    }
  }
}

/// A run of printable characters of ASCII, as in a sentence.
struct PrintableText {
  /// The index of the first byte that is no printable character, or the end of the range.
  private(set) var end: Int
  /// The index of the last asterisk before `end`.
  private(set) var star: Int?
  /// The exclusive or of the bytes before the first asterisk.
  private(set) var sum: UInt8 = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    end = range.lowerBound
    sum = Self.passPlain(UnsafeRawBufferPointer(bytes), from: &end, upTo: range.upperBound)
    while end < range.upperBound {
      let byte = bytes[end]
      guard byte >= 32, byte < 127 else { return }
      if byte == UInt8(ascii: "*") {
        star = end
      } else if star == nil {
        sum ^= byte
      }
      end += 1
    }
  }

  /// Passes over printable characters other than asterisks, eight at a time, and returns their exclusive or. It stops at the first
  /// other byte, or less than eight bytes before the end.
  private static func passPlain(
    _ bytes: UnsafeRawBufferPointer, from index: inout Int, upTo end: Int
  ) -> UInt8 {
    let each: UInt64 = 0x0101_0101_0101_0101
    let (blanks, asterisks, upperBits) = (0x20 * each, 0x2A * each, 0x80 * each)
    var sum: UInt64 = 0
    while index + 8 <= end {
      let word = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      // The upper bit of a byte that is above 127, below 32, 127, or an asterisk. It may also be set by the carry of such a byte, in those
      // above it alone: the lowest one is right.
      let found =
        (word | (word &- blanks) | (word &+ each) | ((word ^ asterisks) &- each)) & upperBits
      let count = found.trailingZeroBitCount / 8
      guard count < 8 else {
        sum ^= word
        index += 8
        continue
      }
      sum ^= word & (1 << UInt64(8 * count) &- 1)
      index += count
      break
    }
    sum ^= sum >> 32
    sum ^= sum >> 16
    return UInt8(truncatingIfNeeded: sum ^ sum >> 8)
  }
}

/// CRC-32 as NovAtel and Unicore have it: the usual polynomial, reflected, from 0 and not inverted.
enum LogCheck {
  private static let table: [UInt32] = (0..<256).map { index in
    var value = UInt32(index)
    for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    return value
  }

  static func sum(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
    table.withUnsafeBufferPointer { table in
      bytes.reduce(0) { sum, byte in
        sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)]
      }
    }
  }
}
