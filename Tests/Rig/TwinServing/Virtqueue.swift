// A split virtqueue from the device's side (Virtual I/O Device 1.2, section 2.7).

import CVhostUser

/// What one request of the guest points to. Device-readable parts come before device-writable ones.
struct DescriptorChain {
  /// The index by which it is given back.
  let head: UInt16
  fileprivate(set) var readable: [UnsafeMutableRawBufferPointer] = []
  fileprivate(set) var writable: [UnsafeMutableRawBufferPointer] = []
  // Keeps the bytes mapped for as long as the request is in hand.
  private let memory: GuestMemory

  fileprivate init(head: UInt16, memory: GuestMemory) {
    self.head = head
    self.memory = memory
  }

  /// Bytes that may be written.
  var writableCount: Int { writable.reduce(0) { $0 + $1.count } }

  /// A copy of what the guest says: it may change its memory while it is looked at.
  func read() -> [UInt8] {
    var bytes: [UInt8] = []
    for part in readable { bytes.append(contentsOf: part) }
    return bytes
  }

  /// Writes from the writable part's byte `offset` on, as far as there is room; says how far it got.
  @discardableResult
  func write(_ bytes: some Collection<UInt8>, at offset: Int = 0) -> Int {
    var skip = offset
    var rest = bytes[...]
    var end = offset
    for part in writable {
      guard skip < part.count else {
        skip -= part.count
        continue
      }
      let count = min(rest.count, part.count - skip)
      UnsafeMutableRawBufferPointer(rebasing: part[skip..<skip + count])
        .copyBytes(from: rest.prefix(count))
      rest = rest.dropFirst(count)
      end += count
      skip = 0
      if rest.isEmpty { break }
    }
    return end
  }
}

/// One ring of requests. The guest is not trusted: every address, length and index it gives is checked.
struct Virtqueue {
  /// Why a ring cannot be served any further.
  enum Defect: Error, Hashable, CustomStringConvertible {
    /// A number of entries that is no power of two from 1 to 1024.
    case size(Int)
    /// A ring that is not in the guest's memory, or not aligned.
    case place
    /// The guest claims more requests than the ring has entries.
    case overrun
    /// A descriptor beyond the table.
    case index(Int)
    /// A chain with more descriptors than its table: it loops.
    case loop
    /// A buffer that is not in the guest's memory.
    case outside(UInt64, count: UInt32)
    /// A chain of more bytes than any request here has.
    case tooLong
    /// An indirect table inside another, of no whole number of entries, or not the chain's only part.
    case indirect
    /// A readable part after a writable one.
    case order

    var description: String {
      switch self {
      case .size(let size): "\(size) entries are no ring"
      case .place: "the ring lies outside of the guest's memory or is not aligned"
      case .overrun: "more requests than entries"
      case .index(let index): "descriptor \(index) is beyond the table"
      case .loop: "a chain of descriptors loops"
      case .outside(let address, let count):
        "\(count) bytes at 0x\(String(address, radix: 16)) are outside of the guest's memory"
      case .tooLong: "a chain of more than \(Virtqueue.longest) bytes"
      case .indirect: "a bad indirect table"
      case .order: "a readable part after a writable one"
      }
    }
  }

  /// Bytes of one request at most: i2c-dev sends 8192.
  static let longest = 1 << 16
  private static let largest = 1024

  /// Where the peer has put the parts of a ring, as addresses of its own process.
  struct Addresses: Hashable {
    var descriptors: UInt64
    var available: UInt64
    var used: UInt64
  }

  let size: Int
  /// The index of the next request that was not taken yet.
  private(set) var next: UInt16
  private let memory: GuestMemory
  private let descriptors: UnsafeMutableRawBufferPointer
  private let available: UnsafeMutableRawPointer
  private let used: UnsafeMutableRawPointer
  private var usedIndex: UInt16

  init(
    memory: GuestMemory, size: Int, at addresses: Addresses, next: UInt16
  ) throws(Defect) {
    guard size > 0, size <= Self.largest, size & (size - 1) == 0 else { throw .size(size) }
    guard addresses.descriptors % 16 == 0, addresses.available % 2 == 0, addresses.used % 4 == 0,
      let descriptors = memory.bytes(user: addresses.descriptors, count: 16 * size),
      let available = memory.bytes(user: addresses.available, count: 6 + 2 * size).baseIfAligned(2),
      let used = memory.bytes(user: addresses.used, count: 6 + 8 * size).baseIfAligned(4)
    else { throw .place }
    self.size = size
    self.memory = memory
    self.descriptors = descriptors
    self.available = available
    self.used = used
    self.next = next
    usedIndex = UInt16(littleEndian: (used + 2).load(as: UInt16.self))
  }

