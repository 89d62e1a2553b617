// A bounded queue from one thread to another.

import Dispatch
import Synchronization

/// A bounded queue from one thread to another.
///
/// Any thread posts, and any takes. With the inbox's lock held nothing is called but its policy, and nothing that was dropped is
/// let go of: what an element holds may be an application's, and may come back to this inbox when it ends.
package final class Inbox<Element: Sendable, Kind: Hashable & Sendable>: Sendable {
  /// Identifies the elements posted since a restart.
  package struct Ticket: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct Entry: Sendable {
    var kind: Kind
    var element: Element
  }

  private struct State {
    var waiting: [Entry] = []
    var restarts: UInt64 = 0
    var dropped: UInt64 = 0
    var isHeld = false
    var isClosed = false
    /// Whether the consumer was woken and has not begun a round since.
    var isAwake = false
    var waking = Waking(wake: .nobody)

    /// Whether nothing can be taken now.
    var hasNothing: Bool { isHeld || isClosed || waiting.isEmpty }
  }

  private struct Waking: Sendable {
    var wake: InboxWake
    var queue: DispatchQueue?

    func call() {
      switch wake {
      case .nobody: break
      case .atOnce(let call): call()
      case .onQueue(let call): queue?.async(execute: call)
      }
    }
  }

  /// What waited when a consumer began to look.
  package struct Round: Sendable {
    /// The number of waiting elements.
    package let count: Int
    /// Whether the inbox was held.
    package let isHeld: Bool
    /// Whether an element of a kind that was asked for waited.
    package let containsWanted: Bool
  }

  private let policy: InboxPolicy<Element, Kind>
  private let state = Mutex(State())

  /// Creates an empty inbox.
  package init(_ policy: InboxPolicy<Element, Kind>, wake: InboxWake = .nobody) {
    self.policy = policy
    setWake(wake)
  }

  /// Sets how the consumer is woken. For an owner that is created after its inbox.
  package func setWake(_ wake: InboxWake) {
    let queue =
      if case .onQueue = wake { DispatchQueue(label: "lodestone.inbox") } else {
        nil as DispatchQueue?
      }
    state.withLock { $0.waking = Waking(wake: wake, queue: queue) }
  }

  // MARK: Bringing

  /// Appends an element. Does nothing after `close()`.
  ///
  /// - Returns: The counted weight of the elements that were dropped for it.
  @discardableResult
  package func post(_ element: Element) -> Int {
    guard let kind = policy.kind(element) else { return 0 }
    var gone: [Entry] = []
    let (dropped, waking): (Int, Waking?) = state.withLock { state in
      guard !state.isClosed, !(state.isHeld && policy.losesWhileHeld) else { return (0, nil) }
      let dropped = makeRoom(for: element, kind, in: &state, gone: &gone)
      if dropped != nil { state.waiting.append(Entry(kind: kind, element: element)) }
      let count = policy.isCounted(kind) ? dropped ?? policy.weight(element) : 0
      state.dropped += UInt64(count)
      guard dropped != nil, !state.isAwake, !state.isHeld else { return (count, nil) }
      state.isAwake = true
      return (count, state.waking)
    }
    withExtendedLifetime(gone) {}
    waking?.call()
    return dropped
  }

  /// Removes elements until the new one fits. Returns the weight of the removed ones, or `nil` if the new one is rejected.
  private func makeRoom(
    for element: Element, _ kind: Kind, in state: inout State, gone: inout [Entry]
  ) -> Int? {
    switch policy.limit(kind) {
    case .all: return 0
    case .newest:
      guard let index = state.waiting.firstIndex(where: { $0.kind == kind }) else { return 0 }
      gone.append(state.waiting.remove(at: index))
      return 0
    case .newGoes(let limit):
      return weight(of: kind, in: state) + policy.weight(element) <= limit ? 0 : nil
    case .oldestGo(let limit, let together):
      var (weight, dropped) = (weight(of: kind, in: state) + policy.weight(element), 0)
      while weight > limit {
        var taken = 0
        while taken < together, let index = state.waiting.firstIndex(where: { $0.kind == kind }) {
          let entry = state.waiting.remove(at: index)
          weight -= policy.weight(entry.element)
          dropped += policy.weight(entry.element)
          gone.append(entry)
          taken += 1
        }
        // An element that alone exceeds the limit is accepted.
        if taken == 0 { break }
      }
      return dropped
    }
  }

  private func weight(of kind: Kind, in state: borrowing State) -> Int {
    var sum = 0
    for entry in state.waiting where entry.kind == kind { sum += policy.weight(entry.element) }
    return sum
  }

  /// The counted weight of all dropped elements. It never decreases.
  package var dropped: UInt64 { state.withLock { $0.dropped } }

  // MARK: Taking

  /// Tells the inbox that the consumer is about to look: the next element wakes it again.
  @discardableResult
  package func beginRound(lookingFor isWanted: (Kind) -> Bool = { _ in false }) -> Round {
    state.withLock { state in
      state.isAwake = false
      return Round(
        count: state.waiting.count, isHeld: state.isHeld,
        containsWanted: state.waiting.contains { isWanted($0.kind) })
    }
  }

  /// Removes and returns the oldest element. Returns `nil` if the inbox is empty, held or closed.
  package func take() -> Element? {
    state.withLock { $0.hasNothing ? nil : $0.waiting.removeFirst().element }
  }

  /// Removes and returns the oldest element posted since the restart that returned `ticket`, or `nil` after a later restart.
  package func take(by ticket: Ticket) -> Element? {
    state.withLock { state in
      guard state.restarts == ticket.number, !state.hasNothing else { return nil }
      return state.waiting.removeFirst().element
    }
  }

  /// Removes and returns the oldest element of a wanted kind. If that kind is joined, also the elements of the same kind that
  /// directly follow it.
  package func take(
    _ isWanted: (Kind) -> Bool, together isJoined: (Kind) -> Bool
  ) -> [Element] {
    state.withLock { state in
      guard !state.hasNothing, let start = state.waiting.firstIndex(where: { isWanted($0.kind) })
      else { return [] }
      let kind = state.waiting[start].kind
      var end = start + 1
      while isJoined(kind), end < state.waiting.count, state.waiting[end].kind == kind { end += 1 }
      let run = state.waiting[start..<end].map { $0.element }
      state.waiting.removeSubrange(start..<end)
      return run
    }
  }

  /// Removes and returns the oldest element of a kind, even if others wait before it.
  package func take(_ kind: Kind) -> Element? {
    state.withLock { state in
      guard !state.hasNothing, let index = state.waiting.firstIndex(where: { $0.kind == kind })
      else { return nil }
      return state.waiting.remove(at: index).element
    }
  }

  /// Moves all elements into `batch`, whose memory is reused.
  package func takeAll(into batch: inout [Element]) {
    batch.removeAll(keepingCapacity: true)
    state.withLock { state in
      guard !state.hasNothing else { return }
      for entry in state.waiting { batch.append(entry.element) }
      state.waiting.removeAll(keepingCapacity: true)
    }
  }

  /// The number of waiting elements.
  package var count: Int { state.withLock { $0.waiting.count } }

  /// Returns whether an element of a matching kind waits.
  package func contains(_ isMeant: (Kind) -> Bool) -> Bool {
    state.withLock { state in state.waiting.contains { isMeant($0.kind) } }
  }

  /// Returns whether an element of a matching kind can be taken now.
  package func holds(_ isMeant: (Kind) -> Bool) -> Bool {
    state.withLock { state in
      !state.hasNothing && state.waiting.contains { isMeant($0.kind) }
    }
  }

  // MARK: Ruling

  /// Discards the waiting elements of matching kinds. They are not counted as dropped.
  package func discard(_ isMeant: (Kind) -> Bool) {
    let gone = state.withLock { state in
      let gone = state.waiting.filter { isMeant($0.kind) }
      state.waiting.removeAll { isMeant($0.kind) }
      return gone
    }
    withExtendedLifetime(gone) {}
  }

  /// Discards all waiting elements and invalidates earlier tickets.
  @discardableResult
  package func restart() -> Ticket {
    let (gone, ticket) = state.withLock { state in
      defer { state.waiting = [] }
      state.restarts += 1
      return (state.waiting, Ticket(number: state.restarts))
    }
    withExtendedLifetime(gone) {}
    return ticket
  }

  /// Holds or releases the inbox. While it is held nothing can be taken; releasing it wakes the consumer.
  package func hold(_ isHeld: Bool) {
    let (gone, waking): ([Entry], Waking?) = state.withLock { state in
      state.isHeld = isHeld
      var gone: [Entry] = []
      if isHeld, policy.losesWhileHeld { swap(&gone, &state.waiting) }
      if !isHeld { state.isAwake = true }
      return (gone, isHeld ? nil : state.waking)
    }
    withExtendedLifetime(gone) {}
    waking?.call()
  }

  /// Whether the inbox is held.
  package var isHeld: Bool { state.withLock { $0.isHeld } }

  /// Discards everything, rejects later elements, and wakes the consumer one last time.
  package func close() {
    let (gone, waking) = state.withLock { state in
      defer { state.waiting = [] }
      state.isClosed = true
      return (state.waiting, state.waking)
    }
    withExtendedLifetime(gone) {}
    waking.call()
  }

  /// Whether the inbox was closed.
  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Waits until the wake-up calls on the inbox's queue have returned. For tests.
  package func settle() { state.withLock { $0.waking.queue }?.sync {} }
}
