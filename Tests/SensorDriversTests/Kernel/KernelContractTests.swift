// The contract of the chips, for every view that there is of a kernel driver: the whole range within a count, the rate,
// and the list of faults; printed as a table.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Synchronization
import Testing

@testable import SimulatedDevices

@Suite("Contract: chips that the kernel owns") struct KernelContractTests {
  // MARK: The range

  private func sweep(_ contract: KernelContract) throws -> SweepResult {
    var bench = try contract.bench()
    var result = SweepResult()
    func newest(_ bench: inout KernelBench) throws -> Reading {
      try #require(bench.outcome(4).readings.last)
    }
    guard !contract.channels.isEmpty else {
      for point in AirPath(from: 30_000, to: 110_000, step: contract.steps.pressure).diagonals {
        bench.show(Stimulus(pressure: point.pressure, temperature: point.temperature))
        guard case .atmosphere(let pressure, let temperature, _) = try newest(&bench) else {
          Issue.record("no pressure")
          return result
        }
        result.count()
        result.note("pressure", pressure, point.pressure, lsb: contract.steps.pressure)
        result.note("temperature", temperature, point.temperature, lsb: contract.steps.temperature)
      }
      return result
    }
    let values = contract.channels.map { channel in (0..<3).map(channel.values) }
    let count = values[0][0].count
    for step in 0..<count {
      var world = Stimulus()
      for (index, channel) in contract.channels.enumerated() {
        channel.put(&world, truth(values[index], step, index))
      }
      bench.show(world)
      let reading = try newest(&bench)
      result.count()
      for (index, channel) in contract.channels.enumerated() {
        let found = try #require(channel.get(reading), "\(reading)")
        let truth = truth(values[index], step, index)
        for (axis, name) in ["x", "y", "z"].enumerated() {
          result.note("\(channel.name) \(name)", found[axis], truth[axis], lsb: channel.lsb[axis])
        }
      }
    }
    return result
  }

  /// No two axes ever have the same value.
  private func truth(_ values: [[Double]], _ step: Int, _ channel: Int) -> Vector3 {
    let count = values[0].count
    func value(_ axis: Int) -> Double {
      values[axis][(step + axis * count / 3 + channel * count / 10) % count]
    }
    return Vector3(value(0), value(1), value(2))
  }

  // MARK: Faults

  /// What must come of a fault.
  private enum Outcome: Sendable, Equatable {
    /// Samples end; the hub notices that.
    case silence
    case error(String)
  }

  /// A fault as the contract of the registers has it, as far as the kernel's files know it.
  private struct Demand: Sendable {
    let title: String
    let fault: @Sendable (KernelContract) -> SimulatedFault
    /// Polled, and by the buffer.
    let outcome: (Outcome, Outcome)
    /// Whether no start goes well meanwhile.
    var stopsStarts = true

    static let all = [
      Demand(
        title: "no answer", fault: { _ in .noAnswer }, outcome: (.error("noAnswer"), .silence)),
      Demand(title: "timeout", fault: { _ in .timeout }, outcome: (.error("timedOut"), .silence)),
      Demand(
        title: "short read",
        fault: { .kernel($0.isBuffered ? .torn : .says($0.attribute, "")) },
        outcome: (.error("notReady"), .error("notReady")), stopsStarts: false),
      Demand(
        title: "unbound", fault: { _ in .kernel(.unbound) },
        outcome: (.error("disconnected"), .error("disconnected"))),
      Demand(title: "silent", fault: { _ in .kernel(.silent) }, outcome: (.silence, .silence)),
      Demand(
        title: "overflow", fault: { _ in .overflow },
        outcome: (.error("overflow"), .error("overflow")), stopsStarts: false),
    ]
  }

  private func isRight(_ reading: Reading, _ contract: KernelContract) -> Bool {
    let world = FaultContract.world
    guard !contract.channels.isEmpty else {
      let isAir = FaultContract.isAir(
        pascals: contract.steps.pressure, degrees: contract.steps.temperature)
      return isAir(reading, world)
    }
    return contract.channels.allSatisfy { channel in
      let truth: Vector3 =
        switch channel.name {
        case "field": world.magneticField
        case "rate": world.angularRate
        default: world.specificForce
        }
      return channel.get(reading).map { near($0, truth, channel.lsb[0]) } ?? false
    }
  }

