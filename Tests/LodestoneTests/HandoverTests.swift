import Dispatch
import Synchronization
import Testing

@testable import Lodestone

struct HandoverTests {
  @Test("what is asked for while a round waits is merged into it, and nothing is lost")
  func merging() {
    let rounds = DispatchGroup()
    let handover = Handover(rounds)
    let (gate, isIn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let count = Mutex(0)
    handover.ask {
      isIn.signal()
      _ = gate.wait(timeout: .now() + 300)
      count.withLock { $0 += 1 }
    }
    let hasBegun = isIn.wait(timeout: .now() + 300) == .success
    #expect(hasBegun)
    for _ in 0..<1_000 { handover.ask { count.withLock { $0 += 1 } } }
    #expect(count.withLock { $0 } == 0)
    gate.signal()
    rounds.wait()
    #expect(count.withLock { $0 } == 2)
  }
}
