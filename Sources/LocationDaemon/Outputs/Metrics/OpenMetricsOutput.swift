// OpenMetrics at a port: what Prometheus and its relatives scrape.

package import LocationServices
package import Lodestone
package import OutputProtocols
package import SensorTypes
import ServiceProtocol
import Synchronization

/// Serves the page `/metrics`.
///
/// The chips are awake for five minutes after each scrape, which is how long Prometheus takes a value for the present one. The first page
/// after a pause has NaN for what is not measured yet.
package final class OpenMetricsOutput: ProtocolOutput {
  /// How long the chips stay awake after a scrape, in seconds.
  static let awake = 300.0
  /// The time in seconds between two positions, attitudes and the like that is asked for.
  private static let interval = 1.0

  private struct State: Sendable {
    var published = PublishedState()
    var lastScrape: Timestamp?
    var connections: Set<UInt64> = []
    var last: UInt64 = 0
    var pages: UInt64 = 0
    var refused: UInt64 = 0
  }

  package let name = "openmetrics"
  package let place: String
  package let positions: PositionLimit
  /// The names by which requests may ask, besides numeric addresses and the machine's own.
  private let hosts: [String]
  private let machine: @Sendable () -> String
  private let page: MetricsPage
  private let clocks: RuntimeClocks
  private let clock: @Sendable (Timestamp) -> ClockReading
  private let poll = SensorPoll()
  private let state = Mutex(State())
  private let waking = OutputWaking()

  /// Makes the output of a port.
  ///
  /// - Parameters:
  ///   - place: The port, for messages.
  ///   - hosts: The names by which requests may ask, besides numeric addresses and the machine's own.
  ///   - machine: Returns the host name of the machine, which may change.
  ///   - board: The name of the board, as the metrics have it.
  ///   - clock: What the clock of the machine shows at a moment.
  package init(
    place: String, board: String, hosts: [String] = [], positions: PositionLimit,
    machine: @escaping @Sendable () -> String = { OutputSettings.machine }, clocks: RuntimeClocks,
    clock: @escaping @Sendable (Timestamp) -> ClockReading
  ) {
    (self.place, self.hosts, self.machine, self.positions) = (place, hosts, machine, positions)
    (self.clocks, self.clock) = (clocks, clock)
    page = MetricsPage(
      board: board, version: LodestoneRuntime.version, showsPosition: positions != .none)
  }

  package var demand: Demand {
    let now = clocks.now()
    return state.withLock { Self.isAwake($0, at: now) } ? Self.demand : Demand()
  }

  private static let demand = Demand(
    heading: true, location: true, locationInterval: interval, altitude: true, satellites: true,
    motion: MotionDemand(attitude: true, interval: interval))

  private static func isAwake(_ state: State, at now: Timestamp) -> Bool {
    state.lastScrape.map { now.seconds(since: $0) < awake } ?? false
  }

  package var summary: OutputSummary {
    state.withLock { state in
      var summary = OutputSummary(listeners: state.connections.count)
      (summary.sent, summary.refused) = (state.pages, state.refused)
      return summary
    }
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) { waking.begin(wake) }

  package func attach(_ sensors: @escaping @Sendable () -> [SensorStatus]) { poll.attach(sensors) }

  /// Makes what serves a scraper that has connected.
  package func admit(at now: Double, wake: @escaping @Sendable () -> Void) -> any ServedConnection {
    let id = state.withLock { state in
      state.last += 1
      state.connections.insert(state.last)
      return state.last
    }
    return MetricsConnection(self, id, at: now)
  }

  fileprivate func remove(_ id: UInt64) {
    state.withLock { _ = $0.connections.remove(id) }
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {}

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    state.withLock { state in
      state.published = published
      guard Self.isAwake(state, at: now) else { return nil }
      return state.lastScrape?.advanced(bySeconds: Self.awake)
    }
  }

  /// Returns the answer to a request.
  fileprivate func answer(_ request: HTTPRequestHead.HTTPRequestProgress) -> [UInt8] {
    let answer: [UInt8]?
    switch request {
    case .incomplete: answer = HTTPStatus.requestTimeout.answer("The request did not arrive.")
    case .wrong(let status): answer = status.answer("This is no request of HTTP/1.1.")
    case .complete(let head): answer = refusal(of: head)
    }
    if let answer {
      state.withLock { $0.refused += 1 }
      return answer
    }
    let now = clocks.now()
    let (published, wasAwake) = state.withLock { state in
      defer { state.lastScrape = now }
      state.pages += 1
      return (state.published, Self.isAwake(state, at: now))
    }
    if !wasAwake { waking() }
    let sensors = poll.sensors(published.sensors, at: now)
    let bytes = page.bytes(published, sensors: sensors, clock: clock(now), at: now)
    guard case .complete(let head) = request else { return [] }
    return HTTPStatus.ok.answer(
      bytes, type: OpenMetricsText.mediaType, isHead: head.method == "HEAD")
  }

  /// Returns the answer to a request that gets no page; `nil` for one that does.
  private func refusal(of head: HTTPRequestHead) -> [UInt8]? {
    guard head.method == "GET" || head.method == "HEAD" else {
      return HTTPStatus.methodNotAllowed.answer("Only GET.", fields: [("Allow", "GET, HEAD")])
    }
    guard head.isFor(machine: machine(), names: hosts) else {
      return HTTPStatus.forbidden.answer(
        "This host name is not known here: add it to 'hosts' of the output openmetrics in serve.yaml, or ask by the numeric address."
      )
    }
    guard head.path == "/metrics" else {
      return HTTPStatus.notFound.answer("The metrics are at /metrics.")
    }
    return nil
  }
}

