import BoardTestSupport
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

/// A board whose chips wake one after the other.
struct WakingTests {
  @Test(
    "headings that are wanted again after a sleep begin without a word of a loss",
    arguments: [0.5, 3, 30, 600])
  func wake(sleep: Double) throws {
    let board = try VirtualBoard()
    board.hub.setDemand(Demand(heading: true))
    let before = board.run(4)
    #expect(before.contains { if case .heading = $0 { true } else { false } })
    board.hub.setDemand(Demand())
    _ = board.run(sleep)
    #expect(board.hub.status.filter { $0.state == .idle }.count >= 2)
    for _ in 0..<5 {
      board.hub.setDemand(Demand(heading: true))
      let after = board.run(2)
      let losses = after.compactMap {
        if case .headingUnavailable(let reason, _) = $0 { "\(reason)" } else { nil }
      }
      #expect(losses.isEmpty)
      #expect(after.contains { if case .heading = $0 { true } else { false } })
      board.hub.setDemand(Demand())
      _ = board.run(sleep)
    }
  }

  @Test("an accelerometer that does not wake is said to be lost")
  func lost() throws {
    let board = try VirtualBoard()
    board.hub.setDemand(Demand(heading: true))
    _ = board.run(4)
    board.hub.setDemand(Demand())
    _ = board.run(3)
    let inertial = try #require(board.hub.status.first { $0.chip.hasPrefix("LSM6") })
    board.simulation.inject(.noAnswer, chip: inertial.index, from: board.clock.now())
    board.hub.setDemand(Demand(heading: true))
    let after = board.run(4)
    #expect(after.contains { if case .headingUnavailable = $0 { true } else { false } })
  }
}
