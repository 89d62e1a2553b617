// virtio-i2c (Virtual I/O Device 1.2, section 5.21): messages of an I2C bus, one a request.

import SensorBus
import SensorTypes
import SimulatedDevices

/// An I2C bus of a simulated board.
final class I2CDevice: VirtioDevice {
  /// What happened, for the rig's report.
  struct Counts {
    var messages = 0
    var failed = 0
  }

  /// VIRTIO_I2C_F_ZERO_LENGTH_REQUEST: Linux asks for it.
  let features: UInt64 = 1
  let queueCount = 1
  let configuration: [UInt8] = []
  private(set) var counts = Counts()

  private let bus: String
  private let provider: SimulatedBusProvider
  private var chips: [UInt8: any RegisterDevice] = [:]
  /// Where a read without a sub-address begins: what the last write to that address said.
  private var pointers: [UInt8: UInt8] = [:]
  /// The message before this one was of the same transfer, and whether it failed.
  private var continues = false
  private var failed = false
  /// A slow chip stretches the clock of the whole bus until then.
  private var heldUntil: Timestamp?
  private var wasHeld = false

  private static let failNext: UInt32 = 1
  private static let isRead: UInt32 = 2
  private static let headerSize = 8
  /// A guest's driver may wait without a bound of its own, seconds.
  private static let longestDelay = 60.0

  init(bus: String, provider: SimulatedBusProvider) {
    self.bus = bus
    self.provider = provider
  }

  func reset() {
    continues = false
    failed = false
    heldUntil = nil
    wasHeld = false
  }

  func deadline(now: Timestamp) -> Timestamp { heldUntil ?? .distantFuture }

  func serve(_ rings: [Ring], now: Timestamp) {
    if let heldUntil, now < heldUntil { return }
    heldUntil = nil
    // A bound: a guest that never stops asking must not keep the other buses waiting.
    for _ in 0..<256 {
      guard let chain = rings[0].pop() else { return }
      let request = chain.read()
      if let delay = delay(of: request) {
        rings[0].putBack()
        heldUntil = now.advanced(bySeconds: delay)
        wasHeld = true
        return
      }
      wasHeld = false
      // The last byte is the status; what is before it is room for what is read.
      let room = chain.writableCount
      guard room > 0 else {
        rings[0].push(chain, written: 0)
        continue
      }
      let bytes = answer(to: request, room: room - 1)
      if let bytes { chain.write(bytes) }
      chain.write([bytes == nil ? 1 : 0], at: room - 1)
      rings[0].push(chain, written: room)
    }
    // There may be more: at once, after the others had their turn.
    heldUntil = now
  }

  /// Seconds by which a transfer is held up that begins with this request; `nil` for one that is not.
  private func delay(of request: [UInt8]) -> Double? {
    guard !continues, !wasHeld, let address = address(of: request) else { return nil }
    let delay = provider.transferDelay(bus: bus, address: address)
    return delay > 0 ? min(delay, Self.longestDelay) : nil
  }

  private func address(of request: [UInt8]) -> UInt8? {
    // The 7-bit address stands in bits 1 to 7; there are no others here.
    guard let word = request.number(0, as: UInt16.self), word & 1 == 0, word <= 0xFE else {
      return nil
    }
    return UInt8(word >> 1)
  }

  /// Does one message: the bytes that were read (none for a write), or `nil` where nobody acknowledged,
  /// a fault was in the way, or the message before it in the same transfer had failed.
  func answer(to request: [UInt8], room: Int) -> [UInt8]? {
    let flags = request.number(4, as: UInt32.self) ?? 0
    let isAlreadyLost = continues && failed
    let bytes = isAlreadyLost ? nil : transfer(request, flags: flags, room: room)
    continues = flags & Self.failNext != 0
    failed = bytes == nil
    counts.messages += 1
    if failed { counts.failed += 1 }
    return bytes
  }

  private func transfer(_ request: [UInt8], flags: UInt32, room: Int) -> [UInt8]? {
    guard request.count >= Self.headerSize, let address = address(of: request) else { return nil }
    let data = request[Self.headerSize...]
    let isRead = flags & Self.isRead != 0
    // A read brings no bytes and a write asks for none.
    guard isRead ? data.isEmpty : room == 0 else { return nil }
    do throws(BusError) {
      let chip = try chip(at: address)
      if isRead, room > 0 { return try read(chip, pointers[address] ?? 0, count: room) }
      guard let register = data.first else {
        // Nothing but the address: does somebody acknowledge it?
        try write(chip, pointers[address] ?? 0, [])
        return []
      }
      try write(chip, register, data.dropFirst())
      pointers[address] = register
      return []
    } catch {
      return nil
    }
  }

  private func chip(at address: UInt8) throws(BusError) -> any RegisterDevice {
    if let chip = chips[address] { return chip }
    let chip = try provider.registerDevice(bus: bus, address: address)
    chips[address] = chip
    return chip
  }

  private func read(
    _ chip: any RegisterDevice, _ register: UInt8, count: Int
  ) throws(BusError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBytes { raw in
      Result { () throws(BusError) in try chip.read(register, into: raw) }
    }
    try result.get()
    return bytes
  }

  private func write(
    _ chip: any RegisterDevice, _ register: UInt8, _ bytes: ArraySlice<UInt8>
  ) throws(BusError) {
    let result = bytes.withUnsafeBytes { raw in
      Result { () throws(BusError) in try chip.write(register, from: raw) }
    }
    try result.get()
  }
}
