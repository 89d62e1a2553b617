import CLinuxIO
import Glibc
import SensorBus

/// One opened I2C bus. All chips on it share it, and this process alone has it. Each transfer is one attempt.
final class I2CBus: Sendable {
  /// What one transfer may take. A full 255-byte burst at 100 kHz takes 24 ms.
  static let timeoutMilliseconds: Int32 = 100

  let path: String
  private let calls: any I2CCalls
  private let descriptor: Descriptor
  private let abilities: Int32

  /// Opens the node and locks it, so that no other process of ours can use the bus. The lock belongs to the node itself:
  /// only who may open that can hold it, and it ends with the process.
  init(path: String, calls: any I2CCalls) throws(BusError) {
    let result = calls.open(path, timeoutMilliseconds: Self.timeoutMilliseconds)
    guard let descriptor = Descriptor(result) else {
      throw BusError(result: result, .i2c, bus: path)
    }
    let locked = lodestone_lock(descriptor.raw)
    guard locked != -EWOULDBLOCK else {
      let holders = PortHolder.locking(path)
      throw BusError(
        .inUse(by: holders.isEmpty ? "another process" : holders.joined(separator: ", ")),
        bus: path, errno: EWOULDBLOCK)
    }
    guard locked >= 0 else { throw BusError(result: locked, .i2c, bus: path) }
    let abilities = calls.abilities(descriptor.raw)
    guard abilities >= 0 else { throw BusError(result: abilities, .i2c, bus: path) }
    guard abilities != 0 else {
      throw BusError(.unsupported("I2C nor SMBus register transfers"), bus: path)
    }
    self.path = path
    self.calls = calls
    self.descriptor = descriptor
    self.abilities = abilities
  }

  func read(
    address: UInt8, register: UInt8, into buffer: UnsafeMutableRawBufferPointer
  ) throws(BusError) {
    try transfer(address: address, register: register) {
      calls.read(
        descriptor.raw, abilities: abilities, address: address, register: register, into: buffer)
    }
  }

  func listen(
    address: UInt8, into buffer: UnsafeMutableRawBufferPointer
  ) throws(BusError) {
    guard calls.canListen(abilities) else {
      throw BusError(.unsupported("reads without a register"), bus: path, address: address)
    }
    try transfer(address: address, register: 0) {
      calls.listen(descriptor.raw, address: address, into: buffer)
    }
  }

  func write(
    address: UInt8, register: UInt8, from bytes: UnsafeRawBufferPointer
  ) throws(BusError) {
    try transfer(address: address, register: register) {
      calls.write(
        descriptor.raw, abilities: abilities, address: address, register: register, from: bytes)
    }
  }

  private func transfer(
    address: UInt8, register: UInt8, _ body: () -> Int32
  ) throws(BusError) {
    let result = body()
    guard result < 0 else { return }
    throw BusError(result: result, .i2c, bus: path, address: address, register: register)
  }
}

/// A chip on a real bus. Disturbed transfers are repeated.
struct LinuxRegisterDevice: RegisterDevice {
  let bus: I2CBus
  let address: UInt8
  private let repetitions = TransferRetries()

  init(bus: I2CBus, address: UInt8) {
    self.bus = bus
    self.address = address
  }

  var retries: UInt64 { repetitions.count }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try repetitions.run { () throws(BusError) in
      try bus.read(address: address, register: register, into: buffer)
    }
  }

  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try repetitions.run { () throws(BusError) in
      try bus.listen(address: address, into: buffer)
    }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    try repetitions.run { () throws(BusError) in
      try bus.write(address: address, register: register, from: bytes)
    }
  }
}
