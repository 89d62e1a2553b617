// What a server writes for the one who has the news, and what it leaves to its thread.

import Foundation
import LinuxIO
import SensorTypes
import ServiceProtocol
import Synchronization
import Testing

@testable import LocationDaemon

struct GatheringTests {
  /// The daemon's side of a connection: bytes that wait to be written.
  private final class Queue: ServedConnection {
    private let waiting = Mutex<[[UInt8]]>([])
    private let wake: @Sendable () -> Void
    let ended = DispatchSemaphore(value: 0)
    let isOneWay: Bool
    /// The threads that have taken bytes.
    let takers = Mutex<Set<UInt>>([])

    init(isOneWay: Bool, _ wake: @escaping @Sendable () -> Void) {
      (self.isOneWay, self.wake) = (isOneWay, wake)
    }

    func put(_ bytes: [UInt8]) {
      let wasEmpty = waiting.withLock { waiting in
        defer { waiting.append(bytes) }
        return waiting.isEmpty
      }
      if wasEmpty { wake() }
    }

    let isReading = true
    let isClosed = false
    let maySleep = true
    let deadline: Double? = nil
    var waitingCount: Int { waiting.withLock { $0.reduce(0) { $0 + $1.count } } }
    func advance(to now: Double) {}
    func close(_ reason: Farewell, at now: Double) {}
    func receive(_ bytes: UnsafeRawBufferPointer, at now: Double) {}
    func next() -> [UInt8]? {
      takers.withLock { _ = $0.insert(UInt(pthread_self())) }
      return waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
    func end() { ended.signal() }
  }

  /// A server with one connection.
  private final class Bench {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "lodestone-\(getpid())-\(UInt32.random(in: 0 ... .max))")
    let server: ServiceServer
    /// Closed when it goes.
    var connection: LocalConnection?
    let queue: Queue
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    init(isOneWay: Bool = false) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let path = folder.appending(path: "s").path
      let (queues, admitted) = (Kept(), DispatchSemaphore(value: 0))
      let entrance = Entrance(
        try LocalListener(path: path, mode: 0o600), refusal: { _ in [] },
        admit: { _, _, wake in
          let queue = Queue(isOneWay: isOneWay, wake)
          queues.all.withLock { $0.append(queue) }
          admitted.signal()
          return queue
        })
      server = try ServiceServer([entrance])
      connection = try LocalConnection(path: path)
      try #require(admitted.wait(timeout: .now() + 10) == .success)
      queue = try #require(queues.all.withLock { $0.first })
    }

    deinit {
      server.stop()
      buffer.deallocate()
      try? FileManager.default.removeItem(at: folder)
    }

    private final class Kept: Sendable {
      let all = Mutex<[Queue]>([])
    }

    /// Returns what has arrived.
    func arrived() -> [UInt8] {
      guard case .bytes(let count)? = connection?.read(into: buffer) else { return [] }
      return Array(buffer[..<count])
    }

    /// Waits for so many bytes.
    func bytes(_ count: Int) throws -> [UInt8] {
      let poller = try Poller()
      let connection = try #require(connection)
      try poller.add(connection.descriptor, token: 0, .readable)
      var (all, end): ([UInt8], _) = ([], ContinuousClock.now + .seconds(10))
      while all.count < count, ContinuousClock.now < end {
        _ = poller.wait(until: .distantFuture)
        all += arrived()
        if !all.isEmpty { end = ContinuousClock.now + .seconds(10) }
      }
      return all
    }
  }

  @Test("news is written before gathering returns, as long as the server's thread waits")
  func atOnce() throws {
    let bench = try Bench()
    var early = 0
    for number: UInt8 in 0..<100 {
      bench.server.gather { bench.queue.put([number]) }
      var bytes = bench.arrived()
      early += bytes.isEmpty ? 0 : 1
      if bytes.isEmpty { bytes = try bench.bytes(1) }
      #expect(bytes == [number])
    }
    #expect(early > 50, "\(early) of 100")
  }

  @Test("what the socket has no room for is written by the server's thread, in order")
  func later() throws {
    let bench = try Bench()
    let size = 10_000
    for number in 0..<300 {
      bench.server.gather { bench.queue.put([UInt8](repeating: UInt8(number % 251), count: size)) }
    }
    let all = try bench.bytes(300 * size)
    #expect(all.count == 300 * size)
    let isOrdered = (0..<300).allSatisfy { number in
      all[number * size..<(number + 1) * size].allSatisfy { $0 == UInt8(number % 251) }
    }
    #expect(isOrdered)
    // And then the next is written at once again.
    bench.server.gather { bench.queue.put([1]) }
    #expect(try bench.bytes(1) == [1])
  }

  @Test(
    "a program that has gone is noticed, whoever writes, and a server that stops writes no more")
  func gone() throws {
    let bench = try Bench()
    bench.connection = nil
    for number: UInt8 in 0..<20 { bench.server.gather { bench.queue.put([number]) } }
    #expect(bench.queue.ended.wait(timeout: .now() + 10) == .success)
    bench.server.gather { bench.queue.put([1]) }
    bench.server.stop()
    bench.server.gather { bench.queue.put([2]) }
  }

  @Test("lines of JSON are left to the server's thread")
  func lines() throws {
    let bench = try Bench(isOneWay: true)
    for number: UInt8 in 0..<100 { bench.server.gather { bench.queue.put([number]) } }
    #expect(try bench.bytes(100) == Array(0..<100))
    let takers = bench.queue.takers.withLock { $0 }
    #expect(takers.count == 1 && !takers.contains(UInt(pthread_self())))
  }

  @Test("two threads with news at once lose none, and keep the order of each")
  func two() throws {
    let bench = try Bench()
    let (server, queue, count) = (bench.server, bench.queue, 2_000)
    DispatchQueue.concurrentPerform(iterations: 2) { thread in
      for number in 0..<count {
        server.gather {
          queue.put([UInt8(thread), UInt8(number & 255), UInt8(number >> 8)])
        }
      }
    }
    let all = try bench.bytes(2 * 3 * count)
    let messages = stride(from: 0, to: all.count - 2, by: 3).map { place in
      (thread: all[place], number: Int(all[place + 1]) | Int(all[place + 2]) << 8)
    }
    for thread: UInt8 in 0...1 {
      #expect(messages.filter { $0.thread == thread }.map(\.number) == Array(0..<count))
    }
  }
}
