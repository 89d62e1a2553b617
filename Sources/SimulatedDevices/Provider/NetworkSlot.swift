// A simulated receiver on the network: behind a server (tcp), or one that sends datagrams (udp).

import SensorBus
import SensorTypes
import Synchronization

/// One receiver at one address. Any thread may use it.
final class NetworkSlot: Sendable {
  let address: ServerAddress
  let state: Mutex<NetworkSlotState>

  init(address: ServerAddress, receiver: ReceiverTwin) {
    self.address = address
    state = Mutex(NetworkSlotState(receiver: receiver))
  }

  /// Whether its sentences come over a connection, which can end.
  var isConnected: Bool {
    if case .udp = address { false } else { true }
  }
}

struct NetworkSlotState: Sendable {
  var receiver: ReceiverTwin
  var faults = FaultSchedule()
  /// How often it was started: a connection ends with the server that it was made to.
  var generation = 0

  mutating func faults(at now: Timestamp) -> FaultSchedule.Active {
    let active = faults.evaluate(at: now)
    if let time = active.poweredOn {
      receiver.powerOn(at: time)
      generation += 1
    }
    receiver.advance(to: now)
    if active.isUnplugged || active.tampering.isSilent || active.timesOut {
      receiver.dropOutput()
    }
    return active
  }
}

/// What a driver hears of it. Nothing is sent back: a server of NMEA takes no commands.
final class SimulatedNetworkStream: ByteStream {
  private struct State: Sendable {
    var generation: Int
    var wasOpen = false
  }

  private let slot: NetworkSlot
  private let clock: any SimulationClock
  private let state: Mutex<State>

  init(slot: NetworkSlot, clock: any SimulationClock) {
    self.slot = slot
    self.clock = clock
    let now = clock.now()
    let generation = slot.state.withLock { state in
      _ = state.faults(at: now)
      // Nobody listened before.
      state.receiver.dropArrived(at: now)
      return state.generation
    }
    state = Mutex(State(generation: generation))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let now = clock.now()
    try live(at: now)
    return slot.state.withLock { state in
      let active = state.faults(at: now)
      let limit = min(buffer.count, active.readLimit ?? buffer.count)
      var count = 0
      while count < limit, let byte = state.receiver.takeByte(at: now) {
        buffer[count] =
          active.tampering.isGarbage
          ? SimulatedByteStream.noise(byte, at: now, index: count) : byte
        count += 1
      }
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    throw BusError(.unsupported("sending: it is only read"), bus: slot.address.description)
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    throw BusError(.unsupported("a baud rate"), bus: slot.address.description)
  }

  var readiness: Readiness {
    let now = clock.now()
    return slot.state.withLock { state in
      let active = state.faults(at: now)
      // Its end is noticed by reading, which the driver does by itself.
      if active.isUnplugged { return .never }
      return .at(nanoseconds: state.receiver.nextArrival(after: now).nanoseconds)
    }
  }

  /// Throws where the connection has ended, or never began. One that has ended does not come back.
  private func live(at now: Timestamp) throws(BusError) {
    guard slot.isConnected else { return }
    let (isUnplugged, generation) = slot.state.withLock { server in
      (server.faults(at: now).isUnplugged, server.generation)
    }
    let place = slot.address.description
    try state.withLock { (state) throws(BusError) in
      guard !isUnplugged, generation == state.generation else {
        state.generation = -1
        // 111 is ECONNREFUSED.
        throw state.wasOpen
          ? BusError(.noConnection("the server has ended it"), bus: place)
          : BusError(.noConnection("nobody listens there"), bus: place, errno: 111)
      }
      state.wasOpen = true
    }
  }
}
