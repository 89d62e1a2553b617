// Several publishers as one, and what decodes: what Combine has and OpenCombine has not.

public import Foundation
public import OpenCombine

extension Publishers {
  /// Publishes the latest values of two publishers whenever one of them publishes, from the moment on at which there is one of
  /// each.
  ///
  /// What a subscriber asks for is asked of both; of the values that come while none is wanted the last ones are told when one
  /// is. It finishes when both have, and fails when one does.
  public struct CombineLatest<A: Publisher, B: Publisher>: Publisher where A.Failure == B.Failure {
    /// A value of each.
    public typealias Output = (A.Output, B.Output)
    /// How either of them fails.
    public typealias Failure = A.Failure
    /// The first.
    public let a: A
    /// The second.
    public let b: B

    /// Makes it of two.
    public init(_ a: A, _ b: B) { (self.a, self.b) = (a, b) }

    /// Takes a subscriber.
    public func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
      let slots: (A.Output?, B.Output?) = (nil, nil)
      let joined = LatestSubscription(2, slots, to: subscriber) {
        guard let a = $0.0, let b = $0.1 else { return nil }
        return (a, b)
      }
      joined.join(a, 0, \.0)
      joined.join(b, 1, \.1)
    }
  }

  /// Publishes the latest values of three publishers, as `CombineLatest` does of two.
  public struct CombineLatest3<A: Publisher, B: Publisher, C: Publisher>: Publisher
  where A.Failure == B.Failure, B.Failure == C.Failure {
    /// A value of each.
    public typealias Output = (A.Output, B.Output, C.Output)
    /// How any of them fails.
    public typealias Failure = A.Failure
    /// The first.
    public let a: A
    /// The second.
    public let b: B
    /// The third.
    public let c: C

    /// Makes it of three.
    public init(_ a: A, _ b: B, _ c: C) { (self.a, self.b, self.c) = (a, b, c) }

    /// Takes a subscriber.
    public func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
      let slots: (A.Output?, B.Output?, C.Output?) = (nil, nil, nil)
      let joined = LatestSubscription(3, slots, to: subscriber) {
        guard let a = $0.0, let b = $0.1, let c = $0.2 else { return nil }
        return (a, b, c)
      }
      joined.join(a, 0, \.0)
      joined.join(b, 1, \.1)
      joined.join(c, 2, \.2)
    }
  }

  /// Publishes the latest values of four publishers, as `CombineLatest` does of two.
  public struct CombineLatest4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
  where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
    /// A value of each.
    public typealias Output = (A.Output, B.Output, C.Output, D.Output)
    /// How any of them fails.
    public typealias Failure = A.Failure
    /// The first.
    public let a: A
    /// The second.
    public let b: B
    /// The third.
    public let c: C
    /// The fourth.
    public let d: D

    /// Makes it of four.
    public init(_ a: A, _ b: B, _ c: C, _ d: D) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

    /// Takes a subscriber.
    public func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
      let slots: (A.Output?, B.Output?, C.Output?, D.Output?) = (nil, nil, nil, nil)
      let joined = LatestSubscription(4, slots, to: subscriber) {
        guard let a = $0.0, let b = $0.1, let c = $0.2, let d = $0.3 else { return nil }
        return (a, b, c, d)
      }
      joined.join(a, 0, \.0)
      joined.join(b, 1, \.1)
      joined.join(c, 2, \.2)
      joined.join(d, 3, \.3)
    }
  }

  /// Publishes what any of several publishers of one kind publishes, as it comes.
  ///
  /// A subscriber that asks for some values is told no more, and none that came is lost: each is asked for one at a
  /// time. It finishes when all have, and fails when one does.
  public struct MergeMany<Upstream: Publisher>: Publisher {
    /// What each of them publishes.
    public typealias Output = Upstream.Output
    /// How each of them fails.
    public typealias Failure = Upstream.Failure
    /// All of them.
    public let publishers: [Upstream]

    /// Makes it of those that are named.
    public init(_ upstream: Upstream...) { publishers = upstream }
    /// Makes it of all in a sequence.
    public init<S: Swift.Sequence>(_ upstream: S) where S.Element == Upstream {
      publishers = Array(upstream)
    }

    /// Takes a subscriber.
    public func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
      MergeSubscription<S>.start(
        publishers.map { MergeSubscription<S>.joining($0) }, to: subscriber)
    }

    /// This, and another one.
    public func merge(with other: Upstream) -> MergeMany { MergeMany(publishers + [other]) }
  }

  /// Publishes what either of two publishers publishes, as `MergeMany` does.
  public struct Merge<A: Publisher, B: Publisher>: Publisher
  where A.Output == B.Output, A.Failure == B.Failure {
    /// What each of them publishes.
    public typealias Output = A.Output
    /// How each of them fails.
    public typealias Failure = A.Failure
    /// The first.
    public let a: A
    /// The second.
    public let b: B

    /// Makes it of two.
    public init(_ a: A, _ b: B) { (self.a, self.b) = (a, b) }

    /// Takes a subscriber.
    public func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
      typealias Joined = MergeSubscription<S>
      Joined.start([Joined.joining(a), Joined.joining(b)], to: subscriber)
    }
  }

  /// Publishes what any of three publishers publishes, as `MergeMany` does.
  public struct Merge3<A: Publisher, B: Publisher, C: Publisher>: Publisher
  where A.Output == B.Output, B.Output == C.Output, A.Failure == B.Failure, B.Failure == C.Failure {
    /// What each of them publishes.
    public typealias Output = A.Output
    /// How each of them fails.
    public typealias Failure = A.Failure
    /// The first.
    public let a: A
    /// The second.
    public let b: B
    /// The third.
    public let c: C

    /// Makes it of three.
    public init(_ a: A, _ b: B, _ c: C) { (self.a, self.b, self.c) = (a, b, c) }

    /// Takes a subscriber.
    public func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
      typealias Joined = MergeSubscription<S>
      Joined.start([Joined.joining(a), Joined.joining(b), Joined.joining(c)], to: subscriber)
    }
  }
}

