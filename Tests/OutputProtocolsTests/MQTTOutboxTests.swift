// What waits for a broker, and when one is tried again.

import SensorTypes
import Testing

@testable import OutputProtocols

struct MQTTOutboxTests {
  private static func message(
    _ topic: String, _ number: UInt8 = 0, quality: UInt8 = 0, isRetained: Bool = false
  ) -> MQTTMessage {
    MQTTMessage(topic: topic, payload: [number], quality: quality, isRetained: isRetained)
  }

  @Test("events are kept in their order, measurements are superseded")
  func order() {
    var outbox = MQTTOutbox()
    outbox.add(Self.message("heading", 1))
    outbox.add(Self.message("chip", 1, quality: 1))
    outbox.add(Self.message("air", 1))
    outbox.add(Self.message("chip", 2, quality: 1))
    outbox.add(Self.message("heading", 2))
    #expect(outbox.dropped == 1)
    #expect(outbox.next(acknowledged: false) == Self.message("air", 1))
    #expect(outbox.next(acknowledged: true) == Self.message("chip", 1, quality: 1))
    #expect(outbox.next(acknowledged: true) == Self.message("chip", 2, quality: 1))
    #expect(outbox.next(acknowledged: true) == Self.message("heading", 2))
    #expect(outbox.next(acknowledged: true) == nil && outbox.isEmpty)
  }

  @Test("a full queue drops the oldest events, counts them, and keeps the configuration")
  func full() {
    var outbox = MQTTOutbox()
    outbox.add(Self.message("config", 1, quality: 1, isRetained: true))
    for number in 0..<300 {
      outbox.add(Self.message("chip/\(number)", quality: 1))
      outbox.add(Self.message("measurement/\(number)"))
    }
    outbox.add(Self.message("config", 2, quality: 1, isRetained: true))
    #expect(outbox.keptCount == MQTTOutbox.mostKept)
    #expect(outbox.dropped == UInt64(300 + 1 - 256 + 300 - MQTTOutbox.mostMeasurements))
    #expect(outbox.lost == 300 + 1 - 256)
    var topics: [String] = []
    while outbox.keptCount > 0, let message = outbox.next(acknowledged: true) {
      topics.append(message.topic)
    }
    #expect(topics.first == "chip/46" || topics.first == "chip/45")
    #expect(topics.last == "config" && topics.count(where: { $0 == "config" }) == 1)
    outbox.dropMeasurements()
    #expect(outbox.isEmpty && outbox.lost == 45)
    outbox.forgetLosses()
    #expect(outbox.lost == 0)
  }

  @Test("large events are bounded by their bytes, and one that is too large alone is kept")
  func bytes() {
    var outbox = MQTTOutbox()
    let large = MQTTMessage(topic: "t", payload: [UInt8](repeating: 0, count: 100_000), quality: 1)
    for _ in 0..<10 { outbox.add(large) }
    #expect(outbox.keptCount == 2 && outbox.dropped == 8)
    outbox.add(MQTTMessage(topic: "t", payload: [UInt8](repeating: 0, count: 300_000), quality: 1))
    #expect(outbox.keptCount == 1)
  }

  @Test(
    "pauses grow to a minute, differ from board to board, and are short again after a good time")
  func pauses() {
    func pauses(_ name: String, isRefusal: Bool = false) -> [Double] {
      var retry = MQTTRetry(name: name)
      #expect(retry.isDue(at: Timestamp(seconds: 5)))
      return (0..<12).map { _ in
        retry.fail(at: Timestamp(seconds: 5), isRefusal: isRefusal)
        return retry.due?.seconds(since: Timestamp(seconds: 5)) ?? 0
      }
    }
    let boat = pauses("boat")
    for (pause, length) in zip(boat, [1.0, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]) {
      #expect((length * 0.8...length * 1.2).contains(pause), "\(pause) \(length)")
    }
    #expect(pauses("boat") == boat && pauses("van") != boat)
    let refused = pauses("boat", isRefusal: true)
    #expect((8...12).contains(refused[0]) && (16...24).contains(refused[1]))
    var retry = MQTTRetry(name: "boat")
    for _ in 0..<5 { retry.fail(at: Timestamp(seconds: 5)) }
    retry.fail(at: Timestamp(seconds: 100), stood: 60)
    #expect(retry.failures == 1 && retry.isDue(at: Timestamp(seconds: 101.3)))
    #expect(!retry.isDue(at: Timestamp(seconds: 100.7)))
  }
}
