import BoardTestSupport
import Foundation
import LinearAlgebra
import SensorHub
import SensorTypes
import SimulatedDevices
import Testing

@testable import HardwareSuite

/// The suite against the simulated board in virtual time: what is well passes, and what is not is named.
struct SuiteTests {
  private func bench(_ board: VirtualBoard, _ person: (any Operator)? = nil) -> Bench {
    Bench(
      board: board.board, hub: board.hub,
      person: person ?? SimulationOperator(board.simulation, board: board.board),
      now: { board.clock.now() },
      pass: { board.runner.run(until: board.clock.now().advanced(bySeconds: $0)) },
      say: { _ in })
  }

  private func scenario(_ steps: String, on board: VirtualBoard) throws -> Scenario {
    try Scenario.parse(
      "schema: 1\nname: test\nsteps:\n\(steps)", file: "test.yaml", board: board.board)
  }

  @Test("the simulated board passes, and everything that was measured has a curve")
  func healthy() throws {
    let board = try VirtualBoard()
    _ = board.run(8)
    let (checks, series) = HardwareSuite.test(bench(board), seconds: 10, scenarios: [])
    for check in checks where check.outcome != .passed {
      Issue.record("\(check.name): \(check.detail)")
    }
    #expect(checks.count == 18)
    #expect(series.contains { $0.title == "LIS3MDL: edge to sample" })
    #expect(series.allSatisfy { $0.times.count == $0.values.count && $0.times.count <= 600 })
    let names = Set(checks.map(\.name))
    #expect(names.contains("LSM6DSOX noise of angular rate"))
    #expect(names.contains("heading and field strength"))
  }

  @Test("every fault ends as it should", arguments: RigFault.allCases)
  func fault(_ fault: RigFault) throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    for (index, sensor) in board.board.sensors.enumerated()
    where fault.suits(receiver: sensor.chip == "u-blox") {
      let check = FaultTrial(bench: bench(board), sensor: index, fault: fault, seconds: 3)
        .run("faults")
      #expect(check.outcome == .passed, "\(check.name): \(check.detail)")
    }
  }

  @Test("a fault that is longer than the suite is told shows as a chip that did not come back")
  func noReturn() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let stubborn = Stubborn(board.simulation)
    let check = FaultTrial(
      bench: bench(board, stubborn), sensor: 0, fault: .noAnswer, seconds: 3
    ).run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("did not come back"), "\(check.detail)")
  }

  @Test("a fault that never happens shows as a loss that was not said")
  func noFault() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let check = FaultTrial(bench: bench(board, Idle()), sensor: 0, fault: .noAnswer, seconds: 3)
      .run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("not said"))
  }

  @Test("a neighbour that falls with it is named")
  func neighbour() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let check = FaultTrial(
      bench: bench(board, Clumsy(board.simulation)), sensor: 0, fault: .noAnswer, seconds: 3
    ).run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("BMP280 failed with it"), "\(check.detail)")
  }

  @Test("faults that overlap are each held against their own times, and named")
  func overlapping() throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    let check = FaultTrial(
      bench: bench(board),
      parts: [
        .init(sensor: 2, fault: .timeout, delay: 1.5, seconds: 3),
        .init(sensor: 0, fault: .noAnswer, seconds: 4),
        .init(sensor: 3, fault: .receiverGarbage, delay: 2, seconds: 3),
      ]
    ).run("faults")
    #expect(check.outcome == .passed, "\(check.detail)")
    #expect(
      check.name == "LIS3MDL: noAnswer for 4.00 s, after 1.50 s BMP280: timeout for 3.00 s, "
        + "after 2.00 s u-blox: receiverGarbage for 3.00 s")
    #expect(check.measures.count == 6)
    #expect(check.measures.allSatisfy { $0.value > 0 && $0.value < 5 })
    #expect(check.seconds > 4.9 && check.seconds < 11)
  }

  @Test("a value that cannot be is invented, whoever published it")
  func impossible() throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    let check = FaultTrial(
      bench: bench(board, Deceiver(board.simulation)), sensor: 0, fault: .slow, seconds: 3
    ).run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("altitude jumped by"), "\(check.detail)")
  }

  @Test("a chip that is missing, a wrong line, noise and a magnet each fail their own check")
  func sick() throws {
    func failures(_ edit: (String) -> String, _ prepare: (VirtualBoard) -> Void = { _ in }) throws
      -> [Report.Check]
    {
      let board = try VirtualBoard(edit: edit)
      prepare(board)
      _ = board.run(8)
      return HardwareSuite.test(bench(board), seconds: 5, scenarios: []).checks
        .filter { $0.outcome != .passed }
    }
    let missing = try failures({ $0 }) { board in
      board.simulation.inject(.noAnswer, chip: 2, from: board.clock.now())
    }
    #expect(missing.contains { $0.name == "BMP280 delivers" && $0.detail.contains("no answer") })
    let magnet = try failures({ $0 }) { board in
      var shown = ShownStimulus.Quantities()
      shown.magneticField = Vector3(180, 0, 0)
      board.simulation.show(shown, chip: 0)
    }
    #expect(magnet.contains { $0.name == "heading and field strength" })
    // The file names the other chip's line.
    let crossed = try failures({ $0.replacingOccurrences(of: "GPIO27", with: "GPIO17") })
    #expect(crossed.contains { $0.name == "LSM6DSOX interrupt line" && $0.mend != nil })
  }

  @Test("what is shown is read, to the chip's own errors")
  func show() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let player = ScenarioPlayer(bench: bench(board))
    let checks = player.play(
      try scenario(
        """
          - show: {chip: BMP280, pressure: 95000, within: 250}
          - show: {chip: BMP280, pressure: 95000, within: 0.001}
        """, on: board))
    #expect(checks.map(\.outcome) == [.passed, .failed])
  }

  @Test("random faults are the same for the same seed")
  func random() throws {
    func names() throws -> [String] {
      let board = try VirtualBoard()
      _ = board.run(10)
      return ScenarioPlayer(bench: bench(board)).play(
        try scenario("  - randomFaults: {count: 4, seed: 5}\n", on: board)
      ).map { "\($0.name) \($0.outcome)" }
    }
    let first = try names()
    #expect(first.count == 4)
    #expect(first.allSatisfy { $0.hasSuffix("passed") }, "\(first)")
    #expect(try names() == first)
  }

  @Test("without hands a step that needs them fails and says what to do")
  func nobody() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let checks = ScenarioPlayer(bench: bench(board, Nobody())).play(.desk(for: board.board))
    #expect(checks.count == 7)
    #expect(checks.allSatisfy { $0.outcome == .failed && $0.detail.contains("--interactive") })
  }

  @Test("a person's turn, tilt and lift are followed")
  func person() throws {
    let board = try VirtualBoard(edit: { text in
      text.components(separatedBy: "  legs:\n")[0] + """
          legs:
            - {seconds: 8, fix: true}
            - {seconds: 10, turn: 360}
            - {seconds: 2}
            - {seconds: 4, pitch: 35}
            - {seconds: 4, pitch: 0}
            - {seconds: 4, roll: -35}
            - {seconds: 4, roll: 0}
            - {seconds: 2}
            - {seconds: 4, climb: 1}
            - {seconds: 20}

        """
    })
    _ = board.run(8)
    let checks = ScenarioPlayer(bench: bench(board, Idle())).play(
      try scenario(
        """
          - turn: {degrees: 360, within: 10, seconds: 11}
          - tilt: {degrees: 30, within: 10, seconds: 18}
          - lift: {metres: 1, within: 0.3, seconds: 8}
          - turn: {degrees: 90, within: 10, seconds: 3}
        """, on: board))
    for check in checks { print(check.name, check.outcome, check.measures.map(\.value)) }
    #expect(checks.map(\.outcome) == [.passed, .passed, .passed, .failed])
  }
}

