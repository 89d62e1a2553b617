import SimulatedDevices
import Testing

@testable import TwinServing

/// The ring, and what a hostile guest may write into it.
struct VirtqueueTests {
  private let bench = RingBench()

  private func defect() throws -> Virtqueue.Defect? {
    var queue = try bench.queue()
    do throws(Virtqueue.Defect) {
      _ = try queue.pop()
      return nil
    } catch {
      return error
    }
  }

  @Test("takes requests in order and gives them back in its own")
  func order() throws {
    var queue = try bench.queue()
    #expect(try queue.pop() == nil)
    bench.ask([1, 2, 3], room: 4)
    bench.ask([4], room: 2, first: 4, at: 0x2000)
    let first = try #require(try queue.pop())
    let second = try #require(try queue.pop())
    #expect(try queue.pop() == nil)
    #expect(first.read() == [1, 2, 3])
    #expect(second.read() == [4])
    #expect(second.write([7, 8, 9]) == 2)
    queue.push(second, written: 2)
    #expect(first.write([5]) == 1)
    queue.push(first, written: 1)
    #expect(bench.usedCount == 2)
    #expect(bench.returned(0) == (4, 2))
    #expect(bench.returned(1) == (0, 1))
    #expect(bench.answer(4) == [5, 0xAA, 0xAA, 0xAA])
    #expect(bench.answer(2, at: 0x2000) == [7, 8])
  }

  @Test("goes on past the end of the ring and of its indices")
  func wrapping() throws {
    // The guest stopped the ring before, with 65533 requests done.
    bench.put(UInt16(65533), at: RingBench.used + 2)
    var queue = try bench.queue(next: 65533)
    for index in 0..<20 {
      let count = UInt16(65533) &+ UInt16(index)
      bench.describe(0, at: RingBench.buffers, count: 1)
      bench.put(UInt16(0), at: RingBench.available + 4 + 2 * (Int(count) % RingBench.size))
      bench.put(count &+ 1, at: RingBench.available + 2)
      let chain = try #require(try queue.pop())
      queue.push(chain, written: 0)
      #expect(bench.usedCount == count &+ 1)
    }
  }

  @Test("a request that was put back comes again")
  func putBack() throws {
    var queue = try bench.queue()
    bench.ask([9], room: 1)
    _ = try queue.pop()
    queue.putBack()
    #expect(try queue.pop()?.read() == [9])
  }

  @Test("reads and writes across parts, of an indirect table too")
  func parts() throws {
    let table = 0x3000
    bench.put([1, 2], at: 0x1000)
    bench.put([3], at: 0x1100)
    bench.describe(0, at: 0x1000, count: 2, flags: 1, next: 2, table: table)
    bench.describe(2, at: 0x1100, count: 1, flags: 1, next: 1, table: table)
    bench.describe(1, at: 0x1200, count: 2, flags: 3, next: 3, table: table)
    bench.describe(3, at: 0x1300, count: 3, flags: 2, table: table)
    bench.describe(5, at: table, count: 64, flags: 4)
    bench.offer(5)
    var queue = try bench.queue()
    let chain = try #require(try queue.pop())
    #expect(chain.read() == [1, 2, 3])
    #expect(chain.writableCount == 5)
    #expect(chain.write([4, 5, 6, 7]) == 4)
    #expect(chain.write([8], at: 4) == 5)
    #expect(chain.write([9], at: 5) == 5)
    #expect(bench.data(at: 0x1200, count: 2) == [4, 5])
    #expect(bench.data(at: 0x1300, count: 3) == [6, 7, 8])
  }

  @Test("asks for silence are heard")
  func silence() throws {
    let queue = try bench.queue()
    #expect(queue.wantsCall)
    bench.put(UInt16(1), at: RingBench.available)
    #expect(!queue.wantsCall)
  }

