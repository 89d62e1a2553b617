import Glibc
import SensorTypes
import SimulatedDevices
import Testing

@testable import TwinServing

/// The messages by which a guest sets a device up.
struct BackendTests {
  private final class Spy: VirtioDevice {
    let features: UInt64 = 1
    let queueCount = 2
    let configuration: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    var resets = 0
    func serve(_ rings: [Ring], now: Timestamp) {
      for ring in rings { while let chain = ring.pop() { ring.push(chain, written: 0) } }
    }
    func deadline(now: Timestamp) -> Timestamp { .distantFuture }
    func reset() { resets += 1 }
  }

  private let spy = Spy()
  private let backend: VhostUserBackend

  init() { backend = VhostUserBackend(spy, name: "test", log: Log { _ in }) }

  private func ask(
    _ request: UInt32, _ words: [UInt64] = [], flags: UInt32 = 9, files: [Int32] = []
  ) -> [UInt8]? {
    var payload: [UInt8] = []
    for word in words { payload.append(number: word) }
    return backend.handle(
      VhostUserMessage(request: request, flags: flags, payload: payload, files: files))
  }

  /// Two 32-bit words as one.
  private func pair(_ low: UInt32, _ high: UInt32) -> UInt64 { UInt64(low) | UInt64(high) << 32 }

  private let done: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
  private let refused: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]

  /// A file of 64 KiB that has no name.
  private func file() throws -> Int32 {
    var name = Array("/tmp/lodestone-vhost-XXXXXX".utf8CString)
    let file = mkstemp(&name)
    try #require(file >= 0)
    unlink(name)
    try #require(ftruncate(file, 0x10000) == 0)
    return file
  }

  @Test("offers what it has and takes nothing else")
  func features() {
    #expect(ask(1) == [1, 0, 0, 0x50, 1, 0, 0, 0])
    #expect(ask(15) == [0x28, 2, 0, 0, 0, 0, 0, 0])
    #expect(ask(17) == [2, 0, 0, 0, 0, 0, 0, 0])
    #expect(ask(2, [1 << 32 | 1 << 30 | 1]) == done)
    #expect(ask(2, [1 << 33]) == refused)
    #expect(ask(2, []) == refused)
    // Without the flag nobody waits for an answer.
    #expect(ask(3, flags: 1) == nil)
    #expect(ask(99, flags: 1) == nil)
    #expect(ask(99) == refused)
  }

  @Test("gives the configuration space, padded, and no more than is asked")
  func configuration() {
    func config(_ offset: UInt32, _ size: UInt32) -> [UInt8]? {
      ask(24, [pair(offset, size), 0])
    }
    // Twelve bytes of header come back before the bytes.
    #expect(config(0, 8).map { Array($0.dropFirst(12)) } == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(config(4, 2).map { Array($0.dropFirst(12)) } == [5, 6])
    #expect(config(0, 60)?.count == 72)
    #expect(config(0, 0) == [])
    #expect(config(0, 257) == [])
    #expect(config(.max, .max) == [])
    #expect(ask(24, []) == [])
  }

  @Test("sets a ring up, serves it, and tells where it stopped")
  func ring() throws {
    let file = try file()
    let base = mmap(nil, 0x10000, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    defer { munmap(base, 0x10000) }
    let bytes = UnsafeMutableRawBufferPointer(start: base, count: 0x10000)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let user: UInt64 = 0x10_0000
    #expect(ask(5, [1, 0x4000_0000, 0x10000, user, 0], files: [file]) == done)
    #expect(ask(8, [pair(1, 8)]) == done)
    #expect(ask(10, [pair(1, 0)]) == done)
    #expect(ask(9, [1, user, user + 0x400, user + 0x200, 0]) == done)
    #expect(ask(13, [1], files: [ends[1]]) == done)
    #expect(ask(12, [1]) == done)
    // One request with one readable byte.
    bytes.storeBytes(of: UInt64(0x4000_1000), toByteOffset: 0, as: UInt64.self)
    bytes.storeBytes(of: UInt32(1), toByteOffset: 8, as: UInt32.self)
    bytes.storeBytes(of: UInt16(1), toByteOffset: 0x202, as: UInt16.self)
    backend.serve(now: Timestamp(nanoseconds: 0))
    #expect(bytes.load(fromByteOffset: 0x402, as: UInt16.self) == 0)
    #expect(ask(18, [pair(1, 1)]) == done)
    backend.serve(now: Timestamp(nanoseconds: 0))
    #expect(bytes.load(fromByteOffset: 0x402, as: UInt16.self) == 1)
    var call = [UInt8](repeating: 0, count: 16)
    #expect(read(ends[0], &call, 16) == 8)
    #expect(ask(11, [pair(1, 0)]) == [1, 0, 0, 0, 1, 0, 0, 0])
    #expect(spy.resets == 1)
    #expect(!backend.rings[1].isRunning)
  }

  @Test("refuses memory and rings that cannot be")
  func hostile() throws {
    let size: UInt64 = 0x10000
    // No file, too few regions, too many, beyond the file, sums that overflow.
    #expect(ask(5, [1, 0, size, 0, 0]) == refused)
    #expect(ask(5, [2, 0, size, 0, 0], files: [try file(), try file()]) == refused)
    #expect(ask(5, [9]) == refused)
    #expect(ask(5, [.max]) == refused)
    #expect(ask(5, [1, 0, size + 1, 0, 0], files: [try file()]) == refused)
    #expect(ask(5, [1, 0, size, 0, 1], files: [try file()]) == refused)
    #expect(ask(5, [1, .max, size, 0, 0], files: [try file()]) == refused)
    #expect(ask(5, [1, 0, size, .max, 0], files: [try file()]) == refused)
    #expect(ask(5, [1, 0, .max, 0, .max], files: [try file()]) == refused)
    #expect(ask(5, [1, 0, 0, 0, 0], files: [try file()]) == refused)
    // Rings that are not there, or have no memory, size or place.
    #expect(ask(8, [pair(2, 8)]) == refused)
    #expect(ask(12, [7]) == refused)
    #expect(ask(12, [0], files: [try file()]) == refused)
    #expect(ask(5, [1, 0, size, 0, 0], files: [try file()]) == done)
    #expect(ask(12, [0]) == refused)
    #expect(ask(9, [0, size, size, size, 0]) == done)
    #expect(ask(8, [pair(0, .max)]) == done)
    #expect(ask(12, [0]) == refused)
    #expect(ask(11, [9]) == [])
  }
}
