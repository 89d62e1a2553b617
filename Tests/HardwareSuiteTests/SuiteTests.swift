import BoardFile
import BoardTestSupport
import Foundation
import LinearAlgebra
import SensorHub
import SensorTypes
import SimulatedDevices
import Synchronization
import Testing

@testable import HardwareSuite
import StateStore

/// The suite against the simulated board in virtual time: what is well passes, and what is not is named.
struct SuiteTests {
  func bench(_ board: VirtualBoard, _ person: (any Operator)? = nil) -> Bench {
    Bench(
      board: board.board, hub: board.hub, calibrations: board.state.calibrations,
      person: person ?? SimulationOperator(board.simulation),
      now: { board.clock.now() },
      pass: { board.runner.run(until: board.clock.now().advanced(bySeconds: $0)) },
      say: { _ in })
  }

  /// The measurement and the scenarios, as a whole run has them.
  func test(
    _ board: VirtualBoard, seconds: Double
  ) throws -> (checks: [Report.Check], series: [Report.Series]) {
    var found = Findings()
    try HardwareSuite.test(bench(board), seconds: seconds, scenarios: [], into: &found)
    return (found.checks, found.series)
  }

  private func scenario(_ steps: String, on board: VirtualBoard) throws -> Scenario {
    try Scenario.parse(
      "schema: 1\nname: test\nsteps:\n\(steps)", file: "test.yaml", board: board.board)
  }

  @Test("the simulated board passes, and everything that was measured has a curve")
  func healthy() throws {
    let board = try VirtualBoard()
    _ = board.run(8)
    let (checks, series) = try test(board, seconds: 10)
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

  @Test(
    "transfers that had to be repeated are in the report, and many of them are a fault of the bus")
  func disturbed() throws {
    for (every, outcome) in [(3, CheckOutcome.failed), (1_000, .passed)] {
      let board = try VirtualBoard()
      board.simulation.inject(.disturbed(every: every), chip: 0, from: board.clock.now())
      _ = board.run(8)
      let checks = try test(board, seconds: 10).checks
      let check = try #require(checks.first { $0.name == "LIS3MDL without errors" })
      #expect(check.outcome == outcome, "\(check)")
      let measure = try #require(check.measures.first { $0.name == "repeated transfers" })
      #expect(measure.value > 0)
      if outcome == .failed {
        #expect(check.detail == "\(Int(measure.value)) repeated transfers")
        #expect(check.mend?.contains("pull-ups") == true)
      }
      let neighbour = try #require(checks.first { $0.name == "BMP280 without errors" })
      #expect(neighbour.outcome == .passed)
      #expect(neighbour.measures.last?.value == 0)
    }
  }

  @Test("every fault ends as it should", arguments: RigFault.allCases)
  func fault(_ fault: RigFault) throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    for (index, sensor) in board.board.sensors.enumerated()
    where fault.suits(receiver: sensor.chip == "u-blox") {
      let check = try FaultTrial(bench: bench(board), sensor: index, fault: fault, seconds: 3)
        .run("faults")
      #expect(check.outcome == .passed, "\(check.name): \(check.detail)")
    }
  }

  /// The file of a board that stands for hardware, simulated.
  private func simulated(_ name: String) throws -> VirtualBoard {
    try VirtualBoard(
      name,
      edit: { $0 + "\nsimulation:\n  start: {latitude: 52.5, longitude: 13.4, altitude: 34}\n" })
  }

