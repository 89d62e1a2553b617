import Dispatch
import Glibc
import Synchronization
import Testing
import Threads

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

  @Test("no time and a negative time are over at once")
  func noSleep() {
    SystemThread.sleep(seconds: 0)
    SystemThread.sleep(seconds: -1e300)
    SystemThread.sleep(seconds: .nan)
  }
}
