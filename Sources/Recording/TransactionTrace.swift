// The transaction trace: what went over the wires, when, and with what result, as lines of text.
//
//   s 0                      a step of worker 0 begins
//   t 123456789              the worker read the monotonic clock (ns)
//   u 41d9...                the worker read the wall clock (bit pattern of seconds since 1970)
//   o 2                      device, stream, buffer or line 2 of this worker was opened
//   r 2 28 0a0b0c            read from device 2, register 0x28: three bytes; behind it how often the transfer was
//                            repeated because it was disturbed, where it was
//   w 2 20 70                written to device 2, register 0x20: one byte; behind it the same
//   i 3 24474e               arrived on stream 3, or from buffer 3
//   x 3 b562                 sent on stream 3
//   b 3 38400                stream 3 set to this rate
//   a 5 6e616d65 6c6973      attribute of kernel device 5 read: its name, what it said
//   v 5 7363616c65 31        attribute of kernel device 5 set: its name, to what
//   e 4 123450000            newest edge of line 4 (ns), or `e 4 -` for none; behind it how many, where more than one
//   h 4 0                    line 4 looked at: 1 for high
//   k 0 1 7b7d               a stored file that sensor 0 uses is new: 0 missing, 1 its bytes, 2 unreadable and why
//   d 7                      from here on this is asked for: 1 heading, 2 location, 4 altitude, 8 heading by course
//   .                        the step ended
//   g 12                     between steps: 12 steps are missing here
//
// A transfer that failed ends in `!reason errno` instead of bytes.

package import SensorBus

/// Builds the lines of a trace; bytes in, no strings, so that tracing costs little.
package struct TraceBuffer: Sendable {
  /// The lines so far, each ended by a newline.
  package private(set) var bytes: [UInt8] = []

  /// Makes an empty trace.
  package init() {}

  /// Forgets the lines, keeping the memory.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Begins a line: its letter and, where there is one, the number of what it is about.
  package mutating func begin(_ letter: Character, _ index: Int? = nil) {
    bytes.append(letter.asciiValue ?? 63)
    if let index { number(Int64(index)) }
  }

  /// Appends a space and a decimal number.
  package mutating func number(_ value: Int64) {
    bytes.append(32)
    if value < 0 { bytes.append(45) }
    var magnitude = value.magnitude
    let start = bytes.count
    repeat {
      bytes.append(48 + UInt8(magnitude % 10))
      magnitude /= 10
    } while magnitude > 0
    bytes[start...].reverse()
  }

  /// Appends a space and the bytes in hexadecimal; a lone `=` where there are none.
  package mutating func hexadecimal(_ data: UnsafeRawBufferPointer) {
    bytes.append(32)
    if data.isEmpty { bytes.append(61) }
    for byte in data {
      bytes.append(Self.digit(byte >> 4))
      bytes.append(Self.digit(byte & 15))
    }
  }

  /// Appends a space and `-`: there was nothing.
  package mutating func nothing() {
    bytes.append(32)
    bytes.append(45)
  }

  /// Appends a space and an error.
  package mutating func failure(_ error: BusError) {
    bytes.append(32)
    bytes.append(33)
    bytes.append(contentsOf: error.reason.traceWord.utf8)
    number(Int64(error.errno))
  }

  package mutating func end() { bytes.append(10) }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
}

