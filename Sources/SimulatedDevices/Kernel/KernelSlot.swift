// A chip's files behind a lock, their faults, and what a driver holds of them.

import SensorBus
import SensorTypes
import Synchronization

/// One chip that the kernel owns. Any thread may use it.
final class KernelSlot: Sendable {
  let place: String
  let clock: any SimulationClock
  private let state: Mutex<KernelSlotState>

  init(_ twin: KernelTwin, place: String, clock: any SimulationClock) {
    self.place = place
    self.clock = clock
    state = Mutex(KernelSlotState(twin: twin))
  }

  func inject(_ fault: SimulatedFault, from: Timestamp, until: Timestamp, now: Timestamp) {
    state.withLock { $0.faults.add(fault, from: from, until: until, now: now) }
  }

  func endFaults(now: Timestamp) { state.withLock { $0.faults.end(at: now) } }

  /// The driver that has the address; `nil` while none is bound.
  var boundDriver: String? {
    let now = clock.now()
    return state.withLock { state in
      state.faults.evaluate(at: now).kernel.contains(.unbound) ? nil : state.twin.view.driver
    }
  }

  /// Does something with the twin as it is now, and what is wrong with it.
  func with<R: Sendable>(
    _ body: (inout KernelSlotState, FaultSchedule.Active, Int64) throws(BusError) -> R
  ) throws(BusError) -> R {
    let now = clock.now()
    return try state.withLock { (state) throws(BusError) in
      let active = state.faults.evaluate(at: now)
      state.twin.core.tampering = active.tampering
      if active.kernel.contains(.silent) || active.isUnplugged || active.timesOut {
        // Conversions that nobody sees.
      } else {
        state.twin.advance(to: now.nanoseconds)
      }
      return try body(&state, active, now.nanoseconds)
    }
  }

  func failure(_ reason: BusError.Reason, _ errno: Int32, _ path: String) -> BusError {
    BusError(reason, bus: "\(place) \(path)", errno: errno)
  }

  /// What a file says, with all that may be wrong; numbers that are converted are those of `time`.
  func text(
    _ path: String, _ state: KernelSlotState, _ active: FaultSchedule.Active, at time: Int64
  ) throws(BusError) -> String {
    // 2 is ENOENT, 121 EREMOTEIO, 110 ETIMEDOUT, 16 EBUSY.
    if active.kernel.contains(.unbound) { throw failure(.notFound, 2, path) }
    for case .missing(let name) in active.kernel where path == name || path.hasPrefix("\(name)/") {
      throw failure(.notFound, 2, path)
    }
    for case .says(path, let text) in active.kernel { return text }
    if path.hasSuffix("_raw") || path.hasSuffix("_input") {
      if active.isUnplugged { throw failure(.noAnswer, 121, path) }
      if active.timesOut { throw failure(.timedOut, 110, path) }
      if state.twin.isBusy(path) { throw failure(.inUse(by: "another process"), 16, path) }
    }
    guard let text = state.twin.read(path, at: time) else { throw failure(.notFound, 2, path) }
    return text
  }
}

struct KernelSlotState: Sendable {
  var twin: KernelTwin
  var faults = FaultSchedule()
  /// Devices whose buffer somebody has open.
  var opened: Set<String> = []
}

final class SimulatedKernelDevice: KernelDevice {
  private let slot: KernelSlot

  init(_ slot: KernelSlot) { self.slot = slot }

  func names(in folder: String) throws(BusError) -> [String] {
    try slot.with { (state, active, _) throws(BusError) in
      guard !active.kernel.contains(.unbound), !active.kernel.contains(.missing(folder)),
        let names = state.twin.names(in: folder)
      else { throw slot.failure(.notFound, 2, folder) }
      return names.filter { name in
        !active.kernel.contains(.missing(folder.isEmpty ? name : "\(folder)/\(name)"))
      }
    }
  }

