import Dispatch
import Glibc
import Inboxes
import Synchronization

/// Hands observations from the bus threads to the thread that processes them. It never blocks a bus.
package final class ArrivalQueue<Element: Sendable>: Sendable {
  /// The number of elements that may wait: several seconds at full rates.
  private static var limit: Int { 4_096 }

  private let inbox = Inbox<Element, OneKind>(InboxPolicy(.newGoes(ArrivalQueue.limit)))
  private let told = Atomic<UInt64>(0)
  private let arrival = DispatchSemaphore(value: 0)
  // The number of the signal that has stopped it; 0 for none.
  private let signal = Atomic<Int32>(0)

  package init() { inbox.setWake(.atOnce { [arrival] in arrival.signal() }) }

  /// Appends an element, or counts and drops it if the queue is full.
  package func post(_ element: Element) { inbox.post(element) }

  /// Waits until an element arrives, `stop` is called or `seconds` have passed, then moves all elements into `batch`. Returns the
  /// number of elements that were dropped since the last call.
  package func take(into batch: inout [Element], waiting seconds: Double) -> Int {
    _ = arrival.wait(timeout: .now() + max(0, seconds))
    inbox.beginRound()
    inbox.takeAll(into: &batch)
    let dropped = inbox.dropped
    return Int(dropped - told.exchange(dropped, ordering: .relaxed))
  }

  /// Ends this wait and later ones because of a signal. A command may go on after SIGHUP, which therefore does not replace
  /// another signal.
  package func stop(_ number: Int32) {
    if number == SIGHUP {
      _ = signal.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing)
    } else {
      signal.store(number, ordering: .releasing)
    }
    arrival.signal()
  }

  /// The number of the signal that `stop` was called with, or `nil`.
  package var stopSignal: Int32? {
    let number = signal.load(ordering: .acquiring)
    return number == 0 ? nil : number
  }
}
