// The client behind the facades' asynchronous sequences.

import Inboxes
import Synchronization

/// A client of the services whose events are awaited one after the other.
///
/// It connects with the first wait, or with `begin()`, and disconnects when the waiting task is cancelled or the feed is
/// released. Events wait in order; beyond `EventLimits.locations` of a kind the oldest is dropped. Nothing is delivered while
/// the application is suspended.
package final class LiveFeed: Sendable {
  /// The connection to the services.
  package let port: any ServicePort
  private let actions: [ServiceAction]
  private let reader = FeedReader()
  private let client = Mutex<ClientID?>(nil)

  /// Creates a feed that has not connected yet.
  ///
  /// - Parameter actions: The requests to send after connecting, in this order.
  package init(_ port: any ServicePort, _ actions: [ServiceAction]) {
    self.port = port
    self.actions = actions
    reader.inbox.setWake(.onQueue { [weak reader] in reader?.handOut() })
  }

  deinit { end() }

  /// Returns the next event as soon as there is one. Returns `nil` after the task was cancelled, to every caller from then on.
  package func next() async -> EventContent? {
    if Task.isCancelled { end() } else { begin() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { reader.wait($0) }
    } onCancel: {
      end()
    }
  }

  /// Connects and sends the requests, before anybody waits. Does nothing if that was done.
  package func begin() {
    client.withLock { client in
      guard client == nil, !reader.inbox.isClosed else { return }
      let id = port.connect(reader.inbox)
      client = id
      for action in actions { port.send(ServiceRequest(id, action)) }
    }
  }

  private func end() {
    reader.close()
    let id = client.withLock { client in
      defer { client = nil }
      return client
    }
    if let id { port.send(ServiceRequest(id, .release)) }
  }
}

/// The tasks that wait for events. Separate from the feed, because the services retain the inbox and must not retain the feed.
private final class FeedReader: Sendable {
  // Continuations stand in a struct, as closures do.
  private struct Waiting: Sendable {
    var takers: [CheckedContinuation<EventContent?, Never>] = []
  }

  let inbox = EventInbox(.feed)
  private let waiting = Mutex(Waiting())

  func wait(_ taker: CheckedContinuation<EventContent?, Never>) {
    waiting.withLock { $0.takers.append(taker) }
    handOut()
  }

  func close() {
    inbox.close()
    handOut()
  }

  // Resuming a task may call an executor of the application, so it never happens with the services locked.
  func handOut() {
    inbox.beginRound()
    while true {
      let next: (CheckedContinuation<EventContent?, Never>, EventContent?)? =
        waiting.withLock { waiting in
          guard !waiting.takers.isEmpty else { return nil }
          if inbox.isClosed { return (waiting.takers.removeFirst(), nil) }
          guard let content = inbox.take() else { return nil }
          return (waiting.takers.removeFirst(), content)
        }
      guard let (taker, content) = next else { return }
      taker.resume(returning: content)
    }
  }
}
