// The queue of the LSM6 family: what is written, what comes of words and bytes, what becomes of a queue that ran over, and
// what the bus is spared.

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

@Suite struct LSM6QueueTests {
  static let variants: [(chip: LSM6.Chip, twin: LSM6Twin.Variant)] = [
    (.lsm6dsox, .third), (.ism330dhcx, .industrial), (.lsm6dsl, .second), (.lsm6ds33, .first),
  ]

  private func bench(_ variant: LSM6Twin.Variant) -> ContractBench {
    ContractBench(address: 0x6A) { _ in LSM6Twin(TwinCore(source: Ramp(), errors: .none), variant) }
  }

  /// Z of the force is twice X of the rate, but for half a step of either.
  private func expectOneMoment(_ rate: Vector3, _ force: Vector3) {
    let step: Double = 2 * 35e-3 * Double.pi / 180 + 0.061e-3 * 9.80665
    #expect(abs(force.z - 2 * rate.x) < step)
  }

  @Test("up to 208 Hz every sample is fetched by itself; above, ten milliseconds of them gather")
  func batches() {
    for (wanted, batch) in [(12.5, 1), (208.0, 1), (416, 4), (833, 8), (1667, 16), (6667, 18)] {
      #expect(LSM6(.lsm6dsox, outputRate: wanted).batch == batch)
      #expect(LSM6(.lsm6dsox, outputRate: wanted, gathers: false).batch == 1)
    }
    #expect(LSM6(.lsm6ds3, outputRate: 1667).batch == 16)
  }

