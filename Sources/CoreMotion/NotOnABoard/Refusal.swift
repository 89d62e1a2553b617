// How a handler is told that a board does not have what it waits for. It opens no board.

import Foundation
import Synchronization

/// Tells the handler of a service once, unless the service is stopped before.
final class UnavailableNotice: Sendable {
  /// `@unchecked Sendable`: the handler is not `Sendable`, as in the SDK; it is only called on the queue named for it.
  private struct Call: @unchecked Sendable {
    let handler: () -> Void
  }

  /// Counts starts and stops, so that what is on its way to a former handler is known as such.
  private let generation = Mutex<UInt64>(0)

  /// Calls `handler` on `queue`; what was to be told before is not.
  func tell(on queue: OperationQueue, _ handler: @escaping () -> Void) {
    let call = Call(handler: handler)
    let mine = generation.withLock { number in
      number &+= 1
      return number
    }
    queue.addOperation { [weak self] in
      guard let self, generation.withLock({ $0 == mine }) else { return }
      call.handler()
    }
  }

  func forget() { generation.withLock { $0 &+= 1 } }

  /// Calls the handler of a query, which nothing stops.
  static func answer(on queue: OperationQueue, _ handler: @escaping () -> Void) {
    let call = Call(handler: handler)
    queue.addOperation { call.handler() }
  }

  static func error(_ error: CMError, _ reason: String) -> NSError {
    NSError(
      domain: CMErrorDomain, code: Int(error.rawValue),
      userInfo: [NSLocalizedDescriptionKey: reason])
  }
}
