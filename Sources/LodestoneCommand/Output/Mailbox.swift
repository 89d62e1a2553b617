import Dispatch
import Glibc
import Synchronization

/// Carries what is published from the bus threads to the thread that works on it, without ever making a bus
/// wait.
final class Mailbox<Element: Sendable>: Sendable {
  /// What may lie here: a second's worth at full rates, several times over.
  private static var limit: Int { 4_096 }

  private struct State {
    var elements: [Element] = []
    var dropped = 0
  }

  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)
  // The number of the signal that has stopped it; 0 for none.
  private let signal = Atomic<Int32>(0)

  /// Takes an element; one too many is counted and dropped.
  func post(_ element: Element) {
    let wasEmpty = state.withLock { state in
      guard state.elements.count < Self.limit else {
        state.dropped += 1
        return false
      }
      state.elements.append(element)
      return state.elements.count == 1
    }
    if wasEmpty { arrival.signal() }
  }

  /// Waits until something arrives, `stop` is called or `seconds` have passed, then empties itself into
  /// `batch`. Returns how many had to be dropped since the last call.
  func take(into batch: inout [Element], waiting seconds: Double) -> Int {
    batch.removeAll(keepingCapacity: true)
    _ = arrival.wait(timeout: .now() + max(0, seconds))
    return state.withLock { state in
      swap(&batch, &state.elements)
      defer { state.dropped = 0 }
      return state.dropped
    }
  }

  /// Ends the wait, and those that follow, by a signal of this number. A command may go on after SIGHUP, which therefore
  /// does not replace another signal.
  func stop(_ number: Int32) {
    if number == SIGHUP {
      _ = signal.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing)
    } else {
      signal.store(number, ordering: .releasing)
    }
    arrival.signal()
  }

  /// The number that `stop` was called with; `nil` while it was not.
  var stopSignal: Int32? {
    let number = signal.load(ordering: .acquiring)
    return number == 0 ? nil : number
  }
}
