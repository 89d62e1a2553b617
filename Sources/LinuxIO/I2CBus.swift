#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif
import CLinuxIO
import SensorBus
import Synchronization

/// One opened I2C bus. All chips on it share it, and this process alone has it.
final class I2CBus: Sendable {
  /// What one transfer may take. A full 255-byte burst at 100 kHz takes 24 ms.
  static let timeoutMilliseconds: Int32 = 100
  /// Attempts at one transfer: a disturbed one is tried again at once, one that nobody answers is not.
  static let attempts = 3

  let path: String
  private let calls: any I2CCalls
  private let descriptor: Descriptor
  private let lock: BusLock
  private let abilities: Int32
  private let retryCount = Atomic<UInt64>(0)

  /// Opens the node and takes the bus for this process.
  init(path: String, calls: any I2CCalls, lockFolder: String) throws(BusError) {
    lock = try BusLock(path: path, folder: lockFolder)
    let result = calls.open(path, timeoutMilliseconds: Self.timeoutMilliseconds)
    guard let descriptor = Descriptor(result) else {
      throw BusError(result: result, .i2c, bus: path)
    }
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

  /// Transfers that were tried again.
  var retries: UInt64 { retryCount.load(ordering: .relaxed) }

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
    var result: Int32 = 0
    for attempt in 0..<Self.attempts {
      result = body()
      if result >= 0 { return }
      // Lost arbitration and bus noise pass; no answer and a bus held low do not within microseconds.
      guard result == -EAGAIN || result == -EIO, attempt + 1 < Self.attempts else { break }
      retryCount.add(1, ordering: .relaxed)
    }
    throw BusError(result: result, .i2c, bus: path, address: address, register: register)
  }
}

/// A chip on a real bus.
struct LinuxRegisterDevice: RegisterDevice {
  let bus: I2CBus
  let address: UInt8

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try bus.read(address: address, register: register, into: buffer)
  }

  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try bus.listen(address: address, into: buffer)
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    try bus.write(address: address, register: register, from: bytes)
  }
}

/// Keeps a bus for this process as long as it lives: a lock file that names its owner.
final class BusLock: Sendable {
  private let descriptor: Descriptor

  /// Where lock files go: the system's folder, else one that everybody may write to.
  static var folder: String {
    access("/run/lock", W_OK) == 0 ? "/run/lock" : "/tmp"
  }

  init(path: String, folder: String) throws(BusError) {
    let name = path.split(separator: "/").joined(separator: "-")
    var owner: Int32 = 0
    let file = "\(folder)/lodestone-\(name).lock"
    let result = lodestone_lock(file, &owner)
    if let descriptor = Descriptor(result) {
      self.descriptor = descriptor
      return
    }
    if result == -EWOULDBLOCK {
      throw BusError(.inUse(by: PortHolder.describe(process: owner)), bus: path, errno: EWOULDBLOCK)
    }
    throw BusError(.lockFailed(file: file), bus: path, errno: -result)
  }
}
