// What chrony is told of a receiver's time: how wrong this machine's clock was at one moment.

import SensorTypes

/// The two clocks of this machine at one moment.
struct ClockPair: Sendable, Hashable {
  /// The time that reading both may take, in seconds: an interruption between them is an error of the sample.
  static let longestReading = 200e-6

  /// The monotonic clock.
  var monotonic: Timestamp
  /// The system's clock, seconds since 1970-01-01.
  var system: Double

  /// Reads the system's clock between two looks at the monotonic one; `nil` where that took too long.
  init?(before: Timestamp, system: Double, after: Timestamp) {
    let length = after.seconds(since: before)
    guard (0...Self.longestReading).contains(length), system.isFinite else { return nil }
    monotonic = before.advanced(bySeconds: length / 2)
    self.system = system
  }

  /// What the system's clock would have shown at another moment, had it gone as it goes now. A step in between is left out: the
  /// sample is of the clock as it is.
  func system(at time: Timestamp) -> Double { system - monotonic.seconds(since: time) }
}

/// A sample of chrony's SOCK reference clock.
///
/// It is `struct sock_sample` of chrony's refclock_sock.c (chrony.conf(5), refclock SOCK): `struct timeval tv` (the system's time of the
/// measurement), `double offset` (true time minus that, seconds), `int pulse` (not 0 where the whole second is not known), `int
/// leap` (0; 1: a second is inserted at the end of the day; 2: one is deleted), `int _pad`, `int magic`. Everything is in the
/// machine's byte order, with the 64-bit time of every 64-bit Linux.
struct TimeSample: Sendable, Hashable {
  /// The number of bytes.
  static let size = 40
  private static let magic: Int32 = 0x534F_434B
  /// Seconds before the midnight of a leap second from which on it is announced: its day.
  private static let day = 86_400.0

  /// The system's time, whole seconds since 1970-01-01 and microseconds.
  var seconds: Int64
  var microseconds: Int64
  /// True time minus the system's, seconds.
  var offset: Double
  /// 0; 1 on the day that a leap second is inserted, 2 on one that loses a second.
  var leap: Int32 = 0

  /// The sample that an epoch gives.
  ///
  /// - Parameters:
  ///   - utc: UTC of the epoch, seconds since 1970-01-01.
  ///   - moment: The epoch on the monotonic clock.
  ///   - leapSecond: The next leap second that the satellites announce.
  init?(
    utc: Double, moment: Timestamp, clocks: ClockPair,
    leapSecond: ReceiverCondition.LeapSecond? = nil
  ) {
    let system = clocks.system(at: moment)
    // Years that no machine of today shows would not fit.
    guard (0..<1e10).contains(system), (0..<1e10).contains(utc) else { return nil }
    let whole = system.rounded(.down)
    let fraction = ((system - whole) * 1e6).rounded(.down)
    (seconds, microseconds) = (Int64(whole), Int64(fraction))
    // Large numbers first, so that none of the small ones is lost.
    offset = (utc - whole) - fraction * 1e-6
    if let leapSecond, (0..<Self.day).contains(leapSecond.midnight - utc) {
      leap = leapSecond.change > 0 ? 1 : 2
    }
  }

  /// Lends the bytes that are sent. The whole second of a pulse is known here, so that a pulse is a sample like any other.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 8) { buffer in
      buffer.storeBytes(of: seconds, toByteOffset: 0, as: Int64.self)
      buffer.storeBytes(of: microseconds, toByteOffset: 8, as: Int64.self)
      buffer.storeBytes(of: offset, toByteOffset: 16, as: Double.self)
      buffer.storeBytes(of: 0, toByteOffset: 24, as: Int32.self)
      buffer.storeBytes(of: leap, toByteOffset: 28, as: Int32.self)
      buffer.storeBytes(of: 0, toByteOffset: 32, as: Int32.self)
      buffer.storeBytes(of: Self.magic, toByteOffset: 36, as: Int32.self)
      return body(UnsafeRawBufferPointer(buffer))
    }
  }
}

extension GNSSFix {
  /// UTC of the epoch, where it may set a clock: by satellites of the moment, with a date that the receiver itself has said.
  /// What is simulated, entered by hand, estimated, not vouched for, in a leap second, or put right by weeks is none.
  ///
  /// - Parameter isBase: Whether a base station has given it: its time is measured, although its place was entered or surveyed.
  func trustedUTC(isBase: Bool = false) -> Double? {
    guard mode > .none, isValid, weeksAdded == 0, !isLeapSecond,
      kind.map({ $0.isMeasured || isBase && $0 == .manual }) ?? true
    else { return nil }
    return utc
  }
}
