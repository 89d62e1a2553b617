import Testing

@testable import DaemonUI

/// When a daemon's start is over, and that of its board.
struct StartingPhaseTests {
  private func calls(_ states: [Bool]) -> [Bool] {
    var phase = StartingPhase()
    return states.map { phase.isOver(isBoardOpen: $0) }
  }

  @Test("the start is over at the first look, and never again")
  func start() {
    #expect(calls([false, false, false]) == [true, false, false])
  }

  @Test("a board's start is over a look after it was seen open, each time that it is opened")
  func board() {
    #expect(
      calls([false, true, true, true, false, true, true])
        == [true, false, true, false, false, false, true])
  }

  @Test("a board that is open at the first look is waited for")
  func atOnce() {
    #expect(calls([true, true, true]) == [false, true, false])
  }
}
