import BoardTestSupport
import SensorHub
import SensorTypes
import SimulatedDevices
import StateStore
import Synchronization
import Testing

@testable import HardwareSuite

/// Losses and delays that the bus is not blamed for, because the machine of the rig stood still.
struct SchedulingStallTests {
  @Test(
    "samples lost while the rig's machine stood still are not the bus's fault; without that they are",
    arguments: [(0.5, CheckOutcome.passed), (0.0, .failed)])
  func standstill(said: Double, outcome: CheckOutcome) throws {
    let board = try VirtualBoard()
    _ = board.run(8)
    // Every line is dead, and every bus, for half a second of three.
    let rig = Sleepy(said)
    let now = board.clock.now()
    let bench = Bench(
      board: board.board, source: board.hub, calibrations: board.state.calibrations, person: rig,
      now: { board.clock.now() },
      pass: { seconds in
        guard seconds > 1 else {
          return board.runner.run(until: board.clock.now().advanced(bySeconds: seconds))
        }
        board.runner.run(until: board.clock.now().advanced(bySeconds: seconds / 2))
        // Time goes by and nothing runs.
        board.clock.advance(bySeconds: 0.5)
        rig.stand()
        board.runner.run(until: board.clock.now().advanced(bySeconds: seconds / 2))
      }, say: { _ in })
    let check = try #require(
      Measurement(bench, seconds: 3).checks("measurement")
        .first { $0.name == "LSM6DSOX delivers at its rate" })
    #expect(check.outcome == outcome, "\(check.detail)")
    #expect(check.detail.contains("standing still for 0.5 s of 4") == (said > 0))
    #expect(board.clock.now().seconds(since: now) > 3.4)
  }

  @Test(
    "edges answered late because the machine stood still are not the line's fault; more than that are",
    arguments: [
      (pause: 0.1, said: 0.1, run: 0.3, outcome: CheckOutcome.passed), (0.1, 0, 0.3, .failed),
      // Most edges are late, and the machine stood still for a twentieth of the time.
      (0.08, 0.005, 0.02, .failed),
    ])
  func lateEdges(pause: Double, said: Double, run: Double, outcome: CheckOutcome) throws {
    let board = try VirtualBoard()
    _ = board.run(8)
    let rig = Sleepy(said)
    let bench = Bench(
      board: board.board, source: board.hub, calibrations: board.state.calibrations, person: rig,
      now: { board.clock.now() },
      pass: { seconds in
        // Again and again nothing is let run for a while.
        for _ in 0..<Int((seconds / (run + pause)).rounded(.up)) {
          board.runner.run(until: board.clock.now().advanced(bySeconds: run))
          board.clock.advance(bySeconds: pause)
          rig.stand()
        }
      }, say: { _ in })
    let check = try #require(
      Measurement(bench, seconds: 3).checks("measurement")
        .first { $0.name == "LSM6DSOX interrupt line" })
    #expect(check.outcome == outcome, "\(check.detail) \(check.measures)")
    #expect(check.detail.contains("standing still") == (said > 0))
  }

  @Test("only what a nap is late by counts, and not a processor's own haste")
  func naps() {
    var ledger = SchedulingStallMonitor.Ledger()
    for _ in 0..<1000 { ledger.napped(0.0025) }
    #expect(ledger.total == 0)
    ledger.napped(0.052)
    #expect(abs(ledger.total - 0.05) < 1e-9)
  }
}

/// A rig that says it stood still.
private final class Sleepy: Operator {
  let name = "sleepy"
  let isPerson = false
  private let each: Double
  private let total = Mutex(0.0)
  init(_ each: Double) { self.each = each }
  func stand() { total.withLock { $0 += each } }
  func stoodStill() -> Double { total.withLock { $0 } }
  func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws {}
  func show(_ shown: Shown, on chip: ChipTarget) throws {}
  func endShow(on chip: ChipTarget) throws {}
  func objection(to action: ScenarioAction) -> String? { nil }
  func ask(_ instruction: String) throws {}
}
