import BoardFile
import Foundation
import Recording
import SensorBus
import SensorTypes
import SimulatedDevices
import Testing

@testable import SensorHub
import StateStore

/// Chips that the kernel owns in the schedule: whose driver is taken, what is said, and that a recording holds it.
struct KernelSensorTaskTests {
  private static let head = """
    schema: 1
    name: overlays
    sensors:

    """
  private static let chips: [(name: String, address: String)] = [
    ("LIS3MDL", "0x1c"), ("LSM6DSOX", "0x6a"), ("BMP280", "0x76"),
  ]

  private final class Run: Sendable {
    let clock = VirtualClock()
    let simulation: SimulatedBusProvider
    let runner: VirtualTimeRunner
    let hub: Hub
    let text: String
    private let kept = Kept()

    final class Kept: @unchecked Sendable {
      var observations: [Observation] = []
      var recording: [UInt8] = []
    }

    /// - Parameter keys: More keys of each chip's entry, by its place.
    init(
      _ keys: [String] = ["", "", ""], views: [KernelView?], receiver: Bool = false
    ) throws {
      var text = KernelSensorTaskTests.head
      var chips: [SimulatedChip] = []
      for (index, chip) in KernelSensorTaskTests.chips.enumerated() {
        text +=
          "  - {chip: \(chip.name), bus: /dev/i2c-1, address: \(chip.address)\(keys[index])}\n"
        let address = UInt8(chip.address.dropFirst(2), radix: 16) ?? 0
        chips.append(
          .init(
            .registers(chip.name), at: .bus("/dev/i2c-1", address: address), kernel: views[index]))
      }
      if receiver {
        text += "  - {chip: u-blox, port: /dev/serial0}\n"
        chips.append(.init(.ubloxM9, at: .port("/dev/serial0")))
      }
      self.text = text
      let clock = self.clock
      simulation = SimulatedBusProvider(SimulatedBoard(chips: chips), clock: clock)
      runner = VirtualTimeRunner(time: { clock.now() }, setTime: { clock.advance(to: $0) })
      let kept = self.kept
      hub = try Hub(
        board: BoardFile.parse(text, file: "overlays.yaml"), provider: simulation, runner: runner,
        state: StateStore(
          folder: FileManager.default.temporaryDirectory
            .appending(path: "lodestone-test-\(UUID().uuidString)")), isSimulated: true,
        recording: (text, "overlays", { kept.recording.append(contentsOf: $0) }))
      _ = hub.subscribe { kept.observations.append($0) }
      hub.setDemand(.everything)
      hub.start()
    }

    func run(_ seconds: Double) { runner.run(until: clock.now().advanced(bySeconds: seconds)) }
    var observations: [Observation] { kept.observations }
    var recording: [UInt8] { kept.recording }
    var diagnostics: [String] {
      observations.compactMap { if case .diagnostic(let text, _) = $0 { text } else { nil } }
    }
  }

  private static var triggered: KernelView {
    var view = KernelView.lis3mdl
    view.devices[0].filling = .trigger("lis3mdl-trigger", isSet: true)
    return view
  }

  @Test("an address that the kernel has claimed is read through it, and that is said once")
  func claimed() throws {
    let run = try Run(views: [Self.triggered, .lsm6dsox, .bmp280])
    run.run(5)
    for status in run.hub.status {
      #expect(status.state == .running && status.counters.starts == 1, "\(status)")
      #expect(status.counters.busErrors == 0)
    }
    // 80, 208 and 25 Hz.
    let samples = run.hub.status.map(\.counters.samples)
    #expect(samples[0] > 385 && samples[1] > 1_000 && samples[2] > 115, "\(samples)")
    let notes = run.diagnostics.filter { $0.contains("through the kernel's driver") }
    #expect(notes.count == 3)
    #expect(notes[0].hasPrefix("LIS3MDL at /dev/i2c-1:0x1c is read"))
    #expect(notes[0].contains("st-magn-i2c (iio:device0, lis3mdl)"))
    #expect(notes[0].contains("mount"))
    // A heading follows: magnetometer, gyro and accelerometer are all there.
    let headings = run.observations.filter { if case .heading = $0 { true } else { false } }
    #expect(headings.count > 300)
  }

