/// A chip whose registers are read and written by an 8-bit sub-address, one transaction a call.
///
/// An implementation writes the sub-address and reads after a *repeated start*, so that nobody comes
/// between; it bounds every transfer by a timeout and a few retries.
package protocol RegisterDevice: ~Copyable {
  /// Reads `buffer.count` bytes (1 to 255) beginning at `register`. How the chip moves its own pointer
  /// is the chip's affair: some want a flag in the sub-address.
  borrowing func read(
    _ register: UInt8, into buffer: UnsafeMutableRawBufferPointer
  ) throws(BusError)

  /// Writes `bytes` (0 to 254) beginning at `register`.
  borrowing func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError)

  /// Reads `buffer.count` bytes (1 to 255) from wherever the chip's own pointer is, and writes no sub-address before: to
  /// what has no registers, a port expander, that would be data. Throws `.unsupported` where it cannot be done.
  borrowing func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError)

  /// How often a transfer of this device was repeated so far because noise or another master had disturbed it. It only
  /// grows, and counts the successful and the failed repetitions.
  var retries: UInt64 { get }
}

extension RegisterDevice where Self: ~Copyable {
  /// 0: no transfer of this device is repeated.
  package var retries: UInt64 { 0 }

  /// Not everything that has registers can do that.
  package borrowing func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    throw BusError(.unsupported("reads without a register"), bus: "")
  }
}

/// A device behind an existential, for code that is generic over devices.
package struct SharedDevice: RegisterDevice {
  private let base: any RegisterDevice

  /// Passes everything on to `base`.
  package init(_ base: any RegisterDevice) { self.base = base }

  /// Reads as `base` does.
  package func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError)
  {
    try base.read(register, into: buffer)
  }

  /// Listens as `base` does.
  package func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try base.listen(into: buffer)
  }

  /// Repeated as often as those of `base`.
  package var retries: UInt64 { base.retries }

  /// Writes as `base` does.
  package func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    try base.write(register, from: bytes)
  }
}

/// Up to 32 bytes read in one burst, on the stack.
package struct RegisterBlock: Sendable, Hashable {
  /// The bytes; those past the burst are zero.
  package var bytes: SIMD32<UInt8>

  /// Makes a block of zeros.
  @inlinable package init() { bytes = SIMD32(repeating: 0) }

  /// The byte at `index`, 0 to 31.
  @inlinable package subscript(index: Int) -> UInt8 {
    get { bytes[index] }
    set { bytes[index] = newValue }
  }

  /// Bytes `index` (low) and `index + 1` as an unsigned number.
  @inlinable package func uint16LittleEndian(_ index: Int) -> UInt16 {
    UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
  }

  /// Bytes `index` (low) and `index + 1` as a signed number.
  @inlinable package func int16LittleEndian(_ index: Int) -> Int16 {
    Int16(bitPattern: uint16LittleEndian(index))
  }

  /// Bytes `index` (high) and `index + 1` as a signed number.
  @inlinable package func int16BigEndian(_ index: Int) -> Int16 {
    Int16(bitPattern: UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]))
  }

  /// Bytes `index` (high) to `index + 2` as a signed number.
  @inlinable package func int24BigEndian(_ index: Int) -> Int32 {
    let high = UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16
    return Int32(bitPattern: high | UInt32(bytes[index + 2]) << 8) >> 8
  }
}

extension RegisterDevice where Self: ~Copyable {
  @inlinable package borrowing func byte(_ register: UInt8) throws(BusError) -> UInt8 {
    try burst(register, count: 1)[0]
  }

  /// Reads `count` (1 to 32) registers in one transaction, without touching the heap.
  @inlinable package borrowing func burst(
    _ register: UInt8, count: Int
  ) throws(BusError) -> RegisterBlock {
    var block = RegisterBlock()
    try withUnsafeMutableBytes(of: &block.bytes) { (bytes) throws(BusError) in
      try self.read(register, into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
    }
    return block
  }

  @inlinable package borrowing func write(_ register: UInt8, _ value: UInt8) throws(BusError) {
    try withUnsafeBytes(of: value) { (bytes) throws(BusError) in
      try self.write(register, from: bytes)
    }
  }
}
