// What the thread of the outputs and the thread of a broker's connection share.

import OutputProtocols
import SensorBus
import Synchronization

/// Messages for a broker, those that it sends, and how its connection is.
final class MQTTExchange: Sendable {
  /// The number of messages from the broker that wait for the thread of the outputs.
  private static let mostHeard = 16

  /// How the connection is.
  struct BrokerConnection: Sendable {
    /// The number of times that a broker has accepted this client.
    var count: UInt64 = 0
    var isOpen = false
    /// Messages that have come since the last look.
    var heard: [MQTTMessage] = []
  }

  private struct State: Sendable {
    var outbox = MQTTOutbox()
    var connection = BrokerConnection()
    var problem: String? = "not connected yet"
    /// Whether the problem is a file of this machine.
    var isLasting = false
    var sent: UInt64 = 0
    var refused: UInt64 = 0
  }

  private struct Waking: Sendable {
    /// Has the thread of the outputs look.
    var outputs: (@Sendable () -> Void)?
    /// The thread of the connection.
    var run: (any BusRun)?
  }

  private let state = Mutex(State())
  private let waking = Mutex(Waking())

  // MARK: The thread of the outputs

  func begin(_ wake: @escaping @Sendable () -> Void) { waking.withLock { $0.outputs = wake } }

  func started(_ run: any BusRun) { waking.withLock { $0.run = run } }

  /// Takes how the connection is, with what has come.
  func look() -> BrokerConnection {
    state.withLock { state in
      defer { state.connection.heard = [] }
      return state.connection
    }
  }

  func add(_ messages: [MQTTMessage]) {
    guard !messages.isEmpty else { return }
    state.withLock { state in for message in messages { state.outbox.add(message) } }
    waking.withLock { $0.run }?.wake()
  }

  /// Ends the thread of the connection. It says that the board goes away.
  func end() {
    let run = waking.withLock { waking in
      defer { waking.run = nil }
      return waking.run
    }
    run?.stop()
  }

  var summary: OutputSummary {
    state.withLock { state in
      var summary = OutputSummary()
      summary.sent = state.sent
      summary.dropped = state.outbox.dropped &+ state.refused
      summary.isConnected = state.connection.isOpen
      summary.isLasting = state.isLasting
      summary.problem = state.problem.map { problem in
        guard state.outbox.lost > 0 else { return problem }
        return problem
          + "; \(state.outbox.lost) events are lost, because no more than \(MQTTOutbox.mostKept) wait for the broker"
      }
      return summary
    }
  }

  // MARK: The thread of the connection

  func next(acknowledged: Bool) -> MQTTMessage? {
    state.withLock { $0.outbox.next(acknowledged: acknowledged) }
  }

  func opened() {
    state.withLock { state in
      state.connection.count &+= 1
      state.connection.isOpen = true
      (state.problem, state.isLasting) = (nil, false)
      // An old value would look like a new one.
      state.outbox.dropMeasurements()
      state.outbox.forgetLosses()
    }
    wakeOutputs()
  }

  /// - Parameter isLasting: Whether the problem is a file of this machine, which somebody has to mend.
  func closed(_ problem: String, isLasting: Bool = false) {
    let wasOpen = state.withLock { state in
      defer { state.connection.isOpen = false }
      (state.problem, state.isLasting) = (problem, isLasting)
      return state.connection.isOpen
    }
    if wasOpen { wakeOutputs() }
  }

  func heard(_ messages: [MQTTMessage]) {
    guard !messages.isEmpty else { return }
    state.withLock { state in
      state.connection.heard += messages
      state.connection.heard.removeFirst(max(0, state.connection.heard.count - Self.mostHeard))
    }
    wakeOutputs()
  }

  /// - Parameter objection: What the broker does not do although it is connected.
  func report(sent: UInt64, refused: UInt64, objection: String?) {
    state.withLock { state in
      (state.sent, state.refused) = (sent, refused)
      if state.connection.isOpen { state.problem = objection }
    }
  }

  private func wakeOutputs() { waking.withLock { $0.outputs }?() }
}
