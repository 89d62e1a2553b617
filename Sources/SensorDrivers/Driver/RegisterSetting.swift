// What every driver does with its configuration: write it in order, read it back, check it for ever.

import SensorBus

/// One register of a configuration and the value it holds while the chip is configured.
package struct RegisterSetting: Sendable, Hashable {
  /// The register's address, without any transfer flag.
  package var register: UInt8
  package var value: UInt8
  /// The bits that must read back as written; status bits and self-clearing bits are 0 here.
  package var mask: UInt8

  /// Makes a setting; all bits are compared unless `mask` says otherwise.
  package init(_ register: UInt8, _ value: UInt8, mask: UInt8 = 0xFF) {
    self.register = register
    self.value = value
    self.mask = mask
  }
}

extension RegisterSetting: CustomStringConvertible {
  /// `0x20 <- 0x7c`, for logs.
  package var description: String { "\(hexadecimal(register)) <- \(hexadecimal(value))" }
}

/// A register image in use: the list and the place at which the endless check stands.
struct RegisterImage: Sendable {
  /// The settings in the order in which they are written.
  let settings: [RegisterSetting]
  private var next = 0

  init(_ settings: [RegisterSetting]) { self.settings = settings }

  /// Writes every register, in order.
  func write<Device: RegisterDevice & ~Copyable>(
    to device: borrowing Device
  ) throws(DriverError) {
    for setting in settings { try device.put(setting.register, setting.value) }
  }

  /// Reads every register and throws `.configurationLost` for the first that differs.
  func readBack<Device: RegisterDevice & ~Copyable>(
    from device: borrowing Device
  ) throws(DriverError) {
    for setting in settings { try check(setting, on: device) }
  }

  /// Checks one register, the next one at the next call.
  mutating func verifyNext<Device: RegisterDevice & ~Copyable>(
    on device: borrowing Device
  ) throws(DriverError) {
    guard !settings.isEmpty else { return }
    if next >= settings.count { next = 0 }
    let setting = settings[next]
    next += 1
    try check(setting, on: device)
  }

  private func check<Device: RegisterDevice & ~Copyable>(
    _ setting: RegisterSetting, on device: borrowing Device
  ) throws(DriverError) {
    let found = try device.get(setting.register)
    guard found & setting.mask == setting.value & setting.mask else {
      throw .configurationLost(
        register: setting.register, expected: setting.value, found: found)
    }
  }
}

// The transfers once more with the drivers' own error, so that a driver reads as plain steps.
extension RegisterDevice where Self: ~Copyable {
  borrowing func get(_ register: UInt8) throws(DriverError) -> UInt8 {
    do { return try byte(register) } catch { throw .bus(error) }
  }

  /// Reads `count` registers in one transaction.
  borrowing func get(_ register: UInt8, count: Int) throws(DriverError) -> RegisterBlock {
    do { return try burst(register, count: count) } catch { throw .bus(error) }
  }

  /// The same of registers that are never all zero; throws `.heldLow` when they are.
  borrowing func getNonzero(
    _ register: UInt8, count: Int
  ) throws(DriverError) -> RegisterBlock {
    let block = try get(register, count: count)
    guard (0..<count).contains(where: { block[$0] != 0 }) else {
      throw .heldLow(register: register)
    }
    return block
  }

  borrowing func put(_ register: UInt8, _ value: UInt8) throws(DriverError) {
    do { try write(register, value) } catch { throw .bus(error) }
  }

  /// Sends a command without a value.
  borrowing func send(_ command: UInt8) throws(DriverError) {
    do {
      try write(command, from: UnsafeRawBufferPointer(start: nil, count: 0))
    } catch {
      throw .bus(error)
    }
  }

  /// Throws `.wrongIdentity` unless `register` holds `expected`.
  borrowing func identify(
    _ chip: String, _ register: UInt8, is expected: UInt8
  ) throws(DriverError) {
    let found = try get(register)
    guard found == expected else {
      throw .wrongIdentity(chip: chip, register: register, expected: expected, found: found)
    }
  }
}

/// The index of the first of `rates` (ascending) that is at least `wanted`, else of the last.
func nextRate(_ rates: [Double], atLeast wanted: Double) -> Int {
  rates.firstIndex { $0 >= wanted } ?? rates.count - 1
}
