// Deltas of Signal K at a port, or to an address.

package import LinuxIO
package import LocationServices
package import OutputProtocols
package import SensorTypes
import ServiceProtocol
import Synchronization

/// Serves clients of Signal K over TCP, or sends deltas as datagrams.
package final class SignalKOutput: ProtocolOutput {
  /// Where deltas go.
  package enum SignalKWay: Sendable {
    /// To all who connect to a port and subscribe.
    case listeners
    /// As datagrams to an address, one delta in each.
    case datagrams(any DatagramWriter)
  }

  /// The longest time in seconds between two looks at what is lost while nothing comes.
  static let look = 0.25
  /// The least time in seconds from one look to the next because a client has asked for something.
  static let answerInterval = 0.05

  private struct State: Sendable {
    var provider: SignalKProvider
    var clients = ClientTable<SignalKConnection>()
    var due: Timestamp?
    /// When clients were told something last.
    var told: Timestamp?
    var summary: OutputSummary
  }

  package let name = "signalk"
  package let place: String
  package let positions: PositionLimit
  private let settings: SignalKSettings
  private let way: SignalKWay
  private let clock: @Sendable (Timestamp) -> ClockReading
  private let state: Mutex<State>
  private let waking = OutputWaking()

  /// Makes the output of a place.
  ///
  /// - Parameters:
  ///   - place: The port or the address, for messages.
  ///   - clock: What the clock of the machine shows at a moment.
  package init(
    _ way: SignalKWay, place: String, _ settings: SignalKSettings, positions: PositionLimit,
    clock: @escaping @Sendable (Timestamp) -> ClockReading
  ) {
    (self.way, self.place, self.settings) = (way, place, settings)
    (self.positions, self.clock) = (positions, clock)
    let listeners: Int? = if case .listeners = way { 0 } else { nil }
    state = Mutex(
      State(
        provider: SignalKProvider(settings.options, rate: settings.rate, isLossy: true),
        summary: OutputSummary(listeners: listeners)))
  }

  package var demand: Demand {
    guard case .listeners = way else { return state.withLock { $0.provider.demand } }
    return connections.reduce(Demand()) { $0.merged(with: $1.demand) }
  }

  private var connections: [SignalKConnection] {
    state.withLock { $0.clients.all }
  }

  package var summary: OutputSummary {
    state.withLock { state in
      var summary = state.summary
      if case .listeners = way { summary.listeners = state.clients.count }
      summary.dropped += state.clients.dropped(\.passedOver)
      return summary
    }
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) { waking.begin(wake) }

  /// Makes what serves a client that has connected.
  package func admit(at now: Double, wake: @escaping @Sendable () -> Void) -> any ServedConnection {
    let options = SignalKOptions(label: settings.label)
    let session = SignalKSession(options, own: settings.vessel)
    let clock = clock(Timestamp(seconds: now))
    return state.withLock { state in
      state.clients.add { id in
        SignalKConnection(session, clock: clock, wake: wake) { [weak self] in
          self?.lookAgain()
        } leave: { [weak self] passedOver in
          self?.remove(id, passedOver)
        }
      }
    }
  }

  private func remove(_ id: UInt64, _ passedOver: UInt64) {
    state.withLock { $0.clients.remove(id, dropped: passedOver) }
    lookAgain()
  }

  /// Has the thread of the outputs look at it soon. Who subscribes all the time does not have all clients told all the time.
  private func lookAgain() {
    state.withLock { $0.due = $0.told?.advanced(bySeconds: Self.answerInterval) }
    waking()
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {
    guard observation.endsSomething else { return }
    state.withLock { $0.due = nil }
  }

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    if let due = state.withLock({ $0.due }), now < due { return due }
    switch way {
    case .listeners: return tell(published, at: now)
    case .datagrams(let port): return send(published, to: port, at: now)
    }
  }

  private func snapshot(_ published: PublishedState, at now: Timestamp) -> SignalKSnapshot {
    SignalKSnapshot(
      published, at: now, clock: clock(now), measuresOutsideAir: settings.measuresOutsideAir)
  }

  private func tell(_ published: PublishedState, at now: Timestamp) -> Timestamp? {
    let listening = connections.compactMap { connection in
      connection.interval.map { (connection, $0) }
    }
    guard let interval = listening.map({ $0.1 }).min() else { return nil }
    let snapshot = snapshot(published, at: now)
    let count = listening.reduce(0) { $0 + $1.0.tell(snapshot) }
    let due = now.advanced(bySeconds: min(interval, Self.look))
    state.withLock { state in
      state.summary.sent += UInt64(count)
      (state.due, state.told) = (due, now)
    }
    return due
  }

  private func send(
    _ published: PublishedState, to port: any DatagramWriter, at now: Timestamp
  ) -> Timestamp? {
    let snapshot = snapshot(published, at: now)
    let (messages, due) = state.withLock { state in
      let due = now.advanced(bySeconds: min(state.provider.interval, Self.look))
      state.due = due
      return (state.provider.messages(snapshot), due)
    }
    guard !messages.isEmpty else { return due }
    var problem: String?
    var lost: UInt64 = 0
    for message in messages {
      guard let reason = port.send(Array(message.utf8) + [13, 10]) else { continue }
      (problem, lost) = (reason, lost + 1)
    }
    state.withLock { state in
      state.summary.problem = problem
      state.summary.dropped += lost
      state.summary.sent += UInt64(messages.count) - lost
    }
    return due
  }
}

extension Observation {
  /// Whether a value has ended, or a sensor has failed: what nobody is told late.
  var endsSomething: Bool {
    switch self {
    case .headingUnavailable, .locationUnavailable, .altitudeUnavailable, .motionUnavailable,
      .sensor:
      true
    default: false
    }
  }
}
