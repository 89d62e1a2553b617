import SensorBus

/// Passes transfers on to a device and counts them.
final class CountingDevice: RegisterDevice {
  private let base: SharedDevice
  private let retriesBefore: UInt64
  /// Transfers so far, failed ones among them.
  private(set) var transfers = 0
  /// Transfers that failed, with all their repetitions.
  private(set) var failures = 0

  init(_ base: SharedDevice) {
    self.base = base
    retriesBefore = base.retries
  }

  /// How often transfers were repeated since this was made.
  var retries: UInt64 { base.retries - retriesBefore }

  func read(_ register: UInt8, into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try counted { () throws(BusError) in try base.read(register, into: buffer) }
  }

  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try counted { () throws(BusError) in try base.listen(into: buffer) }
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    try counted { () throws(BusError) in try base.write(register, from: bytes) }
  }

  private func counted(_ transfer: () throws(BusError) -> Void) throws(BusError) {
    transfers += 1
    do { try transfer() } catch {
      failures += 1
      throw error
    }
  }
}
