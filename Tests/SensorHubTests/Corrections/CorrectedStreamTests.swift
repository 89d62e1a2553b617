import SensorBus
import SensorTypes
import Testing

@testable import SensorHub

/// A line that takes as many bytes as a test lets it.
private final class SlowStream: ByteStream {
  var sent: [UInt8] = []
  var room = 0
  /// What the next read brings, and whether writing fails.
  var waiting: [UInt8] = []
  var isBroken = false
  let readiness = Readiness.never

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let count = min(buffer.count, waiting.count)
    buffer.copyBytes(from: waiting.prefix(count))
    waiting.removeFirst(count)
    return count
  }

  private func work() throws(BusError) {
    if isBroken { throw BusError(.disconnected, bus: "/dev/serial0", errno: 5) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    try work()
    sent += Array(bytes)
  }

  func writeSome(_ bytes: UnsafeRawBufferPointer) throws(BusError) -> Int {
    try work()
    let count = min(room, bytes.count)
    sent += Array(bytes)[..<count]
    room -= count
    return count
  }

  func setBaudRate(_ rate: Int) throws(BusError) {}
}

struct CorrectedStreamTests {
  private let feed = CorrectionFeed()
  private let line = SlowStream()

  private func read(_ stream: CorrectedStream) throws -> Int {
    var buffer = [UInt8](repeating: 0, count: 16)
    let result: Result<Int, BusError> = buffer.withUnsafeMutableBytes { bytes in
      do throws(BusError) { return .success(try stream.read(into: bytes)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func write(_ bytes: [UInt8], _ stream: CorrectedStream) throws {
    let failure: BusError? = bytes.withUnsafeBytes { bytes in
      do throws(BusError) {
        try stream.write(bytes)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }

  @Test(
    "frames leave as the line takes them, in their order, and a command waits for the end of one")
  func slow() throws {
    let stream = CorrectedStream(line, feed: feed)
    feed.setOpen(true)
    feed.add([1, 2, 3, 4], at: Timestamp(seconds: 0))
    feed.add([5, 6], at: Timestamp(seconds: 0))
    line.room = 3
    _ = try read(stream)
    #expect(line.sent == [1, 2, 3])
    try write([0xB5], stream)
    #expect(line.sent == [1, 2, 3, 4, 0xB5])
    line.room = 9
    _ = try read(stream)
    #expect(line.sent == [1, 2, 3, 4, 0xB5, 5, 6])
    #expect(feed.dropped == 0)
  }

  @Test("after another rate of the line no frame begins in its middle")
  func rate() throws {
    let stream = CorrectedStream(line, feed: feed)
    feed.setOpen(true)
    feed.add([1, 2, 3, 4], at: Timestamp(seconds: 0))
    line.room = 1
    _ = try read(stream)
    try stream.setBaudRate(9_600)
    feed.add([5, 6], at: Timestamp(seconds: 0))
    line.room = 9
    _ = try read(stream)
    #expect(line.sent == [1, 5, 6])
    #expect(feed.dropped == 1)
  }

  @Test(
    "what was read before a frame could not be written is not lost; the failure is the next read's")
  func broken() throws {
    let stream = CorrectedStream(line, feed: feed)
    feed.setOpen(true)
    feed.add([1, 2], at: Timestamp(seconds: 0))
    (line.waiting, line.isBroken) = ([7, 8, 9], true)
    #expect(try read(stream) == 3)
    #expect(throws: BusError(.disconnected, bus: "/dev/serial0", errno: 5)) { try read(stream) }
    #expect(feed.dropped == 1)
    // Without anything read it is said at once; so it is to a command, which does not follow half a frame.
    feed.add([3, 4], at: Timestamp(seconds: 0))
    #expect(throws: BusError.self) { try read(stream) }
    line.isBroken = false
    feed.add([5, 6, 7], at: Timestamp(seconds: 0))
    line.room = 1
    _ = try read(stream)
    line.isBroken = true
    #expect(throws: BusError.self) { try write([0xB5], stream) }
    #expect(line.sent == [5] && feed.dropped == 3)
  }

  @Test(
    "the queue is bounded, drops whole frames, the oldest first, and all while the receiver is not heard"
  )
  func bounded() {
    feed.add([1], at: Timestamp(seconds: 0))
    #expect(feed.take() == nil && feed.dropped == 1)
    feed.setOpen(true)
    let size = 1_000
    for number in 0..<20 {
      feed.add([UInt8](repeating: UInt8(number), count: size), at: Timestamp(seconds: 0))
    }
    let kept = CorrectionFeed.capacity / size
    #expect(feed.dropped == UInt64(1 + 20 - kept))
    #expect(feed.take()?.first == UInt8(20 - kept))
    feed.setOpen(false)
    #expect(feed.take() == nil && feed.dropped == UInt64(1 + 20 - 1))
  }
}
