// A chip that the kernel owns, for the tests of its driver.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import SimulatedDevices
import Testing

/// One chip that the kernel owns, on a clock that the test moves.
struct KernelBench: ~Copyable {
  static let gravity = 9.80665
  let clock: VirtualClock
  let provider: SimulatedBusProvider
  var driver: KernelSensor
  private let period: Double

  init(
    _ chip: String, _ view: KernelView, kind: ChipKind, rate: Double, imperfect: Bool = false,
    faults: [KernelFault] = [], checks: DriverChecks = DriverChecks(change: false)
  ) throws {
    // All that may fail comes first: Swift 6.0.3 cannot take back half of what is not copyable.
    let clock = VirtualClock()
    let place = SimulatedAttachment.bus("/dev/i2c-1", address: 0x1C)
    let provider = SimulatedBusProvider(
      SimulatedBoard(chips: [
        .init(.registers(chip), at: place, isImperfect: imperfect, kernel: view)
      ]), clock: clock)
    for fault in faults { provider.inject(.kernel(fault), chip: 0, from: clock.now()) }
    let device = try provider.kernelDevice(bus: "/dev/i2c-1", address: 0x1C)
    driver = KernelSensor(device, name: chip, kind: kind, outputRate: rate, checks: checks)
    self.clock = clock
    self.provider = provider
    period = 1 / rate
  }

  func fault(_ fault: SimulatedFault) { provider.inject(fault, chip: 0, from: clock.now()) }

  func show(_ change: (inout ShownStimulus.Quantities) -> Void) {
    var shown = provider.shown(chip: 0)
    change(&shown)
    provider.show(shown, chip: 0)
  }

  /// Starts, letting the times pass that the driver asks for; at most ten seconds.
  mutating func start() throws(DriverError) {
    for _ in 0..<500 {
      switch try driver.start() {
      case .ready: return
      case .wait(let seconds): clock.advance(bySeconds: seconds)
      }
    }
    Issue.record("not ready after 500 steps")
  }

  /// Lets `seconds` pass, looking a few times a period, and gives what came with its times.
  mutating func run(
    _ seconds: Double
  ) throws(DriverError) -> [(reading: Reading, time: Timestamp?, now: Timestamp)] {
    var all: [(reading: Reading, time: Timestamp?, now: Timestamp)] = []
    let end = clock.now().advanced(bySeconds: seconds)
    while clock.now() < end {
      clock.advance(bySeconds: period / 4)
      while let reading = try driver.poll() {
        all.append((reading, driver.sampleTime, clock.now()))
      }
    }
    return all
  }

  /// The newest reading after half a second.
  mutating func settled() throws -> Reading { try #require(try run(0.5).last).reading }

  /// The field that a reading holds, in microtesla; `nil` for a reading of another quantity.
  static func field(_ reading: Reading) -> Vector3? {
    if case .magneticField(let field) = reading { field } else { nil }
  }

  /// The newest field after half a second, in microtesla.
  mutating func settledField() throws -> Vector3 { try #require(Self.field(try settled())) }

  /// The kind of the error that ends a run of three seconds; `nil` without an error.
  mutating func failureOfRun() -> String? {
    do {
      _ = try run(3)
      return nil
    } catch {
      return error.kind
    }
  }
}

extension DriverError {
  /// The kind of an error, without the values that it holds.
  var kind: String {
    switch self {
    case .bus(let error): "\(error.reason)"
    case .notReady: "notReady"
    case .overflow: "overflow"
    case .stuck: "stuck"
    default: "\(self)"
    }
  }
}

extension KernelView {
  /// With a trigger for each device's buffer.
  func triggered(isSet: Bool = true) -> KernelView {
    var view = self
    for index in view.devices.indices {
      view.devices[index].filling = .trigger(view.devices[index].name + "-trigger", isSet: isSet)
    }
    return view
  }
}
