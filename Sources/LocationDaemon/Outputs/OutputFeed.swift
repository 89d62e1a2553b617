// The observations of the board on their way to outputs that may know equally much of the position.

import LocationServices
import OutputProtocols
import SensorTypes
import Synchronization

/// A client of the services that outputs share, and the state of the board as they may know it.
///
/// Observations are put away on the thread that publishes them. The thread of the outputs takes them from there in its rounds.
final class OutputFeed: ServiceClient {
  /// The number of observations that may wait for a round. Beyond it the oldest are dropped and counted.
  static let mostWaiting = 4_096

  private struct Arrivals: Sendable {
    var observations: [Observation] = []
    var dropped: UInt64 = 0
  }

  /// What the rounds use, one at a time.
  private struct Work: Sendable {
    var state = PublishedState()
    var client: ClientID?
    var asked: Demand?
  }

  let outputs: [any ProtocolOutput]
  let services: any ServicePort
  private let positions: PositionLimit
  private let wake: @Sendable (_ isUrgent: Bool) -> Void
  private let arrivals = Mutex(Arrivals())
  private let work = Mutex(Work())

  /// - Parameters:
  ///   - outputs: Those that get the observations, all with this limit of the position.
  ///   - wake: Called on any thread when the first of some observations has come, and for each that is not to wait.
  init(
    _ outputs: [any ProtocolOutput], _ positions: PositionLimit, _ services: any ServicePort,
    wake: @escaping @Sendable (_ isUrgent: Bool) -> Void
  ) {
    (self.outputs, self.positions, self.services) = (outputs, positions, services)
    self.wake = wake
  }

  /// The number of observations that were dropped because the thread of the outputs was late.
  var dropped: UInt64 { arrivals.withLock { $0.dropped } }

  // MARK: The thread that publishes

  func post(_ content: EventContent) -> Int {
    guard case .observation(let observation) = content else { return 0 }
    let isFirst = arrivals.withLock { arrivals in
      if arrivals.observations.count >= Self.mostWaiting {
        arrivals.observations.removeFirst(Self.mostWaiting / 2)
        arrivals.dropped += UInt64(Self.mostWaiting / 2)
      }
      arrivals.observations.append(observation)
      return arrivals.observations.count == 1
    }
    let isUrgent = observation.isUrgent
    if isFirst || isUrgent { wake(isUrgent) }
    return 0
  }

  func applicationChanged(isSuspended: Bool) {}

  // MARK: The thread of the outputs

  /// Passes on what has come, has the outputs do what is due, and asks for what they need now.
  ///
  /// - Returns: When something is due next, or `nil` if nothing is without an observation.
  func round(at now: Timestamp) -> Timestamp? {
    let observations = arrivals.withLock { arrivals in
      defer { arrivals.observations.removeAll(keepingCapacity: true) }
      return arrivals.observations
    }
    return work.withLock { work in
      for observation in observations {
        work.state.take(observation)
        for output in outputs { output.take(observation, work.state, at: now) }
      }
      var next: Timestamp?
      for output in outputs {
        guard let due = output.advance(work.state, to: now) else { continue }
        next = min(next ?? due, due)
      }
      ask(&work)
      return next
    }
  }

  private func ask(_ work: inout Work) {
    let demand = outputs.reduce(Demand()) { $0.merged(with: $1.demand) }
    let isWanted = demand != Demand()
    guard work.asked != demand, isWanted || work.asked != nil else { return }
    let client = work.client ?? services.connect(self)
    work.client = client
    work.asked = demand
    // A position that comes rarely is the present one for longer.
    work.state.positionInterval = demand.locationInterval ?? 1
    let request = isWanted ? BoardRequest(demand, positions: positions) : nil
    services.send(ServiceRequest(client, .observe(request)))
  }

  /// Asks for nothing any more.
  func end() {
    let client = work.withLock { work in
      defer { work.client = nil }
      return work.client
    }
    if let client { services.send(ServiceRequest(client, .release)) }
  }
}

extension Observation {
  /// Whether it is not to wait for others: it is rare, and says what a newer one will not say again.
  fileprivate var isUrgent: Bool {
    switch self {
    case .heading, .altitude, .absoluteAltitude, .motion, .waves: false
    default: true
    }
  }
}
