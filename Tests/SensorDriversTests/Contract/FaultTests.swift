// Every fault of a register chip ends in the error that is documented for it, and in a sensor that
// measures again when the fault is over.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// How a chip is taken back into service.
enum Recovery: String, CaseIterable {
  /// `start` once more, as the protocol allows after every failure.
  case sameDriver
  /// A new driver, as the hub makes one.
  case newDriver
}

/// How a host learns of a conversion.
enum Notice: String {
  /// An edge of the interrupt pin for every one.
  case pin
  /// It asks the chip: the driver leaves the pin alone, or there is none.
  case asked
  /// It has told the chip to convert, and knows when that is done.
  case told
}

/// A started chip that has delivered, and the driver in front of it.
private final class Patient {
  let contract: FaultContract
  let bench: ContractBench
  var driver: any ContractDriver
  private let checks: DriverChecks

  init(_ contract: FaultContract, checks: DriverChecks = .all) throws {
    self.contract = contract
    self.checks = checks
    bench = ContractBench(address: contract.address, contract.twin)
    bench.source.set(contract.world)
    driver = contract.driver(bench.device, checks)
    try bench.start(driver)
    try expectReadings()
  }

  /// Ten conversions in a row are read, and each is right.
  func expectReadings(_ location: SourceLocation = #_sourceLocation) throws {
    for _ in 0..<10 {
      let reading = try #require(
        try bench.nextReading(driver), "no reading", sourceLocation: location)
      #expect(contract.isRight(reading, contract.world), "\(reading)", sourceLocation: location)
    }
  }

  /// As many looks as a reading takes, each after the conversion that the one before has started.
  func poll() throws(DriverError) -> Reading? {
    for look in 0..<contract.looks {
      if look > 0, let ready = bench.nextDataReady() { bench.clock.advance(to: ready) }
      if let reading = try driver.poll() { return reading }
    }
    return nil
  }

  /// Conversion after conversion until something is thrown, at most `limit` of them.
  func pollUntilFailure(limit: Int) -> (readings: Int, error: DriverError?) {
    var readings = 0
    for _ in 0..<limit {
      wait()
      do throws(DriverError) {
        if try poll() != nil { readings += 1 }
      } catch {
        return (readings, error)
      }
    }
    return (readings, nil)
  }

  /// Lets one conversion pass.
  func wait() { bench.clock.advance(bySeconds: 1.02 / driver.outputRate) }

  /// The fault is over: the chip gets the time that chips need to come up, and is started.
  func recover(_ recovery: Recovery, _ location: SourceLocation = #_sourceLocation) throws {
    bench.endFaults()
    bench.clock.advance(bySeconds: 0.1)
    if recovery == .newDriver { driver = contract.driver(bench.device, checks) }
    try bench.start(driver)
    try expectReadings(location)
  }

  /// The error of a start from its beginning.
  func startFailure() -> DriverError? {
    let fresh = contract.driver(bench.device, checks)
    return failure { () throws(DriverError) in try bench.start(fresh) }
  }
}

@Suite("Contract: faults of register chips") struct FaultTests {
  @Test("data ready: an edge for every reading, or none at all", arguments: FaultContract.all)
  func dataReady(_ contract: FaultContract) throws {
    let chip = try #require(ChipCatalog.chip(named: contract.chip))
    // A board file may give it a line where there is one.
    #expect((try notice(contract) == .pin) == chip.hasDataReadyPin)
  }

  /// What twenty readings say of the pin.
  func notice(_ contract: FaultContract) throws -> Notice {
    let patient = try Patient(contract)
    _ = patient.bench.takeEdge()
    var edges = 0
    for _ in 0..<20 {
      _ = try #require(try patient.bench.nextReading(patient.driver))
      if patient.bench.takeEdge() { edges += 1 }
    }
    #expect(edges == 0 || edges == 20, "\(edges) edges of 20 readings")
    if edges > 0 { return .pin }
    return patient.driver.conversionTime == nil ? .asked : .told
  }

  @Test(
    "no answer: the transfer that was refused comes out",
    arguments: FaultContract.all, Recovery.allCases)
  func noAnswer(_ contract: FaultContract, _ recovery: Recovery) throws {
    try refused(contract, .noAnswer, .noAnswer, errno: 121, recovery)
  }

  @Test(
    "timeout: the transfer that did not end comes out",
    arguments: FaultContract.all, Recovery.allCases)
  func timeout(_ contract: FaultContract, _ recovery: Recovery) throws {
    try refused(contract, .timeout, .timedOut, errno: 110, recovery)
  }

