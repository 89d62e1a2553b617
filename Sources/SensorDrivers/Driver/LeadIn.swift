// A device whose reads begin with bytes that mean nothing.

import SensorBus

/// Drops the first bytes of every read, which some chips (BMM350) send before the first register.
struct LeadIn<Base: RegisterDevice & ~Copyable>: ~Copyable, RegisterDevice {
  private let base: Base
  /// So many bytes before the first register; 0 for almost every chip.
  private let count: Int

  init(_ base: consuming Base, dropping count: Int) {
    self.base = base
    self.count = count
  }

  /// Reads as `base` does, and `count` bytes more; all together at most 32 where there are any to drop.
  borrowing func read(
    _ register: UInt8, into buffer: UnsafeMutableRawBufferPointer
  ) throws(BusError) {
    guard count > 0 else { return try base.read(register, into: buffer) }
    let block = try base.burst(register, count: buffer.count + count)
    for index in 0..<buffer.count { buffer[index] = block[index + count] }
  }

  /// Writes as `base` does.
  borrowing func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    try base.write(register, from: bytes)
  }
}
