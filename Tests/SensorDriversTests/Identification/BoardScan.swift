import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// A receiver on I2C that gives the next byte of what it has to say to every read, and none back (PA1010D).
final class StreamReceiver: RegisterDevice {
  private(set) var taken = 0

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    taken += buffer.count
    for index in buffer.indices { buffer[index] = 0x0A }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {}
}

/// A simulated bus with chips of all kinds, and what a scan makes of it.
struct BoardScan {
  private(set) var truths: [UInt8: String] = [:]
  private var devices: [UInt8: any RegisterDevice] = [:]
  let clock = VirtualClock()
  var random: SeededGenerator

  init(_ random: SeededGenerator) { self.random = random }

  /// Puts a chip of its own errors and noise on the bus, if its address is free; one in two is in use already.
  mutating func add(
    _ name: String, at address: UInt8, _ world: Stimulus,
    make: ((TwinCore) -> any ChipTwin)? = nil
  ) throws {
    guard truths[address] == nil else { return }
    let description = try #require(TwinCatalog.twin(named: name))
    let core = TwinCore(
      source: ConstantStimulus(world), errors: description.errors(&random, 1), seed: random.next())
    var twin = (make ?? description.make)(core)
    twin.powerOn(at: clock.now().advanced(bySeconds: -1))
    let device = SimulatedRegisterDevice(
      slot: RegisterSlot(bus: "bus", address: address, interrupt: nil, twin: twin), bus: "bus",
      address: address, clock: clock)
    truths[address] = name
    devices[address] = device
    guard random.next() % 2 == 0,
      // At any rate that it has, and any range.
      var chip = ChipCatalog.chip(named: name)?.chip?(Double(1 << Int(random.next() % 11)))
    else { return }
    for _ in 0..<random.next() % 5 { _ = chip.widen() }
    try use(chip, device)
    // Of these one in four sleeps again.
    if random.next() % 4 == 0 {
      for setting in chip.sleepSettings { try device.write(setting.register, setting.value) }
    }
  }

  private func use(_ chip: some RegisterChip, _ device: SimulatedRegisterDevice) throws {
    var driver = RegisterDriver(device, chip)
    for _ in 0..<30 {
      guard case .wait(let seconds) = try driver.start() else { break }
      clock.advance(bySeconds: seconds)
    }
    for _ in 0..<3 {
      clock.advance(bySeconds: max(driver.conversionTime ?? 0, 0.025))
      // The world of one chip may be beyond the range of another.
      _ = try? driver.poll()
    }
  }

  mutating func add(_ receiver: StreamReceiver, at address: UInt8) {
    guard truths[address] == nil else { return }
    truths[address] = "receiver"
    devices[address] = receiver
  }

  /// - Parameter usualPressure: As a board file that says the altitude has it.
  func identifications(
    usualPressure: Double?
  ) throws -> [(address: UInt8, truth: String, found: [ChipIdentification])] {
    let addresses = ChipCatalog.addresses.filter { devices[$0] != nil }
    let found = try addresses.map { address in
      let device = SharedDevice(try #require(devices[address]))
      return try ChipCatalog.identify(device, at: address, usualPressure: usualPressure) {
        clock.advance(bySeconds: $0)
      }
    }
    return zip(addresses, ChipCatalog.toldByPartners(found)).map {
      (address: $0, truth: truths[$0] ?? "", found: $1)
    }
  }
}
