// Every chip of the catalogue either tests itself, passes on its twin and fails on a twin that is broken, or
// is listed here as one that cannot. Limits and deflections are the datasheets', restated.

import SensorBus
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

    /// A sensor of which the chip says by a bit an axis, or by one for all, whether it is sound: its twin does from half of
    /// what it should on.
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

/// Steps `test` to its end, calling `before` with the number of each step; at most 500.
private func finish(
  _ test: inout any SelfTesting, _ bench: ContractBench, before: (Int) -> Void = { _ in }
) throws(DriverError) -> SelfTestReport {
  for step in 0..<500 {
    before(step)
    switch try test.step(bench.device) {
    case .done(let report): return report
    case .wait(let seconds): bench.clock.advance(bySeconds: seconds)
    }
  }
  throw .notReady("the self-test did not end within 500 steps")
}

@Suite("Contract: self-tests") struct SelfTestContractTests {
  @Test("every chip of the catalogue has a self-test or is known to have none")
  func completeness() {
    for chip in ChipCatalog.chips {
      #expect((chip.selfTest == nil) == SelfTestContract.none.contains(chip.name), "\(chip.name)")
      if let test = chip.selfTest { #expect(test.chip == chip.name) }
    }
    let tested = Set(SelfTestContract.all.map(\.chip.chip))
    #expect(tested.union(SelfTestContract.none) == Set(ChipCatalog.chips.map(\.name)))
    #expect(tested.isDisjoint(with: SelfTestContract.none))
  }

  @Test(
    "a chip without a self-test says so, and nothing is sent to it",
    arguments: SelfTestContract.none.sorted())
  func none(_ name: String) throws {
    let device = ScriptedDevice([])
    let chip = try #require(ChipCatalog.chip(named: name))
    let outcome = try ChipCatalog.selfTest(
      chip, on: device, now: { Timestamp(nanoseconds: 0) }, wait: { _ in })
    #expect(outcome == .noSelfTest)
  }

  @Test("a sound chip passes in time, and serves when it is started anew")
  func passes() throws {
    for contract in SelfTestContract.all {
      let bench = contract.bench()
      let begin = bench.clock.now()
      var test = try contract.test()
      let report = try finish(&test, bench)
      contract.expect(report, share: 1)
      #expect(report.passed, "\(report)")
      #expect(bench.clock.now().seconds(since: begin) < ChipCatalog.selfTestLimit)
      try contract.expectService(bench)
      // The same value once more, on a chip that is in use.
      #expect(try finish(&test, bench).passed)
      try contract.expectService(bench)
    }
  }

  @Test("it is over with the chip switched off: no conversion comes any more")
  func off() throws {
    for contract in SelfTestContract.all {
      let bench = contract.bench()
      var test = try contract.test()
      _ = try finish(&test, bench)
      #expect(bench.nextDataReady() == nil)
    }
  }

  @Test(
    "a deflection that is too small or too large fails on the axes where it is so",
    arguments: [0, 0.05, 0.1, 0.15, 0.4, 0.6, 1.4, 1.7, 2.2, 2.5, 3.2])
  func deflection(_ share: Double) throws {
    for contract in SelfTestContract.all {
      let bench = contract.bench()
      bench.begin(.selfTestDeflection(share: share))
      var test = try contract.test()
      contract.expect(try finish(&test, bench), share: share)
    }
  }

  @Test("an axis that does nothing fails, and the others pass", arguments: 0..<3)
  func oneAxis(_ axis: Int) throws {
    for contract in SelfTestContract.all {
      let bench = contract.bench()
      bench.begin(.selfTestDeflection(share: 0, axis: axis))
      var test = try contract.test()
      contract.expect(try finish(&test, bench), share: 0, axis: axis)
    }
  }

  @Test("some of those shares fail and some pass, in every chip")
  func shares() throws {
    for contract in SelfTestContract.all {
      let shares = contract.sensors.flatMap { sensor in
        sensor.passes.map { ($0, true) } + sensor.fails.map { ($0, false) }
      }
      for (share, passes) in shares {
        let bench = contract.bench()
        bench.begin(.selfTestDeflection(share: share))
        var test = try contract.test()
        #expect(try finish(&test, bench).passed == passes, "\(contract.chip.chip) at \(share)")
      }
    }
  }

  @Test("a stuck output changes by nothing, and fails on every axis that should")
  func stuck() throws {
    for contract in SelfTestContract.all {
      let bench = contract.bench()
      bench.begin(.stuckData)
      var test = try contract.test()
      let outcome = Result { () throws(DriverError) in try finish(&test, bench) }
      // Until its first conversion its outputs are at an end of the 16 bits, and are stuck there.
      if contract.chip.chip == "ICM42688P" {
        #expect(outcome == .failure(.overflow))
      } else {
        let report = try outcome.get()
        contract.expect(report, share: 0)
        #expect(report.axes.allSatisfy { ($0.finding.figure?.value ?? 0) == 0 })
        #expect(!report.passed)
      }
      bench.endFaults()
      try contract.expectService(bench)
    }
  }

  @Test(
    "a bus that fails at any step ends it with that error; afterwards chip and self-test are as new",
    arguments: [SimulatedFault.noAnswer, .timeout, .shortRead(bytes: 0)])
  func busErrors(_ fault: SimulatedFault) throws {
    // A transfer that ended early may be of any length.
    let reason: BusError.Reason? =
      switch fault {
      case .noAnswer: .noAnswer
      case .timeout: .timedOut
      default: nil
      }
    for contract in SelfTestContract.all {
      var steps = 0
      var sound = try contract.test()
      _ = try finish(&sound, contract.bench()) { steps = $0 + 1 }
      // Twelve conversions of each sensor at least.
      let sensors = contract.sensors.filter { !$0.isToldByChip && !$0.isBrief }
      #expect(sensors.isEmpty || steps > 12 * sensors.count)
      for place in 0..<steps {
        let bench = contract.bench()
        var test = try contract.test()
        let error = failure { () throws(DriverError) in
          try finish(&test, bench) { if $0 == place { bench.begin(fault) } }
        }
        guard case .bus(let found) = error else {
          Issue.record("\(String(describing: error)) at step \(place)")
          continue
        }
        if case .shortTransfer(_, actual: 0) = found.reason {
          #expect(reason == nil)
        } else {
          #expect(found.reason == reason)
        }
        #expect(found.bus == ContractBench.bus)
        #expect(found.address == contract.chip.address)
        #expect(found.register != nil)
        bench.endFaults()
        bench.clock.advance(bySeconds: 0.1)
        if place % 2 == 0 {
          try contract.expectService(bench)
        } else {
          contract.expect(try finish(&test, bench), share: 1)
        }
      }
    }
  }

  @Test("a chip that loses its supply at any step never passes")
  func brownOut() throws {
    for contract in SelfTestContract.all {
      var steps = 0
      var sound = try contract.test()
      _ = try finish(&sound, contract.bench()) { steps = $0 + 1 }
      for place in 0..<steps {
        let bench = contract.bench()
        var test = try contract.test()
        let error = failure { () throws(DriverError) in
          try finish(&test, bench) { step in
            guard step == place else { return }
            bench.begin(.brownOut)
            // It happens now; but for the first steps, which reset the chip anyway, it is up again when
            // the step comes, with nothing left of its configuration.
            _ = bench.nextDataReady()
            if place >= contract.firstSteps { bench.clock.advance(bySeconds: 0.02) }
          }
        }
        #expect(error != nil, "\(contract.chip.chip) at step \(place)")
        try contract.expectService(bench, after: 0.1)
      }
    }
  }

  @Test("another chip at the address, and an output beyond its range, are errors")
  func others() throws {
    for contract in SelfTestContract.all {
      let stranger = contract.bench()
      stranger.begin(contract.chip.stranger.fault)
      var test = try contract.test()
      #expect(
        failure { () throws(DriverError) in try finish(&test, stranger) }
          == contract.chip.stranger.error)
      let beyond = contract.bench()
      beyond.begin(.overflow)
      test = try contract.test()
      guard !contract.isToldByChip else {
        #expect(try finish(&test, beyond).passed)
        continue
      }
      #expect(failure { () throws(DriverError) in try finish(&test, beyond) } == .overflow)
    }
  }

