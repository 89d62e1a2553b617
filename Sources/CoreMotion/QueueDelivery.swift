// The way of a service's events to the queue of a handler.

import Foundation
import LocationServices
import Lodestone
import Synchronization

/// Carries events to the handler's queue. At most `limit` wait; then the oldest is dropped.
///
/// `@unchecked Sendable`: everything that changes is in the mutex. The handler is not `Sendable`, as in the
/// SDK; it is only ever called on the queue that its owner has named for it, and let go of by the owner's
/// thread or on that queue: never by the thread that publishes, where what it captures must not end.
final class QueueDelivery: ServiceClient, @unchecked Sendable {
  struct Handler: @unchecked Sendable {
    let call: (ServiceEvent.Content) -> Void
  }

  private struct State {
    /// Counts starts and stops, so that what is on its way to a former handler is known as such.
    var generation: UInt64 = 0
    var queue: OperationQueue?
    var handler: Handler?
    var waiting: [ServiceEvent.Content] = []
    /// Operations of this generation that are on the way.
    var operations = 0
  }

  private let runtime: LodestoneRuntime
  private let limit: Int
  private let handover: Handover
  private let state = Mutex(State())

  /// - Parameter limit: A minute of altitudes, if nothing is said.
  init(runtime: LodestoneRuntime, limit: Int = 60) {
    self.runtime = runtime
    self.limit = limit
    handover = Handover(runtime.handovers)
  }

  func set(queue: OperationQueue?, handler: Handler?) {
    // What ends with the former handler, or with a queue of the application's, may run code: not under the lock.
    let former = state.withLock { state in
      defer {
        state = State(generation: state.generation &+ 1, queue: queue, handler: handler)
      }
      return (state.handler, state.queue)
    }
    withExtendedLifetime(former) {}
  }

  func clear() { set(queue: nil, handler: nil) }

  // The queue is not called here: it may be a subclass of the application's that blocks.
  func receive(_ content: ServiceEvent.Content) {
    let isHeard = state.withLock { state in
      guard state.queue != nil else { return false }
      state.waiting.append(content)
      if state.waiting.count > limit { state.waiting.removeFirst() }
      return true
    }
    if isHeard { handover.ask { [weak self] in self?.addOperations() } }
  }

  private func addOperations() {
    while let (queue, generation) = state.withLock({ state -> (OperationQueue, UInt64)? in
      guard let queue = state.queue, state.operations < state.waiting.count else { return nil }
      state.operations += 1
      return (queue, state.generation)
    }) {
      queue.addOperation { [weak self] in self?.deliverNext(of: generation) }
    }
  }

  func applicationDidResume() {}

  private func deliverNext(of generation: UInt64) {
    let next: (ServiceEvent.Content, Handler)? = state.withLock { state in
      guard state.generation == generation else { return nil }
      state.operations -= 1
      guard let handler = state.handler, !state.waiting.isEmpty else { return nil }
      return (state.waiting.removeFirst(), handler)
    }
    guard let (content, handler) = next, !runtime.isSuspended else { return }
    handler.call(content)
  }
}

extension ServiceFailure {
  /// The error that a handler is given.
  var error: NSError {
    let code =
      switch cause {
      case _ where isDenied: CMErrorNotAuthorized
      case .unavailable, .notEquipped: CMErrorNotAvailable
      case .trueNorthUnknown: CMErrorTrueNorthNotAvailable
      case .needsMovement: CMErrorDeviceRequiresMovement
      }
    return NSError(
      domain: CMErrorDomain, code: Int(code.rawValue),
      userInfo: [NSLocalizedDescriptionKey: reason])
  }
}
