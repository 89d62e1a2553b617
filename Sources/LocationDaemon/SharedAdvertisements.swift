// One Bluetooth radio that several programs share.

package import SensorBus
import Synchronization

/// The owner of a source of advertisements. It listens while a program wants to hear them, and passes each one to all that do.
package final class SharedAdvertisements: Sendable {
  private struct Handler: Sendable { var pass: @Sendable (AdvertisementNews) -> Void }

  private struct State: Sendable {
    var handlers: [ObjectIdentifier: Handler] = [:]
    /// Since when the source has listened, as it said last.
    var listening: AdvertisementNews?
    /// Whether the source was started.
    var isOn = false
  }

  private let source: any AdvertisementSource
  private let state = Mutex(State())
  /// Held while the source is started or stopped.
  private let changing = Mutex(())

  package init(_ source: any AdvertisementSource) { self.source = source }

  /// Returns a source for one program.
  package func seat() -> any AdvertisementSource { AdvertisementSeat(self) }

  fileprivate func start(
    _ seat: AdvertisementSeat, _ handler: @escaping @Sendable (AdvertisementNews) -> Void
  ) {
    let listening = state.withLock { state in
      state.handlers[ObjectIdentifier(seat)] = Handler(pass: handler)
      return state.listening
    }
    // What was said once still stands.
    if let listening { handler(listening) }
    apply()
  }

  fileprivate func stop(_ seat: AdvertisementSeat) {
    state.withLock { $0.handlers[ObjectIdentifier(seat)] = nil }
    apply()
  }

  private func apply() {
    changing.withLock { _ in
      let (isWanted, isOn) = state.withLock { state in
        defer { state.isOn = !state.handlers.isEmpty }
        return (!state.handlers.isEmpty, state.isOn)
      }
      guard isWanted != isOn else { return }
      if isWanted {
        source.start { [weak self] news in self?.publish(news) }
      } else {
        source.stop()
        state.withLock { $0.listening = nil }
      }
    }
  }

  private func publish(_ news: AdvertisementNews) {
    let handlers = state.withLock { state in
      switch news {
      case .listening: state.listening = news
      case .failed: state.listening = nil
      case .heard: break
      }
      return Array(state.handlers.values)
    }
    for handler in handlers { handler.pass(news) }
  }

  fileprivate func problem() -> AdvertisementFailure? { source.problem() }
  fileprivate var counters: AdvertisementCounters { source.counters }
}

/// A program's share of the radio.
private final class AdvertisementSeat: AdvertisementSource {
  private let owner: SharedAdvertisements

  init(_ owner: SharedAdvertisements) { self.owner = owner }

  deinit { owner.stop(self) }

  func start(_ handler: @escaping @Sendable (AdvertisementNews) -> Void) {
    owner.start(self, handler)
  }

  func stop() { owner.stop(self) }
  func problem() -> AdvertisementFailure? { owner.problem() }
  var counters: AdvertisementCounters { owner.counters }
}