  @Test("threshold, rates and continuous mode are written, and INT1 has the threshold")
  func image() {
    // AN5272, table of FIFO_CTRL3: 833 Hz is 0111. Eight samples are 16 words of 7 bytes.
    let tagged = LSM6(.lsm6dso, outputRate: 833).registerImage
    for (register, value): (UInt8, UInt8) in [
      (0x07, 16), (0x08, 0), (0x09, 0x77), (0x0A, 0x06), (0x0D, 0x08),
    ] { #expect(tagged.contains(RegisterSetting(register, value))) }
    // AN5040: 0111 in bits 6:3, and 48 words of 2 bytes.
    let plain = LSM6(.lsm6dsl, outputRate: 833).registerImage
    for (register, value): (UInt8, UInt8) in [
      (0x06, 48), (0x07, 0), (0x08, 0x09), (0x0A, 0x3E), (0x0D, 0x08),
    ] { #expect(plain.contains(RegisterSetting(register, value))) }
  }

  @Test(
    "every conversion comes once, in order, with both sensors of one moment", arguments: variants)
  func order(_ variant: (chip: LSM6.Chip, twin: LSM6Twin.Variant)) throws {
    let bench = bench(variant.twin)
    var driver = RegisterDriver(
      bench.device, LSM6(variant.chip, outputRate: 833, accelerationRange: .g2))
    for _ in 0..<30 {
      guard case .wait(let seconds) = try driver.start() else { break }
      bench.clock.advance(bySeconds: seconds)
    }
    var moments: [Double] = []
    var longest = 0
    for look in 0..<100 {
      // Late by anything from nothing to two batches.
      bench.clock.advance(bySeconds: 0.0096 * (1 + Double(look % 5) / 2))
      var told = 0
      while let reading = try driver.poll() {
        told += 1
        guard case .inertial(let rate, let force) = reading else { continue }
        expectOneMoment(rate, force)
        moments.append(rate.x)
        if driver.backlog == 0 { break }
      }
      longest = max(longest, told)
      if look % 10 == 9 { try driver.verify() }
    }
    #expect(longest >= 16)
    // The rate's count is 35 millidegrees a second, 0.6 of these milliseconds.
    let step = 35e-3 * Double.pi / 180
    for (one, next) in zip(moments, moments.dropFirst()) {
      #expect(abs(next - one - 1 / 833.0) <= step)
    }
    #expect(moments.count > 1500)
  }

  @Test("a queue that ran over is said, emptied, and goes on", arguments: variants)
  func overrun(_ variant: (chip: LSM6.Chip, twin: LSM6Twin.Variant)) throws {
    let bench = bench(variant.twin)
    let driver = BoxedDriver(RegisterDriver(bench.device, LSM6(variant.chip, outputRate: 833)))
    try bench.start(driver)
    bench.clock.advance(bySeconds: 2)
    #expect(failure { () throws(DriverError) in try driver.poll() } == .samplesLost)
    #expect(try driver.poll() == nil)
    bench.clock.advance(bySeconds: 0.0096)
    guard case .inertial(let rate, _) = try driver.poll() else {
      Issue.record("no sample")
      return
    }
    // What came before is gone.
    #expect(abs(rate.x - seconds(bench.clock.now())) < 0.011)
  }

  @Test(
    "a burst that broke off costs its samples, and none that follows is of two conversions",
    arguments: variants, [0, 1, 5, 13, 40])
  func broken(_ variant: (chip: LSM6.Chip, twin: LSM6Twin.Variant), bytes: Int) throws {
    let bench = bench(variant.twin)
    let driver = BoxedDriver(
      RegisterDriver(bench.device, LSM6(variant.chip, outputRate: 833, accelerationRange: .g2)))
    try bench.start(driver)
    bench.clock.advance(bySeconds: 0.0096)
    bench.begin(.shortRead(bytes: bytes))
    #expect(failure { () throws(DriverError) in try driver.poll() } != nil)
    bench.endFaults()
    for _ in 0..<20 {
      bench.clock.advance(bySeconds: 0.0024)
      repeat {
        guard case .inertial(let rate, let force) = try driver.poll() else { continue }
        expectOneMoment(rate, force)
        // What was there before the error may be told, what it took is gone.
        #expect(seconds(bench.clock.now()) - rate.x < 0.0096 + 0.0024 + 1.5 / 833)
      } while driver.backlog > 0
    }
  }

  @Test("the pin rises at the threshold, and falls when the queue is read", arguments: variants)
  func pin(_ variant: (chip: LSM6.Chip, twin: LSM6Twin.Variant)) throws {
    let bench = bench(variant.twin)
    let driver = RegisterDriver(bench.device, LSM6(variant.chip, outputRate: 833))
    let boxed = BoxedDriver(driver)
    try bench.start(boxed)
    _ = bench.takeEdge()
    // Seven samples, then an eighth.
    bench.clock.advance(to: try #require(bench.nextDataReady()))
    bench.clock.advance(bySeconds: 6.5 / 833)
    let early = bench.takeEdge()
    bench.clock.advance(bySeconds: 1.0 / 833)
    #expect(!early)
    #expect(bench.takeEdge())
    bench.clock.advance(bySeconds: 10.0 / 833)
    #expect(!bench.takeEdge())
  }

  @Test("what the bus is spared", arguments: [LSM6.Chip.lsm6dsox, .lsm6dsl], [416.0, 833])
  func load(_ chip: LSM6.Chip, _ rate: Double) throws {
    var figures: [(transfers: Int, kilobits: Double)] = []
    for gathers in [false, true] {
      let bench = bench(chip == .lsm6dsox ? .third : .second)
      let meter = Meter(bench.device)
      let chip = LSM6(chip, outputRate: rate, gathers: gathers)
      let driver = BoxedDriver(RegisterDriver(SharedDevice(meter), chip))
      try bench.start(driver)
      meter.reset()
      // One second, looked at by the pin.
      let look = Double(chip.batch) / chip.outputRate
      for _ in 0..<Int(1 / look) {
        bench.clock.advance(bySeconds: look)
        repeat { _ = try driver.poll() } while driver.backlog > 0
      }
      figures.append((meter.transfers, Double(meter.bits) / 1000))
    }
    let (before, after) = (figures[0], figures[1])
    print(
      "\(chip.rawValue) at \(rate) Hz: one by one \(before.transfers) transfers and "
        + "\(before.kilobits) kbit a second, gathered \(after.transfers) and \(after.kilobits)")
    #expect(Double(after.transfers) < 0.27 * Double(before.transfers))
    #expect(after.kilobits < before.kilobits)
  }

  @Test("the queue stands every fault of the contract", arguments: FaultContract.gathering)
  func faults(_ contract: FaultContract) throws {
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

  @Test("every sample beyond the range is said, and the next ones are good", arguments: variants)
  func overflow(_ variant: (chip: LSM6.Chip, twin: LSM6Twin.Variant)) throws {
    let bench = bench(variant.twin)
    let driver = BoxedDriver(RegisterDriver(bench.device, LSM6(variant.chip, outputRate: 833)))
    try bench.start(driver)
    bench.begin(.overflow)
    for _ in 0..<20 {
      bench.clock.advance(bySeconds: 0.0096)
      repeat {
        #expect(failure { () throws(DriverError) in try driver.poll() } == .overflow)
      } while driver.backlog > 0
    }
    bench.endFaults()
    bench.clock.advance(bySeconds: 0.0096)
    repeat { #expect(try driver.poll() != nil) } while driver.backlog > 0
  }
}
