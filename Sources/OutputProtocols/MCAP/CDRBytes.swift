// The common data representation of DDS, little endian, as ROS 2 sends its messages (OMG DDS-RTPS 2.5, section 10; CORBA 3, 15.3).

/// A message that is being written: numbers aligned to their own size, counted from behind the four bytes of the encapsulation header.
struct CDRBytes {
  /// The message, with its encapsulation header: CDR_LE, no options.
  private(set) var bytes: [UInt8] = [0, 1, 0, 0]

  mutating func append(_ value: UInt8) { bytes.append(value) }
  mutating func append(_ value: Int8) { bytes.append(UInt8(bitPattern: value)) }

  mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
    align(Integer.bitWidth / 8)
    bytes.append(little: value)
  }

  mutating func append(_ value: Double) { append(value.bitPattern) }

  /// Appends numbers of a fixed count, without a length.
  mutating func append(_ values: [Double]) {
    for value in values { append(value) }
  }

  /// Appends a text: its length with the zero byte at its end, then both.
  mutating func append(_ text: String) {
    append(UInt32(clamping: text.utf8.count + 1))
    bytes.append(contentsOf: text.utf8)
    bytes.append(0)
  }

  private mutating func align(_ size: Int) {
    while (bytes.count - 4) % size != 0 { bytes.append(0) }
  }
}