/// One line of a trace, split into its words.
package struct TraceLine: Sendable, Hashable {
  /// What it is: the letter of the table above.
  package let letter: UInt8
  private let words: [[UInt8]]

  /// Splits a line without its newline, or `nil` for one that is no trace line.
  package init?(_ line: some Sequence<UInt8>) {
    let words = Array(line).split(separator: 32).map(Array.init)
    guard let first = words.first, first.count == 1 else { return nil }
    letter = first[0]
    self.words = Array(words.dropFirst())
  }

  /// The number of words after the letter.
  package var count: Int { words.count }

  /// The decimal number in word `index`.
  package func number(_ index: Int) -> Int64? {
    guard index < words.count else { return nil }
    return Int64(String(decoding: words[index], as: UTF8.self))
  }

  /// The bytes written in word `index`.
  package func data(_ index: Int) -> [UInt8]? {
    guard index < words.count else { return nil }
    let text = words[index]
    if text == [61] { return [] }
    guard text.count % 2 == 0 else { return nil }
    var data: [UInt8] = []
    data.reserveCapacity(text.count / 2)
    for position in stride(from: 0, to: text.count, by: 2) {
      guard let high = Self.value(text[position]), let low = Self.value(text[position + 1]) else {
        return nil
      }
      data.append(high << 4 | low)
    }
    return data
  }

  /// The error in word `index` and the one after it, at the place given.
  package func failure(
    _ index: Int, bus: String, address: UInt8? = nil, register: UInt8? = nil
  ) -> BusError? {
    guard index + 1 < words.count, words[index].first == 33, let errno = number(index + 1),
      let reason = BusError.Reason(
        traceWord: String(decoding: words[index].dropFirst(), as: UTF8.self)),
      let code = Int32(exactly: errno)
    else { return nil }
    return BusError(reason, bus: bus, address: address, register: register, errno: code)
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 48...57: digit - 48
    case 97...102: digit - 87
    default: nil
    }
  }
}

extension BusError.Reason {
  /// The reason as one word without spaces.
  fileprivate var traceWord: String {
    switch self {
    case .noAnswer: "noAnswer"
    case .timedOut: "timedOut"
    case .arbitrationLost: "arbitrationLost"
    case .ownedByKernel(nil): "ownedByKernel"
    case .ownedByKernel(let driver?): "ownedByKernel:\(Self.escape(driver))"
    case .inUse(let owner): "inUse:\(Self.escape(owner))"
    case .permissionDenied(let group): "permissionDenied:\(Self.escape(group))"
    case .notFound: "notFound"
    case .disconnected: "disconnected"
    case .shortTransfer(let expected, let actual): "shortTransfer:\(expected):\(actual)"
    case .noConnection(let why): "noConnection:\(Self.escape(why))"
    case .unsupported(let what): "unsupported:\(Self.escape(what))"
    case .system: "system"
    }
  }

  fileprivate init?(traceWord word: String) {
    let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    switch (parts[0], parts.count) {
    case ("noAnswer", 1): self = .noAnswer
    case ("timedOut", 1): self = .timedOut
    case ("arbitrationLost", 1): self = .arbitrationLost
    case ("ownedByKernel", 1): self = .ownedByKernel(driver: nil)
    case ("ownedByKernel", 2): self = .ownedByKernel(driver: Self.unescape(parts[1]))
    case ("inUse", 2): self = .inUse(by: Self.unescape(parts[1]))
    // Of recordings from when a bus was kept by a lock file.
    case ("lockFailed", 2): self = .system
    case ("permissionDenied", 2): self = .permissionDenied(group: Self.unescape(parts[1]))
    case ("notFound", 1): self = .notFound
    case ("disconnected", 1): self = .disconnected
    case ("shortTransfer", 3):
      guard let expected = Int(parts[1]), let actual = Int(parts[2]) else { return nil }
      self = .shortTransfer(expected: expected, actual: actual)
    case ("noConnection", 2): self = .noConnection(Self.unescape(parts[1]))
    case ("unsupported", 2): self = .unsupported(Self.unescape(parts[1]))
    case ("system", 1): self = .system
    default: return nil
    }
  }

  // A payload is free text; what would break the line or the word is written as %xx.
  private static func escape(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      if byte > 32, byte < 127, byte != 37, byte != 58 {
        result.append(Character(UnicodeScalar(byte)))
      } else {
        result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return result
  }

  private static func unescape(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == 37, rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
