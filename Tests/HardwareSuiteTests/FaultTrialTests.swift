import BoardFile
import BoardTestSupport
import SensorTypes
import SimulatedDevices
import Testing

@testable import HardwareSuite

/// Faults that are injected one at a time and together, and rigs that do not do what they are told.
struct FaultTrialTests {
  @Test("every fault ends as it should", arguments: RigFault.allCases)
  func fault(_ fault: RigFault) throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    for (index, sensor) in board.board.sensors.enumerated()
    where fault.suits(receiver: sensor.chip == "u-blox") {
      let check = try FaultTrial(bench: board.bench(), sensor: index, fault: fault, seconds: 3)
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
    let check = try FaultTrial(bench: board.bench(), sensor: host, fault: fault, seconds: 3)
      .run("faults")
    #expect(check.outcome == .passed, "\(check.name): \(check.detail)")
  }

  @Test("a chip that is told each conversion anew has nothing that a brown-out could take")
  func nothingToLose() throws {
    let board = try simulated("gy-87-qmc5883l")
    _ = board.run(5)
    let barometer = try #require(board.board.sensors.firstIndex { $0.chip == "BMP180" })
    let check = try FaultTrial(
      bench: board.bench(), sensor: barometer, fault: .brownOut, seconds: 0.1
    )
    .run("faults")
    #expect(check.outcome == .passed, "\(check.name): \(check.detail)")
    let pulled = try FaultTrial(
      bench: board.bench(), sensor: barometer, fault: .noAnswer, seconds: 3
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
      bench: board.bench(stubborn), sensor: 0, fault: .noAnswer, seconds: 3
    ).run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("did not come back"), "\(check.detail)")
  }

  @Test("a fault that never happens shows as a loss that was not said")
  func noFault() throws {
    let board = try VirtualBoard()
    _ = board.run(5)
    let check = try FaultTrial(
      bench: board.bench(IdleOperator()), sensor: 0, fault: .noAnswer, seconds: 3
    )
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
      bench: board.bench(Clumsy(board.simulation)), sensor: 0, fault: .noAnswer, seconds: 3
    ).run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("BMP280 failed with it"), "\(check.detail)")
  }

  @Test("faults that overlap are each held against their own times, and named")
  func overlapping() throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    let check = try FaultTrial(
      bench: board.bench(),
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
      bench: board.bench(Deceiver(board.simulation)), sensor: 0, fault: .slow, seconds: 3
    ).run("faults")
    #expect(check.outcome == .failed)
    #expect(check.detail.contains("altitude jumped by"), "\(check.detail)")
  }

  @Test(
    "a loss is said with what is known of it: no magnet near a barometer, no supply to check for a wire"
  )
  func causes() throws {
    let board = try VirtualBoard()
    _ = board.run(10)
    func said(_ sensor: Int, _ fault: RigFault) throws -> String {
      try FaultTrial(bench: board.bench(), sensor: sensor, fault: fault, seconds: 3).run("g").detail
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

  @Test("random faults are the same for the same seed")
  func random() throws {
    func names() throws -> [String] {
      let board = try VirtualBoard()
      _ = board.run(10)
      return try ScenarioPlayer(bench: board.bench()).play(
        try board.scenario("  - randomFaults: {count: 4, seed: 5}\n")
      ).map { "\($0.name) \($0.outcome)" }
    }
    let first = try names()
    #expect(first.count == 4)
    #expect(first.allSatisfy { $0.hasSuffix("passed") }, "\(first)")
    #expect(try names() == first)
  }
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
