// The protocol of gpsd at a port: programs that are written for gpsd find the board there.

package import LocationServices
package import Lodestone
package import OutputProtocols
package import SensorTypes
import ServiceProtocol
import Synchronization

/// Serves clients of gpsd.
package final class GPSDOutput: ProtocolOutput {
  /// The time in seconds between two looks at what is lost while nothing comes.
  private static let look = 0.25
  /// What headings and attitudes are said to come from: no single chip measures them.
  private static let instrument = "lodestone"
  private static let positionSentences: [OutputSentence] = [.gga, .rmc, .vtg, .gst, .hdg, .ths]

  private struct State: Sendable {
    var reports: GPSDReports
    var reporter = GPSDReporter()
    var encoder: NMEAEncoder
    /// When sentences about the position were sent last.
    var sentencesSent: Timestamp?
    var published = PublishedState()
    var clients = ClientTable<GPSDConnection>()
    var sent: UInt64 = 0
    /// The receivers of the board, if what they send may be passed on at all.
    var receivers: (any ReceiverSource)?
  }

  package let name = "gpsd"
  package let place: String
  package let positions: PositionLimit
  private let release: GPSDRelease
  private let clocks: RuntimeClocks
  private let state: Mutex<State>
  private let waking = OutputWaking()
  private let raw = Mutex(GPSDRawFeed())

  /// Makes the output of a port.
  ///
  /// - Parameters:
  ///   - place: The port, for messages.
  ///   - clock: What the clock of the machine shows at a moment.
  package init(
    place: String, positions: PositionLimit, isSimulated: Bool, clocks: RuntimeClocks,
    clock: @escaping @Sendable (Timestamp) -> ClockReading?
  ) {
    (self.place, self.positions, self.clocks) = (place, positions, clocks)
    release = GPSDRelease(revision: "Lodestone \(LodestoneRuntime.version)")
    let instrument = GPSDDevice(path: Self.instrument, driver: "Lodestone")
    state = Mutex(
      State(
        reports: GPSDReports(
          devices: [instrument], receiver: Self.instrument, instrument: Self.instrument,
          clock: clock),
        encoder: NMEAEncoder(isSimulated: isSimulated)))
  }

  package var demand: Demand {
    guard state.withLock({ !$0.clients.isEmpty }) else { return Demand() }
    return Demand(
      heading: true, location: true, altitude: true, satellites: true,
      motion: MotionDemand(attitude: true, field: true, interval: GPSDReporter.attitudeInterval))
  }

  package var summary: OutputSummary {
    let lost = raw.withLock { $0.dropped }
    return state.withLock { state in
      var summary = OutputSummary(listeners: state.clients.count)
      summary.sent = state.sent
      summary.dropped = state.clients.dropped(\.dropped) + lost
      return summary
    }
  }

  package func attach(receivers: any ReceiverSource) {
    guard positions == .exact else { return }
    state.withLock { $0.receivers = receivers }
  }

  package func end() { raw.withLock { $0.stop() } }

  package func begin(_ wake: @escaping @Sendable () -> Void) { waking.begin(wake) }

  /// Makes what serves a client that has connected.
  package func admit(at now: Double, wake: @escaping @Sendable () -> Void) -> any ServedConnection {
    let connection = state.withLock { state in
      state.clients.add { GPSDConnection(self, $0, release, at: now, wake: wake) }
    }
    waking()
    return connection
  }

  fileprivate func remove(_ id: UInt64, dropped: UInt64) {
    state.withLock { $0.clients.remove(id, dropped: dropped) }
    waking()
  }

  fileprivate var now: Timestamp { clocks.now() }

  /// What requests of clients are answered from, and whether a client may watch raw data.
  fileprivate var answers: (GPSDReports, PublishedState, passesRaw: Bool) {
    let (reports, published, receivers) = state.withLock {
      ($0.reports, $0.published, $0.receivers)
    }
    return (reports, published, receivers?.mayHearReceivers == true)
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {
    let (connections, reports, text) =
      state.withLock { state in
        state.published = published
        var found: [GPSDServerReport] = []
        if case .sensor(let status) = observation { found += list(status, at: now, &state) }
        guard !state.clients.isEmpty else { return ([], [], []) }
        found += state.reporter.reports(
          after: observation, state.reports, state: published, at: now)
        let text = sentences(of: observation, at: now, &state)
        state.sent += UInt64(found.count)
        return (state.clients.all, found, text)
      } as ([GPSDConnection], [GPSDServerReport], [UInt8])
    send(reports, text, to: connections, at: now)
  }

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    let (connections, reports, text) =
      state.withLock { state in
        guard !state.clients.isEmpty else { return ([], [], []) }
        state.published = published
        let found = state.reporter.due(state.reports, state: published, at: now)
        state.sent += UInt64(found.count)
        return (state.clients.all, found, sentencesDue(at: now, &state))
      } as ([GPSDConnection], [GPSDServerReport], [UInt8])
    passRaw(to: connections, at: now)
    guard !connections.isEmpty else { return nil }
    send(reports, text, to: connections, at: now)
    return now.advanced(bySeconds: Self.look)
  }

  /// Passes on what receivers have sent since the last round.
  private func passRaw(to connections: [GPSDConnection], at now: Timestamp) {
    var (wantsLines, wantsBytes) = (false, false)
    for connection in connections {
      let level = connection.rawLevel
      (wantsLines, wantsBytes) = (wantsLines || level == 1, wantsBytes || level == 2)
    }
    let (receivers, isBoardOpen) = state.withLock {
      ($0.receivers, $0.reports.devices.contains(where: \.isReceiver))
    }
    guard wantsLines || wantsBytes, let receivers else { return raw.withLock { $0.stop() } }
    guard receivers.mayHearReceivers else {
      // The machine's rules have changed: nothing that waits is sent.
      for connection in connections { connection.forbidRaw() }
      return raw.withLock { $0.stop() }
    }
    guard isBoardOpen else { return raw.withLock { $0.stop() } }
    let found = raw.withLock {
      $0.take(of: receivers, wantsLines: wantsLines, wantsBytes: wantsBytes)
    }
    for (device, data) in found {
      for connection in connections { connection.send(data, of: device, at: now) }
    }
  }

  private func send(
    _ reports: [GPSDServerReport], _ sentences: [UInt8], to connections: [GPSDConnection],
    at now: Timestamp
  ) {
    guard !reports.isEmpty || !sentences.isEmpty else { return }
    let receiver = sentences.isEmpty ? "" : state.withLock { $0.reports.receiver }
    for connection in connections { connection.send(reports, sentences, of: receiver, at: now) }
  }

  /// The sentences that `?WATCH={"nmea":true}` asks for: a position as gpsd writes one for a receiver that does not speak NMEA.
  private func sentences(
    of observation: Observation, at now: Timestamp, _ state: inout State
  ) -> [UInt8] {
    switch observation {
    case .location, .locationUnavailable:
      state.sentencesSent = now
      return write(Self.positionSentences, at: now, &state)
    case .sky: return write([.gsa, .gsv], at: now, &state)
    default: return []
    }
  }

  /// The sentences of a board without a position, once a second: nothing else comes, and a heading that was told may be lost meanwhile.
  private func sentencesDue(at now: Timestamp, _ state: inout State) -> [UInt8] {
    guard state.published.location(at: now) == nil,
      state.sentencesSent.map({ now.seconds(since: $0) >= GPSDReporter.absenceInterval }) ?? true
    else { return [] }
    state.sentencesSent = now
    return write(Self.positionSentences, at: now, &state)
  }

  private func write(
    _ kinds: [OutputSentence], at now: Timestamp, _ state: inout State
  ) -> [UInt8] {
    guard state.clients.all.contains(where: \.wantsSentences) else { return [] }
    var text: [UInt8] = []
    let clock = state.reports.clock(now) ?? ClockReading(seconds: 0, isSet: false)
    state.encoder.append(kinds, of: state.published, at: now, clock: clock, to: &text)
    return text
  }

  /// Keeps the list of devices: the receiver that is heard, and the board.
  private func list(
    _ status: SensorStatus, at now: Timestamp, _ state: inout State
  ) -> [GPSDServerReport] {
    guard let link = status.link else { return [] }
    var device = GPSDDevice(
      path: status.position, driver: status.chip, subtype: status.identity?.description,
      isReceiver: true, baudRate: link.baudRate)
    let known = state.reports.devices.first { $0.path == device.path }
    device.activated = known?.activated ?? state.reports.utc(of: status.since)
    guard status.state == .running else {
      guard let known else { return [] }
      state.reports.devices.removeAll { $0.path == known.path }
      return [state.reports.deactivation(of: known)]
    }
    state.reports.receiver = device.path
    guard known != device else { return [] }
    state.reports.devices.removeAll { $0.path == device.path }
    state.reports.devices.insert(device, at: 0)
    return [state.reports.device(device)]
  }
}

