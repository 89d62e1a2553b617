// Points on their way to a database: what waits, what an answer means, and how long the pauses are.

import SensorTypes
import Testing

@testable import OutputProtocols

struct InfluxWriteQueueTests {
  private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }
  private func lines(_ text: String) -> [UInt8] { Array((text + "\n").utf8) }

  @Test("what waits is sent together, and is gone once it is taken")
  func together() {
    var queue = InfluxWriteQueue()
    #expect(queue.begin(at: at(0)) == nil && queue.deadline == nil)
    queue.add(lines("a v=1"), isDated: true)
    queue.add(lines("b v=1\nb v=2"), isDated: true)
    #expect(queue.begin(at: at(0)) == lines("a v=1\nb v=1\nb v=2"))
    #expect(queue.isUnderWay && queue.begin(at: at(1)) == nil)
    queue.add(lines("c v=1"), isDated: true)
    queue.take(status: 204, wish: nil, words: "", at: at(1))
    #expect(queue.written == 3 && queue.dropped == 0 && queue.problem == nil)
    #expect(queue.begin(at: at(1)) == lines("c v=1"))
  }

  @Test("pauses grow after failures, up to five minutes, and a server may ask for longer ones")
  func pauses() {
    var queue = InfluxWriteQueue()
    queue.add(lines("a v=1"), isDated: true)
    var now = 0.0
    for pause in [2.0, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
      #expect(queue.begin(at: at(now)) != nil)
      queue.fail("nobody listens there", at: at(now))
      #expect(queue.begin(at: at(now + pause - 0.01)) == nil)
      now += pause
    }
    #expect(queue.problem == "nobody listens there" && queue.dropped == 0)
    _ = queue.begin(at: at(now))
    queue.take(status: 503, wish: 900, words: "starting", at: at(now))
    #expect(queue.begin(at: at(now + 899)) == nil && queue.problem?.contains("503") == true)
    now += 900
    _ = queue.begin(at: at(now))
    queue.take(status: 429, wish: 1e12, words: "", at: at(now))
    #expect(queue.deadline == at(now + 3_600))
    _ = queue.begin(at: at(now + 3_600))
    queue.take(status: 204, wish: nil, words: "", at: at(now + 3_600))
    #expect(queue.problem == nil && queue.written == 1)
    queue.add(lines("b v=1"), isDated: true)
    #expect(queue.begin(at: at(now + 3_600)) != nil)
  }

  @Test("lines that the database refuses are dropped; those behind a wrong token wait")
  func refused() {
    var queue = InfluxWriteQueue()
    queue.add(lines("a v=1\na v=x"), isDated: true)
    _ = queue.begin(at: at(0))
    queue.take(status: 400, wish: nil, words: "unable to parse", at: at(0))
    #expect(queue.dropped == 2 && queue.waitingCount == 0)
    #expect(queue.problem?.contains("unable to parse") == true)
    queue.add(lines("b v=1"), isDated: true)
    _ = queue.begin(at: at(0))
    queue.take(status: 401, wish: nil, words: "unauthorized", at: at(0))
    #expect(queue.problem?.contains("token") == true && queue.dropped == 2)
    #expect(queue.begin(at: at(2)) == lines("b v=1"))
    queue.take(status: 404, wish: nil, words: "", at: at(2))
    #expect(queue.problem?.contains("bucket") == true)
  }

  @Test("points without a time are worth one attempt")
  func undated() {
    var queue = InfluxWriteQueue()
    queue.add(lines("a v=1 5"), isDated: true)
    queue.add(lines("b v=1"), isDated: false)
    queue.add(lines("c v=1 6"), isDated: true)
    _ = queue.begin(at: at(0))
    queue.fail("nobody listens there", at: at(0))
    #expect(queue.dropped == 1)
    #expect(
      queue.problem == "nobody listens there; points do not wait while the clock is not set")
    #expect(queue.begin(at: at(2)) == lines("a v=1 5\nc v=1 6"))
  }

  @Test("the oldest points go when too many wait, and never what is under way")
  func bounded() {
    var queue = InfluxWriteQueue()
    let long = [UInt8](repeating: 65, count: 9_999) + [10]
    queue.add(lines("first v=1"), isDated: true)
    #expect(queue.begin(at: at(0)) == lines("first v=1"))
    for _ in 0..<1_000 { queue.add(long, isDated: true) }
    #expect(queue.waitingCount <= InfluxWriteQueue.capacity)
    #expect(queue.dropped == 1_000 - UInt64((InfluxWriteQueue.capacity - 10) / 10_000))
    queue.take(status: 204, wish: nil, words: "", at: at(0))
    #expect(queue.written == 1)
    #expect(queue.begin(at: at(0)) == long)
    queue.add([UInt8](repeating: 65, count: InfluxWriteQueue.longestBody) + [10], isDated: true)
    #expect(queue.waitingCount <= InfluxWriteQueue.capacity)
  }
}
