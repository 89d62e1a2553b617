// Writes UBX frames and NMEA sentences, byte by byte, into a buffer that is used again and again.

/// One message on its way out. Written from the u-blox M8 protocol specification (UBX-13003221,
/// sections 31 and 32.4) and from NMEA 0183's published sentence formats.
struct MessageBuilder: Sendable {
  /// The message so far.
  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(512) }

  /// Begins a frame of UBX, or of a protocol that has it with another beginning: sync characters, class, identity and room for the length.
  mutating func beginUBX(
    _ messageClass: UInt8, _ identity: UInt8, sync: FrameSync = .ubx
  ) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(sync.first)
    bytes.append(sync.second)
    bytes.append(messageClass)
    bytes.append(identity)
    bytes.append(0)
    bytes.append(0)
  }

  /// Appends the low `count` bytes of a number, least significant first.
  mutating func append(_ value: Int64, bytes count: Int) {
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> Int64(8 * index))) }
  }

  /// Appends text, filled up with zeros to `width`.
  mutating func append(_ text: StaticString, width: Int) {
    let count = min(width, text.utf8CodeUnitCount)
    for index in 0..<count { bytes.append(text.utf8Start[index]) }
    for _ in count..<width { bytes.append(0) }
  }

  /// Fills in the length and appends the checksum: Fletcher's of 8 bits, over class to payload.
  mutating func endUBX() {
    let length = bytes.count - 6
    bytes[4] = UInt8(truncatingIfNeeded: length)
    bytes[5] = UInt8(truncatingIfNeeded: length >> 8)
    var a: UInt8 = 0
    var b: UInt8 = 0
    for index in 2..<bytes.count {
      a &+= bytes[index]
      b &+= a
    }
    bytes.append(a)
    bytes.append(b)
  }

  /// Begins a sentence, as `GNRMC`.
  mutating func beginNMEA(_ address: StaticString) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(UInt8(ascii: "$"))
    append(address)
  }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Appends text as it is.
  mutating func append(_ text: StaticString) {
    for index in 0..<text.utf8CodeUnitCount { bytes.append(text.utf8Start[index]) }
  }

  /// Appends text as it is.
  mutating func append(text: String) { bytes.append(contentsOf: text.utf8) }

  /// Begins the next field.
  mutating func field() { bytes.append(UInt8(ascii: ",")) }

  /// Appends a field of text.
  mutating func field(_ text: StaticString) {
    field()
    append(text)
  }

  /// Appends a field with a number of `decimals` digits after the point; an empty one for `nil`.
  mutating func field(_ value: Double?, decimals: Int, integerDigits: Int = 1) {
    field()
    guard let value, value.isFinite, abs(value) < 1e12 else { return }
    append(value, decimals: decimals, integerDigits: integerDigits)
  }

  /// Appends a decimal number, rounded half away from zero.
  mutating func append(_ value: Double, decimals: Int, integerDigits: Int = 1) {
    var scale: Int64 = 1
    for _ in 0..<decimals { scale *= 10 }
    let counts = Int64((value * Double(scale)).rounded())
    if counts < 0 { bytes.append(UInt8(ascii: "-")) }
    let magnitude = counts.magnitude
    append(magnitude / scale.magnitude, digits: integerDigits)
    guard decimals > 0 else { return }
    bytes.append(UInt8(ascii: "."))
    append(magnitude % scale.magnitude, digits: decimals)
  }

  /// Appends a whole number with at least `digits` digits.
  mutating func append(_ value: UInt64, digits: Int) {
    var divisor: UInt64 = 1
    var width = 1
    while width < digits || value / divisor >= 10 {
      divisor *= 10
      width += 1
    }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }

  /// Appends the checksum (exclusive or between `$` and `*`) and the end of the line.
  mutating func endNMEA() {
    var sum: UInt8 = 0
    for index in 1..<bytes.count { sum ^= bytes[index] }
    bytes.append(UInt8(ascii: "*"))
    append(hexadecimalDigit: sum >> 4)
    append(hexadecimalDigit: sum & 0x0F)
    bytes.append(0x0D)
    bytes.append(0x0A)
  }

  private mutating func append(hexadecimalDigit digit: UInt8) {
    bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
  }
}
