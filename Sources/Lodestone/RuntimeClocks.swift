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
