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
    var connections: [UInt64: FoxgloveConnection] = [:]
    /// The topics that somebody has subscribed to.
    var wanted: Set<RobotMessages.Topic> = []
    var last: UInt64 = 0
    var sent: UInt64 = 0
    /// Of connections that are gone.
    var dropped: UInt64 = 0
  }

  private struct Waking: Sendable { var wake: (@Sendable () -> Void)? }

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
  private let waking = Mutex(Waking())

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
      var summary = OutputSummary(listeners: state.connections.count)
      summary.sent = state.sent
      summary.dropped = state.connections.values.reduce(state.dropped) { $0 + $1.dropped }
      return summary
    }
  }

  package func begin(_ wake: @escaping @Sendable () -> Void) { waking.withLock { $0.wake = wake } }

  /// Makes what serves a program that has connected.
  package func admit(at now: Double, wake: @escaping @Sendable () -> Void) -> any ServedConnection {
    state.withLock { state in
      state.last += 1
      let connection = FoxgloveConnection(self, state.last, at: now, wake: wake)
      state.connections[state.last] = connection
      return connection
    }
  }

  func remove(_ id: UInt64, dropped: UInt64) {
    state.withLock { state in
      guard state.connections.removeValue(forKey: id) != nil else { return }
      state.dropped += dropped
    }
    subscriptionsChanged()
  }

  /// Looks again at what is asked of the board.
  func subscriptionsChanged() {
    let connections = state.withLock { Array($0.connections.values) }
    // Not under the lock: a connection has one of its own, and calls from within it nothing here.
    let wanted = connections.reduce(into: Set()) { $0.formUnion($1.topics) }
    let isNew = state.withLock { state in
      defer { state.wanted = wanted }
      return state.wanted != wanted
    }
    if isNew { waking.withLock { $0.wake }?() }
  }

  package func take(_ observation: Observation, _ published: PublishedState, at now: Timestamp) {
    let (messages, connections) = state.withLock {
      state -> ([RobotMessage], [FoxgloveConnection]) in
      guard !state.wanted.isEmpty else { return ([], []) }
      let messages = state.messages.take(observation, clock: clock)
        .filter { state.wanted.contains($0.topic) }
      state.sent += UInt64(messages.count)
      return (messages, Array(state.connections.values))
    }
    for message in messages { for connection in connections { connection.send(message) } }
  }

  package func advance(_ published: PublishedState, to now: Timestamp) -> Timestamp? { nil }
}
