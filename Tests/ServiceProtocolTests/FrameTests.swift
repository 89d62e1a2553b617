// Frames in pieces, frames that are too long, and what waits for a slow program.

import SeededDraws
import SensorTypes
import Testing

@testable import LocationServices
@testable import ServiceProtocol

struct FrameTests {
  private func frame(_ text: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try Frame.append(text, to: &bytes, limit: 100)
    return bytes
  }

  @Test("frames come whole, however the bytes are cut", arguments: 1...20)
  func pieces(length: Int) throws {
    let texts = ["", "a", "harbour", String(repeating: "x", count: 90)]
    var reader = FrameReader(limit: 100)
    var (read, rest): ([String], _) = ([], try texts.flatMap(frame)[...])
    while !rest.isEmpty {
      reader.append(rest.prefix(length))
      rest = rest.dropFirst(length)
      while let frame = try reader.next() {
        read.append(try CBORDecoder.decode(String.self, from: frame))
      }
      #expect(reader.pendingCount <= 104)
    }
    #expect(read == texts)
    #expect(reader.pendingCount == 0)
  }

  @Test("an event that is encoded once for many programs has the same bytes as any other message")
  func sharedEvents() throws {
    let encoder = EventEncoder()
    for (number, content) in try MessageExamples.events().enumerated() {
      for client in [UInt64(number), .max] {
        let event = ServiceEvent(client: ClientID(rawValue: client), content: content)
        let during = UInt64(number) << 20
        var (usual, shared): ([UInt8], [UInt8]) = ([7], [7])
        try Frame.append(
          DaemonMessage.event(during: during, event), to: &usual, limit: 1 << 20)
        try Frame.append(
          eventDuring: during, of: event.client, content: encoder.bytes(of: content), to: &shared,
          limit: 1 << 20)
        #expect(shared == usual)
        let size = usual.count - 1 - Frame.headerCount
        #expect(throws: FrameProblem.tooLong(size)) {
          var bytes: [UInt8] = []
          try Frame.append(
            eventDuring: during, of: event.client, content: encoder.bytes(of: content),
            to: &bytes, limit: size - 1)
        }
      }
    }
  }

  @Test("a frame beyond the limit is refused by both ends, and nothing is kept of it")
  func tooLong() throws {
    var bytes: [UInt8] = [1, 2]
    #expect(throws: FrameProblem.tooLong(102)) {
      try Frame.append(String(repeating: "x", count: 100), to: &bytes, limit: 101)
    }
    #expect(bytes == [1, 2])
    for length: [UInt8] in [[101, 0, 0, 0], [0, 0, 0, 128], [255, 255, 255, 255]] {
      var reader = FrameReader(limit: 100)
      reader.append(length)
      #expect(throws: FrameProblem.self) { try reader.next() }
    }
  }
}

struct EventOutboxTests {
  private static func heading(_ degrees: Double, _ client: UInt64 = 1) -> ServiceEvent {
    ServiceEvent(
      client: ClientID(rawValue: client),
      content: .heading(HeadingReport(time: Timestamp(seconds: 1), magneticHeading: degrees)))
  }

  private static func event(_ content: EventContent) -> ServiceEvent {
    ServiceEvent(client: ClientID(rawValue: 1), content: content)
  }

  private func all(_ box: inout EventOutbox) -> [UInt8] {
    var first: [UInt8] = []
    while let frame = box.next() { first.append(frame[0]) }
    return first
  }

  @Test("of the measurements of a kind the oldest are dropped, others stay in order")
  func newest() {
    var box = EventOutbox(limit: 1_000)
    let sample = MotionSample(time: Timestamp(seconds: 1), value: .zero)
    box.append([1], of: Self.event(.paused))
    for number in UInt8(0)..<40 {
      box.append([100 + number], of: Self.heading(1))
      if number == 20 { box.append([2], of: Self.heading(1, 2)) }
      if number == 30 { box.append([3], of: Self.event(.motion(.force(sample)))) }
    }
    box.append([4], of: Self.event(.headingExpired))
    #expect(box.dropped == 9)
    #expect(all(&box) == [1] + (109...120) + [2] + (121...130) + [3] + (131...139) + [4])
    #expect(box.isEmpty && box.next() == nil)
  }

  @Test("all measurements together wait within the limit, the oldest are dropped first")
  func total() {
    var box = EventOutbox(limit: 100)
    for client in UInt64(1)...50 { box.append([UInt8(client), 0, 0], of: Self.heading(1, client)) }
    #expect(box.byteCount <= 100 && !box.isFull && box.dropped == 17)
    for _ in 0..<100 { box.append([200], of: Self.event(.paused)) }
    #expect(!box.isFull && box.byteCount == 100)
    #expect(all(&box) == Array(repeating: 200, count: 100))
  }

  @Test("of positions the oldest are dropped, of other events none")
  func positions() throws {
    var fix = GNSSFix(received: Timestamp(seconds: 1), mode: .threeDimensional)
    (fix.latitude, fix.longitude) = (53.5, 10)
    let report = try #require(LocationReport(LocationEstimate(fix: fix, isSimulated: false)))
    var box = EventOutbox(limit: 300)
    // All of one byte.
    for number in 0..<300 {
      box.append([UInt8(truncatingIfNeeded: number)], of: Self.event(.location(report)))
    }
    #expect(box.dropped == 44 && box.byteCount == 256)
    #expect(all(&box).first == 44)
    for _ in 0..<300 { box.append([0], of: Self.event(.resumed)) }
    #expect(!box.isFull)
    box.append(
      [0],
      of: Self.event(
        .visit(
          VisitReport(
            arrival: nil, departure: nil, position: report.position, horizontalAccuracy: 5))))
    #expect(box.isFull)
    _ = box.next()
    #expect(!box.isFull)
  }

  @Test("a program that never reads, or always late, does not make the box larger")
  func size() {
    var random = SplitMix64(state: 4)
    var box = EventOutbox(limit: 1_000_000)
    var largest = 0
    var (written, read): ([UInt8], [UInt8]) = ([], [])
    for number in 0..<200_000 {
      let kept = Int.random(in: 0..<50, using: &random) == 0
      let byte = UInt8(truncatingIfNeeded: number)
      if kept {
        box.append([byte], of: Self.event(.paused))
        written.append(byte)
      } else {
        box.append([255, byte], of: Self.heading(1, UInt64(number % 3)))
      }
      // One in and one out, but never all.
      if number > 100, kept, let frame = box.next(), frame.count == 1 { read.append(frame[0]) }
      largest = max(largest, box.entryCount)
    }
    while let frame = box.next() { if frame.count == 1 { read.append(frame[0]) } }
    #expect(read == written && largest < 2_000)
    box = EventOutbox(limit: 1_000)
    for _ in 0..<100_000 { box.append([1], of: Self.heading(1)) }
    #expect(box.entryCount < 200 && box.byteCount == 32)
  }
}
