// A receiver on a simulated serial port, and the stream that drivers hold of it.

import SensorBus
import SensorTypes
import Synchronization

/// One receiver at one port. Any thread may use it.
final class SerialSlot: Sendable {
  let port: String
  let state: Mutex<SerialSlotState>

  init(port: String, receiver: ReceiverTwin) {
    self.port = port
    state = Mutex(SerialSlotState(receiver: receiver, hostBaudRate: receiver.baudRate))
  }
}

struct SerialSlotState: Sendable {
  var receiver: ReceiverTwin
  var faults = FaultSchedule()
  /// The rate at which the host listens and sends; `nil` for one that follows the receiver.
  var hostBaudRate: Int?

  /// Whether the two ends of the line run at different rates.
  var isMisheard: Bool { hostBaudRate.map { $0 != receiver.baudRate } ?? false }

  mutating func faults(at now: Timestamp) -> FaultSchedule.Active {
    let active = faults.evaluate(at: now)
    if let time = active.poweredOn { receiver.powerOn(at: time) }
    receiver.advance(to: now)
    if active.isUnplugged || active.tampering.isSilent || active.timesOut {
      receiver.dropOutput()
    }
    return active
  }
}

/// A simulated serial port, open at some rate.
final class SimulatedByteStream: ByteStream {
  private let slot: SerialSlot
  private let clock: any SimulationClock

  init(slot: SerialSlot, baudRate: Int?, clock: any SimulationClock) throws(BusError) {
    self.slot = slot
    self.clock = clock
    let now = clock.now()
    let isGone = slot.state.withLock { state in
      let active = state.faults(at: now)
      state.hostBaudRate = baudRate
      // Nobody listened before: the kernel receives from the moment of opening.
      state.receiver.dropArrived(at: now)
      return active.isUnplugged
    }
    // 2 is ENOENT.
    if isGone { throw BusError(.notFound, bus: slot.port, errno: 2) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let now = clock.now()
    return try slot.state.withLock { (state) throws(BusError) in
      let active = state.faults(at: now)
      // 5 is EIO: a port that was pulled out.
      if active.isUnplugged { throw BusError(.disconnected, bus: slot.port, errno: 5) }
      let limit = min(buffer.count, active.readLimit ?? buffer.count)
      let isNoise = active.tampering.isGarbage || state.isMisheard
      var count = 0
      while count < limit, let byte = state.receiver.takeByte(at: now) {
        buffer[count] = isNoise ? Self.noise(byte, at: now, index: count) : byte
        count += 1
      }
      return count
    }
  }

  /// What a byte looks like when it is sampled at the wrong moments.
  static func noise(_ byte: UInt8, at now: Timestamp, index: Int) -> UInt8 {
    var random = SeededGenerator(
      seed: UInt64(byte), stream: UInt64(bitPattern: now.nanoseconds), index: UInt64(index))
    return UInt8(truncatingIfNeeded: random.next())
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    let now = clock.now()
    try slot.state.withLock { (state) throws(BusError) in
      let active = state.faults(at: now)
      if active.isUnplugged { throw BusError(.disconnected, bus: slot.port, errno: 5) }
      for byte in bytes {
        // Sent at another rate than the receiver's, nothing arrives that it could understand; but any edge wakes it.
        guard !state.isMisheard || state.receiver.isAsleep else { return }
        state.receiver.receive(byte, at: now)
      }
    }
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    let now = clock.now()
    try slot.state.withLock { (state) throws(BusError) in
      let active = state.faults(at: now)
      if active.isUnplugged { throw BusError(.disconnected, bus: slot.port, errno: 5) }
      state.hostBaudRate = rate
      state.receiver.dropArrived(at: now)
    }
  }

  var readiness: Readiness {
    let now = clock.now()
    return slot.state.withLock { state in
      let active = state.faults(at: now)
      // A port that was pulled out reports at once.
      if active.isUnplugged { return .at(nanoseconds: now.nanoseconds) }
      return .at(nanoseconds: state.receiver.nextArrival(after: now).nanoseconds)
    }
  }
}
