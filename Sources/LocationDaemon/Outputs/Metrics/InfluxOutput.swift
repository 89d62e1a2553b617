// Points for InfluxDB: as datagrams, or over HTTP.

package import LinuxIO
package import LocationServices
package import OutputProtocols
package import SensorTypes
import Synchronization

/// Writes points to a database again and again.
package final class InfluxOutput: ProtocolOutput {
  /// Where points go.
  package enum InfluxWay: Sendable {
    /// As datagrams to an address.
    case datagrams(any DatagramWriter)
    /// To a database, by a thread of its own.
    case database(InfluxSender)
  }

  private struct State: Sendable {
    var next: Timestamp?
    var summary = OutputSummary()
  }

  package let name = "influxdb"
  package let place: String
  package let positions: PositionLimit
  package let demand: Demand
  private let way: InfluxWay
  private let interval: Double
  private let points: InfluxPoints
  private let clock: @Sendable (Timestamp) -> ClockReading
  private let poll = SensorPoll()
  private let state = Mutex(State())

  /// Makes the output of a place.
  ///
  /// - Parameters:
  ///   - place: The address or the server, for messages.
  ///   - clock: What the clock of the machine shows at a moment.
  package init(
    _ way: InfluxWay, place: String, _ settings: InfluxSettings, positions: PositionLimit,
    clock: @escaping @Sendable (Timestamp) -> ClockReading
  ) {
    (self.way, self.place, self.positions, self.clock) = (way, place, positions, clock)
    interval = settings.interval
    points = InfluxPoints(board: settings.board, showsPosition: positions != .none)
    demand = Demand(
      heading: true, location: true, locationInterval: max(1, interval), altitude: true,
      satellites: true, motion: MotionDemand(attitude: true, interval: min(interval, 1)))
  }

  package var summary: OutputSummary {
    let summary = state.withLock { $0.summary }
    guard case .database(let sender) = way else { return summary }
    return sender.summary
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) {
    if case .database(let sender) = way { sender.start() }
  }

  package func attach(_ sensors: @escaping @Sendable () -> [SensorStatus]) { poll.attach(sensors) }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {}

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? {
    let (isDue, next) = state.withLock { state -> (Bool, Timestamp) in
      // The first points come once something was measured.
      let due = state.next ?? now.advanced(bySeconds: min(interval, 2))
      guard state.next != nil, now >= due else {
        state.next = due
        return (false, due)
      }
      let following = due.advanced(bySeconds: interval)
      let next = following > now ? following : now.advanced(bySeconds: interval)
      state.next = next
      return (true, next)
    }
    if isDue {
      let sensors = poll.sensors(published.sensors, at: now)
      let lines = points.bytes(published, sensors: sensors, at: now, clock: { clock($0) })
      send(lines, isDated: clock(now).isSet)
    }
    return next
  }

  private func send(_ lines: [UInt8], isDated: Bool) {
    switch way {
    case .database(let sender): sender.add(lines, isDated: isDated)
    case .datagrams(let port):
      var problem: String?
      var (sent, lost): (UInt64, UInt64) = (0, 0)
      for datagram in NMEAOutput.datagrams(of: lines) {
        let count = UInt64(datagram.count { $0 == 10 })
        if let reason = port.send(datagram) {
          problem = reason
          lost += count
        } else {
          sent += count
        }
      }
      state.withLock { state in
        state.summary.problem = problem
        state.summary.sent += sent
        state.summary.dropped += lost
      }
    }
  }
}