/// Does nothing, whatever is asked.
private struct Idle: Operator {
  let name = "idle"
  let isPerson = false
  func inject(_ fault: RigFault, chip: String, seconds: Double) throws {}
  func show(_ shown: Shown, chip: String) throws {}
  func endShow(chip: String) throws {}
  func ask(_ instruction: String) throws {}
}

/// Lets every fault last for an hour.
private struct Stubborn: Operator {
  let name = "stubborn"
  let isPerson = false
  let simulation: SimulatedBusProvider
  init(_ simulation: SimulatedBusProvider) { self.simulation = simulation }
  func inject(_ fault: RigFault, chip: String, seconds: Double) throws {
    simulation.inject(.noAnswer, chip: 0, from: simulation.now())
  }
  func show(_ shown: Shown, chip: String) throws {}
  func endShow(chip: String) throws {}
  func ask(_ instruction: String) throws {}
}

/// Says that a chip is slow, and lets the barometer read another height's pressure.
private struct Deceiver: Operator {
  let name = "deceiver"
  let isPerson = false
  let simulation: SimulatedBusProvider
  init(_ simulation: SimulatedBusProvider) { self.simulation = simulation }
  func inject(_ fault: RigFault, chip: String, seconds: Double) throws {
    var shown = ShownStimulus.Quantities()
    shown.pressure = 90_000
    simulation.show(shown, chip: 2)
  }
  func show(_ shown: Shown, chip: String) throws {}
  func endShow(chip: String) throws {}
  func ask(_ instruction: String) throws {}
}

/// Pulls two wires instead of one.
private struct Clumsy: Operator {
  let name = "clumsy"
  let isPerson = false
  let simulation: SimulatedBusProvider
  init(_ simulation: SimulatedBusProvider) { self.simulation = simulation }
  func inject(_ fault: RigFault, chip: String, seconds: Double) throws {
    let now = simulation.now()
    for index in [0, 2] {
      simulation.inject(
        .noAnswer, chip: index, from: now, until: now.advanced(bySeconds: seconds))
    }
  }
  func show(_ shown: Shown, chip: String) throws {}
  func endShow(chip: String) throws {}
  func ask(_ instruction: String) throws {}
}
