// A chip on a simulated I2C bus: its twin behind a lock, its faults, and what drivers hold of it.

import SensorBus
import SensorTypes
import Synchronization

/// One chip with registers. Any thread may use it.
final class RegisterSlot: Sendable {
  let bus: String
  let address: UInt8
  let interrupt: InterruptLineName?
  /// What acts on the chip, where it can be set from outside.
  let stimulus: ShownStimulus?
  let state: Mutex<RegisterSlotState>

  init(
    bus: String, address: UInt8, interrupt: InterruptLineName?,
    stimulus: ShownStimulus? = nil, twin: any ChipTwin
  ) {
    self.bus = bus
    self.stimulus = stimulus
    self.address = address
    self.interrupt = interrupt
    state = Mutex(RegisterSlotState(twin: twin))
  }

  /// Whether the chip drives its data-ready pin high.
  func level(at now: Timestamp) -> Bool {
    state.withLock { state in
      let active = state.faults(at: now)
      state.twin.advance(to: now)
      return !active.isUnplugged && state.twin.interruptLevel
    }
  }

  /// Whether this chip lets the bus through to those behind its bypass.
  func opensBypass(at now: Timestamp) -> Bool {
    state.withLock { state in
      let active = state.faults(at: now)
      state.twin.advance(to: now)
      return !active.isUnplugged && (state.twin as? any PassThroughTwin)?.isBypassOpen ?? true
    }
  }
}

struct RegisterSlotState: Sendable {
  var twin: any ChipTwin
  var faults = FaultSchedule()
  /// Attempts at a transfer while every so-many-th was disturbed.
  var attempts = 0

  /// Whether the attempt at a transfer that begins now is disturbed.
  mutating func isDisturbed(_ active: FaultSchedule.Active) -> Bool {
    guard let every = active.disturbance else { return false }
    attempts &+= 1
    return attempts % every == 0
  }

  /// Brings faults up to `now` and says what is wrong.
  mutating func faults(at now: Timestamp) -> FaultSchedule.Active {
    let active = faults.evaluate(at: now)
    if let time = active.poweredOn {
      twin.advance(to: time)
      twin.powerOn(at: time)
    }
    twin.tampering = active.tampering
    return active
  }
}

/// The chip at one address of one simulated bus; nobody may be there.
final class SimulatedRegisterDevice: RegisterDevice {
  private let slot: RegisterSlot?
  /// The chip behind whose bypass this one is.
  private let host: RegisterSlot?
  private let bus: String
  private let address: UInt8
  private let clock: any SimulationClock
  private let timeout: Double
  private let repetitions: TransferRetries

  init(
    slot: RegisterSlot?, host: RegisterSlot? = nil, bus: String, address: UInt8,
    clock: any SimulationClock, timeout: Double = 0.1, attempts: Int = TransferRetries.attempts
  ) {
    self.slot = slot
    self.host = host
    self.timeout = timeout
    repetitions = TransferRetries(attempts: attempts)
    self.bus = bus
    self.address = address
    self.clock = clock
  }

  private func failure(
    _ reason: BusError.Reason, register: UInt8, errno: Int32 = 0
  ) -> BusError {
    BusError(reason, bus: bus, address: address, register: register, errno: errno)
  }

  var retries: UInt64 { repetitions.count }

  func read(
    _ register: UInt8, into buffer: UnsafeMutableRawBufferPointer
  ) throws(BusError) {
    try transfer(register) { (twin, active, now) throws(BusError) in
      if let limit = active.readLimit, limit < buffer.count {
        twin.read(
          register, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<limit]), now: now)
        throw failure(
          .shortTransfer(expected: buffer.count, actual: limit), register: register)
      }
      twin.read(register, into: buffer, now: now)
    }
  }

  /// As after power-on: every twin's pointer is at its first register.
  func listen(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) {
    try read(0x00, into: buffer)
  }

  func write(_ register: UInt8, from bytes: UnsafeRawBufferPointer) throws(BusError) {
    try transfer(register) { (twin, active, now) throws(BusError) in
      if !active.tampering.isHeldLow { twin.write(register, from: bytes, now: now) }
    }
  }

  /// Does something with the chip, if it answers and the transfer ends in time. A disturbed transfer is repeated, as on a
  /// real bus.
  private func transfer(
    _ register: UInt8,
    _ body: (inout any ChipTwin, FaultSchedule.Active, Timestamp) throws(BusError) -> Void
  ) throws(BusError) {
    try repetitions.run { () throws(BusError) in try attempt(register, body) }
  }

  private func attempt(
    _ register: UInt8,
    _ body: (inout any ChipTwin, FaultSchedule.Active, Timestamp) throws(BusError) -> Void
  ) throws(BusError) {
    let now = clock.now()
    // 121 is EREMOTEIO, 110 ETIMEDOUT: what Linux says.
    guard let slot, host?.opensBypass(at: now) ?? true else {
      throw failure(.noAnswer, register: register, errno: 121)
    }
    try slot.state.withLock { (state) throws(BusError) in
      let active = state.faults(at: now)
      if active.isUnplugged || !state.twin.answers(at: now) {
        throw failure(.noAnswer, register: register, errno: 121)
      }
      if active.timesOut || active.delay > timeout {
        throw failure(.timedOut, register: register, errno: 110)
      }
      // 11 is EAGAIN.
      if state.isDisturbed(active) {
        throw failure(.arbitrationLost, register: register, errno: 11)
      }
      try body(&state.twin, active, now)
    }
  }
}

/// The GPIO line at a chip's data-ready pin.
final class SimulatedInterruptLine: InterruptLine {
  private let slot: RegisterSlot
  private let clock: any SimulationClock

  init(slot: RegisterSlot, clock: any SimulationClock) {
    self.slot = slot
    self.clock = clock
  }

  func takeEdges() throws(BusError) -> LineEdges? {
    let now = clock.now()
    return slot.state.withLock { state in
      let active = state.faults(at: now)
      let edge = state.twin.takeEdge(at: now)
      return active.isUnplugged ? nil : edge.map { LineEdges(newest: $0) }
    }
  }

  func isHigh() throws(BusError) -> Bool { slot.level(at: clock.now()) }

  var readiness: Readiness {
    let now = clock.now()
    let next = slot.state.withLock { state -> Timestamp? in
      let active = state.faults(at: now)
      return active.isUnplugged ? nil : state.twin.nextEdge(at: now)
    }
    // A line that nothing will raise stays unready for good, as a descriptor would.
    return .at(nanoseconds: next?.nanoseconds ?? .max)
  }
}
