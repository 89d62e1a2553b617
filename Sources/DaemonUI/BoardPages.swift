// The pages that a daemon serves to browsers: they share one view of the board, which observes only while a page is open.

import Dispatch
import LiveMap
import LocationServices
import Lodestone
import MapDrawing
import SensorTypes
import Synchronization
import TerminalUI

/// The board for all pages that are open.
///
/// The board is opened with the first page, and observed while there is one.
final class BoardPages: Sendable {
  /// The time between two looks at what was observed, in seconds.
  private static let round = 0.05
  /// The time after a failure to open the board in which no other attempt is made, in seconds.
  private static let pause = 2.0

  fileprivate enum View {
    case closed
    case opening
    case open(DaemonBoard, MapFeed)
    case failed(String, Timestamp)
  }

  fileprivate struct State {
    var board = View.closed
    var count = 0
    var isObserving = false
    var isStopped = false
    /// Whether what waits tells more of the position than may be known now.
    var mustForget = false
    /// How often observing has begun.
    var runs: UInt64 = 0
    /// Called when the board is open, for pages that wait for it.
    var wakes: [@Sendable () -> Void] = []
  }

  // The closure stands in a struct: Swift 6.0 dies when it optimises a closure that a mutex holds bare.
  private struct Opening: Sendable { var open: @Sendable () throws -> DaemonBoard }

  private let opening: Opening
  private let tiles: TileStore?
  private let state = Mutex(State())
  private let arrivals = ArrivalQueue<Observation>()
  /// Opens the board and changes what it is asked for, both of which may take time.
  private let work = DispatchQueue(label: "lodestone.pages")

  /// - Parameter open: Opens the view of the board, which may take seconds.
  init(tiles: TileStore?, open: @escaping @Sendable () throws -> DaemonBoard) {
    opening = Opening(open: open)
    self.tiles = tiles
  }

  /// Opens a page. Returns its stream, which has its first message once the board is open.
  func open(wake: @escaping @Sendable () -> Void) -> any WebStream {
    let isMissing = state.withLock { state -> Bool in
      state.count += 1
      switch state.board {
      case .open: return false
      case .opening:
        state.wakes.append(wake)
        return false
      case .closed, .failed:
        if case .failed(_, let time) = state.board,
          RuntimeClocks.system.now().seconds(since: time) < Self.pause
        {
          return false
        }
        state.board = .opening
        state.wakes.append(wake)
        return true
      }
    }
    if isMissing { work.async { self.openBoard() } }
    adjust()
    return Page(self, wake)
  }

  /// The number of pages that are open.
  var count: Int { state.withLock { $0.count } }

  /// Ends the stream of every page.
  func stop() {
    let (feed, wakes) = state.withLock { state in
      state.isStopped = true
      defer { state.wakes = [] }
      if case .open(_, let feed) = state.board { return (feed as MapFeed?, state.wakes) }
      return (nil, state.wakes)
    }
    feed?.close()
    for wake in wakes { wake() }
    adjust()
  }

  private func openBoard() {
    let board: View
    do {
      let view = try opening.open()
      let feed = MapFeed(board: view, tiles: tiles)
      view.onAccessChange { [weak self] in
        // What waits was measured before, and may say more than may be known now.
        self?.state.withLock { $0.mustForget = true }
        feed.forgetPlaces(at: view.now())
      }
      board = .open(view, feed)
    } catch {
      board = .failed("\(error)", RuntimeClocks.system.now())
    }
    let wakes = state.withLock { state in
      state.board = board
      defer { state.wakes = [] }
      return state.wakes
    }
    adjust()
    for wake in wakes { wake() }
  }

  /// Begins or ends to observe the board, by whether a page is open.
  private func adjust() { work.async { self.adjustNow() } }

  private func adjustNow() {
    let (board, wants, observes) = state.withLock { state -> (View, Bool, Bool) in
      let observes = state.isObserving
      if case .open = state.board { state.isObserving = state.isWanted }
      return (state.board, state.isWanted, observes)
    }
    guard case .open(let view, let feed) = board, wants != observes else { return }
    guard wants else {
      view.end()
      // What came last is not told with what comes next.
      var rest: [Observation] = []
      _ = arrivals.take(into: &rest, waiting: 0)
      return feed.rest(at: view.now())
    }
    // Their states are told when they change, and may have changed since the last page was closed.
    _ = view.sensors
    view.begin(.everything) { [arrivals] in arrivals.post($0) }
    // An older round may still be due.
    let run = state.withLock { state in
      state.runs += 1
      return state.runs
    }
    look(view, feed, run)
  }

  /// Hands on what was observed, twenty times a second, until the board is observed no more.
  private func look(_ view: DaemonBoard, _ feed: MapFeed, _ run: UInt64) {
    let (isWanted, mustForget) = state.withLock { state in
      defer { state.mustForget = false }
      return (state.isObserving && state.runs == run, state.mustForget)
    }
    guard isWanted else { return }
    var batch: [Observation] = []
    _ = arrivals.take(into: &batch, waiting: 0)
    if mustForget {
      feed.forgetPlaces(at: view.now())
      batch.removeAll(where: \.isMeasurement)
    }
    feed.take(batch, at: view.now())
    work.asyncAfter(deadline: .now() + Self.round) { self.look(view, feed, run) }
  }

  fileprivate func leave() {
    state.withLock { $0.count -= 1 }
    adjust()
  }

  fileprivate enum Start {
    case later
    case feed(MapFeed)
    case never(String)
  }

  fileprivate var start: Start {
    state.withLock { state in
      switch state.board {
      case _ where state.isStopped: .never("the daemon ends")
      case .closed, .opening: .later
      case .open(_, let feed): .feed(feed)
      case .failed(let reason, _): .never(reason)
      }
    }
  }

  /// The stream of one page. The page is closed when this object goes, as it does with the connection.
  private final class Page: WebStream {
    /// Close code: the server cannot serve the page now.
    private static let tryAgainLater: UInt16 = 1_013

    private let pages: BoardPages
    private let wake: @Sendable () -> Void
    private let stream = Mutex<(any WebStream)?>(nil)

    init(_ pages: BoardPages, _ wake: @escaping @Sendable () -> Void) {
      (self.pages, self.wake) = (pages, wake)
    }

    deinit { pages.leave() }

    func next() -> WebStreamEvent? {
      stream.withLock { stream in
        if let stream { return stream.next() }
        switch pages.start {
        case .later: return nil
        case .never(let reason): return .end(code: Self.tryAgainLater, reason: reason)
        case .feed(let feed):
          let opened = feed.openPage(wake: wake)
          stream = opened
          return opened.next()
        }
      }
    }
  }
}

extension BoardPages.State {
  fileprivate var isWanted: Bool { count > 0 && !isStopped }
}

extension Observation {
  /// Whether it was measured: losses and news of sensors tell no position.
  fileprivate var isMeasurement: Bool {
    switch self {
    case .heading, .location, .altitude, .absoluteAltitude, .sky, .motion, .waves, .diagnostic: true
    case .headingUnavailable, .locationUnavailable, .altitudeUnavailable, .motionUnavailable,
      .wavesUnavailable, .sensor:
      false
    }
  }
}
