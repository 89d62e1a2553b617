// What an asynchronous sequence has said, for a test.

import Synchronization

/// What a sequence has said, in the order in which it was taken.
package final class Transcript<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var hasEnded = false
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  /// What was heard up to now.
  package var elements: [Element] { state.withLock { $0.elements } }
  package var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Makes one that has heard nothing.
  package init() {}

  package func add(_ element: Element) {
    wake { $0.elements.append(element) }
  }

  /// Notes that nothing follows.
  package func end() { wake { $0.hasEnded = true } }

  /// Waits until so many were heard, or nothing follows; the test's time limit ends what never comes.
  package func waits(for count: Int) async -> [Element] {
    await withCheckedContinuation { continuation in
      wake { $0.waiters.append((count, continuation)) }
    }
    return elements
  }

  private func wake(_ change: (inout State) -> Void) {
    let ready = state.withLock { state in
      change(&state)
      let (count, hasEnded) = (state.elements.count, state.hasEnded)
      defer { state.waiters.removeAll { $0.count <= count || hasEnded } }
      return state.waiters.filter { $0.count <= count || hasEnded }
    }
    for waiter in ready { waiter.continuation.resume() }
  }
}
