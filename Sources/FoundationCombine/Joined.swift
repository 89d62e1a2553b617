// The subscriptions to several publishers at once: what Combining.swift's publishers hand to their subscribers. Sides, which
// the publishers see, and one object that they speak to.
//
// Each has two locks, as Combine's operators have: `lock` for what is known, held for a moment and never while somebody else is
// called, and `turn`, under which the subscriber is told one thing after the other. A subscriber that makes a publisher speak
// while it is told something is told of that at once, within: `turn` is recursive.

import Foundation
import OpenCombine

/// Passes the latest values of several publishers on, together.
///
/// What is asked for is asked of each; a value that comes when nothing is wanted replaces the one before, and is told when
/// something is.
final class LatestSubscription<Slots, Downstream: Subscriber>: Subscription {
  private let gather: (Slots) -> Downstream.Input?
  private let lock = NSLock()
  private let turn = NSRecursiveLock()
  private var slots: Slots
  /// Nil when it is over.
  private var downstream: Downstream?
  private var upstreams: [(any Subscription)?]
  private var unfinished: Int
  /// All that was asked for, for a publisher that comes later.
  private var asked = Subscribers.Demand.none
  private var wanted = Subscribers.Demand.none
  private var hasNews = false

  /// Of as many publishers as `count`; `gather` puts together what is to be told, nil as long as one is missing.
  init(
    _ count: Int, _ slots: Slots, to downstream: Downstream,
    gather: @escaping (Slots) -> Downstream.Input?
  ) {
    (self.slots, self.downstream, self.gather) = (slots, downstream, gather)
    (upstreams, unfinished) = (Array(repeating: nil, count: count), count)
    downstream.receive(subscription: self)
  }

  /// Subscribes to a publisher, whose values go to a slot.
  func join<P: Publisher>(_ publisher: P, _ index: Int, _ slot: WritableKeyPath<Slots, P.Output?>)
  where P.Failure == Downstream.Failure {
    publisher.subscribe(LatestSide(joined: self, index: index, slot: slot))
  }

  func request(_ demand: Subscribers.Demand) {
    let (listening, hasNews) = lock.withLock {
      self.asked += demand
      wanted += demand
      return (downstream == nil ? [] : upstreams, self.hasNews)
    }
    if hasNews { tell() }
    for upstream in listening { upstream?.request(demand) }
  }

  func cancel() {
    for upstream in end() { upstream?.cancel() }
  }

  fileprivate func receive(_ subscription: any Subscription, _ index: Int) {
    let demand: Subscribers.Demand? = lock.withLock {
      guard downstream != nil, upstreams[index] == nil else { return nil }
      upstreams[index] = subscription
      return asked
    }
    guard let demand else { return subscription.cancel() }
    if demand > .none { subscription.request(demand) }
  }

  fileprivate func receive<Value>(_ value: Value, _ slot: WritableKeyPath<Slots, Value?>) {
    turn.withLock {
      lock.withLock {
        slots[keyPath: slot] = .some(value)
        hasNews = true
      }
      tell()
    }
  }

  fileprivate func receive(
    _ completion: Subscribers.Completion<Downstream.Failure>, _ index: Int
  ) {
    turn.withLock {
      lock.withLock {
        upstreams[index] = nil
        unfinished -= 1
      }
      guard case .failure = completion else { return tell() }
      let downstream = lock.withLock { self.downstream }
      for upstream in end() { upstream?.cancel() }
      downstream?.receive(completion: completion)
    }
  }

  /// Tells what is new as long as it is wanted, and the end when there is nothing left to be told.
  private func tell() {
    turn.withLock {
      while let (downstream, values) = next() {
        let more = downstream.receive(values)
        if more > .none { request(more) }
      }
      let finished: Downstream? = lock.withLock {
        guard unfinished == 0, !hasNews || gather(slots) == nil else { return nil }
        return downstream
      }
      guard let finished else { return }
      _ = end()
      finished.receive(completion: .finished)
    }
  }

  private func next() -> (Downstream, Downstream.Input)? {
    lock.withLock {
      guard let downstream, hasNews, wanted > .none, let values = gather(slots) else { return nil }
      hasNews = false
      wanted -= 1
      return (downstream, values)
    }
  }

  private func end() -> [(any Subscription)?] {
    lock.withLock {
      downstream = nil
      defer { upstreams = Array(repeating: nil, count: upstreams.count) }
      return upstreams
    }
  }
}

private struct LatestSide<Slots, Input, Downstream: Subscriber>: Subscriber {
  typealias Failure = Downstream.Failure
  let combineIdentifier = CombineIdentifier()
  let joined: LatestSubscription<Slots, Downstream>
  let index: Int
  let slot: WritableKeyPath<Slots, Input?>

  func receive(subscription: any Subscription) { joined.receive(subscription, index) }
  func receive(_ input: Input) -> Subscribers.Demand {
    joined.receive(input, slot)
    return .none
  }
  func receive(completion: Subscribers.Completion<Failure>) { joined.receive(completion, index) }
}

