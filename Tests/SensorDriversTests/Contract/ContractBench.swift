// The bench of the contract tests: a twin behind a simulated bus, the real driver in front of it, and a
// world and a clock that the test turns by hand.

import LinearAlgebra
import SensorBus
import SensorDrivers
import SensorTypes
import Synchronization

@testable import SimulatedDevices

/// A world that the test changes between two conversions.
final class AdjustableStimulus: StimulusSource {
  private let value = Mutex(Stimulus())

  func set(_ stimulus: Stimulus) { value.withLock { $0 = stimulus } }

  func stimulus(at time: Timestamp) -> Stimulus { value.withLock { $0 } }
}

/// A driver of any chip behind a reference, as the hub holds it.
protocol ContractDriver: AnyObject {
  func start() throws(DriverError) -> StartProgress
  func poll() throws(DriverError) -> Reading?
  func verify() throws(DriverError)
  func sleep() throws(DriverError)
  var backlog: Int { get }
  var outputRate: Double { get }
  var conversionTime: Double? { get }
}

/// Owns a driver; calls go straight through.
final class BoxedDriver<Driver: SensorDriver & ~Copyable>: ContractDriver {
  private var driver: Driver

  init(_ driver: consuming Driver) { self.driver = driver }

  func start() throws(DriverError) -> StartProgress { try driver.start() }
  func poll() throws(DriverError) -> Reading? { try driver.poll() }
  func verify() throws(DriverError) { try driver.verify() }
  func sleep() throws(DriverError) { try driver.sleep() }
  var backlog: Int { driver.backlog }
  var outputRate: Double { driver.outputRate }
  var conversionTime: Double? { driver.conversionTime }
}

/// One twin under power for a second, alone on its bus.
final class ContractBench {
  static let bus = "/dev/i2c-1"

  let clock = VirtualClock()
  let source = AdjustableStimulus()
  let device: SimulatedRegisterDevice
  private let address: UInt8
  private let slot: RegisterSlot

  init(address: UInt8, _ twin: (any StimulusSource) -> any ChipTwin) {
    // As where a board is switched on: an MMC5983MA looks whether there is a field of the earth.
    source.set(Stimulus(magneticField: Vector3(15, 20, -40)))
    var chip = twin(source)
    chip.powerOn(at: clock.now().advanced(bySeconds: -1))
    self.address = address
    slot = RegisterSlot(bus: Self.bus, address: address, interrupt: nil, twin: chip)
    device = SimulatedRegisterDevice(
      slot: slot, bus: Self.bus, address: address, clock: clock)
  }

  /// A bench with its driver, started.
  static func started(
    address: UInt8, _ twin: (any StimulusSource) -> any ChipTwin,
    _ driver: (SimulatedRegisterDevice) -> any ContractDriver
  ) throws -> (bench: ContractBench, driver: any ContractDriver) {
    let bench = ContractBench(address: address, twin)
    let driver = driver(bench.device)
    try bench.start(driver)
    return (bench, driver)
  }

  /// The chip has `fault` from now on.
  func begin(_ fault: SimulatedFault) {
    let now = clock.now()
    slot.state.withLock { $0.faults.add(fault, from: now, until: .distantFuture, now: now) }
  }

  /// Every fault ends now.
  func endFaults() {
    let now = clock.now()
    slot.state.withLock { $0.faults.end(at: now) }
  }

  /// What the driver says of a transfer that this bus refused.
  func error(_ reason: BusError.Reason, _ register: UInt8, errno: Int32 = 0) -> DriverError {
    .bus(BusError(reason, bus: Self.bus, address: address, register: register, errno: errno))
  }

  /// Starts the chip, giving it the time that it asks for; at most 30 steps.
  func start(_ driver: any ContractDriver) throws(DriverError) {
    for _ in 0..<30 {
      guard case .wait(let seconds) = try driver.start() else { return }
      clock.advance(bySeconds: seconds)
    }
    throw .notReady("the start did not end within 30 steps")
  }

  /// The reading of the next conversion that begins with the world as it is now; `nil` if there is none
  /// within so many conversions. A chip whose two sensors convert one after the other needs two looks; one that is
  /// told to convert is looked at when its driver says.
  func nextReading(
    _ driver: any ContractDriver, looks: Int = 4
  ) throws(DriverError) -> Reading? {
    for _ in 0..<looks {
      if let pause = driver.conversionTime {
        clock.advance(bySeconds: pause)
      } else {
        guard let ready = nextDataReady() else { return nil }
        clock.advance(to: ready)
      }
      if let reading = try driver.poll() { return reading }
    }
    return nil
  }

  /// Whether the interrupt pin has risen since the last call.
  func takeEdge() -> Bool {
    let now = clock.now()
    return slot.state.withLock { state in
      _ = state.faults(at: now)
      return state.twin.takeEdge(at: now) != nil
    }
  }

  /// When the chip's next conversion will be complete, or `nil` while it is switched off.
  func nextDataReady() -> Timestamp? {
    let now = clock.now()
    return slot.state.withLock { state in
      _ = state.faults(at: now)
      state.twin.advance(to: now)
      return state.twin.nextDataReady(after: now)
    }
  }
}