  /// Every poll and every start says which of its transfers the bus refused, and why.
  private func refused(
    _ contract: FaultContract, _ fault: SimulatedFault, _ reason: BusError.Reason, errno: Int32,
    _ recovery: Recovery
  ) throws {
    let patient = try Patient(contract)
    patient.bench.begin(fault)
    for _ in 0..<3 {
      patient.wait()
      #expect(
        failure { () throws(DriverError) in try patient.poll() }
          == patient.bench.error(reason, contract.firstOfPoll.register, errno: errno))
    }
    #expect(
      patient.startFailure()
        == patient.bench.error(reason, contract.firstOfStart.register, errno: errno))
    try patient.recover(recovery)
  }

  @Test(
    "a timeout that passes by itself costs no more than its samples", arguments: FaultContract.all)
  func briefTimeout(_ contract: FaultContract) throws {
    let patient = try Patient(contract)
    patient.bench.begin(.timeout)
    patient.wait()
    #expect(failure { () throws(DriverError) in try patient.poll() } != nil)
    patient.bench.endFaults()
    try patient.expectReadings()
  }

  @Test(
    "short read: the transfer that ended early comes out, wherever it ends",
    arguments: FaultContract.all, Recovery.allCases)
  func shortRead(_ contract: FaultContract, _ recovery: Recovery) throws {
    for bytes in 0..<contract.data.count {
      let patient = try Patient(contract)
      patient.bench.begin(.shortRead(bytes: bytes))
      patient.wait()
      // As long as the first read gets all its bytes, the one of the data is the first to fail.
      let read = bytes < contract.firstOfPoll.count ? contract.firstOfPoll : contract.data
      #expect(
        failure { () throws(DriverError) in try patient.poll() }
          == patient.bench.error(
            .shortTransfer(expected: read.count, actual: bytes), read.register))
      if bytes < contract.firstOfStart.count {
        #expect(
          patient.startFailure()
            == patient.bench.error(
              .shortTransfer(expected: contract.firstOfStart.count, actual: bytes),
              contract.firstOfStart.register))
      }
      try patient.recover(recovery)
    }
  }

  @Test(
    "a short read that passes by itself costs no more than its samples",
    arguments: FaultContract.all)
  func briefShortRead(_ contract: FaultContract) throws {
    for bytes in 0..<contract.data.count {
      let patient = try Patient(contract)
      patient.bench.begin(.shortRead(bytes: bytes))
      patient.wait()
      #expect(failure { () throws(DriverError) in try patient.poll() } != nil)
      patient.bench.endFaults()
      try patient.expectReadings()
    }
  }

  @Test(
    "after a short read no reading is of two conversions at once, or older than the error",
    arguments: FaultContract.all, [nil] + Recovery.allCases)
  func torn(_ contract: FaultContract, _ recovery: Recovery?) throws {
    // Another place, another attitude: no axis has anything in common with the world before.
    let after = Stimulus(
      magneticField: Vector3(-20, 5, 30), specificForce: Vector3(-3, 5, -6),
      angularRate: Vector3(-0.3, 0.4, -0.1), pressure: 101_000, temperature: 12)
    for bytes in 0..<contract.data.count {
      let patient = try Patient(contract)
      patient.bench.begin(.shortRead(bytes: bytes))
      patient.wait()
      #expect(failure { () throws(DriverError) in try patient.poll() } != nil)
      patient.bench.endFaults()
      patient.bench.source.set(after)
      patient.wait()
      if recovery == .newDriver { patient.driver = contract.driver(patient.bench.device, .all) }
      if recovery != nil { try patient.bench.start(patient.driver) }
      for _ in 0..<5 {
        let reading = try #require(try patient.bench.nextReading(patient.driver))
        #expect(contract.isRight(reading, after), "\(bytes) bytes, then \(reading)")
      }
    }
  }

  @Test(
    "wrong identity: the start names what it found, and nothing is measured",
    arguments: FaultContract.all, Recovery.allCases)
  func wrongIdentity(_ contract: FaultContract, _ recovery: Recovery) throws {
    let patient = try Patient(contract)
    patient.bench.begin(contract.stranger.fault)
    #expect(patient.startFailure() == contract.stranger.error)
    #expect(
      failure { () throws(DriverError) in try patient.bench.start(patient.driver) }
        == contract.stranger.error)
    try patient.recover(recovery)
  }

  @Test(
    "lost configuration: nothing wrong is read until the check names the register",
    arguments: FaultContract.all, Recovery.allCases)
  func brownOut(_ contract: FaultContract, _ recovery: Recovery) throws {
    let patient = try Patient(contract)
    // The check is at its first register again.
    for _ in 0..<contract.rounds { try patient.driver.verify() }
    patient.bench.begin(.brownOut)
    // Until it has booted no chip needs to answer: 20 ms at the most.
    patient.bench.clock.advance(bySeconds: 0.006)
    if case .nothing = contract.lost {
      for _ in 0..<8 {
        patient.wait()
        _ = try patient.poll()
        try patient.driver.verify()
      }
      try patient.expectReadings()
      return
    }
    var found: DriverError?
    // The hub checks one register every 0.15 s, and no chip has more than eight.
    for _ in 0..<8 where found == nil {
      for _ in 0..<10 {
        patient.bench.clock.advance(bySeconds: 0.015)
        #expect(try patient.poll() == nil)
      }
      found = failure { () throws(DriverError) in try patient.driver.verify() }
    }
    #expect(found.map(FaultContract.Lost.named) ?? .silent == contract.lost)
    try patient.recover(recovery)
  }

  // Not in the attribute: Swift 6.0.3 dies of closures there.
  private static let losing = FaultContract.all.filter { $0.lost != .nothing }

  @Test(
    "lost configuration is noticed wherever the check stands",
    arguments: losing)
  func brownOutAnytime(_ contract: FaultContract) throws {
    for checks in 1..<8 {
      let patient = try Patient(contract)
      for _ in 0..<checks { try patient.driver.verify() }
      patient.bench.begin(.brownOut)
      patient.bench.clock.advance(bySeconds: 0.1)
      var found: DriverError?
      for _ in 0..<8 where found == nil {
        found = failure { () throws(DriverError) in try patient.driver.verify() }
      }
      if case .silent = contract.lost {
        #expect(found == nil)
        continue
      }
      guard case .configurationLost = found else {
        Issue.record("\(String(describing: found)) with the check at \(checks)")
        continue
      }
    }
  }

  @Test(
    "stuck data: said after so many readings alike, and not before",
    arguments: FaultContract.all, Recovery.allCases)
  func stuck(_ contract: FaultContract, _ recovery: Recovery) throws {
    let patient = try Patient(contract)
    patient.bench.begin(.stuckData)
    var error: DriverError?
    // The last reading before the fault is the first of those alike.
    var alike = 1
    while error == nil, alike < 200 {
      patient.wait()
      error = failure { () throws(DriverError) in try patient.poll() }
      alike += 1
    }
    #expect(error == .stuck)
    #expect(alike == contract.alike)
    try patient.recover(recovery)
  }

  @Test(
    "a rig's chip may have another identity; its configuration is checked all the same",
    arguments: FaultContract.all)
  func uncheckedIdentity(_ contract: FaultContract) throws {
    let patient = try Patient(contract, checks: DriverChecks(identity: false))
    patient.bench.begin(contract.stranger.fault)
    guard case .wrongIdentity(_, let register, let expected, let found, _) = contract.stranger.error
    else {
      // A chip that is told by its trim alone is told by it in every rig.
      #expect(patient.startFailure() == contract.stranger.error)
      return
    }
    // The chip without an identity register is told by its configuration, and that is no identity then.
    guard case .wrongIdentity = contract.stranger.fault else {
      #expect(
        patient.startFailure()
          == .configurationLost(register: register, expected: expected, found: found))
      return
    }
    #expect(patient.startFailure() == nil)
    try patient.expectReadings()
    patient.bench.begin(.stuckData)
    #expect(patient.pollUntilFailure(limit: 200).error == .stuck)
  }

  @Test("a rig's chip may stand still for ever", arguments: FaultContract.all)
  func allowedConstant(_ contract: FaultContract) throws {
    let patient = try Patient(contract, checks: DriverChecks(change: false))
    patient.bench.begin(.stuckData)
    let outcome = patient.pollUntilFailure(limit: 500)
    #expect(outcome.error == nil)
    #expect(outcome.readings >= 490)
    patient.bench.begin(contract.stranger.fault)
    #expect(patient.startFailure() == contract.stranger.error)
  }

  @Test(
    "overflow: said as long as it lasts, and the next sample after it is good without a start",
    arguments: FaultContract.all)
  func overflow(_ contract: FaultContract) throws {
    let patient = try Patient(contract)
    patient.bench.begin(.overflow)
    for _ in 0..<200 {
      patient.wait()
      #expect(failure { () throws(DriverError) in try patient.poll() } == .overflow)
    }
    patient.bench.endFaults()
    try patient.expectReadings()
    for recovery in Recovery.allCases { try patient.recover(recovery) }
  }
}
