import BoardFile
import Recording
import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub

/// However long a sensor is lost, it is tried again at a bounded pace.
struct RetryTests {
  /// A sensor of the board file, its twin, and the seconds within which it is back.
  struct Case: Sendable, CustomTestStringConvertible {
    let sensor: Board.Sensor
    let twin: SimulatedChip
    let back: Double
    var testDescription: String { "\(sensor.chip) at \(sensor.attachment)" }

    /// A chip behind registers: five seconds, as in `LodestoneTests/FaultTests`.
    init(_ chip: String, address: UInt8, rate: Double) {
      sensor = Board.Sensor(
        chip: chip, attachment: .i2c(bus: "/dev/i2c-1", address: address), rate: rate)
      twin = .init(.registers(chip), at: .bus("/dev/i2c-1", address: address))
      back = 5
    }

    /// A receiver: up to 15 s for the rates of its line, as after a loss of power in
    /// `ReceiverTaskTests`, and the pause before.
    init(_ chip: String, _ attachment: Board.Attachment, _ twin: SimulatedChip) {
      sensor = Board.Sensor(chip: chip, attachment: attachment)
      self.twin = twin
      back = 20
    }
  }

  private static let socket = ServerAddress.unix(path: "/run/gpsd.sock")

  private static let boat = ServerAddress.tcp(host: "boat", port: 10_110)

  static let cases: [Case] = [
    Case("LIS3MDL", address: 0x1C, rate: 80), Case("LSM6DSOX", address: 0x6A, rate: 208),
    Case("BMP280", address: 0x76, rate: 25),
    Case(
      "u-blox", .i2c(bus: "/dev/i2c-1", address: 0x42),
      .init(.ubloxM9, at: .bus("/dev/i2c-1", address: 0x42))),
    Case(
      "u-blox", .serial(port: "/dev/serial0", baudRate: 38_400),
      .init(.ubloxM9, at: .port("/dev/serial0"))),
    Case(
      "GNSS", .serial(port: "/dev/serial0", baudRate: nil),
      .init(.receiver(.mediaTek), at: .port("/dev/serial0"))),
    Case("gpsd", .server(socket), .init(.gpsd, at: .server(socket))),
    Case("NMEA", .server(boat), .init(.nmea, at: .server(boat))),
  ]

  /// A sensor behind its task, alone on its board.
  private final class Bench {
    let clock = VirtualClock()
    let provider: SimulatedBusProvider
    let task: any WorkerTask
    private let port: WorkerPort

    init(_ test: Case) {
      provider = SimulatedBusProvider(SimulatedBoard(chips: [test.twin]), clock: clock)
      task = SensorFactory.task(index: 0, sensor: test.sensor).task
      port = WorkerPort(LiveInput(provider))
      task.setWanted(true)
    }

    /// How often something is measured in the next seconds, and when an attempt has failed.
    func run(seconds: Double) -> (measured: Int, failures: [Timestamp]) {
      let end = clock.now().advanced(bySeconds: seconds)
      var (measured, failures): (Int, [Timestamp]) = (0, [])
      while clock.now() < end {
        var outbox: [WorkerOutput] = []
        task.step(port, at: clock.now(), into: &outbox)
        for delivery in outbox {
          switch delivery {
          case .reading, .fix: measured += 1
          case .status(let status):
            if case .failed = status.state { failures.append(clock.now()) }
          default: break
          }
        }
        // Bytes end the wait of a receiver's task too: it is stepped twenty times a second.
        let now = clock.now()
        let due = max(task.due, now.advanced(bySeconds: 20e-6))
        clock.advance(to: min(end, due, now.advanced(bySeconds: 0.05)))
      }
      return (measured, failures)
    }
  }

  @Test(
    "lost for an hour, a sensor is tried every two to three seconds to the end, and is back soon",
    arguments: cases)
  func lostForAnHour(_ test: Case) throws {
    let bench = Bench(test)
    _ = bench.run(seconds: 30)
    try #require(bench.task.status.state == .running)
    let lost = bench.clock.now()
    let back = lost.advanced(bySeconds: 3_600)
    bench.provider.inject(.noAnswer, chip: 0, from: lost, until: back)
    let failures = bench.run(seconds: 3_600).failures
    // The longest pause is two seconds, and one that runs may fail twice before it counts as lost.
    let pauses = zip(failures, failures.dropFirst()).map { $1.seconds(since: $0) }
    #expect(pauses.max() ?? .infinity < 3)
    #expect(pauses.count < 2_000)
    let last = try #require(failures.last)
    #expect(back.seconds(since: last) < 3)
    #expect(bench.run(seconds: test.back).measured > 0)
    #expect(bench.task.status.state == .running)
  }

  /// Everything for which a sensor is started anew.
  static let errors: [DriverError] = [
    .bus(BusError(.noAnswer, bus: "/dev/i2c-1", address: 0x1C)),
    .bus(BusError(.timedOut, bus: "/dev/i2c-1", address: 0x1C)),
    .bus(BusError(.disconnected, bus: "/dev/serial0", errno: 5)),
    .bus(BusError(.noConnection("nobody listens there"), bus: "localhost:2947", errno: 111)),
    .wrongIdentity(chip: "LIS3MDL", register: 0x0F, expected: 0x3D, found: 0),
    .otherChip("a QMC5883L"), .configurationLost(register: 0x20, expected: 0x7C, found: 0x10),
    .notReady("its reset does not end"), .invalidTrim("all zeros"), .heldLow(register: 0x28),
    .stuck,
  ]

  @Test(
    "the pause before the next attempt doubles up to two seconds, until a sample comes",
    arguments: errors)
  func pause(_ error: DriverError) throws {
    var supervisor = Supervisor(index: 0, chip: "LIS3MDL", position: "/dev/i2c-1:0x1c")
    var now = Timestamp(seconds: 100)
    for _ in 0..<2 {
      var milliseconds: [Int64] = []
      for _ in 0..<1_000 {
        supervisor.starting(at: now)
        let retry = supervisor.failed(error, starting: true, at: now)
        let next = try #require(retry)
        milliseconds.append((next.nanoseconds - now.nanoseconds) / 1_000_000)
        now = next
      }
      #expect(Array(milliseconds.prefix(5)) == [100, 200, 400, 800, 1_600])
      #expect(milliseconds.dropFirst(5).allSatisfy { $0 == 2_000 })
      // A start alone is no sample.
      supervisor.ready(at: now)
      let again = supervisor.failed(error, starting: true, at: now)
      #expect(again == now.advanced(bySeconds: 2))
      _ = supervisor.delivered(at: now)
    }
  }
}
