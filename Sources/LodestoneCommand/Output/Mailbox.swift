import Dispatch
import SensorTypes
import Synchronization

/// Carries observations from the bus threads to the thread that prints, without ever making a bus wait.
final class Mailbox: Sendable {
  /// What may lie here: a second's worth at full rates, several times over.
  private static let limit = 4_096

  private struct State {
    var observations: [Observation] = []
    var dropped = 0
  }

  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)
  private let isStopped = Atomic<Bool>(false)

  /// Takes an observation; one too many is counted and dropped.
  func post(_ observation: Observation) {
    let wasEmpty = state.withLock { state in
      guard state.observations.count < Self.limit else {
        state.dropped += 1
        return false
      }
      state.observations.append(observation)
      return state.observations.count == 1
    }
    if wasEmpty { arrival.signal() }
  }

  /// Waits until something arrives, `stop` is called or `seconds` have passed, then empties itself into
  /// `batch`. Returns how many had to be dropped since the last call.
  func take(into batch: inout [Observation], waiting seconds: Double) -> Int {
    batch.removeAll(keepingCapacity: true)
    _ = arrival.wait(timeout: .now() + max(0, seconds))
    return state.withLock { state in
      swap(&batch, &state.observations)
      defer { state.dropped = 0 }
      return state.dropped
    }
  }

  /// Ends the wait; from a signal, for instance.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    arrival.signal()
  }

  /// Whether `stop` was called.
  var wasStopped: Bool { isStopped.load(ordering: .acquiring) }
}
