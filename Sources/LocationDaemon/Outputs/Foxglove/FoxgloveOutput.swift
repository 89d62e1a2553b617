// A server for Foxglove, live: its WebSocket protocol at a port.

package import LocationServices
package import Lodestone
package import OutputProtocols
package import SensorTypes
import ServiceProtocol
import Synchronization

/// Serves messages of ROS 2 and of Foxglove to its programs, and to everything that speaks its protocol.
package final class FoxgloveOutput: ProtocolOutput {
  private struct State: Sendable {
    var messages: RobotMessages
    var clients = ClientTable<FoxgloveConnection>()
    /// The topics that somebody has subscribed to.
    var wanted: Set<RobotMessages.Topic> = []
    var sent: UInt64 = 0
  }

  package let name = "foxglove"
  package let place: String
  package let positions: PositionLimit
  let settings: FoxgloveSettings
  /// The topics that there are: without positions, none that tells where the board is.
  let topics: [RobotMessages.Topic]
  /// The messages that every client gets first.
  let greetings: [[UInt8]]
  private let clock: @Sendable (Timestamp) -> ClockReading
  private let state: Mutex<State>
  private let waking = OutputWaking()

  /// Makes the output of a port.
  ///
  /// - Parameters:
  ///   - place: The port, for messages.
  ///   - clock: What the clock of the machine shows at a moment.
  package init(
    place: String, _ settings: FoxgloveSettings, positions: PositionLimit, clocks: RuntimeClocks,
    clock: @escaping @Sendable (Timestamp) -> ClockReading
  ) {
    (self.place, self.settings, self.positions, self.clock) = (place, settings, positions, clock)
    let messages = RobotMessages(.foxglove, showsPosition: positions != .none)
    let places: Set<RobotMessages.Topic> = [.fix, .location, .trueHeading]
    let topics = messages.topics.filter { positions != .none || !places.contains($0) }
    self.topics = topics
    greetings = [
      FoxgloveMessage.serverInfo(
        name: "Lodestone", program: "Lodestone \(LodestoneRuntime.version)",
        session: String(clocks.now().nanoseconds)),
      FoxgloveMessage.advertise(topics, of: messages, prefix: "/"),
    ]
    state = Mutex(State(messages: messages))
  }

  package var demand: Demand {
    let wanted = state.withLock { $0.wanted }
    var demand = Demand()
    for topic in wanted {
      switch topic {
      case .imu, .field:
        demand.motion = MotionDemand(
          samples: true, attitude: true, field: true, interval: settings.interval)
      case .fix: (demand.location, demand.satellites) = (true, true)
      case .location: demand.location = true
      case .magneticHeading, .trueHeading: demand.heading = true
      case .pressure, .temperature, .humidity: demand.altitude = true
      case .log: break
      }
    }
    if demand.location { demand.locationInterval = 1 }
    return demand
  }

  package var summary: OutputSummary {
    state.withLock { state in
      var summary = OutputSummary(listeners: state.clients.count)
      summary.sent = state.sent
      summary.dropped = state.clients.dropped(\.dropped)
      return summary
    }
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) { waking.begin(wake) }

  /// Makes what serves a program that has connected.
  package func admit(at now: Double, wake: @escaping @Sendable () -> Void) -> any ServedConnection {
    state.withLock { state in
      state.clients.add { FoxgloveConnection(self, $0, at: now, wake: wake) }
    }
  }

  func remove(_ id: UInt64, dropped: UInt64) {
    state.withLock { $0.clients.remove(id, dropped: dropped) }
    subscriptionsChanged()
  }

  /// Looks again at what is asked of the board.
  func subscriptionsChanged() {
    let connections = state.withLock { $0.clients.all }
    // Not under the lock: a connection has one of its own, and calls from within it nothing here.
    let wanted = connections.reduce(into: Set()) { $0.formUnion($1.topics) }
    let isNew = state.withLock { state in
      defer { state.wanted = wanted }
      return state.wanted != wanted
    }
    if isNew { waking() }
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {
    let (messages, connections) = state.withLock {
      state -> ([RobotMessage], [FoxgloveConnection]) in
      guard !state.wanted.isEmpty else { return ([], []) }
      let messages = state.messages.take(observation, clock: clock)
        .filter { state.wanted.contains($0.topic) }
      state.sent += UInt64(messages.count)
      return (messages, state.clients.all)
    }
    for message in messages { for connection in connections { connection.send(message) } }
  }

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? { nil }
}
