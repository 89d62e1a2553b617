import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// A chip that nobody wants any more, and that is wanted again.
struct SensorTaskSleepTests {
  /// A chip, and how it says that it sleeps.
  private struct Bench {
    let bench: SensorTaskBench
    private let chip: Chip

    init(_ chip: Chip) {
      self.chip = chip
      bench = SensorTaskBench(chip.name, address: chip.address, rate: chip.rate)
    }

    /// One that has been wanted for so long, at an interval where one is given.
    init(_ chip: Chip, wantedFor seconds: Double, interval: Double? = nil) {
      self.init(chip)
      if let interval { task.setInterval(interval) }
      task.setWanted(true)
      _ = run(seconds: seconds)
    }

    var task: any WorkerTask { bench.task }
    var clock: VirtualClock { bench.clock }

    /// From now on the chip does not answer: for so many seconds, or for good.
    func silence(seconds: Double? = nil) {
      let now = clock.now()
      bench.provider.inject(
        .noAnswer, chip: 0, from: now,
        until: seconds.map { now.advanced(bySeconds: $0) } ?? .distantFuture)
    }

    /// The times of the samples of the next seconds.
    func run(seconds: Double) -> [Timestamp] { bench.run(seconds: seconds).map(\.time) }

    /// Whether the chip's register says that it sleeps.
    func isAsleep() throws -> Bool {
      let device = try bench.provider.registerDevice(
        bus: SensorTaskBench.bus, address: chip.address)
      return try device.byte(chip.power) & chip.mask == chip.asleep
    }
  }

  /// The register that says that it sleeps, by the datasheet.
  struct Chip: Sendable, CustomTestStringConvertible {
    let name: String
    let address: UInt8
    let rate: Double
    let power: UInt8
    let mask: UInt8
    let asleep: UInt8
    /// Its rate where 50 Hz are enough.
    let slow: Double
    /// For how long it hears nothing after its reset, seconds.
    var reset = 0.0
    var testDescription: String { "\(name) at \(rate) Hz" }
  }

  static let chips = [
    // CTRL2_G ODR, PWR_MGMT_1 SLEEP, CTRL_REG3 MD, ctrl_meas mode.
    Chip(
      name: "LSM6DSOX", address: 0x6A, rate: 208, power: 0x11, mask: 0xF0, asleep: 0x00, slow: 52),
    Chip(
      name: "LSM6DSOX", address: 0x6A, rate: 833, power: 0x11, mask: 0xF0, asleep: 0x00, slow: 52),
    Chip(
      name: "MPU9250", address: 0x68, rate: 200, power: 0x6B, mask: 0x40, asleep: 0x40, slow: 50,
      reset: 0.01),
    Chip(
      name: "MPU9250", address: 0x68, rate: 1000, power: 0x6B, mask: 0x40, asleep: 0x40, slow: 50,
      reset: 0.01),
    Chip(name: "LIS3MDL", address: 0x1C, rate: 80, power: 0x22, mask: 0x03, asleep: 0x03, slow: 80),
    Chip(name: "BMP280", address: 0x76, rate: 25, power: 0xF4, mask: 0x03, asleep: 0x00, slow: 25),
  ]

  @Test("nobody's chip sleeps; wanted again, it serves with what is true then", arguments: chips)
  func sleeps(_ chip: Chip) throws {
    let bench = Bench(chip)
    bench.task.setWanted(true)
    #expect(Double(bench.run(seconds: 2).count) > chip.rate)
    #expect(try !bench.isAsleep())
    for _ in 0..<2 {
      bench.task.setWanted(false)
      #expect(bench.run(seconds: 10).isEmpty)
      #expect(bench.task.status.state == .idle)
      #expect(try bench.isAsleep())
      let wanted = bench.clock.now()
      bench.task.setWanted(true)
      let samples = bench.run(seconds: 2)
      let first = try #require(samples.first)
      // Nothing that was measured before, and no later than after a start from power-down (the LSM6's gyro: 0.08 s; an
      // MPU's reset and gyro: 0.18) and two conversions.
      #expect(first > wanted)
      #expect(first.seconds(since: wanted) < 0.25 + 2 / chip.rate)
      #expect(bench.task.status.state == .running)
    }
  }

  @Test("who comes and goes while a chip starts cuts none of its waits short", arguments: chips)
  func comesAndGoes(_ chip: Chip) throws {
    /// How long after it was wanted the first sample comes where nobody interferes.
    func undisturbed() throws -> Double {
      let bench = Bench(chip)
      bench.task.setWanted(true)
      let begin = bench.clock.now()
      let first = try #require(bench.run(seconds: 2).first)
      return first.seconds(since: begin)
    }
    let least = try undisturbed()
    for pause in [0.0002, 0.001, 0.004, 0.02, 0.05, 0.1, 0.16] {
      let bench = Bench(chip)
      let begin = bench.clock.now()
      bench.task.setWanted(true)
      var samples = bench.run(seconds: pause)
      bench.task.setWanted(false)
      bench.task.setWanted(true)
      samples += bench.run(seconds: 2)
      let first = try #require(samples.first)
      #expect(first.seconds(since: begin) > least - 2 / chip.rate, "after \(pause) s")
      #expect(bench.task.status.state == .running)
    }
    for pause in [0.0002, 0.001, 0.004, 0.02, 0.05, 0.1, 0.16] {
      let bench = Bench(chip, wantedFor: pause)
      bench.task.setWanted(false)
      _ = bench.run(seconds: 1)
      #expect(try bench.isAsleep(), "after \(pause) s")
      #expect(bench.task.status.state == .idle)
    }
  }