/// One request for the page: it is answered, and the connection is closed.
private final class MetricsConnection: ServedConnection {
  private struct State: Sendable {
    var received: [UInt8] = []
    var answer: [UInt8]?
    /// When the connection was closed, or is to be given up.
    var deadline: Double
    var isClosed = false
  }

  private let output: OpenMetricsOutput
  private let id: UInt64
  private let state: Mutex<State>

  init(_ output: OpenMetricsOutput, _ id: UInt64, at now: Double) {
    (self.output, self.id) = (output, id)
    state = Mutex(State(deadline: now + HTTPRequestHead.patience))
  }

  let isOneWay = true
  let maySleep = false
  var isReading: Bool { state.withLock { !$0.isClosed } }
  var isClosed: Bool { state.withLock { $0.isClosed } }
  var waitingCount: Int { state.withLock { $0.answer?.count ?? 0 } }
  var deadline: Double? { state.withLock { $0.deadline } }

  func advance(to now: Double) {
    guard state.withLock({ !$0.isClosed && now >= $0.deadline }) else { return }
    finish(.incomplete, at: now)
  }

  func close(_ reason: Farewell, at now: Double) {
    state.withLock { ($0.isClosed, $0.deadline) = (true, now) }
  }

  func receive(_ bytes: UnsafeRawBufferPointer, at now: Double) {
    let progress = state.withLock { state -> HTTPRequestHead.HTTPRequestProgress in
      guard !state.isClosed else { return .incomplete }
      state.received += bytes.prefix(HTTPRequestHead.longest + 4 - state.received.count)
      return HTTPRequestHead.read(state.received)
    }
    if progress != .incomplete { finish(progress, at: now) }
  }

  private func finish(_ request: HTTPRequestHead.HTTPRequestProgress, at now: Double) {
    let answer = output.answer(request)
    state.withLock { state in
      guard !state.isClosed else { return }
      (state.isClosed, state.answer, state.received) = (true, answer, [])
      state.deadline = now + HTTPRequestHead.patience
    }
  }

  func next() -> [UInt8]? {
    state.withLock { state in
      defer { state.answer = nil }
      return state.answer
    }
  }

  func end() { output.remove(id) }
}
