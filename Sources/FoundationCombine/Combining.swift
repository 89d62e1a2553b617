// Several publishers as one, and what decodes: what Combine has and OpenCombine has not. They are put together from operators
// that it does have, and keep no state of their own.

public import Foundation
public import OpenCombine

extension Publishers {
  /// Publishes the latest values of two publishers whenever one of them publishes, from the moment on at which there is one of
  /// each.
  ///
  /// It finishes when both have, or when one has that never published; it fails when one does.
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

    private enum Word {
      case a(A.Output)
      case b(B.Output)
      case endOfA
      case endOfB
    }

    private struct Latest {
      var a: A.Output?
      var b: B.Output?
      /// Whether one has finished without a value: nothing can come any more.
      var isBarren = false
      /// What is to be published at this word.
      var news: Output?

      func after(_ word: Word) -> Latest {
        var next = self
        next.news = nil
        switch word {
        case .a(let value): next.a = .some(value)
        case .b(let value): next.b = .some(value)
        case .endOfA:
          next.isBarren = isBarren || a == nil
          return next
        case .endOfB:
          next.isBarren = isBarren || b == nil
          return next
        }
        if let a = next.a, let b = next.b { next.news = (a, b) }
        return next
      }
    }

    /// Takes a subscriber.
    public func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
      let words = Publishers.Merge(
        a.map(Word.a).append(Word.endOfA), b.map(Word.b).append(Word.endOfB))
      words.scan(Latest()) { $0.after($1) }.prefix { !$0.isBarren }.compactMap(\.news)
        .receive(subscriber: subscriber)
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
      CombineLatest(CombineLatest(a, b), c).map { ($0.0, $0.1, $1) }.receive(subscriber: subscriber)
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
      CombineLatest(CombineLatest(a, b), CombineLatest(c, d))
        .map { ($0.0, $0.1, $1.0, $1.1) }
        .receive(subscriber: subscriber)
    }
  }

  /// Publishes what any of several publishers of one kind publishes, as it comes.
  ///
  /// It finishes when all have, and fails when one does.
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
      Publishers.Sequence<[Upstream], Failure>(sequence: publishers).flatMap { $0 }
        .receive(subscriber: subscriber)
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
      MergeMany(a.eraseToAnyPublisher(), b.eraseToAnyPublisher()).receive(subscriber: subscriber)
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
      MergeMany(a.eraseToAnyPublisher(), b.eraseToAnyPublisher(), c.eraseToAnyPublisher())
        .receive(subscriber: subscriber)
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

  /// What this and another one of its kind publish.
  public func merge(with other: Self) -> Publishers.MergeMany<Self> {
    Publishers.MergeMany(self, other)
  }
}

extension JSONDecoder: @retroactive TopLevelDecoder {}
extension JSONEncoder: @retroactive TopLevelEncoder {}
extension PropertyListDecoder: @retroactive TopLevelDecoder {}
extension PropertyListEncoder: @retroactive TopLevelEncoder {}
