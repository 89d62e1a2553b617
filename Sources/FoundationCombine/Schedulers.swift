// Run loops and operation queues as schedulers: `receive(on: RunLoop.main)`. Dispatch queues are OpenCombineDispatch's.

public import Foundation
@_exported public import OpenCombine
@_exported public import OpenCombineDispatch

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

/// What is to be done on another thread. `@unchecked Sendable`: publishers hand their work over, and do not touch it
/// until it is done; Combine's interface is older than the word.
struct Work: @unchecked Sendable {
  let action: () -> Void
}

// Foundation has none, and OpenCombineFoundation, which has, brings a client for HTTP along.
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

// Foundation has none, and OpenCombineFoundation, which has, brings a client for HTTP along.
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
