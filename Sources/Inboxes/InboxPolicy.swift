// Which elements an inbox accepts, and what it drops when it is full.

/// The limit of one kind of element in an inbox, and what is dropped beyond it.
package enum InboxLimit: Hashable, Sendable {
  /// One element. A new one replaces the one that waits and goes to the end of the queue; this does not count as a loss.
  case newest
  /// A total weight. Beyond it the oldest elements of the kind are dropped, `together` at a time.
  case oldestGo(Int, together: Int = 1)
  /// A total weight. A new element that does not fit is dropped.
  case newGoes(Int)
  /// No limit here. Use it only where the number is bounded elsewhere, for example by one answer per request.
  case all
}

/// Which elements an inbox accepts, and what it drops when it is full.
package struct InboxPolicy<Element: Sendable, Kind: Hashable & Sendable>: Sendable {
  /// Returns the kind of an element, or `nil` to reject it. Elements of one kind share a limit.
  package var kind: @Sendable (Element) -> Kind?
  /// Returns the limit of a kind.
  package var limit: @Sendable (Kind) -> InboxLimit
  /// Returns the weight of an element: its share of the limit, and the number by which the drop counter rises for it.
  package var weight: @Sendable (Element) -> Int
  /// Returns whether drops of a kind are counted.
  package var isCounted: @Sendable (Kind) -> Bool
  /// Whether elements that wait or arrive while the inbox is held are discarded. Otherwise they wait.
  package var losesWhileHeld: Bool

  /// Creates a policy. By default every element weighs 1, every drop is counted, and elements wait while the inbox is held.
  package init(
    kind: @escaping @Sendable (Element) -> Kind?, limit: @escaping @Sendable (Kind) -> InboxLimit,
    weight: @escaping @Sendable (Element) -> Int = { _ in 1 },
    isCounted: @escaping @Sendable (Kind) -> Bool = { _ in true }, losesWhileHeld: Bool = false
  ) {
    self.kind = kind
    self.limit = limit
    self.weight = weight
    self.isCounted = isCounted
    self.losesWhileHeld = losesWhileHeld
  }
}

/// The only kind of an inbox that treats all elements alike.
package enum OneKind: Hashable, Sendable {
  case only
}

extension InboxPolicy where Kind == OneKind {
  /// Creates a policy with one limit for all elements.
  package init(_ limit: InboxLimit) { self.init(kind: { _ in .only }, limit: { _ in limit }) }
}

/// How a consumer is woken when an element arrives. It is woken once, until it calls `beginRound()`.
package enum InboxWake: Sendable {
  /// Nobody is woken; the consumer polls.
  case nobody
  /// Calls the closure on the posting thread, possibly with locks held. It must return at once and must not call client code;
  /// signalling a run loop or a semaphore is fine.
  case atOnce(@Sendable () -> Void)
  /// Calls the closure on a serial queue that belongs to this inbox. Use it where application code runs, for example an
  /// operation queue or the executor of a task: a slow consumer then delays no other inbox.
  case onQueue(@Sendable () -> Void)
}
