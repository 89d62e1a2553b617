import BoardTestSupport
import SensorHub
import SensorTypes
import SimulatedDevices
import StateStore

@testable import HardwareSuite

/// The suite against a simulated board in virtual time.
extension VirtualBoard {
  func bench(_ person: (any Operator)? = nil) -> Bench {
    Bench(
      board: board, source: hub, calibrations: state.calibrations,
      person: person ?? SimulationOperator(simulation),
      now: { self.clock.now() },
      pass: { self.runner.run(until: self.clock.now().advanced(bySeconds: $0)) },
      say: { _ in })
  }

  /// The measurement and the scenarios, as a whole run has them.
  func test(seconds: Double) throws -> (checks: [Report.Check], series: [Report.Series]) {
    var found = Findings()
    try HardwareSuite.test(bench(), seconds: seconds, scenarios: [], into: &found)
    return (found.checks, found.series)
  }

  func scenario(_ steps: String) throws -> Scenario {
    try Scenario.parse(
      "schema: 1\nname: test\nsteps:\n\(steps)", file: "test.yaml", board: board)
  }
}

/// Does nothing, whatever is asked.
struct IdleOperator: Operator {
  let name = "idle"
  let isPerson = false
  func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws {}
  func show(_ shown: Shown, on chip: ChipTarget) throws {}
  func endShow(on chip: ChipTarget) throws {}
  func objection(to action: ScenarioAction) -> String? { nil }
  func ask(_ instruction: String) throws {}
}
