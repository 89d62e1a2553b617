import BoardTestSupport
import CTestSupport
import SensorHub
import SensorTypes
import SimulatedDevices
import Synchronization
import Testing

/// Nothing is allocated a sample from a driver's poll to the published estimate.
///
/// Counted in the whole hub on the simulated board, on one thread. Only an optimised build says something:
/// debug code boxes what release code does not.
struct AllocationTests {
  @Test(
    "five seconds of all sensors in steady state allocate nothing a sample",
    .enabled(if: Effort.isOptimised, "only an optimised build says something"))
  func steadyState() throws { try run(.everything) }

  @Test(
    "motion: nor does who asks for the samples of motion and for attitude",
    .enabled(if: Effort.isOptimised, "only an optimised build says something"))
  func motion() throws {
    var demand = Demand.everything
    demand.motion = MotionDemand(samples: true, attitude: true, field: true, interval: 0.01)
    try run(demand)
  }

  private func run(_ demand: Demand) throws {
    let board = try VirtualBoard(demand: demand, keepsObservations: false)
    _ = board.run(20)
    let samples = { board.hub.status.reduce(0) { $0 + Int($1.counters.samples) } }
    let (before, allocations) = (samples(), test_allocations())
    board.runner.run(until: board.clock.now().advanced(bySeconds: 5))
    let allocated = test_allocations() - allocations
    let taken = samples() - before
    print("samples \(taken), allocations \(allocated)")
    #expect(taken > 1_500)
    // The loop itself sets up a handful of arrays a run; a sample that allocates would make thousands.
    #expect(allocated < 40)
  }
}
