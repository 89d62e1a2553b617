import BoardFile
import BoardTestSupport
import Foundation
import LinearAlgebra
import SimulatedDevices
import Testing

@testable import HardwareSuite

/// The suite against the simulated board in virtual time: what is well passes, and what is not is named.
struct SuiteTests {
  @Test("the simulated board passes, and everything that was measured has a curve")
  func healthy() throws {
    let board = try VirtualBoard()
    _ = board.run(8)
    let (checks, series) = try board.test(seconds: 10)
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
      let checks = try board.test(seconds: 10).checks
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

  @Test("humidity that air can have passes, and none at all fails")
  func humidity() throws {
    for (percent, outcome) in [(45.0, CheckOutcome.passed), (0, .failed)] {
      let text = """
        schema: 1
        name: one chip
        sensors:
          - {chip: BME280, bus: /dev/i2c-1, address: 0x76}
        simulation:
          start: {latitude: 52.5163, longitude: 13.3777, altitude: 36}
          legs: [{seconds: 600, fix: true}]
        """
      let board = try VirtualBoard(edit: { _ in text })
      var shown = ShownStimulus.Quantities()
      shown.humidity = percent
      board.simulation.show(shown, chip: 0)
      _ = board.run(3)
      let checks = try board.test(seconds: 4).checks
      let check = try #require(checks.first { $0.name == "BME280 humidity" })
      #expect(check.outcome == outcome, "\(check)")
    }
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
      return try board.test(seconds: 5).checks
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

  @Test("a chip that never ran fails once, and heading fails for the accelerometer that is lost")
  func onceOnly() throws {
    let board = try VirtualBoard()
    board.simulation.inject(.noAnswer, chip: 1, from: board.clock.now())
    let checks = try board.test(seconds: 3).checks
    let own = checks.filter { $0.name.hasPrefix("LSM6DSOX") }
    #expect(own.count == 1 && own[0].name == "LSM6DSOX delivers" && own[0].outcome == .failed)
    let heading = try #require(checks.first { $0.name == "heading" })
    #expect(
      heading.detail.hasPrefix("sensor lost: LSM6DSOX: /dev/i2c-1 address 0x6a"), "\(heading)")
    let lost = try VirtualBoard()
    lost.simulation.inject(.noAnswer, chip: 2, from: lost.clock.now())
    let air = try lost.test(seconds: 3).checks
    #expect(try #require(air.first { $0.name == "altitude" }).detail.contains("0x77"))
    #expect(!air.contains { $0.name == "BMP280 without errors" })
  }

  @Test("without hands a step that needs them fails and says what to do")
  func nobody() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let checks = try ScenarioPlayer(bench: board.bench(Nobody())).play(.desk(for: board.board))
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
    let checks = try ScenarioPlayer(bench: board.bench(IdleOperator())).play(
      try board.scenario(
        """
          - turn: {degrees: 360, within: 10, seconds: 11}
          - tilt: {degrees: 30, within: 10, seconds: 18}
          - lift: {metres: 1, within: 0.3, seconds: 8}
          - turn: {degrees: 90, within: 10, seconds: 3}
        """))
    #expect(checks.map(\.outcome) == [.passed, .passed, .passed, .failed])
    #expect(checks.allSatisfy { $0.seconds > 2 })
    #expect(checks[3].detail == "the board was not moved")
  }
}
