package import Lodestone
package import MapDrawing
package import SensorTypes
import Synchronization

/// Hands what the board says to every page that is open.
package final class MapFeed: Sendable {
  /// How many pages may be open.
  static let limit = 16

  private struct Place {
    var outbox = Outbox()
    let wake: @Sendable () -> Void
  }

  private struct State {
    var live: LiveState
    var places: [Int: Place] = [:]
    var nextID = 0
    var isClosed = false
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Timestamp

  package convenience init(board: any BoardView, tiles: TileStore?) {
    self.init(
      live: LiveState(
        board: board.summary, tiles: tiles, sensors: board.sensors, start: board.now()
      ) { board.clock(at: $0) },
      now: { board.now() })
  }

  init(live: sending LiveState, now: @escaping @Sendable () -> Timestamp) {
    state = Mutex(State(live: live))
    self.now = now
  }

  /// Takes what was observed, and what time has made due.
  package func take(_ batch: [Observation], at now: Timestamp) {
    let wakes = state.withLock { state -> [@Sendable () -> Void] in
      var messages = batch.flatMap { state.live.take($0) }
      messages += state.live.due(at: now)
      guard !messages.isEmpty else { return [] }
      for id in state.places.keys {
        for message in messages { state.places[id]?.outbox.post(message) }
      }
      return state.places.values.map(\.wake)
    }
    for wake in wakes { wake() }
  }

  /// Opens a place for a page.
  ///
  /// - Parameter wake: Called on any thread when the page may have a new message.
  /// - Returns: `nil` if too many pages are open.
  func open(wake: @escaping @Sendable () -> Void) -> Seat? {
    let id: Int? = state.withLock { state in
      guard state.places.count < Self.limit, !state.isClosed else { return nil }
      let id = state.nextID
      state.nextID += 1
      state.places[id] = Place(wake: wake)
      return id
    }
    return id.map { Seat(feed: self, id: $0) }
  }

  /// Opens a place for a page. Returns its stream, which ends at once if too many pages are open.
  ///
  /// - Parameter wake: Called on any thread when the page may have a new message.
  package func openPage(wake: @escaping @Sendable () -> Void) -> any WebStream {
    open(wake: wake) ?? NoSeat()
  }

  /// Takes note that nothing is observed from now on, until the next observation.
  package func rest(at now: Timestamp) { state.withLock { $0.live.rest(at: now) } }

  /// Forgets all that tells where the board was. Every page begins again with a snapshot.
  package func forgetPlaces(at now: Timestamp) {
    let wakes = state.withLock { state in
      state.live.forgetPlaces(at: now)
      for id in state.places.keys { state.places[id]?.outbox = Outbox() }
      return state.places.values.map(\.wake)
    }
    for wake in wakes { wake() }
  }

  /// Tells every page that this was all.
  package func close() {
    let wakes = state.withLock { state in
      state.isClosed = true
      return state.places.values.map(\.wake)
    }
    for wake in wakes { wake() }
  }

  /// How many pages are open.
  var count: Int { state.withLock { $0.places.count } }

  fileprivate func leave(_ id: Int) { state.withLock { $0.places[id] = nil } }

  fileprivate func next(for id: Int) -> WebStreamEvent? {
    state.withLock { state in
      guard !state.isClosed, state.places[id] != nil else {
        return .end(code: WebSocket.goingAway, reason: "")
      }
      if state.places[id]?.outbox.needsSnapshot == true {
        let snapshot = state.live.snapshot(at: now())
        state.places[id]?.outbox.begin(with: snapshot)
      }
      return state.places[id]?.outbox.take().map(WebStreamEvent.message)
    }
  }

  /// The place of a page; it is free again when this object goes, as it does with the connection.
  final class Seat: WebStream {
    private let feed: MapFeed
    private let id: Int

    fileprivate init(feed: MapFeed, id: Int) {
      self.feed = feed
      self.id = id
    }

    deinit { feed.leave(id) }

    func next() -> WebStreamEvent? { feed.next(for: id) }
  }

  /// The stream of a page that found no place.
  struct NoSeat: WebStream {
    func next() -> WebStreamEvent? {
      .end(code: WebSocket.tryAgainLater, reason: "\(MapFeed.limit) pages are open already")
    }
  }
}
