// A guest's side of a virtqueue, laid out by hand in memory of the test.

import Glibc

@testable import TwinServing

/// 64 KiB of a guest's memory with one ring in it. Nothing here looks at the code under test for the
/// layout: the offsets are those of Virtual I/O Device 1.2, section 2.7.
final class RingBench {
  static let guest: UInt64 = 0x1000_0000
  static let user: UInt64 = 0x7F00_0000_0000
  static let size = 8
  static let descriptors = 0
  static let available = 0x200
  static let used = 0x400
  /// Where a test may put its buffers.
  static let buffers = 0x1000

  let bytes: UnsafeMutableRawBufferPointer
  let memory: GuestMemory
  private var availableIndex: UInt16 = 0

  init() {
    bytes = .allocate(byteCount: 0x10000, alignment: 4096)
    for index in bytes.indices { bytes[index] = 0 }
    memory = GuestMemory(bytes, guest: Self.guest, user: Self.user)
  }

  deinit { bytes.deallocate() }

  static var addresses: Virtqueue.Addresses {
    Virtqueue.Addresses(
      descriptors: user + UInt64(descriptors), available: user + UInt64(available),
      used: user + UInt64(used))
  }

  func queue(next: UInt16 = 0) throws -> Virtqueue {
    try Virtqueue(memory: memory, size: Self.size, at: Self.addresses, next: next)
  }

  /// A ring as a session has it: started, enabled, without files.
  func ring(log: @escaping (String) -> Void = { _ in }) throws -> Ring {
    let ring = Ring(name: "test", log: Log(log))
    ring.size = Self.size
    ring.addresses = Self.addresses
    ring.isEnabled = true
    try ring.start(in: memory)
    return ring
  }

  func put<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }

  func number<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type) -> Value {
    Value(littleEndian: bytes.load(fromByteOffset: offset, as: type))
  }

  func put(_ data: [UInt8], at offset: Int) {
    for (index, byte) in data.enumerated() { bytes[offset + index] = byte }
  }

  func data(at offset: Int, count: Int) -> [UInt8] { Array(bytes[offset..<offset + count]) }

  /// Entry `index` of a table that begins at `table`. Flags: 1 next, 2 writable, 4 indirect.
  func describe(
    _ index: Int, at offset: Int, count: UInt32, flags: UInt16 = 0, next: UInt16 = 0, table: Int = 0
  ) {
    describe(
      index, address: Self.guest + UInt64(offset), count: count, flags: flags, next: next,
      table: table)
  }

  func describe(
    _ index: Int, address: UInt64, count: UInt32, flags: UInt16 = 0, next: UInt16 = 0,
    table: Int = 0
  ) {
    put(address, at: table + 16 * index)
    put(count, at: table + 16 * index + 8)
    put(flags, at: table + 16 * index + 12)
    put(next, at: table + 16 * index + 14)
  }

  /// Offers a chain to the device.
  func offer(_ head: UInt16) {
    put(head, at: Self.available + 4 + 2 * (Int(availableIndex) % Self.size))
    availableIndex &+= 1
    put(availableIndex, at: Self.available + 2)
  }

  /// How many requests came back.
  var usedCount: UInt16 { number(at: Self.used + 2, as: UInt16.self) }

  /// What came back as number `index`: head and bytes written.
  func returned(_ index: Int) -> (head: UInt32, written: UInt32) {
    let entry = Self.used + 4 + 8 * (index % Self.size)
    return (number(at: entry, as: UInt32.self), number(at: entry + 4, as: UInt32.self))
  }

  /// Offers a request in descriptors `first` and `first + 1`: what is said, and room for an answer.
  func ask(_ said: [UInt8], room: Int, first: UInt16 = 0, at offset: Int = buffers) {
    put(said, at: offset)
    put([UInt8](repeating: 0xAA, count: room), at: offset + 512)
    describe(
      Int(first), at: offset, count: UInt32(said.count), flags: room > 0 ? 1 : 0, next: first + 1)
    if room > 0 { describe(Int(first) + 1, at: offset + 512, count: UInt32(room), flags: 2) }
    offer(first)
  }

  /// The bytes of the answer to `ask`.
  func answer(_ count: Int, at offset: Int = buffers) -> [UInt8] {
    data(at: offset + 512, count: count)
  }
}
