/// A moment on the clock that everything inside Lodestone runs on: nanoseconds of `CLOCK_MONOTONIC`,
/// which is also `SuspendingClock` on Linux and the clock of GPIO edges.
///
/// It says nothing about the date. Boards have no clock battery, so wall time may jump by years when
/// the receiver gets its first fix; this clock does not.
public struct Timestamp: Comparable, Hashable, Sendable, Codable {
  /// Nanoseconds since an arbitrary start, usually the boot.
  public var nanoseconds: Int64

  /// Makes a timestamp from nanoseconds of the monotonic clock.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Makes a timestamp from seconds of the monotonic clock; valid for finite values below 2^33.
  @inlinable public init(seconds: Double) {
    self.nanoseconds = Int64((seconds * 1e9).rounded())
  }

  /// The moment in seconds of the monotonic clock.
  @inlinable public var seconds: Double { Double(nanoseconds) * 1e-9 }

  /// The time from `other` to this moment in seconds, negative if this one is earlier.
  @inlinable public func seconds(since other: Timestamp) -> Double {
    Double(nanoseconds &- other.nanoseconds) * 1e-9
  }

  /// This moment moved by `seconds`.
  @inlinable public func advanced(bySeconds seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: nanoseconds &+ Int64((seconds * 1e9).rounded()))
  }

  /// A moment after every other.
  public static let distantFuture = Timestamp(nanoseconds: .max)

  /// The earlier moment is the smaller one.
  @inlinable public static func < (a: Timestamp, b: Timestamp) -> Bool {
    a.nanoseconds < b.nanoseconds
  }
}