  @Test(
    "a gyro that is only polled carries no vehicle's heading, and the capabilities has none",
    arguments: [false, true])
  func vehicle(buffered: Bool) throws {
    var inertial = KernelView.lsm6dsox
    if !buffered {
      for index in inertial.devices.indices { inertial.devices[index].filling = .none }
    }
    let run = try Run(views: [.lis3mdl, inertial, .bmp280], receiver: true)
    run.run(5)
    #expect(run.hub.status.allSatisfy { $0.state == .running }, "\(run.hub.status)")
    let capabilities = run.hub.capabilities
    #expect(capabilities.vehicleHeading == buffered)
    #expect(capabilities.heading && capabilities.location && capabilities.relativeAltitude)
  }

  @Test("what is recorded replays to the same observations, bit for bit, faults and all")
  func replay() throws {
    let run = try Run(views: [.lis3mdl, .lsm6dsox, nil])
    run.run(2)
    for (chip, fault) in [
      SimulatedFault.kernel(.unbound), .kernel(.says("iio:device1/in_accel_scale", "x")),
    ].enumerated() {
      let now = run.clock.now()
      run.simulation.inject(fault, chip: chip, from: now, until: now.advanced(bySeconds: 1))
    }
    run.run(4)
    run.hub.stop()
    var replayed: [Observation] = []
    try Replay.run(
      try Recording(run.recording), board: BoardFile.parse(run.text, file: "recording")
    ) { replayed.append($0) }
    #expect(run.observations.count > 500)
    #expect(replayed == run.observations)
  }

  @Test("a recording of the kernel's files that is damaged by chance is an error or a value")
  func hostile() throws {
    let run = try Run(views: [Self.triggered, .lsm6dsox, .bmp280])
    run.run(0.4)
    run.hub.stop()
    let board = try BoardFile.parse(run.text, file: "recording")
    var random = SeededGenerator(seed: 11)
    var refused = 0
    for _ in 0..<150 {
      var bytes = run.recording
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: 80..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(index..<min(bytes.count, index + 9))
        default: bytes.insert(contentsOf: Array("2d39393939393939393939".utf8), at: index)
        }
      }
      do { try Replay.run(try Recording(bytes), board: board) { _ in } } catch { refused += 1 }
    }
    #expect(refused > 100)
  }

  @Test("'own' forbids the kernel's driver, 'kernel' demands it")
  func demanded() throws {
    let run = try Run(
      [", driver: own", ", driver: kernel", ", driver: kernel"],
      views: [.lis3mdl, .lsm6dsox, nil])
    run.run(3)
    let status = run.hub.status
    guard case .failed(let owned) = status[0].state, case .failed(let missing) = status[2].state
    else {
      Issue.record("\(status)")
      return
    }
    #expect(owned.contains("a kernel driver (st-magn-i2c) owns this address"))
    #expect(status[1].state == .running)
    #expect(missing.contains("/dev/i2c-1 address 0x76: not found"))
  }

  @Test("a driver that is unbound leaves the chip to ours; bound again it has it back")
  func unbound() throws {
    let run = try Run(views: [.lis3mdl, nil, nil])
    run.run(2)
    run.simulation.inject(.kernel(.unbound), chip: 0, from: run.clock.now())
    run.run(4)
    #expect(run.hub.status[0].state == .running)
    let before = run.hub.status[0].counters.samples
    run.run(1)
    // Ours is at 80 Hz, the kernel's polled one was not faster.
    #expect(run.hub.status[0].counters.samples - before > 75)
    run.simulation.endFaults(chip: 0)
    run.simulation.inject(.brownOut, chip: 0, from: run.clock.now())
    run.run(4)
    #expect(run.hub.status[0].state == .running)
  }

  @Test("the interrupt line of a chip that the kernel owns is the kernel's")
  func line() throws {
    let run = try Run(
      [", interrupt: {chip: nowhere, line: GPIO1}", "", ""], views: [.lis3mdl, nil, nil])
    run.run(1)
    #expect(run.hub.status[0].state == .running)
    #expect(!run.diagnostics.contains { $0.contains("interrupt line failed") })
  }

  @Test("the key is refused where it makes no sense")
  func key() {
    for (entry, words) in [
      ("{chip: LIS3MDL, bus: /dev/i2c-1, address: 0x1c, driver: iio}", "'kernel' or 'own'"),
      ("{chip: u-blox, port: /dev/ttyS0, driver: kernel}", "not for a receiver"),
    ] {
      #expect {
        _ = try BoardFile.parse(Self.head + "  - \(entry)\n", file: "x.yaml")
      } throws: { error in
        let error = error as? BoardFileError
        return error?.line == 4 && error?.message.contains(words) == true
      }
    }
  }
}
