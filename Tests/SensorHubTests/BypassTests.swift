import BoardFile
import Foundation
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub
import StateStore

/// A magnetometer that answers only while the inertial chip beside it lets the bus through.
struct BypassTests {
  private let clock = VirtualClock()
  private let simulation: SimulatedBusProvider
  private let runner: VirtualTimeRunner
  private let hub: Hub

  private static let bus = "/dev/i2c-1"
  // The magnetometer first: the order of the board file must not matter.
  private static let chips: [(name: String, address: UInt8)] = [
    ("AK8963", 0x0C), ("MPU9250", 0x68),
  ]

  init() throws {
    let clock = self.clock
    simulation = SimulatedBusProvider(
      SimulatedBoard(
        chips: Self.chips.map {
          .init(.registers($0.name), at: .bus(Self.bus, address: $0.address))
        }), clock: clock)
    runner = VirtualTimeRunner(time: { clock.now() }, setTime: { clock.advance(to: $0) })
    let board = Board(
      name: "nine axes",
      sensors: Self.chips.map {
        Board.Sensor(chip: $0.name, attachment: .i2c(bus: Self.bus, address: $0.address))
      })
    hub = try Hub(
      board: board, provider: simulation, runner: runner,
      state: StateStore(
        folder: FileManager.default.temporaryDirectory
          .appending(path: "lodestone-test-\(UUID().uuidString)")), isSimulated: true)
  }

  private func run(_ seconds: Double) {
    runner.run(until: clock.now().advanced(bySeconds: seconds))
  }

  private func states() -> [SensorState] { hub.status.map(\.state) }

  @Test("both start at the first attempt, and again after a rest")
  func start() {
    hub.setDemand(.everything)
    hub.start()
    run(1)
    hub.setDemand(Demand(heading: false, location: false, altitude: false, followsCourse: false))
    run(1)
    #expect(states() == [.idle, .idle])
    hub.setDemand(.everything)
    run(1)
    #expect(states() == [.running, .running])
    for status in hub.status {
      #expect(status.counters.starts == 1)
      #expect(status.counters.busErrors == 0)
      #expect(status.counters.samples > 100)
    }
  }

  @Test("identified without any demand, neither has failed")
  func identification() {
    hub.setDemand(Demand(heading: false, location: false, altitude: false, followsCourse: false))
    hub.start()
    run(2)
    #expect(states() == [.idle, .idle])
    #expect(hub.status[0].counters.busErrors == 0)
  }

  @Test("a brown-out of the host closes the bypass: the magnetometer is back when the host is")
  func brownOut() {
    hub.setDemand(.everything)
    hub.start()
    run(3)
    let before = hub.status
    simulation.inject(.brownOut, chip: 1, from: clock.now())
    run(0.1)
    #expect(states()[0] != .running)
    run(3)
    #expect(states() == [.running, .running])
    let after = hub.status
    #expect(after[1].counters.starts == before[1].counters.starts + 1)
    // It was told nothing about its host: the bus has said so.
    #expect(after[0].counters.busErrors > before[0].counters.busErrors)
    run(2)
    #expect(hub.status[0].counters.samples > after[0].counters.samples + 150)
  }

  @Test("a host that is not there does not keep the magnetometer from saying so")
  func lostHost() {
    simulation.inject(.noAnswer, chip: 1, from: clock.now())
    hub.setDemand(.everything)
    hub.start()
    run(3)
    for state in states() {
      guard case .failed(let reason) = state else {
        Issue.record("\(state)")
        continue
      }
      #expect(reason.contains("no answer"))
    }
    simulation.endFaults(chip: 1)
    run(5)
    #expect(states() == [.running, .running])
  }
}