  /// Back in service by the same driver or a new one: ten readings, each right.
  private func recover(_ bench: inout KernelBench, _ contract: KernelContract) throws {
    for isNew in [false, true] {
      bench.provider.endFaults(chip: 0)
      bench.clock.advance(bySeconds: 0.1)
      if isNew {
        try bench.driver.sleep()
        bench.driver = KernelSensor(
          try bench.provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C), name: contract.chip,
          kind: contract.kind, outputRate: contract.rate, checks: DriverChecks(change: false))
      }
      try bench.start()
      // What waited in the buffer may be of the fault.
      _ = bench.outcome(2)
      let after = bench.outcome(12)
      #expect(after.error == nil && after.readings.count >= 10, "\(after)")
      #expect(after.readings.allSatisfy { isRight($0, contract) })
    }
  }

  private func check(_ demand: Demand, _ contract: KernelContract) throws {
    var bench = try contract.bench()
    #expect(bench.outcome(12).readings.allSatisfy { isRight($0, contract) })
    bench.fault(demand.fault(contract))
    let wanted = contract.isBuffered ? demand.outcome.1 : demand.outcome.0
    // What was complete before it may still come.
    let first = bench.outcome(6)
    switch wanted {
    case .silence:
      #expect(first.error == nil && first.readings.count <= 2)
      #expect(bench.outcome(30).readings.isEmpty)
    case .error(let text): #expect(first.error?.kind == text)
    }
    if demand.stopsStarts {
      try? bench.driver.sleep()
      let (provider, clock) = (bench.provider, bench.clock)
      #expect(throws: (any Error).self) {
        var fresh = KernelSensor(
          try provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C), name: contract.chip,
          kind: contract.kind, outputRate: contract.rate)
        try run(&fresh, clock)
      }
    }
    try recover(&bench, contract)
  }

  private func run(_ driver: inout KernelSensor, _ clock: VirtualClock) throws(DriverError) {
    for _ in 0..<1000 {
      guard case .wait(let seconds) = try driver.start() else { return }
      clock.advance(bySeconds: seconds)
    }
  }

  private func rate(_ contract: KernelContract) throws {
    var bench = try contract.bench()
    let samples = try bench.run(20 / contract.rate)
    #expect(abs(Double(samples.count) - 20 / contract.rate * bench.driver.outputRate) <= 2)
    let times = samples.compactMap(\.time)
    #expect(times.count == samples.count)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }

  /// Another program sets a scale.
  private func readBack(_ contract: KernelContract, _ scale: String) throws {
    var bench = try contract.bench()
    bench.fault(.kernel(.says(scale, "0.5")))
    var found: DriverError?
    for _ in 0..<8 where found == nil {
      found = failure { () throws(DriverError) in try bench.driver.verify() }
    }
    guard case .notReady(let text) = found else {
      Issue.record("\(contract): \(String(describing: found))")
      return
    }
    #expect(text.contains("another program"))
    try recover(&bench, contract)
  }

  private func stuck(_ contract: KernelContract) throws {
    var bench = try contract.bench(changes: true)
    let limit = min(50, max(3, 1.5 * bench.driver.outputRate.rounded(.down)))
    let outcome = bench.outcome(200)
    #expect(outcome.error?.kind == "stuck")
    #expect(abs(Double(outcome.readings.count) - limit) <= 1, "\(outcome.readings.count)")
    var constant = try contract.bench()
    #expect(constant.outcome(200).error == nil)
  }

  // MARK: The table

  @Test("the whole range within a count, and an error or silence of its own for every fault")
  func table() throws {
    var rows = [
      ["view", "readings", "worst LSB", "of", "rate", "read back"] + Demand.all.map(\.title)
        + ["stuck"]
    ]
    for contract in KernelContract.all {
      var problems: [String] = []
      let result = try sweep(contract)
      #expect(result.points > 200)
      var worst = (error: 0.0, place: "")
      for (channel, error) in result.worst {
        #expect(error <= 1, "\(contract), \(channel): \(result.place[channel] ?? "")")
        if error > worst.error { worst = (error, channel) }
      }
      let hundredths = worst.error.isFinite ? Int((worst.error * 100).rounded(.up)) : 99_999
      var cells = [
        contract.testDescription, "\(result.points)",
        "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)", worst.place,
      ]
      cells.append(try cell(&problems) { try rate(contract) })
      // Without a scale there is nothing to lose.
      cells.append(
        try contract.scale.map { scale in
          try cell(&problems) { try readBack(contract, scale) }
        } ?? "-")
      for demand in Demand.all {
        let isOwed = demand.title != "overflow" || contract.marksOverflow
        cells.append(isOwed ? try cell(&problems) { try check(demand, contract) } : "-")
      }
      cells.append(try cell(&problems) { try stuck(contract) })
      #expect(problems.isEmpty, "\(contract)")
      rows.append(cells)
    }
    // Every view has its lines.
    #expect(KernelContract.all.count == 11)
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for cells in rows {
      print(
        zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
          .joined(separator: "  "))
    }
  }

  /// What goes wrong in it is a "NO", and said below the table.
  private func cell(_ problems: inout [String], _ body: () throws -> Void) throws -> String {
    let found = Mutex<[String]>([])
    try withKnownIssue("a cell of the table", isIntermittent: true) {
      try body()
    } matching: { issue in
      found.withLock { $0.append("\(issue)") }
      return true
    }
    let issues = found.withLock { $0 }
    problems += issues
    return issues.isEmpty ? "yes" : "NO"
  }
}
