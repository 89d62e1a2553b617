// What time it is, and when somebody is to be called.

import Dispatch
import Glibc
package import SensorTypes

/// The clocks of a process: the monotonic one that all samples carry, the wall, and an alarm.
package struct RuntimeClocks: Sendable {
  package var now: @Sendable () -> Timestamp
  /// Seconds since 1970 as the system believes; years off on a board without a clock battery.
  package var wallTime: @Sendable () -> Double
  /// Calls something once so many seconds have passed, on any thread.
  package var alarm: @Sendable (_ seconds: Double, _ body: @escaping @Sendable () -> Void) -> Void

  /// Makes clocks; without an `alarm` it is the machine's.
  package init(
    now: @escaping @Sendable () -> Timestamp, wallTime: @escaping @Sendable () -> Double,
    alarm: (@Sendable (_ seconds: Double, _ body: @escaping @Sendable () -> Void) -> Void)? = nil
  ) {
    self.now = now
    self.wallTime = wallTime
    self.alarm =
      alarm ?? { seconds, body in
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: body)
      }
  }

  package static let system = RuntimeClocks(
    now: {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Timestamp(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    },
    wallTime: {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    })
}

extension RuntimeClocks {
  /// How often the clocks are compared at most, and how far apart two looks may be, seconds.
  private static let clockLooks = 4
  private static let clockSpan = 0.000_05

  /// Seconds since 1970 of a moment, by the system's clock as it stands now.
  ///
  /// The two clocks are read one after the other. A thread that is put aside between them would be wrong by
  /// as much, so that the wall is read between two looks at the other clock, and again if they are apart.
  package func wallTime(of time: Timestamp) -> Double {
    var before = now()
    var best: (span: Double, middle: Timestamp, wall: Double)?
    for _ in 0..<Self.clockLooks {
      let wall = wallTime()
      let after = now()
      let span = after.seconds(since: before)
      if span < best?.span ?? .infinity {
        best = (span, before.advanced(bySeconds: span / 2), wall)
      }
      if span <= Self.clockSpan { break }
      before = after
    }
    guard let best else { return wallTime() + time.seconds(since: now()) }
    return best.wall + time.seconds(since: best.middle)
  }

  /// The system's clock at a moment, and whether somebody who knows the time has set it.
  ///
  /// - Parameter isSet: Whether it is set now. It is asked before the clock is read: of a clock that is set meanwhile, the time of before
  ///   would be told as a true one.
  package func reading(of time: Timestamp, isSet: () -> Bool) -> ClockReading {
    let isSet = isSet()
    return ClockReading(seconds: wallTime(of: time), isSet: isSet)
  }
}
