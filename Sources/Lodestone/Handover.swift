// The way from the services to code that is not ours.

package import Dispatch
import Synchronization

/// Calls a client's operation queue or task executor on another thread. Both may be slow code of the application, and
/// events are received with the services locked, often on a bus thread.
///
/// Each client has its own, so that none waits for another.
package final class Handover: Sendable {
  private let queue = DispatchQueue(label: "lodestone.handover")
  private let rounds: DispatchGroup
  private let isAsked = Atomic<Bool>(false)

  /// - Parameter rounds: The group that all rounds of a runtime join.
  package init(_ rounds: DispatchGroup) { self.rounds = rounds }

  /// Schedules `round`. Does nothing if one is scheduled that has not begun: each round handles all that is pending.
  package func ask(_ round: @escaping @Sendable () -> Void) {
    guard !isAsked.exchange(true, ordering: .sequentiallyConsistent) else { return }
    queue.async(group: rounds) { [self] in
      // Before it looks: what is put away from now on asks again.
      isAsked.store(false, ordering: .sequentiallyConsistent)
      round()
    }
  }
}
