import SensorTypes
import Testing

/// How long a value stands for now.
struct FreshnessTests {
  private func noted(_ seconds: [Double]) -> Freshness {
    var freshness = Freshness()
    for second in seconds { freshness.note(Timestamp(seconds: second)) }
    return freshness
  }

  @Test("a fast value stands for two seconds, a slow one for three of its periods")
  func lifetime() {
    let fast = noted((0...100).map { Double($0) / 80 })
    #expect(fast.lifetime == 2)
    let end = 100.0 / 80
    #expect(!fast.isStale(at: Timestamp(seconds: end + 1.99)))
    #expect(fast.isStale(at: Timestamp(seconds: end + 2.01)))
    let slow = noted([0, 5, 10, 15])
    #expect(abs(slow.lifetime - 15) < 1e-9)
    #expect(!slow.isStale(at: Timestamp(seconds: 29.9)))
    #expect(slow.isStale(at: Timestamp(seconds: 30.1)))
    #expect(slow.age(at: Timestamp(seconds: 18)) == 3)
  }

  @Test("what never arrived is not old")
  func nothing() {
    #expect(!Freshness().isStale(at: Timestamp(seconds: 1_000)))
    #expect(Freshness().age(at: Timestamp(seconds: 1_000)) == nil)
    #expect(Freshness().deadline == nil)
  }

  @Test("of the first value no period is known: it stands for ten seconds")
  func first() {
    let first = noted([3])
    #expect(first.deadline == Timestamp(seconds: 13))
    // What comes after that is another first one.
    #expect(noted([3, 60]).deadline == Timestamp(seconds: 70))
    #expect(noted([3, 8]).lifetime == 15)
  }

  @Test("a pause is no period: after a loss a fast value is stale as soon as before")
  func pause() {
    let freshness = noted([0, 0.1, 0.2, 60, 60.1])
    #expect(freshness.lifetime == 2)
    #expect(freshness.deadline == Timestamp(seconds: 62.1))
  }
}
