// Foundation's threads, without Foundation.

import CThreads
import Glibc

/// A thread of the system.
package enum SystemThread {
  /// The number of the calling thread; never 0.
  package static var current: UInt { UInt(pthread_self()) }

  /// Starts a thread with the system's stack size and its starter's priority. It ends with `body`, and nothing waits for it.
  ///
  /// - Parameters:
  ///   - name: What a debugger calls it, in 15 bytes at most.
  ///   - body: What the thread does.
  /// - Returns: 0, or the error number of the system, usually `EAGAIN`: no thread is left, and `body` is not called.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32 {
    let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
    var thread = pthread_t()
    let failure = pthread_create(&thread, nil, runThread, start.toOpaque())
    guard failure == 0 else {
      start.release()
      return failure
    }
    pthread_detach(thread)
    return 0
  }

  /// Lets the calling thread sleep for a time in seconds. A signal does not end it.
  package static func sleep(seconds: Double) {
    guard seconds > 0 else { return }
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    var end = Self.end(of: seconds, from: now)
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nil) == EINTR {}
  }

  /// Returns when a time in seconds ends that begins now. Its bound is 30 years.
  static func end(of seconds: Double, from now: timespec) -> timespec {
    let nanoseconds = Int64(min(seconds, 1e9) * 1e9) + Int64(now.tv_nsec)
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return timespec(tv_sec: now.tv_sec + Int(whole), tv_nsec: Int(rest))
  }
}

private final class ThreadStart {
  let name: String
  let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
  lodestone_name_thread(start.name)
  start.body()
  return nil
}
