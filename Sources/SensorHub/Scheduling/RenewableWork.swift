// The work of a bus that can begin again on the same thread: a recording begins with the setup of the chips.

import SensorBus
import SensorTypes
import Synchronization

/// Has the work of a bus begin again, from any thread.
final class WorkRenewal: Sendable {
  typealias Maker = @Sendable (WorkerProgress) -> BusWorker

  // The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Next: Sendable { var make: Maker? }

  private let next = Mutex(Next())

  /// Has the next step begin with another worker.
  func begin(_ make: @escaping Maker) { next.withLock { $0.make = make } }

  func take() -> Maker? {
    next.withLock { next in
      defer { next.make = nil }
      return next.make
    }
  }
}

/// A worker, until another one takes its place.
///
/// The one before lets go of its devices first, so that no device ever has two owners.
final class RenewableWork: BusWork {
  private var worker: BusWorker?
  private let renewal: WorkRenewal

  init(_ worker: BusWorker, _ renewal: WorkRenewal) {
    (self.worker, self.renewal) = (worker, renewal)
  }

  func step() -> Timestamp {
    if let make = renewal.take() {
      worker?.finish()
      let progress = worker?.progress ?? WorkerProgress()
      worker = nil
      worker = make(progress)
    }
    return worker?.step() ?? .distantFuture
  }

  func forEachReadiness(_ body: (Readiness) -> Void) { worker?.forEachReadiness(body) }

  func finish() { worker?.finish() }
}