/// Passes the values of several publishers on as they come.
///
/// Of each one value is asked at a time, and kept until it is wanted; without limit, where the subscriber asks so.
final class MergeSubscription<Downstream: Subscriber>: Subscription {
  private struct Upstream {
    var subscription: (any Subscription)?
    /// What was asked for and has not come.
    var owes = Subscribers.Demand.none
    /// Waits until it is wanted.
    var kept: Downstream.Input?
  }

  /// Subscribes to a publisher, which is from now on known by a number.
  typealias Join = (MergeSubscription, Int) -> Void

  private let count: Int
  private let lock = NSLock()
  private let turn = NSRecursiveLock()
  /// Nil when it is over.
  private var downstream: Downstream?
  private var upstreams: [Upstream]
  private var unfinished: Int
  private var wanted = Subscribers.Demand.none
  private var isStarted = false

  static func start(_ joins: [Join], to downstream: Downstream) {
    let joined = MergeSubscription(joins.count, downstream)
    downstream.receive(subscription: joined)
    if joins.isEmpty { joined.tell() }
    for (index, join) in joins.enumerated() { join(joined, index) }
  }

  /// How a publisher is subscribed to.
  static func joining<P: Publisher>(_ publisher: P) -> Join
  where P.Output == Downstream.Input, P.Failure == Downstream.Failure {
    { publisher.subscribe(MergeSide(joined: $0, index: $1)) }
  }

  private init(_ count: Int, _ downstream: Downstream) {
    (self.count, self.downstream, unfinished) = (count, downstream, count)
    upstreams = Array(repeating: Upstream(), count: count)
  }

  func request(_ demand: Subscribers.Demand) {
    lock.withLock {
      wanted += demand
      isStarted = true
    }
    tell()
    for index in 0..<count { ask(index) }
  }

  func cancel() {
    for subscription in end() { subscription.cancel() }
  }

  fileprivate func receive(_ subscription: any Subscription, _ index: Int) {
    let isWelcome = lock.withLock {
      guard downstream != nil, upstreams[index].subscription == nil else { return false }
      upstreams[index].subscription = subscription
      return true
    }
    guard isWelcome else { return subscription.cancel() }
    ask(index)
  }

  fileprivate func receive(_ value: Downstream.Input, _ index: Int) -> Subscribers.Demand {
    turn.withLock {
      lock.withLock {
        guard downstream != nil else { return }
        upstreams[index].kept = .some(value)
        if upstreams[index].owes > .none { upstreams[index].owes -= 1 }
      }
      tell()
    }
    return lock.withLock { due(index) }
  }

  fileprivate func receive(
    _ completion: Subscribers.Completion<Downstream.Failure>, _ index: Int
  ) {
    turn.withLock {
      lock.withLock {
        upstreams[index].subscription = nil
        unfinished -= 1
      }
      guard case .failure = completion else { return tell() }
      let downstream = lock.withLock { self.downstream }
      for subscription in end() { subscription.cancel() }
      downstream?.receive(completion: completion)
    }
  }

  /// Tells what is kept as long as it is wanted, and the end when nothing is left.
  private func tell() {
    turn.withLock {
      while let (downstream, value) = next() {
        let more = downstream.receive(value)
        if more > .none { request(more) }
      }
      let finished: Downstream? = lock.withLock {
        unfinished == 0 && upstreams.allSatisfy { $0.kept == nil } ? downstream : nil
      }
      guard let finished else { return }
      _ = end()
      finished.receive(completion: .finished)
    }
  }

  private func next() -> (Downstream, Downstream.Input)? {
    lock.withLock {
      guard let downstream, wanted > .none,
        let index = upstreams.firstIndex(where: { $0.kept != nil }),
        let value = upstreams[index].kept
      else { return nil }
      upstreams[index].kept = nil
      wanted -= 1
      return (downstream, value)
    }
  }

  /// What a publisher is to be asked for now; it is taken for asked.
  private func due(_ index: Int) -> Subscribers.Demand {
    let upstream = upstreams[index]
    guard isStarted, upstream.subscription != nil, upstream.owes != .unlimited else { return .none }
    if wanted == .unlimited {
      upstreams[index].owes = .unlimited
      return .unlimited
    }
    guard upstream.kept == nil, upstream.owes == .none else { return .none }
    upstreams[index].owes = .max(1)
    return .max(1)
  }

  private func ask(_ index: Int) {
    let (subscription, demand) = lock.withLock { (upstreams[index].subscription, due(index)) }
    if demand > .none { subscription?.request(demand) }
  }

  private func end() -> [any Subscription] {
    lock.withLock {
      downstream = nil
      defer { upstreams = Array(repeating: Upstream(), count: count) }
      return upstreams.compactMap(\.subscription)
    }
  }
}

private struct MergeSide<Downstream: Subscriber>: Subscriber {
  typealias Input = Downstream.Input
  typealias Failure = Downstream.Failure
  let combineIdentifier = CombineIdentifier()
  let joined: MergeSubscription<Downstream>
  let index: Int

  func receive(subscription: any Subscription) { joined.receive(subscription, index) }
  func receive(_ input: Input) -> Subscribers.Demand { joined.receive(input, index) }
  func receive(completion: Subscribers.Completion<Failure>) { joined.receive(completion, index) }
}
