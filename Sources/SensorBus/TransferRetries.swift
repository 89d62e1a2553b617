import Synchronization

/// Repeats the transfers of one chip that a disturbance of the line broke, a bounded number of times, and counts it.
///
/// Noise and a lost arbitration pass, so such a transfer is repeated at once. A missing answer and a line that is held low
/// do not pass within microseconds, so those errors are thrown at the first attempt. Any thread may use it.
package final class TransferRetries: Sendable {
  /// Attempts at one transfer on a real bus, the first among them.
  package static let attempts = 3

  private let attempts: Int
  private let counter = Atomic<UInt64>(0)

  /// - Parameter attempts: Attempts at one transfer, at least 1; 1 repeats nothing.
  package init(attempts: Int = TransferRetries.attempts) { self.attempts = attempts }

  /// How often a transfer was repeated so far, successfully or not.
  package var count: UInt64 { counter.load(ordering: .relaxed) }

  /// Makes a transfer, and repeats it while it is disturbed. Throws the error of the last attempt.
  package func run(_ transfer: () throws(BusError) -> Void) throws(BusError) {
    var left = attempts - 1
    while true {
      do {
        return try transfer()
      } catch {
        guard left > 0, error.isDisturbance else { throw error }
      }
      left -= 1
      counter.add(1, ordering: .relaxed)
    }
  }
}

extension BusError {
  /// Whether noise or another master may have caused it: `EAGAIN` and `EIO` (5) of a transfer.
  package var isDisturbance: Bool {
    switch reason {
    case .arbitrationLost: true
    case .system: errno == 5
    default: false
    }
  }
}
