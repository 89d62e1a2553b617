import Lodestone
import MapDrawing
import SensorHub
import SensorTypes
import Synchronization

/// Hands what the board says to every page that is open.
final class MapFeed: Sendable {
  /// How many pages may be open.
  static let limit = 16

  /// What comes next for a page.
  enum Event: Sendable {
    case message(String)
    case end
  }

  private struct Place {
    var outbox = Outbox()
    let wake: AsyncStream<Void>.Continuation
  }

  private struct State {
    var live: LiveState
    var places: [Int: Place] = [:]
    var nextID = 0
    var isClosed = false
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Timestamp

  convenience init(session: Session, tiles: TileStore?) {
    self.init(
      live: LiveState(
        board: session.board, isSimulated: session.simulation != nil, tiles: tiles,
        sensors: session.hub.status, start: session.now()
      ) { session.clock(at: $0) },
      now: { session.now() })
  }

  init(live: sending LiveState, now: @escaping @Sendable () -> Timestamp) {
    state = Mutex(State(live: live))
    self.now = now
  }

  /// Takes what was observed, and what time has made due.
  func take(_ batch: [Observation], at now: Timestamp) {
    state.withLock { state in
      var messages = batch.flatMap { state.live.take($0) }
      messages += state.live.due(at: now)
      guard !messages.isEmpty else { return }
      for id in state.places.keys {
        for message in messages { state.places[id]?.outbox.post(message) }
        state.places[id]?.wake.yield()
      }
    }
  }

  /// Lets a page in; `nil` where there are too many.
  func open() -> Seat? {
    let (stream, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id: Int? = state.withLock { state in
      guard state.places.count < Self.limit, !state.isClosed else { return nil }
      let id = state.nextID
      state.nextID += 1
      state.places[id] = Place(wake: wake)
      return id
    }
    return id.map { Seat(feed: self, id: $0, wake: stream) }
  }

  /// Tells every page that this was all.
  func close() {
    state.withLock { state in
      state.isClosed = true
      for place in state.places.values { place.wake.yield() }
    }
  }

  /// How many pages are open.
  var count: Int { state.withLock { $0.places.count } }

  fileprivate func leave(_ id: Int) { state.withLock { $0.places[id] = nil } }

  // `nil`: nothing yet.
  fileprivate func next(for id: Int) -> Event? {
    state.withLock { state in
      guard !state.isClosed, state.places[id] != nil else { return .end }
      if state.places[id]?.outbox.needsSnapshot == true {
        let snapshot = state.live.snapshot(at: now())
        state.places[id]?.outbox.begin(with: snapshot)
      }
      return state.places[id]?.outbox.take().map(Event.message)
    }
  }

  /// The place of a page; it is free again when this object goes, as it does with the connection.
  final class Seat: Sendable {
    private let feed: MapFeed
    private let id: Int
    private let wake: AsyncStream<Void>
    private let hasEnded = Atomic(false)

    fileprivate init(feed: MapFeed, id: Int, wake: AsyncStream<Void>) {
      self.feed = feed
      self.id = id
      self.wake = wake
    }

    deinit { feed.leave(id) }

    /// Waits for what comes next; `nil` behind the end, and when the connection is given up.
    func next() async -> Event? {
      while !Task.isCancelled, !hasEnded.load(ordering: .acquiring) {
        switch feed.next(for: id) {
        case .end?:
          hasEnded.store(true, ordering: .releasing)
          return .end
        case let event?: return event
        case nil: for await _ in wake { break }
        }
      }
      return nil
    }
  }
}
