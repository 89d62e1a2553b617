import Dispatch
import Glibc
import Synchronization
import Testing

@testable import Threads

struct SystemThreadTests {
  /// What a thread says of itself.
  private final class Words: Sendable {
    let name = Mutex("")
    let number = Atomic<UInt>(0)
    let ended = DispatchSemaphore(value: 0)

    func tell() {
      var bytes = [UInt8](repeating: 0, count: 64)
      let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
      let count = read(file, &bytes, bytes.count)
      close(file)
      name.withLock { $0 = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) }
      number.store(SystemThread.current, ordering: .releasing)
      ended.signal()
    }
  }

  @Test("a thread has its name, as far as the kernel keeps it, and a number of its own")
  func starts() {
    let words = Words()
    #expect(SystemThread.start("a name of twenty b", { words.tell() }) == 0)
    #expect(words.ended.wait(timeout: .now() + 10) == .success)
    #expect(words.name.withLock { $0 } == "a name of twent\n")
    let number = words.number.load(ordering: .acquiring)
    #expect(number != 0 && number != SystemThread.current)
  }

  @Test("what a thread holds goes with it")
  func releases() {
    final class Held: Sendable {
      let gone: DispatchSemaphore
      init(_ gone: DispatchSemaphore) { self.gone = gone }
      deinit { gone.signal() }
    }
    let gone = DispatchSemaphore(value: 0)
    do {
      let held = Held(gone)
      #expect(SystemThread.start("holder", { withExtendedLifetime(held) {} }) == 0)
    }
    #expect(gone.wait(timeout: .now() + 10) == .success)
  }

  @Test("a sleep of no time, and of a negative time, is over at once")
  func noSleep() {
    let start = ContinuousClock.now
    for seconds in [0, -1e300, .nan] { SystemThread.sleep(seconds: seconds) }
    // A bound that a busy machine keeps.
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  @Test(
    "the end of a sleep is on the clock's seconds and nanoseconds",
    arguments: [
      (0.25, 100_000_000, 5, 350_000_000), (0.9, 100_000_000, 6, 0),
      (1.75, 500_000_000, 7, 250_000_000),
      (1e300, 999_999_999, 1_000_000_005, 999_999_999),
    ])
  func end(seconds: Double, now: Int, whole: Int, rest: Int) {
    let end = SystemThread.end(of: seconds, from: timespec(tv_sec: 5, tv_nsec: now))
    #expect(end.tv_sec == whole && end.tv_nsec == rest)
  }
}
