// The queues of all chips that have one: what comes of words and bytes, what becomes of a queue that ran over, and what the
// bus is spared.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Synchronization
import Testing

@testable import SimulatedDevices

/// Counts what goes over the wire: bits of address, register and data with their acknowledgements, starts and stop.
private final class Meter: RegisterDevice {
  private let base: SimulatedRegisterDevice
  private(set) var transfers = 0
  private(set) var bits = 0

  init(_ base: SimulatedRegisterDevice) { self.base = base }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    transfers += 1
    bits += 9 * (3 + buffer.count) + 3
    try base.read(register, into: buffer)
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    transfers += 1
    bits += 9 * (2 + bytes.count) + 2
    try base.write(register, from: bytes)
  }

  func reset() { (transfers, bits) = (0, 0) }
}

/// Seconds since the tests' clock began.
private func seconds(_ time: Timestamp) -> Double { time.seconds(since: VirtualClock().now()) }

/// A world in which X of the rate counts seconds, and Z of the force twice as many.
private struct Ramp: StimulusSource {
  func stimulus(at time: Timestamp) -> Stimulus {
    Stimulus(
      specificForce: Vector3(0, 0, 2 * seconds(time)), angularRate: Vector3(seconds(time), 0, 0))
  }
}

@Suite struct QueueTests {
  private func bench(_ contract: ChipContract, _ queue: QueueContract) -> ContractBench {
    ContractBench(address: contract.faults.address) { _ in
      queue.twin(TwinCore(source: Ramp(), errors: .none))
    }
  }

  /// A driver that has been started, and its bench.
  private func started(
    _ contract: ChipContract
  ) throws -> (queue: QueueContract, bench: ContractBench, driver: any ContractDriver) {
    let queue = try #require(contract.queue)
    let bench = bench(contract, queue)
    let driver = boxed(bench.device, queue.chip(true))
    try bench.start(driver)
    return (queue, bench, driver)
  }

  /// Z of the force is twice X of the rate, but for half a step of either.
  private func expectOneMoment(_ rate: Vector3, _ force: Vector3, _ queue: QueueContract) {
    let step: Double = 2 * queue.step.rate * .pi / 180 + queue.step.force * standardGravity
    #expect(abs(force.z - 2 * rate.x) < step)
  }

  @Test("every chip that is asked for more than 208 Hz gathers, and no other")
  func gathers() throws {
    for contract in ChipContract.all {
      let entry = try #require(ChipCatalog.chip(named: contract.faults.chip))
      let chip = try #require(entry.chip?(400))
      // A QMI8658 takes nothing in while its queue is read.
      let isQueued = entry.kind == .inertial && entry.name != "QMI8658"
      #expect((chip.batch > 1) == isQueued, "\(entry.name)")
      #expect((contract.queue != nil) == isQueued, "\(entry.name)")
      #expect(entry.chip?(100).batch == 1, "\(entry.name)")
    }
  }

  @Test(
    "the rate, how many gather, and whether the pin tells it", arguments: ChipContract.gathering)
  func batches(_ contract: ChipContract) throws {
    let queue = try #require(contract.queue)
    let chip = queue.chip(true)
    #expect(chip.outputRate == queue.rate && chip.batch == queue.batch)
    #expect(chip.raisesPin == queue.raises)
    #expect(queue.chip(false).batch == 1 && queue.chip(false).raisesPin)
  }

  @Test(
    "every conversion comes once, in order, with both sensors of one moment",
    arguments: ChipContract.gathering)
  func order(_ contract: ChipContract) throws {
    let (queue, bench, driver) = try started(contract)
    var moments: [Double] = []
    var longest = 0
    for look in 0..<100 {
      // Late by anything from nothing to two batches.
      bench.clock.advance(bySeconds: queue.gathering * (1 + Double(look % 5) / 2))
      var told = 0
      while let reading = try driver.poll() {
        told += 1
        guard case .inertial(let rate, let force) = reading else { continue }
        expectOneMoment(rate, force, queue)
        moments.append(rate.x)
        if driver.backlog == 0 { break }
      }
      longest = max(longest, told)
      if look % 10 == 9 { try driver.verify() }
    }
    #expect(longest >= 2 * queue.batch)
    // Of seconds the rate's count is a fraction, which is a period at most.
    let step = queue.step.rate * .pi / 180
    for (one, next) in zip(moments, moments.dropFirst()) {
      #expect(abs(next - one - 1 / queue.rate) <= step)
    }
    #expect(moments.count > 190 * queue.batch)
  }

  @Test("what fits is not lost", arguments: ChipContract.gathering)
  func full(_ contract: ChipContract) throws {
    let (queue, bench, driver) = try started(contract)
    bench.clock.advance(bySeconds: (Double(queue.holds) - 1.5) / queue.rate)
    var told = 0
    repeat { if try driver.poll() != nil { told += 1 } } while driver.backlog > 0
    #expect(told == queue.holds - 1 || told == queue.holds - 2)
  }

