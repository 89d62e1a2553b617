// A chip on its bus, every transfer of which is noted, and can be made to fail or to bring other bytes.

import SensorBus
import SensorDrivers
import SensorTypes
import Testing

@testable import SimulatedDevices

/// The twin of a chip with its driver, from power to conversions that run.
final class WatchedDevice: RegisterDevice {
  enum Event: Hashable {
    case read(UInt8, Int)
    case write(UInt8, [UInt8])
    case wait(seconds: Double)

    /// To a microsecond.
    init(waited seconds: Double) { self = .wait(seconds: (seconds * 1e6).rounded() / 1e6) }
  }

  /// What is wrong with the transfer at one place of the log.
  struct Fault {
    let place: Int
    var reason: BusError.Reason?
    /// Bits that are flipped of what is read in the byte at `byte`, after the dummies.
    var flips: UInt8 = 0
    var byte = 0
    /// What is read in its place.
    var bytes: [UInt8]?
    /// Whether all later reads of that register are the same.
    var lasts = false
  }

  private(set) var log: [Event] = []
  var fault: Fault?
  private let bench: ContractBench
  private let dummies: Int
  private var register: UInt8?

  init(_ line: StartLine) throws {
    let name = line.chip.name
    let contract = try #require(ChipContract.all.first { $0.faults.chip == name })
    bench = ContractBench(address: contract.faults.address, contract.faults.twin)
    dummies = line.chip.dummyBytes
  }

  func driver(_ line: StartLine) -> any ContractDriver { boxed(SharedDevice(self), line.chip) }

  func forget() { log = [] }

  /// Takes a driver through its start, with the waits that it asks for; at most 100 of them.
  func start(_ driver: any ContractDriver) throws(DriverError) {
    for _ in 0..<100 {
      guard case .wait(let seconds) = try driver.start() else { return }
      log.append(Event(waited: seconds))
      bench.clock.advance(bySeconds: seconds)
    }
    throw .notReady("the start did not end within 100 waits")
  }

  /// Lets a conversion of everything that the chip measures end.
  func convert(_ driver: any ContractDriver) {
    bench.clock.advance(bySeconds: driver.conversionTime ?? 2.1 / driver.outputRate)
  }

  /// The reading of one of the next four conversions.
  func nextReading(_ driver: any ContractDriver) throws(DriverError) -> Reading? {
    for _ in 0..<4 {
      convert(driver)
      if let reading = try driver.poll() { return reading }
    }
    return nil
  }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    log.append(.read(register, buffer.count - dummies))
    let fault = current(register)
    if let reason = fault?.reason { throw error(reason, register) }
    try bench.device.read(register, into: buffer)
    guard let fault else { return }
    for (index, byte) in (fault.bytes ?? []).enumerated() { buffer[dummies + index] = byte }
    buffer[dummies + fault.byte] ^= fault.flips
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    log.append(.write(register, Array(bytes)))
    if let reason = current(register)?.reason { throw error(reason, register) }
    try bench.device.write(register, from: bytes)
  }

  func error(_ reason: BusError.Reason, _ register: UInt8) -> BusError {
    BusError(reason, bus: "watched", address: 0, register: register)
  }

  /// The fault of the transfer that was noted last.
  private func current(_ register: UInt8) -> Fault? {
    guard let fault else { return nil }
    if fault.place == log.count - 1 {
      self.register = register
      return fault
    }
    return fault.lasts && fault.place < log.count && self.register == register ? fault : nil
  }
}
