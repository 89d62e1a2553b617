// The way of a service's events to the queue of a handler.

import Foundation
import Inboxes
import LocationServices
import Synchronization

/// Carries events to the handler's queue. At most `limit` wait; then the oldest is dropped. What is on its way when the
/// application is suspended is lost.
///
/// `@unchecked Sendable`: everything that changes is in the mutex. The handler is not `Sendable`, as in the
/// SDK; it is only ever called on the queue that its owner has named for it, and let go of by the owner's
/// thread or on that queue: never by the thread that publishes, where what it captures must not end.
final class QueueDelivery: @unchecked Sendable {
  struct Handler: @unchecked Sendable {
    let call: (EventContent) -> Void
  }

  private struct State {
    var queue: OperationQueue?
    var handler: Handler?
    /// Names what is meant for this handler.
    var ticket: EventInbox.Ticket?
    /// Operations for this handler that are on the way.
    var operations = 0
  }

  /// Events for the handler.
  let inbox: EventInbox
  private let state = Mutex(State())

  /// - Parameter limit: A minute of altitudes, if nothing is said.
  init(limit: Int = 60) {
    inbox = EventInbox(.handler(limit: limit))
    inbox.setWake(.onQueue { [weak self] in self?.addOperations() })
  }

  func set(queue: OperationQueue?, handler: Handler?) {
    // What ends with the former handler, or with a queue of the application's, may run code: not under the lock.
    let former = state.withLock { state in
      defer { state = State(queue: queue, handler: handler, ticket: inbox.restart()) }
      return (state.handler, state.queue)
    }
    withExtendedLifetime(former) {}
  }

  func clear() { set(queue: nil, handler: nil) }

  // On the inbox's queue: the operation queue may be a subclass of the application's that blocks.
  private func addOperations() {
    inbox.beginRound()
    while let (queue, ticket) = state.withLock({ state -> (OperationQueue, EventInbox.Ticket)? in
      // Nobody is called: what waits is for nobody.
      guard let queue = state.queue, let ticket = state.ticket else {
        inbox.restart()
        return nil
      }
      // Counted together, so that no operation is added that would find nothing: the queue may block.
      guard state.operations < inbox.count else { return nil }
      state.operations += 1
      return (queue, ticket)
    }) {
      queue.addOperation { [weak self] in self?.deliverNext(of: ticket) }
    }
  }

  private func deliverNext(of ticket: EventInbox.Ticket) {
    let (handler, content) = state.withLock { state -> (Handler?, EventContent?) in
      guard state.ticket == ticket else { return (nil, nil) }
      state.operations -= 1
      return (state.handler, inbox.take(by: ticket))
    }
    if let handler, let content { handler.call(content) }
  }
}

extension ServiceFailure {
  /// The error that a handler is given.
  var error: NSError {
    let code =
      switch cause {
      case _ where isDenied: CMErrorNotAuthorized
      case .unavailable, .notEquipped, .notInUse: CMErrorNotAvailable
      case .trueNorthUnknown: CMErrorTrueNorthNotAvailable
      case .needsMovement: CMErrorDeviceRequiresMovement
      }
    return NSError(
      domain: CMErrorDomain, code: Int(code.rawValue),
      userInfo: [NSLocalizedDescriptionKey: reason])
  }
}
