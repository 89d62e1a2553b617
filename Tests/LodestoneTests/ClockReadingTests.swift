// The system's clock at a moment, on a machine that does something else between two looks at it.

import Lodestone
import SensorTypes
import Synchronization
import Testing

struct ClockReadingTests {
  /// A clock that is set by somebody else just after it was read for the first time, 50 years off.
  private final class LateClock: Sendable {
    private let reads = Mutex(0)
    var isSet: Bool { reads.withLock { $0 > 0 } }

    func read() -> Double {
      reads.withLock { count in
        count += 1
        return count == 1 ? 200_000_000 : 1_800_000_000
      }
    }
  }

  @Test("a clock that is set while it is read does not vouch for the time of before")
  func set() {
    let clock = LateClock()
    let now = Timestamp(seconds: 100)
    let clocks = RuntimeClocks(now: { now }, wallTime: { clock.read() })
    let first = clocks.reading(of: now) { clock.isSet }
    #expect(!first.isSet && first.seconds == 200_000_000)
    let second = clocks.reading(of: now) { clock.isSet }
    #expect(second.isSet && second.seconds == 1_800_000_000)
  }

  @Test("a thread that is put aside between two looks does not shift the time of a moment")
  func aside() {
    // Each look at a clock takes a nanosecond, and the first pair of looks is 200 ms apart.
    let elapsed = Mutex((nanoseconds: Int64(0), looks: 0))
    let clocks = RuntimeClocks(
      now: {
        elapsed.withLock {
          $0.nanoseconds += 1
          return Timestamp(nanoseconds: $0.nanoseconds)
        }
      },
      wallTime: {
        elapsed.withLock {
          let wall = Double($0.nanoseconds) * 1e-9
          $0.looks += 1
          $0.nanoseconds += $0.looks == 1 ? 200_000_000 : 1
          return wall
        }
      })
    let moment = Timestamp(seconds: 5)
    #expect(abs(clocks.reading(of: moment) { true }.seconds - 5) < 1e-6)
  }
}