/// One client of gpsd.
private final class GPSDConnection: ServedConnection {
  private struct State: Sendable {
    var session: GPSDSession
    /// What has come and the session has no room for yet: one read of the server at most.
    var pending: [UInt8] = []
    /// When the connection was closed.
    var closed: Timestamp?
  }

  private let output: GPSDOutput
  private let id: UInt64
  private let wake: @Sendable () -> Void
  private let state: Mutex<State>

  init(
    _ output: GPSDOutput, _ id: UInt64, _ release: GPSDRelease, at now: Double,
    wake: @escaping @Sendable () -> Void
  ) {
    (self.output, self.id, self.wake) = (output, id, wake)
    let session = GPSDSession(release, passesRaw: false, at: Timestamp(seconds: now))
    state = Mutex(State(session: session))
  }

  var wantsSentences: Bool {
    state.withLock { $0.session.policy.isWatching && $0.session.policy.nmea }
  }
  /// The level of raw data that is watched.
  var rawLevel: Int { state.withLock { $0.session.policy.isWatching ? $0.session.policy.raw : 0 } }
  var dropped: UInt64 {
    state.withLock { $0.session.leftOut.reports &+ $0.session.leftOut.pieces }
  }

  let isOneWay = true
  /// What waits is superseded by what is newer; who takes nothing for minutes is disconnected by the deadline.
  let maySleep = true
  var isReading: Bool {
    state.withLock { $0.closed == nil && $0.pending.isEmpty && $0.session.room > 0 }
  }
  var isClosed: Bool { state.withLock { $0.closed != nil } }
  var waitingCount: Int { state.withLock { $0.session.output.count } }
  var deadline: Double? {
    state.withLock { state in
      let end = state.closed ?? state.session.deadline
      return end == .distantFuture ? nil : end.seconds(since: Timestamp(nanoseconds: 0))
    }
  }

