import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// A chip that nobody wants any more, and that is wanted again.
struct SensorTaskSleepTests {
  /// One chip behind the hub's task, stepped when it is due.
  private final class Bench {
    let clock = VirtualClock()
    let provider: SimulatedBusProvider
    let task: any WorkerTask
    private let port: Port
    private let chip: Chip

    init(_ chip: Chip) {
      self.chip = chip
      let place = Chip.bus
      provider = SimulatedBusProvider(
        SimulatedBoard(
          chips: [.init(.registers(chip.name), at: .bus(place, address: chip.address))]),
        clock: clock)
      let sensor = Board.Sensor(
        chip: chip.name, attachment: .i2c(bus: place, address: chip.address), rate: chip.rate)
      task = SensorFactory.task(index: 0, sensor: sensor).task
      port = Port(.live(provider), worker: 0, records: false)
    }

    /// The times of the samples of the next seconds.
    func run(seconds: Double) -> [Timestamp] {
      let end = clock.now().advanced(bySeconds: seconds)
      var samples: [Timestamp] = []
      while clock.now() < end {
        var outbox: [Delivery] = []
        task.step(port, at: clock.now(), into: &outbox)
        for case .reading(let reading) in outbox { samples.append(reading.sample.time) }
        let soonest = clock.now().advanced(bySeconds: 20e-6)
        clock.advance(to: min(end, max(task.due, soonest)))
      }
      return samples
    }

    /// Whether the chip's register says that it sleeps.
    func isAsleep() throws -> Bool {
      let device = try provider.registerDevice(bus: Chip.bus, address: chip.address)
      return try device.byte(chip.power) & chip.mask == chip.asleep
    }
  }

  /// The register that says that it sleeps, by the datasheet.
  struct Chip: Sendable, CustomTestStringConvertible {
    static let bus = "/dev/i2c-1"
    let name: String
    let address: UInt8
    let rate: Double
    let power: UInt8
    let mask: UInt8
    let asleep: UInt8
    var testDescription: String { "\(name) at \(rate) Hz" }
  }

  static let chips = [
    // CTRL2_G ODR, PWR_MGMT_1 SLEEP, CTRL_REG3 MD, ctrl_meas mode.
    Chip(name: "LSM6DSOX", address: 0x6A, rate: 208, power: 0x11, mask: 0xF0, asleep: 0x00),
    Chip(name: "LSM6DSOX", address: 0x6A, rate: 833, power: 0x11, mask: 0xF0, asleep: 0x00),
    Chip(name: "MPU9250", address: 0x68, rate: 200, power: 0x6B, mask: 0x40, asleep: 0x40),
    Chip(name: "MPU9250", address: 0x68, rate: 1000, power: 0x6B, mask: 0x40, asleep: 0x40),
    Chip(name: "LIS3MDL", address: 0x1C, rate: 80, power: 0x22, mask: 0x03, asleep: 0x03),
    Chip(name: "BMP280", address: 0x76, rate: 25, power: 0xF4, mask: 0x03, asleep: 0x00),
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

  @Test("a chip that did not hear that it is to sleep is told again", arguments: chips)
  func deaf(_ chip: Chip) throws {
    let bench = Bench(chip)
    bench.task.setWanted(true)
    _ = bench.run(seconds: 2)
    let now = bench.clock.now()
    bench.provider.inject(.noAnswer, chip: 0, from: now, until: now.advanced(bySeconds: 0.25))
    bench.task.setWanted(false)
    _ = bench.run(seconds: 0.4)
    #expect(try bench.isAsleep())
    #expect(bench.task.status.state == .idle)
    // One that never answers is let be.
    bench.task.setWanted(true)
    _ = bench.run(seconds: 2)
    bench.provider.inject(.noAnswer, chip: 0, from: bench.clock.now())
    bench.task.setWanted(false)
    _ = bench.run(seconds: 3)
    #expect(bench.task.due == .distantFuture)
  }
}
