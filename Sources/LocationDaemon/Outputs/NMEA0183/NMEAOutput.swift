// Sentences of NMEA 0183 at a port, or to an address.

package import LinuxIO
package import LocationServices
package import OutputProtocols
package import SensorTypes
import ServiceProtocol
import Synchronization

/// Sends sentences of NMEA 0183.
package final class NMEAOutput: ProtocolOutput {
  /// Where sentences go.
  package enum Way: Sendable {
    /// To all who connect to a port.
    case listeners
    /// As datagrams to an address.
    case datagrams(any DatagramWriter)
    /// On a serial line or to a pseudo terminal.
    case line(LineWriter)
  }

  /// The number of bytes of a datagram: it passes every network in one piece.
  static let longestDatagram = 1_400

  private struct State: Sendable {
    var encoder: NMEAEncoder
    var schedule: SentenceSchedule?
    var clients = ClientTable<BroadcastConnection>()
    var summary: OutputSummary
  }

  package let name = "nmea0183"
  package let place: String
  package let positions: PositionLimit
  private let configuration: NMEAConfiguration
  private let way: Way
  private let clock: @Sendable (Timestamp) -> ClockReading
  private let state: Mutex<State>
  private let waking = OutputWaking()

  /// Makes the output of a place.
  ///
  /// - Parameters:
  ///   - place: The port or the address, for messages.
  ///   - clock: What the clock of the machine shows at a moment.
  package init(
    _ way: Way, place: String, _ configuration: NMEAConfiguration, positions: PositionLimit,
    isSimulated: Bool, clock: @escaping @Sendable (Timestamp) -> ClockReading
  ) {
    (self.way, self.place, self.configuration) = (way, place, configuration)
    (self.positions, self.clock) = (positions, clock)
    let listeners: Int? = if case .listeners = way { 0 } else { nil }
    state = Mutex(
      State(
        encoder: NMEAEncoder(configuration, isSimulated: isSimulated),
        summary: OutputSummary(listeners: listeners)))
  }

  package var demand: Demand {
    guard isHeard else { return Demand() }
    return configuration.demand
  }

  private var isHeard: Bool {
    switch way {
    case .listeners: state.withLock { !$0.clients.isEmpty }
    case .datagrams: true
    case .line(let writer): writer.isHeard
    }
  }

  package var summary: OutputSummary {
    if case .line(let writer) = way { return writer.summary }
    return state.withLock { state in
      var summary = state.summary
      if case .listeners = way { summary.listeners = state.clients.count }
      summary.dropped += state.clients.dropped(\.dropped)
      return summary
    }
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) {
    waking.begin(wake)
    if case .line(let writer) = way { writer.begin(wake) }
  }

  /// Makes what serves a listener that has connected.
  package func admit(at now: Double, wake: @escaping @Sendable () -> Void) -> any ServedConnection {
    let connection = state.withLock { state in
      state.clients.add { id in
        BroadcastConnection(wake: wake) { [weak self] in self?.remove(id, dropped: $0) }
      }
    }
    waking()
    return connection
  }

  private func remove(_ id: UInt64, dropped: UInt64) {
    state.withLock { state in
      state.clients.remove(id, dropped: dropped)
      // The next listener gets every sentence at once.
      if state.clients.isEmpty { state.schedule = nil }
    }
    waking()
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {}

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    var look: Timestamp?
    if case .line(let writer) = way { look = writer.advance(to: now) }
    guard isHeard else {
      // Whoever comes next gets everything at once.
      state.withLock { $0.schedule = nil }
      return look
    }
    let (text, connections, next) = state.withLock { state in
      var schedule = state.schedule ?? SentenceSchedule(configuration, from: now)
      let due = schedule.take(at: now)
      var text: [UInt8] = []
      state.encoder.append(due, of: published, at: now, clock: clock(now), to: &text)
      state.schedule = schedule
      if !text.isEmpty { state.summary.sent += UInt64(text.count { $0 == 10 }) }
      return (text, state.clients.all, schedule.next)
    }
    switch way {
    case .line(let writer):
      for line in Self.lines(of: text) { writer.send(line, at: now) }
      return [next, writer.advance(to: now)].compactMap(\.self).min()
    case _ where text.isEmpty: break
    case .listeners: for connection in connections { connection.send(text) }
    case .datagrams(let port): send(text, to: port)
    }
    return next
  }

  private func send(_ text: [UInt8], to port: any DatagramWriter) {
    var problem: String?
    var lost = 0
    for datagram in Self.datagrams(of: text) {
      guard let reason = port.send(datagram) else { continue }
      problem = reason
      lost += datagram.count { $0 == 10 }
    }
    state.withLock { state in
      state.summary.problem = problem
      state.summary.dropped += UInt64(lost)
      state.summary.sent -= UInt64(lost)
    }
  }

  /// Splits lines, each with its end.
  static func lines(of text: [UInt8]) -> [[UInt8]] {
    text.split(separator: 10).map { Array($0) + [10] }
  }

  /// Splits lines into datagrams of whole lines.
  static func datagrams(of text: [UInt8]) -> [[UInt8]] {
    var (datagrams, current): ([[UInt8]], [UInt8]) = ([], [])
    for line in text.split(separator: 10) {
      if !current.isEmpty, current.count + line.count + 1 > longestDatagram {
        datagrams.append(current)
        current = []
      }
      current += line
      current.append(10)
    }
    if !current.isEmpty { datagrams.append(current) }
    return datagrams
  }
}

extension NMEAConfiguration {
  /// What the sentences need of the board.
  fileprivate var demand: Demand {
    var demand = Demand()
    for (sentence, rule) in rules {
      switch sentence {
      case .hdg, .hdm, .hdt, .ths: demand.heading = true
      case .rot, .pashr, .xdr:
        demand.heading = true
        demand.motion = demand.motion.merged(
          with: MotionDemand(attitude: true, field: true, interval: rule.interval))
        if sentence == .xdr { demand.altitude = true }
        if sentence != .rot { demand.waves = true }
      case .mda: demand.altitude = true
      case .gga, .rmc, .gll, .vtg, .gst, .zda:
        let interval = min(demand.locationInterval ?? rule.interval, rule.interval)
        (demand.location, demand.locationInterval) = (true, interval)
      case .gsa, .gsv: (demand.location, demand.satellites) = (true, true)
      }
    }
    // The satellites alone do not make the receiver faster.
    if demand.location, demand.locationInterval == nil { demand.locationInterval = 1 }
    return demand
  }
}
