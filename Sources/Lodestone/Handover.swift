// The way from the services to code that is not ours.

package import Dispatch
import Synchronization

/// Takes word to a client's operation queue, or to the executor of a task that waits: code of the application, which may
/// take its time, while a letter box is filled with the services locked and often by a bus's thread.
///
/// Each client has its own, so that none waits for another. What is asked for while a round waits is merged into it.
package final class Handover: Sendable {
  private let queue = DispatchQueue(label: "lodestone.handover")
  private let rounds: DispatchGroup
  private let isAsked = Atomic<Bool>(false)

  /// - Parameter rounds: Those that are under way, of all clients together.
  package init(_ rounds: DispatchGroup) { self.rounds = rounds }

  /// Has `round` done soon on another thread, unless one waits already: every round does all that there is to do.
  package func ask(_ round: @escaping @Sendable () -> Void) {
    guard !isAsked.exchange(true, ordering: .sequentiallyConsistent) else { return }
    queue.async(group: rounds) { [self] in
      // Before it looks: what is put away from now on asks again.
      isAsked.store(false, ordering: .sequentiallyConsistent)
      round()
    }
  }
}
