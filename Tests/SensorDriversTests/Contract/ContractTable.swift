// The contract of every chip as one table, printed by the test run.

import SensorDrivers
import SensorTypes
import Synchronization
import Testing

/// Sweeps that have been run: the table and the tests ask for the same.
private let swept = Mutex<[String: SweepResult]>([:])

extension Sweep {
  /// What the sweep met; it is run once.
  func result() throws -> SweepResult {
    if let known = swept.withLock({ $0[testDescription] }) { return known }
    let result = try run()
    swept.withLock { $0[testDescription] = result }
    return result
  }
}

/// One demand of the contract, as a column.
private struct Demand: Sendable {
  let title: String
  let check: @Sendable (FaultTests, FaultContract) throws -> Void

  /// Those that are the same for every register chip.
  static let all = [
    Demand(title: "identity") { tests, chip in
      for recovery in Recovery.allCases { try tests.wrongIdentity(chip, recovery) }
      try tests.uncheckedIdentity(chip)
    },
    Demand(title: "read back") { tests, chip in
      for recovery in Recovery.allCases { try tests.brownOut(chip, recovery) }
      if chip.lost != .nothing { try tests.brownOutAnytime(chip) }
    },
    Demand(title: "overflow") { try $0.overflow($1) },
    Demand(title: "no answer") { tests, chip in
      for recovery in Recovery.allCases { try tests.noAnswer(chip, recovery) }
    },
    Demand(title: "timeout") { tests, chip in
      for recovery in Recovery.allCases { try tests.timeout(chip, recovery) }
      try tests.briefTimeout(chip)
    },
    Demand(title: "short read") { tests, chip in
      for recovery in Recovery.allCases { try tests.shortRead(chip, recovery) }
      try tests.briefShortRead(chip)
      for recovery in [nil] + Recovery.allCases { try tests.torn(chip, recovery) }
    },
    Demand(title: "stuck") { tests, chip in
      for recovery in Recovery.allCases { try tests.stuck(chip, recovery) }
      try tests.allowedConstant(chip)
    },
  ]

  /// Whether the chip meets it. What goes wrong is recorded where the demand is tested by itself; here it is a cell.
  func isMet(by chip: FaultContract) throws -> Bool {
    let failed = Mutex(false)
    try withKnownIssue("a cell of the table", isIntermittent: true) {
      try check(FaultTests(), chip)
    } matching: { _ in
      failed.withLock { $0 = true }
      return true
    }
    return failed.withLock { !$0 }
  }
}

/// One line of the table.
private struct Row {
  var cells: [String]

  static let titles =
    ["chip", "rates", "settings", "readings", "worst LSB", "of", "data ready"]
    + Demand.all.map(\.title) + ["self-test"]

  /// The sweeps' share of a line: rates, settings, readings, the worst error in counts of the datasheet and where.
  static func swept(_ chip: String) throws -> [String] {
    let sweeps = Sweep.all.filter { $0.chip == chip }
    var (readings, worst, place) = (0, 0.0, "")
    for sweep in sweeps {
      let result = try sweep.result()
      readings += result.points
      for (channel, error) in result.worst where channel != "output rate" && error > worst {
        (worst, place) = (error, channel)
      }
    }
    let rates = Set(sweeps.compactMap { $0.setting.split(separator: ", ").last }).count
    return ["\(rates)", "\(sweeps.count)", "\(readings)", decimals(worst), place]
  }

  private static func decimals(_ value: Double) -> String {
    guard value.isFinite else { return "\(value)" }
    let hundredths = Int((value * 100).rounded(.up))
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
  }
}

@Suite("Contract: the table") struct ContractTableTests {
  @Test("every chip of the catalogue has its line, and every cell is met")
  func table() throws {
    var rows: [Row] = []
    for chip in ChipCatalog.chips {
      let swept = try Row.swept(chip.name)
      guard let contract = ChipContract.all.first(where: { $0.faults.chip == chip.name })
      else {
        // A receiver's faults are others, and stand in ReceiverFaultTests; what gpsd may do is in its own suites.
        #expect(
          chip.name == "gpsd" || ReceiverContract.all.contains { $0.chip == chip.name },
          "\(chip.name)")
        rows.append(
          Row(cells: [chip.name] + swept + ["stream"] + Demand.all.map { _ in "-" } + ["-"]))
        continue
      }
      let demands = try Demand.all.map { try $0.isMet(by: contract.faults) ? "yes" : "NO" }
      #expect(!demands.contains("NO"), "\(chip.name)")
      let selfTest = contract.selfTest.isEmpty ? "-" : "\(3 * contract.selfTest.count) axes"
      rows.append(
        Row(
          cells: [chip.name] + swept + [try FaultTests().notice(contract.faults).rawValue] + demands
            + [selfTest]))
    }
    #expect(Set(rows.map { $0.cells[0] }) == Set(ChipCatalog.chips.map(\.name)))
    print(lines(rows).joined(separator: "\n"))
  }

  @Test("no two sweeps have the same name")
  func names() {
    #expect(Set(Sweep.all.map(\.testDescription)).count == Sweep.all.count)
  }

  private func lines(_ rows: [Row]) -> [String] {
    let all = [Row.titles] + rows.map(\.cells)
    let widths = Row.titles.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { cells in
      zip(cells, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }.joined(separator: "  ")
    }
  }
}
