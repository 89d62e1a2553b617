// Queues and run loops as schedulers: `receive(on: DispatchQueue.main)`, `debounce(for: .seconds(1), scheduler: RunLoop.main)`.

public import Dispatch
public import Foundation
public import OpenCombine

/// A span of time as these schedulers measure it.
public struct SchedulerInterval: SchedulerTimeIntervalConvertible, SignedNumeric, Comparable,
  ExpressibleByFloatLiteral, Hashable, Codable, Sendable
{
  /// Seconds.
  public var timeInterval: TimeInterval

  /// Makes a span of seconds.
  public init(_ timeInterval: TimeInterval) { self.timeInterval = timeInterval }
  /// Makes a span of seconds.
  public init(floatLiteral value: TimeInterval) { timeInterval = value }
  /// Makes a span of seconds.
  public init(integerLiteral value: Int) { timeInterval = TimeInterval(value) }
  /// Makes a span of seconds.
  public init?<Source: BinaryInteger>(exactly source: Source) {
    guard let seconds = TimeInterval(exactly: source) else { return nil }
    timeInterval = seconds
  }

  /// Its length.
  public var magnitude: TimeInterval { abs(timeInterval) }

  /// Whether one is shorter.
  public static func < (a: Self, b: Self) -> Bool { a.timeInterval < b.timeInterval }
  /// The sum.
  public static func + (a: Self, b: Self) -> Self { Self(a.timeInterval + b.timeInterval) }
  /// The difference.
  public static func - (a: Self, b: Self) -> Self { Self(a.timeInterval - b.timeInterval) }
  /// The product.
  public static func * (a: Self, b: Self) -> Self { Self(a.timeInterval * b.timeInterval) }
  /// Multiplies.
  public static func *= (a: inout Self, b: Self) { a.timeInterval *= b.timeInterval }

  /// Seconds.
  public static func seconds(_ s: Int) -> Self { Self(TimeInterval(s)) }
  /// Seconds.
  public static func seconds(_ s: Double) -> Self { Self(s) }
  /// Thousandths.
  public static func milliseconds(_ ms: Int) -> Self { Self(TimeInterval(ms) * 1e-3) }
  /// Millionths.
  public static func microseconds(_ us: Int) -> Self { Self(TimeInterval(us) * 1e-6) }
  /// Thousandths of them.
  public static func nanoseconds(_ ns: Int) -> Self { Self(TimeInterval(ns) * 1e-9) }
}

/// A moment of run loops and operation queues.
public struct SchedulerDate: Strideable, Hashable, Codable, Sendable {
  /// A span between two of them.
  public typealias Stride = SchedulerInterval
  /// The moment.
  public var date: Date

  /// Makes a moment.
  public init(_ date: Date) { self.date = date }
  /// The span to another one.
  public func distance(to other: Self) -> Stride {
    Stride(other.date.timeIntervalSince(date))
  }
  /// The moment after a span.
  public func advanced(by n: Stride) -> Self { Self(date.addingTimeInterval(n.timeInterval)) }
}

/// A moment of dispatch queues.
public struct SchedulerDispatchTime: Strideable, Hashable, Sendable {
  /// A span between two of them.
  public typealias Stride = SchedulerInterval
  private let nanoseconds: UInt64
  /// The moment.
  public var dispatchTime: DispatchTime { DispatchTime(uptimeNanoseconds: nanoseconds) }

  /// Makes a moment.
  public init(_ time: DispatchTime) { nanoseconds = time.uptimeNanoseconds }
  /// The span to another one.
  public func distance(to other: Self) -> Stride {
    Stride((Double(other.nanoseconds) - Double(nanoseconds)) * 1e-9)
  }
  /// The moment after a span; not before the clock's beginning, nor after its end.
  public func advanced(by n: Stride) -> Self {
    let moved = Double(nanoseconds) + n.timeInterval * 1e9
    return Self(
      moved < 0x1p63
        ? DispatchTime(uptimeNanoseconds: UInt64(max(1, moved))) : .distantFuture)
  }
}

/// What is to be done on another thread. `@unchecked Sendable`: publishers hand their work over, and do not touch it
/// until it is done; Combine's interface is older than the word.
struct Work: @unchecked Sendable {
  let action: () -> Void
}

// Foundation has none, and OpenCombine's is not always there.
// swift-format-ignore: AvoidRetroactiveConformances
extension DispatchQueue: @retroactive Scheduler {
  /// A moment.
  public typealias SchedulerTimeType = SchedulerDispatchTime

