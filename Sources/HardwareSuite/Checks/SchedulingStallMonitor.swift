// How long a machine did not let a program run: an emulated board's machine has other work, a small board's too.

import SensorTypes
import Synchronization
import Threads

/// Adds up the time for which this program was not let run while it wanted to.
///
/// A thread sleeps for short whiles; what a while takes longer than it should is time in which no thread of this
/// program was sure to run. Samples that a chip overwrote meanwhile, and words that came late by as much, are the
/// machine's doing and not the wiring's.
final class SchedulingStallMonitor: Sendable {
  /// A while, seconds.
  private static let nap = 0.002
  /// What a thread that wakes up on a busy processor may be late, seconds.
  private static let haste = 0.003

  /// Sums of naps that were late; pure, so that time is an argument.
  struct Ledger {
    private(set) var total = 0.0

    /// A nap that took so long, seconds.
    mutating func napped(_ seconds: Double) {
      let late = seconds - SchedulingStallMonitor.nap
      if late > SchedulingStallMonitor.haste { total += late }
    }
  }

  private final class Account: Sendable {
    let ledger = Mutex(Ledger())
    let isOver = Atomic<Bool>(false)
  }

  private let account = Account()

  init() {
    let account = account
    // If the machine can have no more threads, stalls are not seen.
    _ = SystemThread.start("standstill") {
      var last = ContinuousClock.now
      while !account.isOver.load(ordering: .relaxed) {
        SystemThread.sleep(seconds: Self.nap)
        let now = ContinuousClock.now
        let took = (now - last) / .seconds(1)
        account.ledger.withLock { $0.napped(took) }
        last = now
      }
    }
  }

  deinit { account.isOver.store(true, ordering: .relaxed) }

  /// Seconds so far.
  var total: Double { account.ledger.withLock { $0.total } }
}