  func read(_ attribute: String) throws(BusError) -> String {
    try slot.with { (state, active, now) throws(BusError) in
      try slot.text(attribute, state, active, at: now)
    }
  }

  func write(_ attribute: String, _ value: String) throws(BusError) {
    try slot.with { (state, active, now) throws(BusError) in
      _ = try slot.text(attribute, state, active, at: now)
      // 13 is EACCES, 22 EINVAL.
      if active.kernel.contains(.readOnly) {
        throw slot.failure(.permissionDenied(group: "iio"), 13, attribute)
      }
      guard state.twin.write(attribute, value, at: now) else {
        throw slot.failure(.system, 22, attribute)
      }
    }
  }

  func buffer(of device: String) throws(BusError) -> any ByteSource {
    try slot.with { (state, active, _) throws(BusError) in
      if active.kernel.contains(.unbound) { throw slot.failure(.notFound, 2, device) }
      if active.kernel.contains(.readOnly) {
        throw slot.failure(.permissionDenied(group: "iio"), 13, device)
      }
      guard state.opened.insert(device).inserted else {
        throw slot.failure(.inUse(by: "another process"), 16, device)
      }
    }
    return SimulatedKernelBuffer(slot, device)
  }

  func poll(_ attributes: [String], every seconds: Double) throws(BusError) -> any ByteSource {
    SimulatedRounds(slot, attributes, every: seconds)
  }
}

/// An IIO device's character device.
private final class SimulatedKernelBuffer: ByteSource {
  private let slot: KernelSlot
  private let device: String

  init(_ slot: KernelSlot, _ device: String) {
    self.slot = slot
    self.device = device
  }

  deinit {
    try? slot.with { (state, _, now) throws(BusError) in
      state.opened.remove(device)
      _ = state.twin.write("\(device)/buffer/enable", "0", at: now)
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let room = buffer.count
    let bytes = try slot.with { (state, active, _) throws(BusError) in
      // 19 is ENODEV.
      if active.kernel.contains(.unbound) { throw slot.failure(.disconnected, 19, device) }
      var bytes: [UInt8] = []
      guard let index = Int(device.drop { !$0.isNumber }), !active.kernel.contains(.silent),
        state.twin.view.devices.indices.contains(index)
      else { return bytes }
      while let frame = state.twin.takeFrame(index, upTo: room - bytes.count) {
        bytes += active.kernel.contains(.torn) ? frame.dropLast() : frame[...]
      }
      return bytes
    }
    buffer.copyBytes(from: bytes)
    return bytes.count
  }
}

/// Attributes that are read one after the other.
private final class SimulatedRounds: ByteSource {
  private let slot: KernelSlot
  private let attributes: [String]
  private let period: Int64
  private var begin: Int64?

  init(_ slot: KernelSlot, _ attributes: [String], every seconds: Double) {
    self.slot = slot
    self.attributes = attributes
    period = Int64(seconds * 1e9)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    var begin = begin
    defer { self.begin = begin }
    let bytes = try slot.with { (state, active, now) throws(BusError) in
      var bytes: [UInt8] = []
      let readTime = Int64((state.twin.view.devices.first?.readTime ?? 0) * 1e9)
      let length = readTime * Int64(attributes.count)
      guard var start = begin else {
        begin = now
        return bytes
      }
      // 19 is ENODEV.
      if active.kernel.contains(.unbound) { throw slot.failure(.disconnected, 19, "") }
      guard now >= start + length, !active.kernel.contains(.silent) else { return bytes }
      let step = max(period, length, 1)
      start += (now - start - length) / step * step
      begin = start + step
      bytes += Array("\(start)\n\(start + length)\n".utf8)
      for (place, path) in attributes.enumerated() {
        let time = start + readTime * Int64(place + 1)
        bytes += Array("\(try slot.text(path, state, active, at: time))\n".utf8)
      }
      return Array(bytes.prefix(buffer.count))
    }
    buffer.copyBytes(from: bytes)
    return bytes.count
  }
}