  func advance(to now: Double) {
    state.withLock { state in
      let now = Timestamp(seconds: now)
      if state.closed == nil, now >= state.session.deadline { state.closed = now }
    }
  }

  func close(_ reason: Farewell, at now: Double) {
    state.withLock { $0.closed = $0.closed ?? Timestamp(seconds: now) }
  }

  func receive(_ bytes: UnsafeRawBufferPointer, at now: Double) {
    state.withLock { $0.pending += bytes }
    takePending(at: Timestamp(seconds: now))
  }

  /// Has the session take what has come, as far as it has room.
  private func takePending(at now: Timestamp) {
    let (reports, published, passesRaw) = output.answers
    state.withLock { state in
      state.session.passesRaw = passesRaw
      var rest = state.pending[...]
      repeat {
        let piece = rest.prefix(state.session.room)
        rest = rest.dropFirst(piece.count)
        state.session.receive(piece, reports: reports, state: published, at: now)
      } while !rest.isEmpty && state.session.room > 0
      state.pending = Array(rest)
    }
  }

  func next() -> [UInt8]? {
    let bytes = take()
    // Requests that have waited for room are answered now.
    if state.withLock({ $0.closed == nil && $0.session.hasRequests }) {
      takePending(at: output.now)
    }
    return bytes.isEmpty ? nil : bytes
  }

  private func take() -> [UInt8] {
    state.withLock { state in
      guard state.closed == nil else { return [] }
      let bytes = Array(state.session.output)
      state.session.didWrite(bytes.count, at: output.now)
      return bytes
    }
  }

  func end() { output.remove(id, dropped: dropped) }

  func send(
    _ reports: [GPSDServerReport], _ sentences: [UInt8], of receiver: String, at now: Timestamp
  ) {
    change { session in
      for report in reports { session.send(report, at: now) }
      session.send(nmea: sentences, device: receiver, at: now)
    }
  }

  func forbidRaw() { state.withLock { $0.session.passesRaw = false } }

  func send(_ raw: GPSDRawData, of device: String, at now: Timestamp) {
    change { $0.send(raw, device: device, at: now) }
  }

  /// Has the session send something, and wakes the server if it has something to write for the first time.
  private func change(_ send: (inout GPSDSession) -> Void) {
    let hasNews = state.withLock { state in
      guard state.closed == nil else { return false }
      let had = !state.session.output.isEmpty
      send(&state.session)
      return !had && !state.session.output.isEmpty
    }
    if hasNews { wake() }
  }
}
