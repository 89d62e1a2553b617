// The contract of the self-tests, for every chip: sound, broken, cut off at any step.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

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
      #expect(bench.clock.now().seconds(since: begin) < 3)
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
