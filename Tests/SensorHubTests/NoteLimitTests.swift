import SensorTypes
import Testing

@testable import SensorHub

struct NoteLimitTests {
  private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

  @Test(
    "ten messages come at once and then one a minute, with the number of those that were left out")
  func alternating() {
    var limit = NoteLimit()
    var said: [String] = []
    for step in 0..<6_000 {
      let words = step % 2 == 0 ? "a" : "b"
      if let note = limit.admit(words, at: at(0.1 * Double(step))) { said.append(note) }
    }
    // Ten minutes.
    #expect((18...20).contains(said.count))
    #expect(said.prefix(10).allSatisfy { $0.count == 1 })
    #expect(said.dropFirst(10).allSatisfy { $0.contains(" (messages left out before: ") })
    #expect(limit.leftOut > 0)
  }

  @Test("a message that had to wait is said when there is room, and is not counted as left out")
  func later() {
    var limit = NoteLimit()
    for number in 0..<10 { #expect(limit.admit("\(number)", at: at(0)) == "\(number)") }
    for _ in 0..<100 { #expect(limit.admit("last", at: at(1)) == nil) }
    #expect(limit.leftOut == 1)
    #expect(limit.admit("last", at: at(61)) == "last")
    #expect(limit.leftOut == 0)
  }

  @Test(
    "a rate limit gives its burst at once, its rate after that, and no more for a clock that stands"
  )
  func rate() {
    var limit = RateLimit(burst: 100, perSecond: 10)
    #expect(limit.room(at: at(0)) == 100)
    limit.take(130)
    #expect(limit.room(at: at(0)) == -30 && limit.room(at: at(-5)) == -30)
    #expect(limit.room(at: at(-1)) == 10)
    #expect(limit.room(at: at(1_000)) == 100)
  }
}
