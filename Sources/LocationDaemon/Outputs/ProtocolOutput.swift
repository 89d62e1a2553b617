// What the daemon supplies a protocol with.

package import LocationServices
package import Lodestone
package import OutputProtocols
package import SensorHub
package import SensorTypes

/// A protocol at one place: a port where programs arrive, an address or a line that messages are sent to.
///
/// Only the thread of the outputs calls its methods. State that it shares with connections needs a lock.
package protocol ProtocolOutput: AnyObject, Sendable {
  /// The name of the protocol, as in serve.yaml.
  var name: String { get }
  /// Where it goes, for messages.
  var place: String { get }
  /// How much of the position goes there at most, as the owner of the machine says.
  var positions: PositionLimit { get }
  /// What it needs of the board now. Nothing while nobody listens, so that chips may sleep.
  var demand: Demand { get }
  var summary: OutputSummary { get }

  /// Is given a closure that has the thread of the outputs look at it: its demand has changed.
  func begin(_ wake: @escaping @Sendable () -> Void)
  /// Is given a closure that asks the board for its sensors with the counters of the moment, which may take seconds. Only what tells
  /// counters needs it.
  func attach(_ sensors: @escaping @Sendable () -> [SensorStatus])
  /// Is given the receivers of the board, if it may tell the exact position. Only what passes on what they send needs them.
  func attach(receivers: any ReceiverSource)
  /// Takes an observation that the state has taken already.
  func take(_ observation: Observation, _ state: PublishedState, at now: Timestamp)
  /// Sends what the time makes due. Returns when something is due next, or `nil` if nothing is without an observation.
  func advance(_ state: PublishedState, to now: Timestamp) -> Timestamp?
  /// Ends what it has begun on threads of its own, within a second. Called once the thread of the outputs has ended.
  func end()
}

extension ProtocolOutput {
  /// Asks for no counters.
  package func attach(_ sensors: @escaping @Sendable () -> [SensorStatus]) {}
  /// Listens to no receiver.
  package func attach(receivers: any ReceiverSource) {}
  /// Ends nothing: it has no thread of its own.
  package func end() {}
}

/// What receivers send, for an output that passes it on. It holds the exact position.
package protocol ReceiverSource: AnyObject, Sendable {
  /// Whether the machine's rules allow that it is passed on. They may change.
  var mayHearReceivers: Bool { get }
  /// What the receivers send; `nil` where nothing may be passed on. May take seconds until the board is open.
  var receiverTap: ReceiverTap? { get }
}

extension ProgramServices: ReceiverSource {}

/// What an output has done, for a status.
package struct OutputSummary: Hashable, Sendable {
  /// The number of programs that are connected, or `nil` where nobody connects.
  package var listeners: Int?
  /// The number of messages that were sent to all of them.
  package var sent: UInt64 = 0
  /// The number of messages that were not sent because the other end takes too little, or is not there.
  package var dropped: UInt64 = 0
  /// Why nothing is sent at the moment, in one line.
  package var problem: String?
  /// Whether the problem lasts until somebody mends it: a file or device of this machine, or the configuration.
  package var isLasting = false
  /// Whether the server that it sends to has accepted it, or `nil` where there is no connection.
  package var isConnected: Bool?
  /// The number of requests that were answered with an error.
  package var refused: UInt64 = 0

  package init(listeners: Int? = nil) { self.listeners = listeners }
}