  /// How something is to run.
  public struct SchedulerOptions {
    /// The class of service.
    public var qos: DispatchQoS
    /// How it is queued.
    public var flags: DispatchWorkItemFlags
    /// What it belongs to.
    public var group: DispatchGroup?

    /// Makes options.
    public init(
      qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
      group: DispatchGroup? = nil
    ) { (self.qos, self.flags, self.group) = (qos, flags, group) }
  }

  /// The moment.
  public var now: SchedulerTimeType { SchedulerTimeType(.now()) }
  /// None.
  public var minimumTolerance: SchedulerInterval { 0 }

  /// Runs something as soon as its turn comes.
  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    let work = Work(action: action)
    async(
      group: options?.group, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []
    ) { work.action() }
  }

  /// Runs something at a moment.
  public func schedule(
    after date: SchedulerTimeType, tolerance: SchedulerInterval, options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    let work = Work(action: action)
    asyncAfter(
      deadline: date.dispatchTime, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []
    ) { work.action() }
  }

  /// Runs something again and again.
  public func schedule(
    after date: SchedulerTimeType, interval: SchedulerInterval, tolerance: SchedulerInterval,
    options: SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable {
    let timer = DispatchSource.makeTimerSource(queue: self)
    let work = Work(action: action)
    timer.schedule(deadline: date.dispatchTime, repeating: interval.timeInterval)
    timer.setEventHandler { work.action() }
    timer.resume()
    return AnyCancellable { timer.cancel() }
  }
}

// Foundation has none, and OpenCombine's is not always there.
// swift-format-ignore: AvoidRetroactiveConformances
extension RunLoop: @retroactive Scheduler {
  /// A moment.
  public typealias SchedulerTimeType = SchedulerDate
  /// There is nothing to choose.
  public struct SchedulerOptions {}

  /// The moment.
  public var now: SchedulerTimeType { SchedulerTimeType(Date()) }
  /// None.
  public var minimumTolerance: SchedulerInterval { 0 }

  /// Runs something when the loop turns. A timer, because that wakes it and `perform` does not.
  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    _ = start(at: Date(), repeating: 0, action)
  }

  /// Runs something at a moment.
  public func schedule(
    after date: SchedulerTimeType, tolerance: SchedulerInterval, options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) { _ = start(at: date.date, repeating: 0, action) }

  /// Runs something again and again.
  public func schedule(
    after date: SchedulerTimeType, interval: SchedulerInterval, tolerance: SchedulerInterval,
    options: SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable {
    let timer = start(at: date.date, repeating: interval.timeInterval, action)
    return AnyCancellable { timer.invalidate() }
  }

  private func start(
    at date: Date, repeating interval: TimeInterval, _ action: @escaping () -> Void
  ) -> Timer {
    let work = Work(action: action)
    let timer = Timer(fire: date, interval: interval, repeats: interval > 0) { _ in work.action() }
    add(timer, forMode: .common)
    return timer
  }
}

// Foundation has none, and OpenCombine's is not always there.
// swift-format-ignore: AvoidRetroactiveConformances
extension OperationQueue: @retroactive Scheduler {
  /// A moment.
  public typealias SchedulerTimeType = SchedulerDate
  /// There is nothing to choose.
  public struct SchedulerOptions {}

  /// The moment.
  public var now: SchedulerTimeType { SchedulerTimeType(Date()) }
  /// None.
  public var minimumTolerance: SchedulerInterval { 0 }

  /// Runs something as soon as its turn comes.
  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    let work = Work(action: action)
    addOperation { work.action() }
  }

  /// Runs something at a moment.
  public func schedule(
    after date: SchedulerTimeType, tolerance: SchedulerInterval, options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    let work = Work(action: action)
    DispatchQueue.global().asyncAfter(deadline: .now() + date.date.timeIntervalSinceNow) {
      self.addOperation { work.action() }
    }
  }

  /// Runs something again and again.
  public func schedule(
    after date: SchedulerTimeType, interval: SchedulerInterval, tolerance: SchedulerInterval,
    options: SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable {
    let work = Work(action: action)
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(
      deadline: .now() + date.date.timeIntervalSinceNow, repeating: interval.timeInterval)
    timer.setEventHandler { self.addOperation { work.action() } }
    timer.resume()
    return AnyCancellable { timer.cancel() }
  }
}