  @Test("a chip goes as fast as is wanted, no faster than the board file says", arguments: chips)
  func interval(_ chip: Chip) throws {
    let bench = Bench(chip)
    bench.task.setInterval(0.02)
    bench.task.setWanted(true)
    /// Samples a second once it has come up.
    func rate() -> Double {
      _ = bench.run(seconds: 0.5)
      return Double(bench.run(seconds: 4).count) / 4
    }
    #expect(abs(rate() - chip.slow) < 0.1 * chip.slow)
    for round in 0..<3 {
      bench.task.setInterval(nil)
      #expect(rate() > chip.rate * 0.95, "round \(round)")
      #expect(bench.task.status.state == .running)
      bench.task.setInterval(0.02)
      #expect(abs(rate() - chip.slow) < 0.1 * chip.slow, "round \(round)")
      #expect(bench.task.status.state == .running)
      #expect(bench.task.status.counters.busErrors == 0)
    }
    // Let go and slowed in the same breath it sleeps, and starts at what is wanted then.
    bench.task.setInterval(nil)
    _ = bench.run(seconds: 1)
    bench.task.setWanted(false)
    bench.task.setInterval(0.02)
    #expect(bench.run(seconds: 1).isEmpty)
    #expect(try bench.isAsleep())
    bench.task.setWanted(true)
    #expect(abs(rate() - chip.slow) < 0.1 * chip.slow)
    // A chip that is due for a restart at another rate is put to sleep as well, also when the program ends.
    bench.task.setInterval(nil)
    bench.task.setWanted(false)
    #expect(bench.run(seconds: 1).isEmpty)
    #expect(try bench.isAsleep())
    bench.task.setWanted(true)
    _ = rate()
    bench.task.setInterval(0.02)
    bench.task.finish()
    #expect(try bench.isAsleep())
  }

  @Test("a chip sleeps when the program ends, whatever it was at", arguments: chips)
  func programEnds(_ chip: Chip) throws {
    for seconds in [0, 0.0002, 0.02, 0.1, 2] {
      let bench = Bench(chip, wantedFor: seconds)
      bench.task.finish()
      // One that was never touched is as its power-on left it, and one that is being reset hears nothing.
      if seconds > chip.reset { #expect(try bench.isAsleep(), "after \(seconds) s") }
    }
    let bench = Bench(chip, wantedFor: 2)
    let now = bench.clock.now()
    bench.silence()
    // One attempt, no wait, no error: a transfer takes less than a millisecond.
    bench.task.finish()
    #expect(bench.clock.now().seconds(since: now) < 0.005)
  }

  @Test(
    "a chip that has failed when nobody wants it any more sleeps all the same", arguments: chips)
  func failed(_ chip: Chip) throws {
    let bench = Bench(chip, wantedFor: 2)
    bench.silence(seconds: 3.05)
    _ = bench.run(seconds: 3)
    guard case .failed = bench.task.status.state else {
      Issue.record("\(bench.task.status.state)")
      return
    }
    bench.task.setWanted(false)
    _ = bench.run(seconds: 1)
    #expect(try bench.isAsleep())
  }

  @Test(
    "another rate while a chip starts is what it starts at, and one start less", arguments: chips)
  func rateDuringStart(_ chip: Chip) throws {
    for pause in [0.0002, 0.02, 0.1] {
      let bench = Bench(chip, wantedFor: pause, interval: 0.02)
      bench.task.setInterval(nil)
      let samples = bench.run(seconds: 3)
      let last = samples.last?.seconds(since: samples[samples.count / 2]) ?? 0
      let rate = Double(samples.count - 1 - samples.count / 2) / max(last, 1e-9)
      #expect(rate > 0.95 * chip.rate, "after \(pause) s")
      #expect(bench.task.status.state == .running)
      #expect(bench.task.status.counters.busErrors == 0)
    }
  }

  @Test("a chip that did not hear that it is to sleep is told again", arguments: chips)
  func deaf(_ chip: Chip) throws {
    let bench = Bench(chip, wantedFor: 2)
    bench.silence(seconds: 0.25)
    bench.task.setWanted(false)
    _ = bench.run(seconds: 0.4)
    #expect(try bench.isAsleep())
    #expect(bench.task.status.state == .idle)
    // One that never answers is let be.
    bench.task.setWanted(true)
    _ = bench.run(seconds: 2)
    bench.silence()
    bench.task.setWanted(false)
    _ = bench.run(seconds: 3)
    #expect(bench.task.due == .distantFuture)
  }
}
