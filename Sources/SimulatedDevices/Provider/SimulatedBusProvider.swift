// The simulated board behind the same protocols as a real one.

package import SensorBus
package import SensorTypes
import Synchronization

/// Opens the buses, ports and lines of a simulated board.
///
/// Unlike a real provider's, what it opens may be used by any thread; the chips' states are behind
/// locks. The board has been under power for a second when the provider is made, so that no chip is
/// still starting up, and its trajectory starts at that moment or a little before.
package final class SimulatedBusProvider: BusProvider {
  /// The board as it was described.
  package let board: SimulatedBoard
  /// The world it moves through.
  package let world: SimulatedWorld
  let clock: any SimulationClock
  private let busTimeout: Double
  private let busAttempts: Int

  private enum Slot: Sendable {
    case registers(RegisterSlot)
    case serial(SerialSlot)
    case server(GPSDSlot)
    case network(NetworkSlot)
  }

  private let slots: [Slot]
  let casters: [CasterSlot]
  let datagrams = DatagramBox()
  /// What the kernel offers of chips that it owns, by their places.
  private let kernels: [Int: KernelSlot]
  /// The pulse outputs of receivers, by their places.
  private let pulses: [Int: PulseSlot]

  /// Makes a board that starts now, or that has been under way for a while.
  ///
  /// - Parameters:
  ///   - board: What stands on it.
  ///   - clock: What its time is.
  ///   - busTimeout: Seconds after which a transfer is given up, as the real buses' 100 ms; infinite for
  ///     one who lets a slow transfer take its time himself (`transferDelay`).
  ///   - elapsed: For how many seconds the board has been under way, not negative.
  ///   - busAttempts: Attempts at a transfer that is disturbed, as the real buses' 3; 1 for one who passes the transfers
  ///     of a host on, which repeats them itself.
  package init(
    _ board: SimulatedBoard, clock: any SimulationClock = MonotonicClock(),
    busTimeout: Double = 0.1, elapsed: Double = 0, busAttempts: Int = 3
  ) {
    let start = clock.now().advanced(bySeconds: -elapsed)
    let world = SimulatedWorld(
      board.world, trajectory: board.trajectory, start: start, seed: board.seed)
    let power = start.advanced(bySeconds: -1)
    self.board = board
    self.clock = clock
    self.busTimeout = busTimeout
    self.busAttempts = busAttempts
    self.world = world
    var kernels: [Int: KernelSlot] = [:]
    var pulses: [Int: PulseSlot] = [:]
    for (index, chip) in board.chips.enumerated() where chip.kind.isReceiver {
      guard let name = chip.interrupt else { continue }
      var twin = PulseTwin(
        world: world, seed: board.errors(ofChip: index).seed, isExact: !chip.isImperfect,
        openedAt: start)
      twin.powerOn(at: power)
      pulses[index] = PulseSlot(name: name, twin: twin)
    }
    self.pulses = pulses
    casters = board.casters.map(CasterSlot.init)
    slots = board.chips.indices.map { index in
      let chip = board.chips[index]
      switch chip.place {
      case .bus(let bus, let address):
        // A shown field is the one around the board: the iron comes behind it.
        let stimulus = ShownStimulus(MountedStimulus(world: world, mount: chip.mount))
        let source = DistortedStimulus(stimulus, softIron: chip.softIron, hardIron: chip.hardIron)
        var twin = board.makeRegisterTwin(ofChip: index, in: world, source: source)
        twin.powerOn(at: power)
        if let view = chip.kernel {
          let (seed, errors) = board.errors(ofChip: index)
          kernels[index] = KernelSlot(
            KernelTwin(view, TwinCore(source: source, errors: errors, seed: seed)),
            place: "\(bus):\(hexadecimal(address))", clock: clock)
        }
        return .registers(
          RegisterSlot(
            bus: bus, address: address, interrupt: chip.kind.isReceiver ? nil : chip.interrupt,
            stimulus: stimulus, twin: twin))
      case .port(let port, let baudRate):
        var receiver = board.makeReceiverTwin(ofChip: index, in: world, baudRate: baudRate)
        receiver.powerOn(at: power)
        return .serial(SerialSlot(port: port, receiver: receiver))
      case .server(let address) where chip.kind != .gpsd:
        var receiver = board.makeReceiverTwin(ofChip: index, in: world)
        receiver.powerOn(at: power)
        return .network(NetworkSlot(address: address, receiver: receiver))
      case .server(let address):
        return .server(
          GPSDSlot(
            address: address, source: world, seed: board.errors(ofChip: index).seed,
            isExact: !chip.isImperfect))
      }
    }
    self.kernels = kernels
  }

  package func now() -> Timestamp { clock.now() }

  /// The date in the simulated world, seconds since 1970.
  package func wallTime() -> Double { world.truth(at: clock.now()).utc }

  /// The world's date is the true one.
  package var isWallTimeSet: Bool { true }

  /// What is true of the board at `time`.
  package func truth(at time: Timestamp) -> TruthState { world.truth(at: time) }

  /// Lets a chip (by its place in the board's list) have a fault between two moments. Several may
  /// overlap. Beginning in the past is beginning now, seen from the next access.
  package func inject(
    _ fault: SimulatedFault, chip index: Int, from: Timestamp, until: Timestamp = .distantFuture
  ) {
    precondition(slots.indices.contains(index), "no such chip on this board")
    let now = clock.now()
    kernels[index]?.inject(fault, from: from, until: until, now: now)
    pulses[index]?.state.withLock { $0.faults.add(fault, from: from, until: until, now: now) }
    switch slots[index] {
    case .registers(let slot):
      slot.state.withLock { $0.faults.add(fault, from: from, until: until, now: now) }
    case .serial(let slot):
      slot.state.withLock { $0.faults.add(fault, from: from, until: until, now: now) }
    case .server(let slot):
      slot.state.withLock { $0.faults.add(fault, from: from, until: until, now: now) }
    case .network(let slot):
      slot.state.withLock { $0.faults.add(fault, from: from, until: until, now: now) }
    }
  }

  /// Ends every fault of a chip now.
  package func endFaults(chip index: Int) {
    precondition(slots.indices.contains(index), "no such chip on this board")
    let now = clock.now()
    kernels[index]?.endFaults(now: now)
    pulses[index]?.state.withLock { $0.faults.end(at: now) }
    switch slots[index] {
    case .registers(let slot): slot.state.withLock { $0.faults.end(at: now) }
    case .serial(let slot): slot.state.withLock { $0.faults.end(at: now) }
    case .server(let slot): slot.state.withLock { $0.faults.end(at: now) }
    case .network(let slot): slot.state.withLock { $0.faults.end(at: now) }
    }
  }

  /// Turns the heading of a receiver with two antennas by an angle in radians, as carrier phases that were fixed to a wrong integer
  /// do; 0 ends it.
  package func setHeadingError(_ angle: Double, chip index: Int) {
    guard slots.indices.contains(index), case .serial(let slot) = slots[index] else { return }
    slot.state.withLock { $0.receiver.headingError = angle }
  }

  /// Sets what a receiver reports of its antenna and its surroundings.
  package func setCondition(_ condition: SimulatedCondition, chip index: Int) {
    guard slots.indices.contains(index), case .serial(let slot) = slots[index] else { return }
    slot.state.withLock { $0.receiver.condition = condition }
  }

  /// Lets a hand move the board, after what it does already; false for numbers that are none, and for a way that
  /// begins anew each time.
  @discardableResult
  package func move(_ motion: HandMotion) -> Bool { world.move(motion, now: clock.now()) != nil }

  /// Lets a chip with registers see constant quantities from its next conversion on; those that are
  /// `nil` come from the walk again.
  package func show(_ shown: ShownStimulus.Quantities, chip index: Int) {
    guard slots.indices.contains(index), case .registers(let slot) = slots[index] else { return }
    slot.stimulus?.show(shown)
  }

  /// What a chip is shown at present.
  package func shown(chip index: Int) -> ShownStimulus.Quantities {
    guard slots.indices.contains(index), case .registers(let slot) = slots[index] else {
      return ShownStimulus.Quantities()
    }
    return slot.stimulus?.shown ?? ShownStimulus.Quantities()
  }

  /// Seconds that a transfer with the chip at an address takes now because of a fault; 0 without one.
  package func transferDelay(bus: String, address: UInt8) -> Double {
    let now = clock.now()
    for case .registers(let slot) in slots where slot.bus == bus && slot.address == address {
      return slot.state.withLock { $0.faults(at: now).delay }
    }
    return 0
  }

  /// When a chip's next conversion will be complete, or `nil` while it is idle or has none.
  package func nextDataReady(chip index: Int) -> Timestamp? {
    guard slots.indices.contains(index), case .registers(let slot) = slots[index] else {
      return nil
    }
    let now = clock.now()
    return slot.state.withLock { state in
      _ = state.faults(at: now)
      state.twin.advance(to: now)
      return state.twin.nextDataReady(after: now)
    }
  }

  /// The chip at an address; nobody may be there, which its transfers then say.
  package func registerDevice(
    bus: String, address: UInt8
  ) throws(BusError) -> any RegisterDevice {
    guard registerBuses().contains(bus) else { throw BusError(.notFound, bus: bus, errno: 2) }
    var found: RegisterSlot?
    var host: RegisterSlot?
    for (index, entry) in slots.enumerated() {
      guard case .registers(let slot) = entry, slot.bus == bus, slot.address == address else {
        continue
      }
      if let driver = kernels[index]?.boundDriver {
        throw BusError(.ownedByKernel(driver: driver), bus: bus, address: address, errno: 16)
      }
      found = slot
      if let place = board.host(ofChip: index), case .registers(let slot) = slots[place] {
        host = slot
      }
    }
    return SimulatedRegisterDevice(
      slot: found, host: host, bus: bus, address: address, clock: clock, timeout: busTimeout,
      attempts: busAttempts)
  }

  /// What the kernel offers of the chip at an address; `.notFound` where no driver of its own has bound it.
  package func kernelDevice(bus: String, address: UInt8) throws(BusError) -> any KernelDevice {
    for (index, kernel) in kernels where kernel.boundDriver != nil {
      if case .registers(let slot) = slots[index], slot.bus == bus, slot.address == address {
        return SimulatedKernelDevice(kernel)
      }
    }
    throw BusError(.notFound, bus: bus, address: address, errno: 2)
  }

  /// A serial port, opened at a rate; `.notFound` if there is none or it was pulled out.
  package func byteStream(port: String, baudRate: Int) throws(BusError) -> any ByteStream {
    for case .serial(let slot) in slots where slot.port == port {
      return try SimulatedByteStream(slot: slot, baudRate: baudRate, clock: clock)
    }
    throw BusError(.notFound, bus: port, errno: 2)
  }

  /// A connection to a gpsd or a receiver of this board; nobody may listen there, which its reads then say.
  package func connection(to server: ServerAddress) throws(BusError) -> any ByteStream {
    if case .datagrams(let path) = server {
      return SimulatedDatagramSink(box: datagrams, path: path)
    }
    for case .network(let slot) in slots where slot.address == server {
      return SimulatedNetworkStream(slot: slot, clock: clock)
    }
    for case .server(let slot) in slots where slot.address == server {
      return SimulatedConnection(slot: slot, clock: clock)
    }
    // 111 is ECONNREFUSED.
    throw BusError(.noConnection("nobody listens there"), bus: server.description, errno: 111)
  }

  /// A serial port behind a line that has no rate of its own, such as a pseudo terminal: it always
  /// listens and sends at the receiver's.
  package func ratelessStream(port: String) throws(BusError) -> any ByteStream {
    for case .serial(let slot) in slots where slot.port == port {
      return try SimulatedByteStream(slot: slot, baudRate: nil, clock: clock)
    }
    throw BusError(.notFound, bus: port, errno: 2)
  }

  /// Whether a chip drives its data-ready pin, or a receiver its pulse output, high now; `nil` if none is at that line.
  package func level(of name: InterruptLineName) -> Bool? {
    let now = clock.now()
    for case .registers(let slot) in slots where slot.interrupt == name {
      return slot.level(at: now)
    }
    return pulses.values.first { $0.name == name }?.level(at: now)
  }

  /// The line at a chip's data-ready pin or a receiver's pulse output; `.notFound` if nothing drives it.
  package func interruptLine(_ name: InterruptLineName) throws(BusError) -> any InterruptLine {
    for case .registers(let slot) in slots where slot.interrupt == name {
      return SimulatedInterruptLine(slot: slot, clock: clock)
    }
    if let slot = pulses.values.first(where: { $0.name == name }) {
      return SimulatedPulseLine(slot: slot, clock: clock)
    }
    throw BusError(.notFound, bus: "\(name.chip) line \(name.line)", errno: 2)
  }

  /// The simulated I2C buses, by number.
  package func registerBuses() -> [String] {
    var buses: [String] = []
    for case .registers(let slot) in slots where !buses.contains(slot.bus) {
      buses.append(slot.bus)
    }
    // By number: a shorter name has the smaller one.
    return buses.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
  }

  /// The simulated serial ports, in the order of the board's list.
  package func serialPorts() -> [String] {
    var ports: [String] = []
    for case .serial(let slot) in slots where !ports.contains(slot.port) {
      ports.append(slot.port)
    }
    return ports
  }
}
