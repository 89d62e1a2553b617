// The clock that a simulated board runs on: the machine's, or one that a test turns by hand.

import Glibc
package import SensorTypes
import Synchronization

/// The monotonic clock of a simulated board.
package protocol SimulationClock: Sendable {
  /// The time now. It never goes back.
  func now() -> Timestamp
}

/// The machine's `CLOCK_MONOTONIC`.
package struct MonotonicClock: SimulationClock {
  package init() {}

  package func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Timestamp(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }
}

/// A clock that stands still until it is advanced; any thread may do so and any may read it.
package final class VirtualClock: SimulationClock {
  private let nanoseconds: Atomic<Int64>

  /// Makes a clock that shows `start`.
  package init(start: Timestamp = Timestamp(nanoseconds: 1_000_000_000_000)) {
    nanoseconds = Atomic(start.nanoseconds)
  }

  package func now() -> Timestamp {
    Timestamp(nanoseconds: nanoseconds.load(ordering: .acquiring))
  }

  /// Moves the clock forward by `seconds`, which is not negative.
  package func advance(bySeconds seconds: Double) {
    precondition(seconds >= 0, "time does not go back")
    nanoseconds.add(Int64((seconds * 1e9).rounded()), ordering: .acquiringAndReleasing)
  }

  /// Moves the clock forward to `time`; a time that is past already changes nothing.
  package func advance(to time: Timestamp) {
    var shown = nanoseconds.load(ordering: .acquiring)
    while shown < time.nanoseconds {
      let (exchanged, original) = nanoseconds.compareExchange(
        expected: shown, desired: time.nanoseconds, ordering: .acquiringAndReleasing)
      if exchanged { return }
      shown = original
    }
  }
}
