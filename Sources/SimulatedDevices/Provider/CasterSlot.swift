// A simulated caster, and the connections that clients hold to it.

package import SensorBus
import SensorTypes
import Synchronization

/// One caster at one address. Any thread may use it.
final class CasterSlot: Sendable {
  struct CasterState: Sendable {
    var behaviour = CasterTwin.Behaviour.versionTwo
    /// Raised when its behaviour changes: older connections end.
    var generation = 0
    var positions = 0
  }

  let caster: SimulatedCaster
  let state = Mutex(CasterState())

  init(_ caster: SimulatedCaster) { self.caster = caster }
}

extension SimulatedBusProvider {
  /// Lets a caster (by its place in the board's list) behave in another way, and ends its connections.
  package func setCaster(_ index: Int, to behaviour: CasterTwin.Behaviour) {
    casters[index].state.withLock { state in
      state.behaviour = behaviour
      state.generation += 1
    }
  }

  /// How many positions a caster's clients have sent it.
  package func positions(ofCaster index: Int) -> Int {
    casters[index].state.withLock { $0.positions }
  }

  /// A connection to a caster of this board; encryption is taken for granted.
  package func networkStream(
    to server: ServerAddress, isEncrypted: Bool, within seconds: Double
  ) throws(BusError) -> any NetworkStream {
    guard let slot = casters.first(where: { $0.caster.address == server }) else {
      // The casters of a board file are in memory.
      throw casters.isEmpty
        ? BusError(
          .noConnection("a simulated board connects to no real caster"),
          bus: server.description)
        : BusError(.noConnection("nobody listens there"), bus: server.description, errno: 111)
    }
    return CasterConnection(slot, clock: clock)
  }
}

/// A connection to a simulated caster, which stands once it is read.
private final class CasterConnection: NetworkStream {
  private struct CasterState: Sendable {
    var twin: CasterTwin
    var isOpen = false
  }

  private let slot: CasterSlot
  private let clock: any SimulationClock
  private let generation: Int
  private let behaviour: CasterTwin.Behaviour
  private let state: Mutex<CasterState>

  init(_ slot: CasterSlot, clock: any SimulationClock) {
    self.slot = slot
    self.clock = clock
    (behaviour, generation) = slot.state.withLock { ($0.behaviour, $0.generation) }
    state = Mutex(CasterState(twin: CasterTwin(slot.caster.mountpoint, behaviour)))
  }

  var isOpen: Bool { state.withLock { $0.isOpen } }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(BusError) -> Int {
    let now = clock.now()
    let place = slot.caster.address.description
    guard behaviour != .unreachable else {
      // 111 is ECONNREFUSED.
      throw BusError(.noConnection("nobody listens there"), bus: place, errno: 111)
    }
    let isOver = slot.state.withLock { $0.generation } != generation
    return try state.withLock { (state) throws(BusError) in
      state.isOpen = true
      if !isOver { state.twin.advance(to: now) }
      var count = 0
      while count < buffer.count, let byte = state.twin.takeByte() {
        buffer[count] = byte
        count += 1
      }
      guard count > 0 || !isOver && !state.twin.hasEnded else {
        throw BusError(.noConnection("the server has ended it"), bus: place)
      }
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
    let now = clock.now()
    let sent = state.withLock { state in
      let before = state.twin.positions
      for byte in bytes { state.twin.receive(byte, at: now) }
      return state.twin.positions - before
    }
    slot.state.withLock { $0.positions += sent }
  }

  func setBaudRate(_ rate: Int) throws(BusError) {
    throw BusError(.unsupported("a baud rate"), bus: slot.caster.address.description)
  }

  var readiness: Readiness {
    let now = clock.now()
    return state.withLock { state in
      .at(nanoseconds: state.twin.nextArrival(after: now).nanoseconds)
    }
  }
}