  @Test(
    "a queue that ran over is said, emptied, and goes on", arguments: ChipContract.gathering,
    [1.5, 2000])
  func overrun(_ contract: ChipContract, _ beyond: Double) throws {
    let (queue, bench, driver) = try started(contract)
    bench.clock.advance(bySeconds: (Double(queue.holds) + beyond) / queue.rate)
    #expect(failure { () throws(DriverError) in try driver.poll() } == .samplesLost)
    #expect(try driver.poll() == nil)
    bench.clock.advance(bySeconds: queue.gathering)
    guard case .inertial(let rate, let force) = try driver.poll() else {
      Issue.record("no sample")
      return
    }
    expectOneMoment(rate, force, queue)
    // What came before is gone.
    let age = seconds(bench.clock.now()) - rate.x - queue.delay
    #expect(age < queue.gathering + 1.5 / queue.rate)
  }

  @Test(
    "a burst that broke off costs its samples, and none that follows is of two conversions",
    arguments: ChipContract.gathering, [0, 1, 5, 13, 40])
  func broken(_ contract: ChipContract, bytes: Int) throws {
    let (queue, bench, driver) = try started(contract)
    bench.clock.advance(bySeconds: queue.gathering)
    bench.begin(.shortRead(bytes: bytes))
    #expect(failure { () throws(DriverError) in try driver.poll() } != nil)
    bench.endFaults()
    let pause = queue.gathering / 4
    for _ in 0..<20 {
      bench.clock.advance(bySeconds: pause)
      repeat {
        guard case .inertial(let rate, let force) = try driver.poll() else { continue }
        expectOneMoment(rate, force, queue)
        // What was there before the error may be told, what it took is gone.
        let age = seconds(bench.clock.now()) - rate.x - queue.delay
        #expect(age < queue.gathering + pause + 1.5 / queue.rate)
      } while driver.backlog > 0
    }
  }

  @Test(
    "the pin rises at the threshold, once, or with each sample beyond; without one never",
    arguments: ChipContract.gathering)
  func pin(_ contract: ChipContract) throws {
    let (queue, bench, _) = try started(contract)
    _ = bench.takeEdge()
    // One sample less than the threshold, then that.
    bench.clock.advance(to: try #require(bench.nextDataReady()))
    bench.clock.advance(bySeconds: (Double(queue.batch) - 1.5) / queue.rate)
    let early = bench.takeEdge()
    bench.clock.advance(bySeconds: 1 / queue.rate)
    #expect(!early)
    #expect(bench.takeEdge() == queue.raises)
    bench.clock.advance(bySeconds: 10 / queue.rate)
    #expect(bench.takeEdge() == queue.raisesBeyond)
  }

  @Test("what the bus is spared", arguments: ChipContract.gathering)
  func load(_ contract: ChipContract) throws {
    let queue = try #require(contract.queue)
    var figures: [(transfers: Int, kilobits: Double)] = []
    for gathers in [false, true] {
      let bench = bench(contract, queue)
      let meter = Meter(bench.device)
      let chip = queue.chip(gathers)
      let driver = boxed(SharedDevice(meter), chip)
      try bench.start(driver)
      meter.reset()
      // One second, looked at by the pin, or by time where it has no threshold.
      let look = Double(chip.batch) / chip.outputRate
      for _ in 0..<Int(1 / look) {
        bench.clock.advance(bySeconds: look)
        repeat { _ = try driver.poll() } while driver.backlog > 0
      }
      figures.append((meter.transfers, Double(meter.bits) / 1000))
    }
    let (before, after) = (figures[0], figures[1])
    print(
      "\(contract.faults.chip) at \(queue.rate) Hz, \(queue.raises ? "by its pin" : "by time"): one by "
        + "one \(before.transfers) transfers and \(before.kilobits) kbit a second, gathered "
        + "\(after.transfers) and \(after.kilobits)")
    // Status and burst.
    #expect(after.transfers == 2 * Int(1 / queue.gathering))
    #expect(after.transfers < 220)
    #expect(after.kilobits < before.kilobits)
  }

  @Test("the queue stands every fault of the contract", arguments: ChipContract.gathering)
  func faults(_ contract: ChipContract) throws {
    let contract = try #require(contract.queue).faults(contract.faults)
    let tests = FaultTests()
    for recovery in Recovery.allCases {
      try tests.noAnswer(contract, recovery)
      try tests.timeout(contract, recovery)
      try tests.shortRead(contract, recovery)
      try tests.torn(contract, recovery)
      try tests.wrongIdentity(contract, recovery)
      try tests.brownOut(contract, recovery)
      try tests.stuck(contract, recovery)
    }
    try tests.torn(contract, nil)
    try tests.briefTimeout(contract)
    try tests.briefShortRead(contract)
    try tests.brownOutAnytime(contract)
    try tests.allowedConstant(contract)
  }

  @Test(
    "every sample beyond the range is said, and the next ones are good",
    arguments: ChipContract.gathering)
  func overflow(_ contract: ChipContract) throws {
    let (queue, bench, driver) = try started(contract)
    bench.begin(.overflow)
    for _ in 0..<20 {
      bench.clock.advance(bySeconds: queue.gathering)
      repeat {
        #expect(failure { () throws(DriverError) in try driver.poll() } == .overflow)
      } while driver.backlog > 0
    }
    bench.endFaults()
    bench.clock.advance(bySeconds: queue.gathering)
    repeat { #expect(try driver.poll() != nil) } while driver.backlog > 0
  }
}
