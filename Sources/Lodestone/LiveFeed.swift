// What the async sequences of the facades stand on.

package import LocationServices
import Synchronization

/// One client of the services whose events are waited for, one after the other.
///
/// The services run from the first wait on, and stop with the task that waits, or when the feed is let go of. What nobody
/// has taken yet waits in order; of more than `limit` the oldest is dropped, a position among them is counted by the
/// runtime. While the application is suspended nothing is handed out.
package final class LiveFeed: Sendable {
  /// Events that may wait: a little more than four minutes of positions, one a second.
  package static let limit = 256

  /// The runtime that it is fed by.
  package let runtime: LodestoneRuntime
  private let settings: ClientSettings
  private let service: Service?
  private let session: ServiceSession?
  private let box: Box
  private let client = Mutex<ClientID?>(nil)

  /// Makes a feed that has started nothing.
  ///
  /// - Parameters:
  ///   - service: What is started with the first wait; `nil` where the settings alone say what is heard.
  ///   - session: What is held from the first wait on, which is told the authorization.
  package init(
    _ runtime: LodestoneRuntime, settings: ClientSettings = ClientSettings(),
    service: Service? = nil, session: ServiceSession? = nil
  ) {
    self.session = session
    self.runtime = runtime
    self.settings = settings
    self.service = service
    box = Box(runtime)
  }

  deinit { end() }

  /// The next event, as soon as there is one; `nil` once the task is cancelled, from then on for every caller.
  package func next() async -> ServiceEvent.Content? {
    if Task.isCancelled { end() } else { begin() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { box.wait($0) }
    } onCancel: {
      end()
    }
  }

  private func begin() {
    client.withLock { client in
      guard client == nil, !box.hasEnded else { return }
      let id = runtime.register(box)
      client = id
      runtime.send(ServiceRequest(id, .configure(settings)))
      if let session { runtime.send(ServiceRequest(id, .hold(session))) }
      if let service { runtime.send(ServiceRequest(id, .start(service))) }
    }
  }

  private func end() {
    box.end()
    client.withLock { client in
      guard let id = client else { return }
      client = nil
      runtime.send(ServiceRequest(id, .release))
    }
  }

  /// The letter box. It is not the feed itself: the runtime holds its clients, and nobody else may hold the feed.
  private final class Box: ServiceClient {
    private struct State {
      var waiting: [ServiceEvent.Content] = []
      var takers: [CheckedContinuation<ServiceEvent.Content?, Never>] = []
      var hasEnded = false
    }

    private unowned let runtime: LodestoneRuntime
    private let handover: Handover
    private let state = Mutex(State())

    init(_ runtime: LodestoneRuntime) {
      self.runtime = runtime
      handover = Handover(runtime.handovers)
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func wait(_ taker: CheckedContinuation<ServiceEvent.Content?, Never>) {
      state.withLock { $0.takers.append(taker) }
      handOut()
    }

    func end() {
      state.withLock { $0.hasEnded = true }
      handOut()
    }

    func receive(_ content: ServiceEvent.Content) {
      let dropped: ServiceEvent.Content? = state.withLock { state in
        guard !state.hasEnded else { return nil }
        state.waiting.append(content)
        return state.waiting.count > LiveFeed.limit ? state.waiting.removeFirst() : nil
      }
      if case .location = dropped { runtime.droppedLocations.add(1, ordering: .relaxed) }
      // The runtime is held, because the feed that holds it may go while this is on the way.
      handover.ask { [weak self, runtime] in
        withExtendedLifetime(runtime) { self?.handOut() }
      }
    }

    func applicationDidResume() { handOut() }

    // Who is woken may have an executor of the application's own: never with the services locked.
    private func handOut() {
      while true {
        let next: (CheckedContinuation<ServiceEvent.Content?, Never>, ServiceEvent.Content?)? =
          state.withLock { state in
            guard !state.takers.isEmpty else { return nil }
            if state.hasEnded { return (state.takers.removeFirst(), nil) }
            guard !runtime.isSuspended, !state.waiting.isEmpty else { return nil }
            return (state.takers.removeFirst(), state.waiting.removeFirst())
          }
        guard let (taker, content) = next else { return }
        taker.resume(returning: content)
      }
    }
  }
}