  @Test("refuses a ring of a bad size or at a bad place")
  func places() throws {
    for size in [0, 3, 2048, -1] {
      #expect(throws: Virtqueue.Defect.size(size)) {
        _ = try Virtqueue(memory: bench.memory, size: size, at: RingBench.addresses, next: 0)
      }
    }
    let end = RingBench.user + 0x10000
    for address: UInt64 in [0, RingBench.user + 8, end - 16, end, .max - 15, 1 << 40] {
      var addresses = RingBench.addresses
      addresses.descriptors = address
      #expect(throws: Virtqueue.Defect.place) {
        _ = try Virtqueue(memory: bench.memory, size: 8, at: addresses, next: 0)
      }
    }
    for (available, used) in [(1, 0x400), (0x200, 0x402), (0xFFF0, 0x400), (0x200, 0xFFF0)] {
      var addresses = RingBench.addresses
      addresses.available = RingBench.user + UInt64(available)
      addresses.used = RingBench.user + UInt64(used)
      #expect(throws: Virtqueue.Defect.place) {
        _ = try Virtqueue(memory: bench.memory, size: 8, at: addresses, next: 0)
      }
    }
  }

  @Test("finds a chain that loops, directly and in an indirect table")
  func loops() throws {
    bench.describe(0, at: 0x1000, count: 1, flags: 1, next: 1)
    bench.describe(1, at: 0x1000, count: 1, flags: 1, next: 0)
    bench.offer(0)
    #expect(try defect() == .loop)
    bench.describe(0, at: 0x1000, count: 0, flags: 1, next: 0)
    #expect(try defect() == .loop)
    bench.describe(0, at: 0x3000, count: 32, flags: 4)
    bench.describe(0, at: 0x1000, count: 1, flags: 1, next: 1, table: 0x3000)
    bench.describe(1, at: 0x1000, count: 1, flags: 1, next: 0, table: 0x3000)
    #expect(try defect() == .loop)
  }

  @Test("touches nothing outside of the guest's memory")
  func outside() throws {
    let end = RingBench.guest + 0x10000
    let bad: [(UInt64, UInt32)] = [
      (0, 1), (RingBench.guest - 1, 1), (end, 1), (end - 1, 2), (.max, 1), (.max - 3, 8),
      (RingBench.user, 4),
    ]
    bench.offer(0)
    for (address, count) in bad {
      bench.describe(0, address: address, count: count)
      #expect(try defect() == .outside(address, count: count))
      bench.describe(0, address: address, count: 16, flags: 4)
      if count <= 16, address != end - 1 || count == 2 {
        #expect(try defect() == .outside(address, count: 16))
      }
    }
  }

  @Test("bounds what a request may be")
  func bounds() throws {
    bench.offer(0)
    bench.describe(0, address: RingBench.guest, count: .max)
    #expect(try defect() == .tooLong)
    bench.describe(0, at: 0, count: 40_000, flags: 1, next: 1)
    bench.describe(1, at: 0, count: 40_000)
    #expect(try defect() == .tooLong)
    bench.describe(0, at: 0x1000, count: 1, flags: 1, next: 8)
    #expect(try defect() == .index(8))
    bench.describe(0, at: 0x1000, count: 1, flags: 3, next: 1)
    bench.describe(1, at: 0x1000, count: 1)
    #expect(try defect() == .order)
    for (count, flags) in [(0, 4), (15, 4), (16, 5), (.max, 4), (1 << 20, 4)] as [(UInt32, UInt16)]
    {
      bench.describe(0, at: 0x3000, count: count, flags: flags, next: 1)
      #expect(try defect() == .indirect)
    }
    bench.describe(0, at: 0x3000, count: 16, flags: 4)
    bench.describe(0, at: 0x3100, count: 16, flags: 4, table: 0x3000)
    #expect(try defect() == .indirect)
    bench.put(UInt16(200), at: RingBench.available + 4)
    #expect(try defect() == .index(200))
    bench.put(UInt16(9), at: RingBench.available + 2)
    #expect(try defect() == .overrun)
  }

  @Test("a broken ring says so once and is quiet from then on")
  func broken() throws {
    var said: [String] = []
    let ring = try bench.ring { said.append($0) }
    bench.put(UInt16(9), at: RingBench.available + 2)
    #expect(ring.pop() == nil)
    #expect(ring.pop() == nil)
    #expect(said.count == 1)
    #expect(!ring.isRunning)
  }

  @Test("whatever a ring is filled with, it is served or refused")
  func random() throws {
    var random = SeededGenerator(seed: 1, stream: 1)
    for _ in 0..<2_000 {
      // Mostly plausible numbers, so that chains get somewhere.
      for index in 0..<RingBench.size {
        let inside = RingBench.guest + UInt64.random(in: 0..<0x10400, using: &random)
        bench.describe(
          index, address: UInt8.random(in: 0..<8, using: &random) == 0 ? random.next() : inside,
          count: UInt32.random(in: 0..<0x200, using: &random),
          flags: UInt16.random(in: 0..<8, using: &random),
          next: UInt16.random(in: 0..<9, using: &random))
        bench.put(
          UInt16.random(in: 0..<9, using: &random), at: RingBench.available + 4 + 2 * index)
      }
      bench.put(UInt16.random(in: 0..<9, using: &random), at: RingBench.available + 2)
      bench.put(UInt16(0), at: RingBench.used + 2)
      var queue = try bench.queue()
      do throws(Virtqueue.Defect) {
        while let chain = try queue.pop() {
          _ = chain.read()
          queue.push(chain, written: chain.writableCount)
        }
      } catch {
        #expect(!error.description.isEmpty)
      }
    }
  }
}
