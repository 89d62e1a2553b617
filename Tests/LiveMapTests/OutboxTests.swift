// What waits for one page: the newest of each kind, and never more than its bound.

@testable import LiveMap
import SensorTypes
import Testing

@Suite struct OutboxTests {
  static func taken(_ outbox: inout Outbox) -> [String] {
    var texts: [String] = []
    while let text = outbox.take() { texts.append(text) }
    return texts
  }

  @Test func aNewPageGetsASnapshotFirst() {
    var outbox = Outbox()
    outbox.post(LiveMessage(text: "before"))
    #expect(outbox.needsSnapshot && outbox.take() == nil)
    outbox.begin(with: [LiveMessage(text: "all"), LiveMessage(text: "of it")])
    outbox.post(LiveMessage(text: "after"))
    #expect(Self.taken(&outbox) == ["all", "of it", "after"])
  }

  @Test func aNewerStateTakesThePlaceOfAnOlderOne() {
    var outbox = Outbox()
    outbox.begin(with: [])
    for number in 0..<1_000 {
      outbox.post(LiveMessage(key: "heading", text: "h\(number)"))
      if number % 500 == 0 { outbox.post(LiveMessage(text: "t\(number)")) }
    }
    #expect(Self.taken(&outbox) == ["t0", "t500", "h999"])
    #expect(!outbox.needsSnapshot && outbox.dropped == 0)
  }

  @Test func aPageThatTakesNothingBeginsAnewAndIsTold() {
    var outbox = Outbox()
    outbox.begin(with: [])
    for number in 0..<256 { outbox.post(LiveMessage(text: "\(number)")) }
    #expect(!outbox.needsSnapshot)
    for _ in 0..<10 { outbox.post(LiveMessage(text: "too much")) }
    #expect(outbox.needsSnapshot && outbox.take() == nil)
    #expect(outbox.dropped == 266)
    outbox.begin(with: [LiveMessage(text: "all")])
    #expect(
      Self.taken(&outbox) == [
        "all", "{\"v\":1,\"kind\":\"dropped\",\"count\":266}",
      ])
    #expect(outbox.dropped == 0)
  }

  @Test func aPaceIsKept() {
    var pace = Pace(interval: 0.05)
    func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: seconds) }
    let admitted = (0..<100).filter { pace.admits(at: at(100 + Double($0) / 100)) }
    #expect(admitted == Array(stride(from: 0, to: 100, by: 5)))
    // A clock that goes back stops nothing.
    #expect(pace.admits(at: at(1)) && !pace.admits(at: at(1.04)) && pace.admits(at: at(1.05)))
  }
}
