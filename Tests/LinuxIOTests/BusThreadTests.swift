import CTestSupport
import Dispatch
import SensorBus
import SensorTypes
import Synchronization
import Testing

@testable import LinuxIO

struct BusThreadTests {
  /// Counts its steps and asks for the next one far in the future.
  private final class Counter: BusWork {
    let stepped: DispatchSemaphore
    let finished: DispatchSemaphore

    init(_ stepped: DispatchSemaphore, _ finished: DispatchSemaphore) {
      self.stepped = stepped
      self.finished = finished
    }

    func step() -> Timestamp {
      stepped.signal()
      return .distantFuture
    }

    func forEachReadiness(_ body: (Readiness) -> Void) {}

    func finish() { finished.signal() }
  }

  @Test("work is stepped at once, at a wake, and no more after stop, when it finishes once")
  func steps() throws {
    let stepped = DispatchSemaphore(value: 0)
    let finished = DispatchSemaphore(value: 0)
    let thread = try BusThread(name: "test") { Counter(stepped, finished) }
    #expect(stepped.wait(timeout: .now() + 5) == .success)
    thread.wake()
    #expect(stepped.wait(timeout: .now() + 0.9) == .success)
    #expect(finished.wait(timeout: .now()) == .timedOut)
    // It goes on when the thread has ended, not when the time is over.
    let begun = ContinuousClock.now
    thread.stop(within: 120)
    #expect(ContinuousClock.now - begun < .seconds(60))
    #expect(finished.wait(timeout: .now()) == .success)
    thread.stop()
    #expect(finished.wait(timeout: .now()) == .timedOut)
    while stepped.wait(timeout: .now()) == .success {}
    thread.wake()
    #expect(stepped.wait(timeout: .now() + 0.05) == .timedOut)
  }

  /// Stops its own thread in its first step.
  private final class Quitter: BusWork, Sendable {
    let thread: Mutex<BusThread?>
    let isThere: DispatchSemaphore
    let finished: DispatchSemaphore
    let took = Mutex(Double.infinity)

    init(_ isThere: DispatchSemaphore, _ finished: DispatchSemaphore) {
      thread = Mutex(nil)
      (self.isThere, self.finished) = (isThere, finished)
    }

    func step() -> Timestamp {
      isThere.wait()
      let begin = ContinuousClock.now
      thread.withLock { $0 }?.stop()
      took.withLock { $0 = (ContinuousClock.now - begin) / .seconds(1) }
      return .distantFuture
    }

    func forEachReadiness(_ body: (Readiness) -> Void) {}

    func finish() { finished.signal() }
  }

  @Test("a thread that is stopped by its own step does not wait for itself, and ends")
  func selfStop() throws {
    let isThere = DispatchSemaphore(value: 0)
    let finished = DispatchSemaphore(value: 0)
    let quitter = Quitter(isThere, finished)
    let thread = try BusThread(name: "test") { quitter }
    quitter.thread.withLock { $0 = thread }
    isThere.signal()
    #expect(finished.wait(timeout: .now() + 5) == .success)
    // It would wait for a second.
    #expect(quitter.took.withLock { $0 } < 0.9)
    quitter.thread.withLock { $0 = nil }
  }

  private actor Owner {
    let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: BusThread) { self.thread = thread }

    func threadName() -> String {
      var name = [CChar](repeating: 0, count: 16)
      test_thread_name(&name)
      return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }
  }

  @Test("an actor on the thread runs on the thread")
  func executor() async throws {
    let thread = try BusThread(name: "i2c-test")
    #expect(await Owner(thread).threadName() == "i2c-test")
    thread.stop()
  }
}
