// Every chip of the catalogue either tests itself, passes on its twin and fails on a twin that is broken, or
// is listed here as one that cannot. Limits and deflections are the datasheets', restated.

import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// A chip that tests itself, and what its report has to hold.
struct SelfTestContract: Sendable, CustomTestStringConvertible {
  struct Sensor: Sendable {
    let quantity: TestedQuantity
    let unit: SelfTestReport.Unit
    let limits: [ClosedRange<Double>]
    /// What the twin's sound chip does, and how far noise may take the report from it.
    let deflection: [Double]
    let noise: Double
    /// Whether the limits are of a figure with its sign, else of the magnitude of a change.
    var isSigned = false
    /// The chip judges by itself, each axis or all three together, and says so with a bit and no figure.
    var verdict: Verdict?
    /// Shares of the deflection that are within the limits on every axis, and beyond them on one.
    var passes = [0.6, 1.4]
    var fails = [0.1, 3.2]
    /// The chip averages and subtracts by itself: no conversion is read, and what acts on it meanwhile is none of the
    /// host's business.
    var isToldByChip = false
    /// One measurement, or none, and not the mean of five: few steps.
    var isBrief = false

    enum Verdict: Sendable { case ofEach, ofAll }

    /// A sensor of which the chip says by a bit an axis, or by one for all, whether it is sound: its twin does from
    /// half of what it should on.
    static func verdict(_ quantity: TestedQuantity, _ verdict: Verdict) -> Sensor {
      Sensor(
        quantity: quantity, unit: .counts, limits: [], deflection: [], noise: 0, verdict: verdict,
        passes: [0.8, 1.4], fails: [0, 0.4], isToldByChip: true, isBrief: true)
    }

    /// What a report must say of an axis whose twin moves by these shares of what it should; `nil` without a figure.
    func value(_ shares: [Double], _ axis: Int) -> Double? {
      verdict == nil ? shares[axis] * deflection[axis] : nil
    }

    func passes(_ shares: [Double], _ axis: Int) -> Bool {
      switch verdict {
      case .ofEach: shares[axis] >= 0.5
      case .ofAll: shares.allSatisfy { $0 >= 0.5 }
      case nil:
        limits[axis].contains(
          isSigned ? shares[axis] * deflection[axis] : abs(shares[axis] * deflection[axis]))
      }
    }

    /// The axes that a report has of it.
    var axes: [Int] { verdict == .ofAll ? [0] : [0, 1, 2] }
  }

  let chip: FaultContract
  let sensors: [Sensor]
  /// Steps until something of the test's own stands in the chip, which a dip in its supply takes away.
  let firstSteps: Int
  var testDescription: String { chip.chip }
  var isToldByChip: Bool { sensors.allSatisfy(\.isToldByChip) }
  var isBrief: Bool { sensors.allSatisfy(\.isBrief) }

  static let all = ChipContract.all.compactMap { contract in
    contract.selfTest.isEmpty
      ? nil
      : SelfTestContract(
        chip: contract.faults, sensors: contract.selfTest,
        firstSteps: contract.selfTestFirstSteps)
  }

  /// Chips that have no self-test.
  static let none = Set(ChipContract.all.filter { $0.selfTest.isEmpty }.map(\.faults.chip))
    .union(ReceiverContract.all.map(\.chip) + ["gpsd"])

  func bench() -> ContractBench {
    let bench = ContractBench(address: chip.address, chip.twin)
    bench.source.set(chip.world)
    return bench
  }

  func description() throws -> ChipDescription {
    try #require(ChipCatalog.chip(named: chip.chip))
  }

  func test() throws -> any SelfTesting { try #require(try description().selfTest) }

  /// What a report of this twin must be when it moves by `share` of what it should, on `axis` alone or on all.
  func expect(
    _ report: SelfTestReport, share: Double, axis alone: Int? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let shares = (0..<3).map { alone == nil || alone == $0 ? share : 1 }
    let expected = sensors.flatMap { sensor in sensor.axes.map { (sensor, $0) } }
    #expect(report.chip == chip.chip, sourceLocation: location)
    #expect(report.axes.count == expected.count, sourceLocation: location)
    for (axis, (sensor, index)) in zip(report.axes, expected) {
      #expect(axis.quantity == sensor.quantity, sourceLocation: location)
      let direction = SelfTestReport.Direction.allCases[index]
      #expect(axis.direction == (sensor.verdict == .ofAll ? nil : direction))
      #expect(axis.passed == sensor.passes(shares, index), "\(axis)", sourceLocation: location)
      let value = sensor.value(shares, index)
      #expect((axis.finding.figure == nil) == (value == nil), sourceLocation: location)
      guard let figure = axis.finding.figure, let value else { continue }
      let isSigned = sensor.isSigned || sensor.unit == .percentOfTrim
      #expect(axis.finding == (isSigned ? .value(figure) : .change(figure)))
      #expect(figure.unit == sensor.unit, sourceLocation: location)
      #expect(figure.limits == sensor.limits[index], sourceLocation: location)
      #expect(near(figure.value, value, sensor.noise), "\(axis)", sourceLocation: location)
    }
    let allPass = expected.allSatisfy { $0.0.passes(shares, $0.1) }
    #expect(report.passed == allPass, sourceLocation: location)
  }

  /// The chip is started and measures: nothing of the self-test is left.
  func expectService(
    _ bench: ContractBench, after pause: Double = 0,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    bench.clock.advance(bySeconds: pause)
    let driver = chip.driver(bench.device, .all)
    try bench.start(driver)
    for _ in 0..<10 {
      let reading = try #require(try bench.nextReading(driver), sourceLocation: location)
      #expect(chip.isRight(reading, chip.world), "\(reading)", sourceLocation: location)
    }
    for _ in 0..<16 { try driver.verify() }
  }
}