extension Publisher {
  /// The latest value of this and of another one.
  public func combineLatest<P: Publisher>(_ other: P) -> Publishers.CombineLatest<Self, P>
  where P.Failure == Failure { Publishers.CombineLatest(self, other) }

  /// What is made of the latest value of this and of another one.
  public func combineLatest<P: Publisher, T>(
    _ other: P, _ transform: @escaping (Output, P.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T> where P.Failure == Failure {
    Publishers.CombineLatest(self, other).map { transform($0.0, $0.1) }
  }

  /// The latest value of this and of two others.
  public func combineLatest<P: Publisher, Q: Publisher>(
    _ publisher1: P, _ publisher2: Q
  ) -> Publishers.CombineLatest3<Self, P, Q> where P.Failure == Failure, Q.Failure == Failure {
    Publishers.CombineLatest3(self, publisher1, publisher2)
  }

  /// What is made of the latest value of this and of two others.
  public func combineLatest<P: Publisher, Q: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest3<Self, P, Q>, T>
  where P.Failure == Failure, Q.Failure == Failure {
    Publishers.CombineLatest3(self, publisher1, publisher2).map { transform($0.0, $0.1, $0.2) }
  }

  /// The latest value of this and of three others.
  public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R
  ) -> Publishers.CombineLatest4<Self, P, Q, R>
  where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
    Publishers.CombineLatest4(self, publisher1, publisher2, publisher3)
  }

  /// What is made of the latest value of this and of three others.
  public func combineLatest<P: Publisher, Q: Publisher, R: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R,
    _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest4<Self, P, Q, R>, T>
  where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
    Publishers.CombineLatest4(self, publisher1, publisher2, publisher3)
      .map { transform($0.0, $0.1, $0.2, $0.3) }
  }

  /// What this and another one publish.
  public func merge<P: Publisher>(with other: P) -> Publishers.Merge<Self, P>
  where P.Output == Output, P.Failure == Failure { Publishers.Merge(self, other) }

  /// What this and two others publish.
  public func merge<B: Publisher, C: Publisher>(with b: B, _ c: C) -> Publishers.Merge3<Self, B, C>
  where
    B.Output == Output, C.Output == Output, B.Failure == Failure, C.Failure == Failure
  { Publishers.Merge3(self, b, c) }

  /// What this and three to seven others publish. Their common type is a board's: Combine has one for each number.
  public func merge(
    with b: some Publisher<Output, Failure>, _ c: some Publisher<Output, Failure>,
    _ d: some Publisher<Output, Failure>,
    _ more: any Publisher<Output, Failure>...
  ) -> Publishers.MergeMany<AnyPublisher<Output, Failure>> {
    func erased(_ publisher: some Publisher<Output, Failure>) -> AnyPublisher<Output, Failure> {
      publisher.eraseToAnyPublisher()
    }
    return Publishers.MergeMany(
      [erased(self), erased(b), erased(c), erased(d)] + more.map { erased($0) })
  }

  /// What this and another one of its kind publish.
  public func merge(with other: Self) -> Publishers.MergeMany<Self> {
    Publishers.MergeMany(self, other)
  }
}

extension JSONDecoder: @retroactive TopLevelDecoder {}
extension JSONEncoder: @retroactive TopLevelEncoder {}
extension PropertyListDecoder: @retroactive TopLevelDecoder {}
extension PropertyListEncoder: @retroactive TopLevelEncoder {}