  @Test(
    "a compass behind a bypass goes with its host and comes back with it",
    arguments: ["gy-91", "gy-87-qmc5883l", "waveshare-10dof-d"],
    [RigFault.brownOut, .noAnswer, .stuckData])
  func companion(name: String, fault: RigFault) throws {
    let board = try simulated(name)
    _ = board.run(5)
    let host = try #require(
      board.board.sensors.firstIndex {
        ["MPU9250", "MPU6050", "ICM20948"].contains($0.chip)
      })
    let check = try FaultTrial(bench: bench(board), sensor: host, fault: fault, seconds: 3)
      .run("faults")
    #expect(check.outcome == .passed, "\(check.name): \(check.detail)")
  }

  @Test("a chip that is told each conversion anew has nothing that a brown-out could take")
  func nothingToLose() throws {
    let board = try simulated("gy-87-qmc5883l")
    _ = board.run(5)
    let barometer = try #require(board.board.sensors.firstIndex { $0.chip == "BMP180" })
    let check = try FaultTrial(
      bench: bench(board), sensor: barometer, fault: .brownOut, seconds: 0.1
    )
    .run("faults")
    #expect(check.outcome == .passed, "\(check.name): \(check.detail)")
    let pulled = try FaultTrial(
      bench: bench(board), sensor: barometer, fault: .noAnswer, seconds: 3
    )
    .run("faults")
    #expect(pulled.outcome == .passed && pulled.detail.contains("no answer"), "\(pulled.detail)")
  }

  @Test("a fault that is longer than the suite is told shows as a chip that did not come back")
  func noReturn() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let stubborn = Stubborn(board.simulation)
    let check = try FaultTrial(
      bench: bench(board, stubborn), sensor: 0, fault: .noAnswer, seconds: 3
    ).run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("did not come back"), "\(check.detail)")
  }

  @Test("a fault that never happens shows as a loss that was not said")
  func noFault() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let check = try FaultTrial(bench: bench(board, Idle()), sensor: 0, fault: .noAnswer, seconds: 3)
      .run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail == "LIS3MDL: no loss was said")
    #expect(check.mend != nil)
  }

  @Test("a neighbour that falls with it is named")
  func neighbour() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let check = try FaultTrial(
      bench: bench(board, Clumsy(board.simulation)), sensor: 0, fault: .noAnswer, seconds: 3
    ).run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("BMP280 failed with it"), "\(check.detail)")
  }

  @Test("faults that overlap are each held against their own times, and named")
  func overlapping() throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    let check = try FaultTrial(
      bench: bench(board),
      parts: [
        .init(sensor: 2, fault: .timeout, delay: 1.5, seconds: 3),
        .init(sensor: 0, fault: .noAnswer, seconds: 4),
        .init(sensor: 3, fault: .receiverGarbage, delay: 2, seconds: 3),
      ]
    ).run("faults")
    #expect(check.outcome == .passed, "\(check.detail)")
    #expect(
      check.name == "LIS3MDL: noAnswer for 4 s, after 1.5 s BMP280: timeout for 3 s, "
        + "after 2 s u-blox: receiverGarbage for 3 s")
    #expect(check.measures.count == 6)
    #expect(check.measures.allSatisfy { $0.value > 0 && $0.value < 5 })
    #expect(check.seconds > 4.9 && check.seconds < 11)
  }

  @Test("a value that cannot be is invented, whoever published it")
  func impossible() throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    let check = try FaultTrial(
      bench: bench(board, Deceiver(board.simulation)), sensor: 0, fault: .slow, seconds: 3
    ).run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("altitude jumped by"), "\(check.detail)")
  }

  @Test("a chip that is missing, a wrong line, noise and a magnet each fail their own check")
  func sick() throws {
    func failures(
      adapt: (inout SimulatedBoard) -> Void = { _ in },
      prepare: (VirtualBoard) -> Void = { _ in }
    ) throws -> [Report.Check] {
      let board = try VirtualBoard(adapt: adapt)
      prepare(board)
      _ = board.run(8)
      return try test(board, seconds: 5).checks
        .filter { $0.outcome != .passed }
    }
    let missing = try failures(prepare: { board in
      board.simulation.inject(.noAnswer, chip: 2, from: board.clock.now())
    })
    #expect(missing.contains { $0.name == "BMP280 delivers" && $0.detail.contains("no answer") })
    let magnet = try failures(prepare: { board in
      var shown = ShownStimulus.Quantities()
      shown.magneticField = Vector3(180, 0, 0)
      board.simulation.show(shown, chip: 0)
    })
    #expect(magnet.contains { $0.name == "heading and field strength" })
    // Each is wired to the line that the file names for the other.
    let crossed = try failures(adapt: { board in
      let first = board.chips[0].interrupt
      board.chips[0].interrupt = board.chips[1].interrupt
      board.chips[1].interrupt = first
    })
    #expect(crossed.contains { $0.name == "LSM6DSOX interrupt line" && $0.mend != nil })
  }

  @Test(
    "a loss is said with what is known of it: no magnet near a barometer, no supply to check for a wire"
  )
  func causes() throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    func said(_ sensor: Int, _ fault: RigFault) throws -> String {
      try FaultTrial(bench: bench(board), sensor: sensor, fault: fault, seconds: 3).run("g").detail
    }
    #expect(try said(0, .overflow).contains("a magnet or a current is near"))
    #expect(try said(1, .overflow).contains("a blow or a spin"))
    #expect(try said(2, .overflow).contains("the sensor's hole is blocked"))
    // The burst holds the control register, which cannot be zero.
    #expect(
      try said(2, .stuckLow).contains(
        "from register 0xf3 on is zero, which cannot be: the data line"))
    let flipped = try said(0, .bitFlip)
    #expect(flipped.contains("register 0x20 reads 0x"), "\(flipped)")
    #expect(flipped.contains("was reset (its supply), or the line is disturbed"))
  }

  @Test("a chip that never ran fails once, and heading fails for the accelerometer that is lost")
  func onceOnly() throws {
    let board = try VirtualBoard()
    board.simulation.inject(.noAnswer, chip: 1, from: board.clock.now())
    let checks = try test(board, seconds: 3).checks
    let own = checks.filter { $0.name.hasPrefix("LSM6DSOX") }
    #expect(own.count == 1 && own[0].name == "LSM6DSOX delivers" && own[0].outcome == .failed)
    let heading = try #require(checks.first { $0.name == "heading" })
    #expect(
      heading.detail.hasPrefix("sensor lost: LSM6DSOX: /dev/i2c-1 address 0x6a"), "\(heading)")
    let lost = try VirtualBoard()
    lost.simulation.inject(.noAnswer, chip: 2, from: lost.clock.now())
    let air = try test(lost, seconds: 3).checks
    #expect(try #require(air.first { $0.name == "altitude" }).detail.contains("0x77"))
    #expect(!air.contains { $0.name == "BMP280 without errors" })
  }

  @Test("what is shown is read, to the chip's own errors")
  func show() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let player = ScenarioPlayer(bench: bench(board))
    let checks = try player.play(
      try scenario(
        """
          - show: {chip: BMP280, pressure: 95000, within: 250}
          - show: {chip: BMP280, pressure: 95000, within: 0.001}
        """, on: board))
    #expect(checks.map(\.outcome) == [.passed, .failed])
  }

  @Test("a shown field is the one around the board: what is read, calibrated, and heading are its")
  func showField() throws {
    // Still and level from the beginning, the body's y axis 40 degrees from north by the walk.
    let board = try VirtualBoard(edit: {
      $0.components(separatedBy: "  legs:\n")[0] + "  legs:\n    - {seconds: 400, fix: true}\n"
    })
    _ = board.run(10)
    let checks = try ScenarioPlayer(bench: bench(board)).play(
      try scenario(
        """
          - show: {chip: LIS3MDL, field: [20, 0, -44], within: 0.5, heading: 270}
          - show: {chip: LIS3MDL, field: [0, 20, -44], within: 0.5, heading: 0}
          - show: {chip: LIS3MDL, field: [20, 0, -44], within: 0.5, heading: 0}
          - show: {chip: LIS3MDL, field: [20, 0, -44], within: 0.001}
        """, on: board))
    #expect(checks.map(\.outcome) == [.passed, .passed, .failed, .failed], "\(checks)")
    #expect(checks[0].name == "LIS3MDL is shown field 20 0 -44")
    #expect(checks[2].mend?.contains("the field means 270 deg on a level board") == true)
    #expect(checks[3].detail.hasPrefix("calibrated it reads "))
    #expect(!checks[3].detail.contains("["))
  }

  @Test(
    "a shown field gives its heading on a board that is on its way, and the way is there again after it",
    arguments: [16.0, 24, 33, 50])
  func showOnTheWay(seconds: Double) throws {
    let board = try VirtualBoard()
    // In turns, climbing, with the nose up, in the tunnel.
    _ = board.run(seconds)
    let checks = try ScenarioPlayer(bench: bench(board)).play(
      try scenario(
        """
          - show: {chip: LIS3MDL, field: [20, 0, -44], within: 0.5, heading: 270}
          - show: {chip: LIS3MDL, field: [0, 20, -44], within: 0.5, heading: 0}
        """, on: board))
    #expect(checks.map(\.outcome) == [.passed, .passed], "\(checks)")
    #expect(board.board.sensors.indices.allSatisfy { board.simulation.shown(chip: $0) == .init() })
    #expect(board.hub.status.allSatisfy { $0.state == .running })
  }

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
      board: board.board, hub: board.hub, calibrations: board.state.calibrations, person: rig,
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
      board: board.board, hub: board.hub, calibrations: board.state.calibrations, person: rig,
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

  @Test("random faults are the same for the same seed")
  func random() throws {
    func names() throws -> [String] {
      let board = try VirtualBoard()
      _ = board.run(10)
      return try ScenarioPlayer(bench: bench(board)).play(
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
    let checks = try ScenarioPlayer(bench: bench(board, Nobody())).play(.desk(for: board.board))
    #expect(checks.count == 7)
    #expect(checks.allSatisfy { $0.outcome == .failed && $0.detail.contains("--interactive") })
    let desk = Scenario.desk(for: board.board)
    #expect(throws: BoardFileError.self) { try desk.check { Nobody().objection(to: $0) } }
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
    let checks = try ScenarioPlayer(bench: bench(board, Idle())).play(
      try scenario(
        """
          - turn: {degrees: 360, within: 10, seconds: 11}
          - tilt: {degrees: 30, within: 10, seconds: 18}
          - lift: {metres: 1, within: 0.3, seconds: 8}
          - turn: {degrees: 90, within: 10, seconds: 3}
        """, on: board))
    #expect(checks.map(\.outcome) == [.passed, .passed, .passed, .failed])
    #expect(checks.allSatisfy { $0.seconds > 2 })
    #expect(checks[3].detail == "the board was not moved")
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

/// Does nothing, whatever is asked.
private struct Idle: Operator {
  let name = "idle"
  let isPerson = false
  func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws {}
  func show(_ shown: Shown, on chip: ChipTarget) throws {}
  func endShow(on chip: ChipTarget) throws {}
  func objection(to action: ScenarioAction) -> String? { nil }
  func ask(_ instruction: String) throws {}
}

/// Lets every fault last for an hour.
private struct Stubborn: Operator {
  let name = "stubborn"
  let isPerson = false
  let simulation: SimulatedBusProvider
  init(_ simulation: SimulatedBusProvider) { self.simulation = simulation }
  func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws {
    simulation.inject(.noAnswer, chip: 0, from: simulation.now())
  }
  func show(_ shown: Shown, on chip: ChipTarget) throws {}
  func endShow(on chip: ChipTarget) throws {}
  func objection(to action: ScenarioAction) -> String? { nil }
  func ask(_ instruction: String) throws {}
}

/// Says that a chip is slow, and lets the barometer read another height's pressure.
private struct Deceiver: Operator {
  let name = "deceiver"
  let isPerson = false
  let simulation: SimulatedBusProvider
  init(_ simulation: SimulatedBusProvider) { self.simulation = simulation }
  func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws {
    var shown = ShownStimulus.Quantities()
    shown.pressure = 90_000
    simulation.show(shown, chip: 2)
  }
  func show(_ shown: Shown, on chip: ChipTarget) throws {}
  func endShow(on chip: ChipTarget) throws {}
  func objection(to action: ScenarioAction) -> String? { nil }
  func ask(_ instruction: String) throws {}
}

/// Pulls two wires instead of one.
private struct Clumsy: Operator {
  let name = "clumsy"
  let isPerson = false
  let simulation: SimulatedBusProvider
  init(_ simulation: SimulatedBusProvider) { self.simulation = simulation }
  func inject(_ fault: RigFault, on chip: ChipTarget, seconds: Double) throws {
    let now = simulation.now()
    for index in [0, 2] {
      simulation.inject(
        .noAnswer, chip: index, from: now, until: now.advanced(bySeconds: seconds))
    }
  }
  func show(_ shown: Shown, on chip: ChipTarget) throws {}
  func endShow(on chip: ChipTarget) throws {}
  func objection(to action: ScenarioAction) -> String? { nil }
  func ask(_ instruction: String) throws {}
}
