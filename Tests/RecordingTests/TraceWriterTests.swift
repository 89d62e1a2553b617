import Dispatch
import Recording
import SensorTypes
import Synchronization
import Testing

@testable import SensorHub

/// A recording into a sink that is slow, or full.
struct TraceWriterTests {
  private struct Full: Error, CustomStringConvertible {
    let description = "No space left on device"
  }

  private static let startThread: TraceWriter.TraceThreadStarter = { SideThread(name: $0, $1) }

  private static func step(_ number: Int) -> TraceBuffer {
    var trace = TraceBuffer()
    trace.begin("s", 0)
    trace.end()
    trace.begin("t")
    trace.number(Int64(number))
    trace.end()
    trace.begin(".")
    trace.end()
    return trace
  }

  @Test(
    "steps that a slow sink does not take are missing as a whole, and the recording says where and how many"
  )
  func hole() throws {
    let gate = DispatchSemaphore(value: 0)
    let isHead = Atomic<Bool>(true)
    let kept = Mutex<[UInt8]>([])
    let writer = try TraceWriter(
      boardText: "x", boardName: "y", limit: 10_000, startThread: Self.startThread
    ) { bytes in
      if !isHead.exchange(false, ordering: .acquiringAndReleasing) {
        gate.wait()
        gate.signal()
      }
      let copy = Array(bytes)
      kept.withLock { $0 += copy }
    }
    let count = 10_000
    for number in 0..<count { writer.append(Self.step(number)) }
    // The sink has taken nothing so far: of 100 kB at most two queues of 10 kB are left.
    let dropped = writer.dropped
    #expect(dropped > 7_000)
    gate.signal()
    writer.finish()
    #expect(writer.failure == nil && writer.dropped == dropped)
    let recording = try Recording(kept.withLock { $0 })
    #expect(recording.steps.count + Int(dropped) == count)
    #expect(recording.holes.map(\.missing).reduce(0, +) == Int(dropped))
    #expect(!recording.endsEarly)
    // Each hole is as long as it says, and where it says.
    let numbers = recording.steps.map { $0.lines[0].number(0) ?? -1 }
    var expected: Int64 = 0
    for (index, number) in numbers.enumerated() {
      for hole in recording.holes where hole.position == index { expected += Int64(hole.missing) }
      #expect(number == expected)
      expected += 1
    }
  }

  @Test("a recording that is cut off at any byte is good up to there, and so is the run behind it")
  func cutOff() throws {
    let kept = Mutex<[UInt8]>([])
    let writer = try TraceWriter(boardText: "x", boardName: "y", limit: 300, startThread: nil) {
      bytes in
      let copy = Array(bytes)
      kept.withLock { $0 += copy }
    }
    let head = kept.withLock { $0.count }
    for number in 0..<12 { writer.append(Self.step(number * 1_000)) }
    // A hole has a line as well.
    let run = kept.withLock { $0 } + Array("g 12\ns 10\nt 5\n.\n".utf8)
    var counts: [Int] = []
    for count in head...run.count {
      let cut = Array(run.prefix(count))
      let recording = try Recording(cut)
      counts.append(recording.steps.count)
      // A disk that was full takes a line feed first, and then the head of another run.
      let runs = try Recording.runs(cut + Array("\n\n".utf8) + run)
      #expect(runs.map(\.steps.count) == [recording.steps.count, 13])
    }
    #expect(counts == counts.sorted() && Set(counts) == Set(0...13))
    // In the middle the same lines are wrong.
    for line in ["s", "s x", "g", "g 0"] {
      #expect(throws: TraceError.self) {
        try Recording(Array(run.prefix(head)) + Array("\(line)\nt 1\n.\n".utf8))
      }
    }
  }

  @Test("the first failure ends the recording, and is told")
  func full() throws {
    let isHead = Atomic<Bool>(true)
    let calls = Atomic<Int>(0)
    let failed = DispatchSemaphore(value: 0)
    let writer = try TraceWriter(boardText: "x", boardName: "y", startThread: Self.startThread) {
      _ in
      if isHead.exchange(false, ordering: .acquiringAndReleasing) { return }
      calls.add(1, ordering: .relaxed)
      failed.signal()
      throw Full()
    }
    writer.append(Self.step(1))
    failed.wait()
    for number in 2..<50 { writer.append(Self.step(number)) }
    writer.finish()
    #expect(writer.failure == "No space left on device")
    let count = calls.load(ordering: .relaxed)
    #expect(count <= 2)
  }

  @Test("a head that cannot be written is an error at once")
  func fullAtOnce() {
    #expect(throws: Full.self) {
      try TraceWriter(boardText: "x", boardName: "y", startThread: Self.startThread) { _ in
        throw Full()
      }
    }
  }
}