  @Test("a register that does not hold what is written is an error and no result")
  func registers() throws {
    let contract = try #require(SelfTestContract.all.first { $0.chip.chip == "LIS3MDL" })
    let bench = contract.bench()
    bench.begin(.bitFlip(register: 0x20, mask: 0x01))
    var test = try contract.test()
    #expect(
      failure { () throws(DriverError) in try finish(&test, bench) }
        == .configurationLost(register: 0x20, expected: 0x1C, found: 0x1D))
  }

  @Test("a clock that stands still, and waits that never end, end it all the same")
  func bounds() throws {
    for contract in SelfTestContract.all {
      let chip = try contract.description()
      let bench = contract.bench()
      var waits = 0
      let standing = failure { () throws(DriverError) in
        try ChipCatalog.selfTest(
          chip, on: bench.device, now: { bench.clock.now() }, wait: { _ in waits += 1 })
      }
      // Asleep it has no identity to show, and while no time passes it does not wake.
      if case .wrongIdentity(chip: "BMM150", register: 0x40, expected: 0x32, found: 0, other: _) =
        standing
      {
        continue
      }
      guard case .notReady(let words) = standing else {
        Issue.record("\(String(describing: standing))")
        continue
      }
      #expect(words.contains(chip.name))
      #expect(waits < 60)

      // Of so few steps none is late.
      guard !contract.isToldByChip, !contract.isBrief else { continue }
      let begin = bench.clock.now()
      let slow = failure { () throws(DriverError) in
        try ChipCatalog.selfTest(chip, on: bench.device, now: { bench.clock.now() }) { _ in
          bench.clock.advance(bySeconds: 0.4)
        }
      }
      #expect(slow == .notReady("\(chip.name): self-test not over after 3.0 s"))
      #expect(bench.clock.now().seconds(since: begin) < 3.5)
    }
  }
}

