// A receiver's pulse output at a simulated GPIO line, and what drivers hold of it.

import SensorBus
import SensorTypes
import Synchronization

/// One receiver's pulse output. Any thread may use it.
final class PulseSlot: Sendable {
  let name: InterruptLineName
  let state: Mutex<PulseSlotState>

  init(name: InterruptLineName, twin: PulseTwin) {
    self.name = name
    state = Mutex(PulseSlotState(twin: twin))
  }

  func level(at now: Timestamp) -> Bool {
    state.withLock { !$0.isUnplugged(at: now) && $0.twin.level(at: now) }
  }
}

struct PulseSlotState: Sendable {
  var twin: PulseTwin
  var faults = FaultSchedule()

  /// Brings faults up to `now`; says whether the wire is off.
  mutating func isUnplugged(at now: Timestamp) -> Bool {
    let active = faults.evaluate(at: now)
    if let time = active.poweredOn { twin.powerOn(at: time) }
    twin.fault = active.pulse
    return active.isUnplugged
  }
}

/// The GPIO line at a receiver's pulse output.
final class SimulatedPulseLine: InterruptLine {
  private let slot: PulseSlot
  private let clock: any SimulationClock

  init(slot: PulseSlot, clock: any SimulationClock) {
    self.slot = slot
    self.clock = clock
    // The kernel watches from the request on.
    let now = clock.now()
    slot.state.withLock { _ = $0.twin.takeEdges(at: now) }
  }

  func takeEdges() throws(BusError) -> LineEdges? {
    let now = clock.now()
    return slot.state.withLock { state in
      let isUnplugged = state.isUnplugged(at: now)
      guard let (newest, count) = state.twin.takeEdges(at: now), !isUnplugged else { return nil }
      return LineEdges(newest: newest, count: count)
    }
  }

  func isHigh() throws(BusError) -> Bool { slot.level(at: clock.now()) }

  var readiness: Readiness {
    let now = clock.now()
    let next = slot.state.withLock { state -> Timestamp? in
      state.isUnplugged(at: now) ? nil : state.twin.nextEdge(after: now)
    }
    return .at(nanoseconds: next?.nanoseconds ?? .max)
  }
}
