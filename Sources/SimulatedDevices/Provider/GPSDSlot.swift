// A simulated gpsd, and the connections that drivers hold to it.

import SensorBus
import SensorTypes
import Synchronization

/// One gpsd at one address. Any thread may use it.
final class GPSDSlot: Sendable {
  let address: ServerAddress
  let state = Mutex(GPSDSlotState())
  private let source: any TruthSource
  private let seed: UInt64
  private let isExact: Bool

  init(address: ServerAddress, source: any TruthSource, seed: UInt64, isExact: Bool) {
    self.address = address
    self.source = source
    self.seed = seed
    self.isExact = isExact
  }

  func connect(at now: Timestamp) -> GPSDTwin {
    GPSDTwin(source: source, seed: seed, isExact: isExact, connectedAt: now)
  }
}

struct GPSDSlotState: Sendable {
  var faults = FaultSchedule()
  /// How often it was started: a connection ends with the gpsd that it was made to.
  var generation = 0

  mutating func faults(at now: Timestamp) -> FaultSchedule.Active {
    let active = faults.evaluate(at: now)
    if active.poweredOn != nil { generation += 1 }
    return active
  }
}

/// A connection to a simulated gpsd.
final class SimulatedConnection: ByteStream {
  private struct State: Sendable {
    var twin: GPSDTwin
    var generation: Int
    var wasOpen = false
  }

  private let slot: GPSDSlot
  private let clock: any SimulationClock
  private let state: Mutex<State>

  init(slot: GPSDSlot, clock: any SimulationClock) {
    self.slot = slot
    self.clock = clock
    let now = clock.now()
    let generation = slot.state.withLock { state in
      _ = state.faults(at: now)
      return state.generation
    }
    state = Mutex(State(twin: slot.connect(at: now), generation: generation))
  }

  /// Lets the connection live up to now; throws where it has ended, or never began.
  private func live(_ state: inout State, at now: Timestamp) throws(BusError)
    -> FaultSchedule.Active
  {
    let (active, generation) = slot.state.withLock { server in
      let active = server.faults(at: now)
      return (active, server.generation)
    }
    guard !active.isUnplugged, generation == state.generation else {
      // A connection that has ended does not come back.
      state.generation = -1
      let place = slot.address.description
      // 111 is ECONNREFUSED.
      throw state.wasOpen
        ? BusError(.noConnection("the server has ended it"), bus: place)
        : BusError(.noConnection("nobody listens there"), bus: place, errno: 111)
    }
    state.wasOpen = true
    state.twin.advance(
      to: now, isSilent: active.tampering.isSilent, isStopped: active.tampering.isFrozen)
    if active.timesOut { state.twin.dropOutput() }
    return active
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let now = clock.now()
    return try state.withLock { (state) throws(BusError) in
      let active = try live(&state, at: now)
      let limit = min(buffer.count, active.readLimit ?? buffer.count)
      var count = 0
      while count < limit, let byte = state.twin.takeByte() {
        buffer[count] =
          active.tampering.isGarbage ? SimulatedByteStream.noise(byte, at: now, index: count) : byte
        count += 1
      }
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    let now = clock.now()
    try state.withLock { (state) throws(BusError) in
      _ = try live(&state, at: now)
      for byte in bytes { state.twin.receive(byte) }
    }
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    throw BusError(.unsupported("a baud rate"), bus: slot.address.description)
  }

  var readiness: Readiness {
    let now = clock.now()
    return state.withLock { state in
      do throws(BusError) {
        _ = try live(&state, at: now)
        return .at(nanoseconds: state.twin.nextArrival(after: now).nanoseconds)
      } catch {
        // Its end is noticed by reading, which the driver does by itself.
        return .never
      }
    }
  }
}
