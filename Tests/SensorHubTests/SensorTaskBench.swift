import BoardFile
import Recording
import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices

@testable import SensorHub

/// One chip behind the hub's task, stepped when it is due.
final class SensorTaskBench {
  static let bus = "/dev/i2c-1"

  let clock = VirtualClock()
  let provider: SimulatedBusProvider
  let task: any WorkerTask
  /// What was said in words since the beginning.
  private(set) var words: [String] = []
  private let port: WorkerPort

  init(
    _ chip: String, address: UInt8, rate: Double, isImperfect: Bool = true,
    trajectory: Trajectory = .walk, world: WorldDescription = .init()
  ) {
    provider = SimulatedBusProvider(
      SimulatedBoard(
        chips: [
          .init(
            .registers(chip), at: .bus(Self.bus, address: address), isImperfect: isImperfect)
        ], trajectory: trajectory, world: world),
      clock: clock)
    var sensor = Board.Sensor(
      chip: chip, attachment: .i2c(bus: Self.bus, address: address), rate: rate)
    // A perfect chip has no noise: at rest it says the same again and again.
    sensor.checks.change = isImperfect
    task = SensorFactory.task(index: 0, sensor: sensor).task
    port = WorkerPort(LiveInput(provider))
  }

  /// The samples of the next seconds.
  func run(seconds: Double) -> [Sample<Reading>] {
    let end = clock.now().advanced(bySeconds: seconds)
    var samples: [Sample<Reading>] = []
    while clock.now() < end {
      var outbox: [WorkerOutput] = []
      task.step(port, at: clock.now(), into: &outbox)
      for delivery in outbox {
        switch delivery {
        case .reading(let reading): samples.append(reading.sample)
        case .diagnostic(let text, _): words.append(text)
        default: break
        }
      }
      let soonest = clock.now().advanced(bySeconds: 20e-6)
      clock.advance(to: min(end, max(task.due, soonest)))
    }
    return samples
  }
}
