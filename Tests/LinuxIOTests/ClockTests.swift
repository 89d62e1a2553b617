import Glibc
import LinuxIO
import Testing

/// The clocks that the provider of the real buses reads.
struct ClockTests {
  @Test("the date is the system's, to the microsecond")
  func date() {
    let provider = LinuxBusProvider()
    for _ in 0..<50 {
      var (before, after) = (timespec(), timespec())
      clock_gettime(CLOCK_REALTIME, &before)
      let now = provider.wallTime()
      clock_gettime(CLOCK_REALTIME, &after)
      func seconds(_ time: timespec) -> Double {
        Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
      }
      #expect(now > seconds(before) - 1e-6 && now < seconds(after) + 1e-6)
    }
  }
}
