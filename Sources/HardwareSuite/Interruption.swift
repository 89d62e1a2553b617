// How a run is ended before its end: in order, with what was found so far.

import Glibc
import Synchronization
import Threads

/// A signal has ended the run.
package struct BrokenOff: Error, Sendable, Hashable {
  package let signal: Int32

  package init(signal: Int32) { self.signal = signal }

  /// As people call it.
  package var name: String {
    switch signal {
    case SIGINT: "SIGINT"
    case SIGTERM: "SIGTERM"
    case SIGHUP: "SIGHUP"
    default: "signal \(signal)"
    }
  }

  /// What a shell expects of a program that a signal has ended.
  package var exitCode: Int32 { 128 + signal }
}

/// Where a run learns that it is to end; everything in it that takes time waits here. Any thread may use it.
package final class Interruption: Sendable {
  /// A wait is no longer than this before it looks, seconds.
  static let look = 0.05
  private let number = Atomic<Int32>(0)

  /// Nothing has happened yet.
  package init() {}

  /// Ends the run. False where that was said already.
  @discardableResult
  package func interrupt(by signal: Int32) -> Bool {
    number.compareExchange(expected: 0, desired: signal, ordering: .relaxed).exchanged
  }

  /// The number of the signal that ends the run; `nil` where none has come.
  package var signal: Int32? {
    let signal = number.load(ordering: .relaxed)
    return signal == 0 ? nil : signal
  }

  /// Throws once the run is to end.
  package func check() throws(BrokenOff) {
    if let signal { throw BrokenOff(signal: signal) }
  }

  /// Lets so many seconds pass, unless the run is to end.
  package func sleep(_ seconds: Double) throws(BrokenOff) {
    let end = ContinuousClock.now.advanced(by: .seconds(seconds))
    while true {
      try check()
      let left = (end - ContinuousClock.now) / .seconds(1)
      guard left > 0 else { return }
      SystemThread.sleep(seconds: min(left, Self.look))
    }
  }
}
