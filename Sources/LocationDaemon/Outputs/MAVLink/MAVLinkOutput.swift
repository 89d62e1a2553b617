// Messages of MAVLink to an address or on a serial line.

package import LinuxIO
package import LocationServices
package import OutputProtocols
package import SensorTypes
import Synchronization

/// Sends messages of MAVLink 2. It takes none: who asks for messages, or commands something, gets no answer.
package final class MAVLinkOutput: ProtocolOutput {
  /// Where messages go.
  package enum Way: Sendable {
    /// As datagrams to an address: a ground station or an autopilot.
    case datagrams(any DatagramWriter)
    /// On a serial line.
    case line(LineWriter)
  }

  private struct State: Sendable {
    var encoder = MAVLinkEncoder()
    var framer: MAVLinkFramer
    /// `nil` while nobody is there: then everything is due at once.
    var schedule: MAVLinkSchedule?
    var summary = OutputSummary()
    /// When a datagram was last refused.
    var refused: Timestamp?
  }

  /// The time in seconds without a refusal after which there is no problem any more: a refusal is told by every second datagram.
  private static let accepted = 2.0

  package let name = "mavlink"
  package let place: String
  package let positions: PositionLimit
  private let settings: MAVLinkSettings
  private let way: Way
  private let clock: @Sendable (Timestamp) -> ClockReading?
  private let state: Mutex<State>

  /// Makes the output of a place.
  ///
  /// - Parameter clock: What the clock of the machine shows at a moment.
  package init(
    _ way: Way, _ settings: MAVLinkSettings, positions: PositionLimit,
    clock: @escaping @Sendable (Timestamp) -> ClockReading?
  ) {
    place =
      switch way {
      case .datagrams(let port): port.place
      case .line(let writer): writer.place
      }
    (self.way, self.settings, self.positions, self.clock) = (way, settings, positions, clock)
    let framer = MAVLinkFramer(system: settings.system, component: settings.component)
    state = Mutex(State(framer: framer))
  }

  private var isHeard: Bool {
    if case .line(let writer) = way { writer.isHeard } else { true }
  }

  package var demand: Demand { isHeard ? settings.demand : Demand() }

  package var summary: OutputSummary {
    if case .line(let writer) = way { writer.summary } else { state.withLock { $0.summary } }
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) {
    if case .line(let writer) = way { writer.begin(wake) }
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {}

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    switch way {
    case .datagrams(let port):
      let (frames, next) = frames(of: published, at: now)
      send(frames, to: port, at: now)
      return next
    case .line(let writer):
      let line = writer.advance(to: now)
      guard writer.isHeard else {
        state.withLock { $0.schedule = nil }
        return line
      }
      let (frames, next) = frames(of: published, at: now)
      for frame in frames { writer.send(frame, at: now) }
      return [next, writer.advance(to: now)].compactMap(\.self).min()
    }
  }

  private func frames(
    of published: PublishedState, at now: Timestamp
  ) -> (frames: [[UInt8]], next: Timestamp?) {
    state.withLock { state in
      var schedule = state.schedule ?? MAVLinkSchedule(settings.entries)
      var frames: [[UInt8]] = []
      for entry in schedule.due(at: now) {
        let message = state.encoder.message(
          entry.kind, of: published, clock: clock(now), at: now)
        if let message { frames.append(state.framer.frame(message)) }
      }
      state.schedule = schedule
      return (frames, schedule.deadline)
    }
  }

  /// Sends each message as a datagram of its own, as programs of MAVLink do.
  private func send(_ frames: [[UInt8]], to port: any DatagramWriter, at now: Timestamp) {
    guard !frames.isEmpty else { return }
    var problem: String?
    var lost: UInt64 = 0
    for frame in frames {
      guard let reason = port.send(frame) else { continue }
      (problem, lost) = (reason, lost + 1)
    }
    state.withLock { state in
      if problem != nil { (state.summary.problem, state.refused) = (problem, now) }
      if let refused = state.refused, now.seconds(since: refused) > Self.accepted {
        (state.summary.problem, state.refused) = (nil, nil)
      }
      state.summary.sent += UInt64(frames.count) - lost
      state.summary.dropped += lost
    }
  }
}