@Suite("Self-tests on a simulated board") struct BoardSelfTestTests {
  private let clock = VirtualClock()
  private let bus = "/dev/i2c-1"

  private func provider(seed: UInt64) -> SimulatedBusProvider {
    SimulatedBusProvider(.standard(seed: seed, trajectory: .still), clock: clock)
  }

  private func run(
    _ chip: String, _ address: UInt8, _ provider: any BusProvider, bus: String = "/dev/i2c-1"
  ) throws(DriverError) -> SelfTestOutcome {
    try ChipCatalog.selfTest(chip: chip, bus: bus, address: address, with: provider) {
      clock.advance(bySeconds: $0)
    }
  }

  @Test("chips with their ordinary errors, near iron, pass", arguments: 1...20)
  func board(seed: UInt64) throws {
    let provider = provider(seed: seed)
    for (chip, address) in [("LIS3MDL", UInt8(0x1C)), ("LSM6DSOX", 0x6A)] {
      let begin = clock.now()
      guard case .tested(let report) = try run(chip, address, provider) else {
        Issue.record("\(chip) has a self-test")
        continue
      }
      #expect(report.passed, "\(report)")
      #expect(clock.now().seconds(since: begin) < ChipCatalog.selfTestLimit)
    }
    #expect(try run("BMP280", 0x76, provider) == .noSelfTest)
  }

  @Test("a broken chip is told from its sound neighbour")
  func broken() throws {
    let provider = provider(seed: 1)
    provider.inject(.stuckData, chip: 1, from: clock.now())
    guard case .tested(let magnetometer) = try run("LIS3MDL", 0x1C, provider),
      case .tested(let inertial) = try run("LSM6DSOX", 0x6A, provider)
    else {
      Issue.record("both have a self-test")
      return
    }
    #expect(!magnetometer.passed)
    #expect(inertial.passed)
  }

  @Test("errors name the bus and the address")
  func errors() throws {
    let provider = provider(seed: 1)
    #expect(
      failure { () throws(DriverError) in try run("LIS3MDL", 0x1E, provider) }
        == .bus(BusError(.noAnswer, bus: bus, address: 0x1E, register: 0x0F, errno: 121)))
    guard
      case .bus(let missing) = failure({ () throws(DriverError) in
        try run("LIS3MDL", 0x1C, provider, bus: "/dev/i2c-9")
      })
    else {
      Issue.record("there is no such bus")
      return
    }
    #expect(missing.reason == .notFound)
    #expect(missing.bus == "/dev/i2c-9")
    #expect(
      failure { () throws(DriverError) in try run("LIS9", 0x1C, provider) }
        == .bus(BusError(.unsupported("a chip called LIS9"), bus: bus, address: 0x1C)))
  }
}
