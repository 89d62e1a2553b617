import BoardTestSupport
import Foundation
import SensorHub
import SensorTypes
import SimulatedDevices
import Synchronization
import Testing

@testable import HardwareSuite
import StateStore

/// A run with a person at the desk: what is asked, what an answer does, and how a run ends before its end.
struct PersonTests {
  /// Somebody who answers from a list and hears everything that is said.
  private final class Desk: Sendable {
    private let answers: Mutex<[String?]>
    let said = Kept<String>()

    init(_ answers: [String?]) { self.answers = Mutex(answers) }

    var person: Person {
      Person(
        say: { [said] in said.append($0) },
        answer: { [self] question throws(BrokenOff) in
          said.append(question)
          return answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        })
    }

    var text: String { said.all.joined(separator: "\n") }
  }

  private func still() throws -> VirtualBoard {
    let board = try VirtualBoard(edit: {
      $0.components(separatedBy: "  legs:\n")[0] + "  legs:\n    - {seconds: 400, fix: true}\n"
    })
    _ = board.run(8)
    return board
  }

  private func play(
    _ steps: String, on board: VirtualBoard, _ desk: Desk, _ interruption: Interruption? = nil
  ) throws -> Findings {
    let bench = Bench(
      board: board.board, source: board.hub, calibrations: board.state.calibrations,
      person: desk.person, now: { board.clock.now() },
      pass: { (seconds) throws(BrokenOff) in
        try interruption?.check()
        board.runner.run(until: board.clock.now().advanced(bySeconds: seconds))
      }, say: { desk.said.append($0) })
    let scenario = try Scenario.parse(
      "schema: 1\nname: test\nsteps:\n\(steps)", file: "test.yaml", board: board.board)
    var found = Findings()
    try ScenarioPlayer(bench: bench).play(scenario, into: &found)
    return found
  }

  private static let movements = """
      - turn: {degrees: 360, within: 20, seconds: 25}
      - tilt: {degrees: 30, within: 15, seconds: 10}
      - lift: {metres: 1, within: 0.4, seconds: 10}
    """

  @Test("a board that nobody touched was not moved: no wrong sign, no calibration, no wind")
  func untouched() throws {
    let desk = Desk(["", "", "", "", "", ""])
    let found = try play(Self.movements, on: try still(), desk)
    #expect(found.checks.count == 3)
    for check in found.checks {
      #expect(check.outcome == .failed && check.detail == "the board was not moved")
      #expect(check.mend == "try again, and move it while the seconds run")
    }
    // Beginning, every ten seconds, end; and the reason where it failed.
    for line in [
      "begins: 25 s", "20 s left", "10 s left", "over", "failed  turning by 360 deg: the board",
    ] {
      #expect(desk.text.contains(line), "\(line)")
    }
  }

  @Test("a failed step is repeated on request, a step may be skipped")
  func again() throws {
    let desk = Desk(["", "r", "", "", "s", "s"])
    let found = try play(Self.movements, on: try still(), desk)
    #expect(found.checks.map(\.outcome) == [.failed, .skipped, .skipped])
    #expect(found.checks[0].detail == "the board was not moved (at attempt 2)")
    #expect(found.checks[1].detail == "skipped by the person")
    #expect(desk.text.components(separatedBy: "r repeats the step").count == 3)
  }

  @Test("the end of input is said once, and what is left is skipped with that reason, once")
  func ended() throws {
    let desk = Desk(["s", nil])
    let found = try play(Self.movements, on: try still(), desk)
    #expect(found.checks.map(\.outcome) == [.skipped, .skipped, .skipped])
    #expect(found.checks[1].detail == "input ended")
    #expect(found.checks[2].name == "the remaining steps by hand")
    #expect(found.checks[2].detail == "input ended before lifting by 1 m")
    #expect(desk.text.components(separatedBy: "input ended: ").count == 2)
  }

  @Test("a wire that was not pulled is asked after, without contradiction")
  func notPulled() throws {
    let desk = Desk(["", ""])
    let found = try play(
      "  - fault: {chip: LIS3MDL, kind: noAnswer, seconds: 5}\n", on: try still(), desk)
    #expect(found.checks[0].detail == "LIS3MDL: no loss was said")
    #expect(found.checks[0].mend?.hasPrefix("was the wire pulled") == true)
    #expect(desk.text.contains("Plug it back now"))
  }

  @Test("a step that the board could not notice is not asked for")
  func lost() throws {
    let board = try still()
    board.simulation.inject(.noAnswer, chip: 0, from: board.clock.now())
    _ = board.run(3)
    let desk = Desk([])
    let found = try play("  - turn: {degrees: 90, within: 5, seconds: 5}\n", on: board, desk)
    #expect(found.checks[0].detail == "no heading comes: nothing can be learnt")
    #expect(!desk.text.contains(">>> Turn"))
  }

  @Test("a signal in a step leaves what was found before it")
  func signal() throws {
    let board = try still()
    let interruption = Interruption()
    let desk = Desk([])
    let bench = Bench(
      board: board.board, source: board.hub, calibrations: nil, person: desk.person,
      now: { board.clock.now() },
      pass: { (seconds) throws(BrokenOff) in
        board.runner.run(until: board.clock.now().advanced(bySeconds: seconds))
        interruption.interrupt(by: 2)
        try interruption.check()
      }, say: { desk.said.append($0) })
    var found = Findings()
    #expect(throws: BrokenOff(signal: 2)) {
      try ScenarioPlayer(bench: bench).play(
        Scenario(
          name: "t",
          steps: [
            .init(action: .fault(chip: 0, .noAnswer, seconds: 1), line: 1),
            .init(action: .measure(seconds: 5), line: 2),
          ]), into: &found)
    }
    #expect(found.stage == "step 1 of scenario t")
    #expect(!interruption.interrupt(by: 15))
    #expect(BrokenOff(signal: 15).exitCode == 143 && BrokenOff(signal: 2).name == "SIGINT")
  }

  @Test("a measurement that is broken off keeps its curves and judges nothing")
  func curves() throws {
    let board = try still()
    let desk = Desk([])
    let passed = Mutex(0)
    let bench = Bench(
      board: board.board, source: board.hub, calibrations: nil, person: desk.person,
      now: { board.clock.now() },
      pass: { (seconds) throws(BrokenOff) in
        board.runner.run(until: board.clock.now().advanced(bySeconds: seconds))
        // Two seconds of settling, then the measurement.
        if passed.withLock({
          $0 += 1; return $0
        }) == 2 {
          throw BrokenOff(signal: 15)
        }
      }, say: { desk.said.append($0) })
    var found = Findings()
    #expect(throws: BrokenOff(signal: 15)) {
      try HardwareSuite.test(bench, seconds: 5, scenarios: [], into: &found)
    }
    #expect(found.stage == "the measurement" && found.checks.isEmpty)
    #expect(found.series.contains { $0.title == "magnetic heading" })
  }
}