  /// Takes the next request; `nil` while there is none.
  mutating func pop() throws(Defect) -> DescriptorChain? {
    let index = UInt16(
      littleEndian: twin_load_acquire((available + 2).assumingMemoryBound(to: UInt16.self)))
    guard index != next else { return nil }
    guard Int(index &- next) <= size else { throw .overrun }
    let head = UInt16(
      littleEndian: (available + 4 + 2 * (Int(next) % size)).load(as: UInt16.self))
    let chain = try chain(from: head)
    next &+= 1
    return chain
  }

  /// Leaves the request that was taken last for later.
  mutating func putBack() { next &-= 1 }

  /// Gives a request back, with `written` bytes of its writable part filled.
  mutating func push(_ chain: DescriptorChain, written: Int) {
    let entry = used + 4 + 8 * (Int(usedIndex) % size)
    entry.storeBytes(of: UInt32(chain.head).littleEndian, as: UInt32.self)
    (entry + 4).storeBytes(of: UInt32(clamping: written).littleEndian, as: UInt32.self)
    usedIndex &+= 1
    twin_store_release((used + 2).assumingMemoryBound(to: UInt16.self), usedIndex.littleEndian)
  }

  /// Whether the guest wants to hear of requests that came back (VIRTQ_AVAIL_F_NO_INTERRUPT).
  var wantsCall: Bool {
    // The flag is looked at after the index was stored, as the guest does it the other way round.
    twin_fence()
    let flags = UInt16(
      littleEndian: twin_load_acquire(available.assumingMemoryBound(to: UInt16.self)))
    return flags & 1 == 0
  }

  private struct Descriptor {
    var address: UInt64
    var count: UInt32
    var flags: UInt16
    var next: UInt16

    static let hasNext: UInt16 = 1
    static let isWritable: UInt16 = 2
    static let isIndirect: UInt16 = 4

    init(_ table: UnsafeMutableRawBufferPointer, _ index: Int) {
      let at = 16 * index
      address = UInt64(littleEndian: table.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      count = UInt32(littleEndian: table.loadUnaligned(fromByteOffset: at + 8, as: UInt32.self))
      flags = UInt16(littleEndian: table.loadUnaligned(fromByteOffset: at + 12, as: UInt16.self))
      next = UInt16(littleEndian: table.loadUnaligned(fromByteOffset: at + 14, as: UInt16.self))
    }
  }

  private func chain(from head: UInt16) throws(Defect) -> DescriptorChain {
    var chain = DescriptorChain(head: head, memory: memory)
    var table = descriptors
    var entries = size
    var index = Int(head)
    var taken = 0
    var total = 0
    guard index < entries else { throw .index(index) }
    let first = Descriptor(table, index)
    if first.flags & Descriptor.isIndirect != 0 {
      guard first.flags & Descriptor.hasNext == 0, first.count > 0, first.count % 16 == 0,
        first.count <= 16 * UInt32(Self.largest)
      else { throw .indirect }
      guard let inner = memory.bytes(guest: first.address, count: Int(first.count)) else {
        throw .outside(first.address, count: first.count)
      }
      table = inner
      entries = Int(first.count) / 16
      index = 0
    }
    while true {
      taken += 1
      guard taken <= entries else { throw .loop }
      let part = Descriptor(table, index)
      guard part.flags & Descriptor.isIndirect == 0 else { throw .indirect }
      total += Int(part.count)
      guard total <= Self.longest else { throw .tooLong }
      guard let bytes = memory.bytes(guest: part.address, count: Int(part.count)) else {
        throw .outside(part.address, count: part.count)
      }
      if part.flags & Descriptor.isWritable != 0 {
        chain.writable.append(bytes)
      } else {
        guard chain.writable.isEmpty else { throw .order }
        chain.readable.append(bytes)
      }
      guard part.flags & Descriptor.hasNext != 0 else { return chain }
      index = Int(part.next)
      guard index < entries else { throw .index(index) }
    }
  }
}

extension UnsafeMutableRawBufferPointer? {
  /// The address, where it is a multiple of `alignment` in this process too.
  fileprivate func baseIfAligned(_ alignment: Int) -> UnsafeMutableRawPointer? {
    guard let base = self?.baseAddress, Int(bitPattern: base) % alignment == 0 else { return nil }
    return base
  }
}
