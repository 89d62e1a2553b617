// Who wants to know of which beacons, and what was heard of them.

import SensorTypes

/// What is told of a constraint, once a second.
package struct BeaconReport: Hashable, Codable, Sendable {
  /// Which beacons were asked for.
  package var constraint: BeaconConstraint
  /// Those in range, the nearest first, of unknown distance last; none: nothing is in range.
  package var beacons: [RangedBeacon]
}

/// Why a constraint is not ranged.
package struct RangingFailure: Hashable, Codable, Sendable {
  /// Which beacons were asked for.
  package var constraint: BeaconConstraint
  package var failure: BeaconFailure

  package init(constraint: BeaconConstraint, failure: BeaconFailure) {
    (self.constraint, self.failure) = (constraint, failure)
  }
}

/// All ranging of the application.
///
/// Each constraint of each client is told once a second from its start on, as long as the radio listens: an empty report
/// says that it has listened and heard nothing, so that none comes while it does not.
struct BeaconRanging: Sendable {
  /// Seconds between two reports.
  static let interval = 1.0
  /// Constraints that a client may have; one more fails.
  static let mostConstraints = 64
  /// Beacons that are followed; of more the one not heard for longest is dropped, and counted.
  static let mostBeacons = 256

  private struct Asked: Sendable {
    let client: ClientID
    let constraint: BeaconConstraint
    /// When a report was last due, or it has begun.
    var last: Timestamp
    /// When it was told, which may be later.
    var told: Timestamp
  }

  private var asked: [Asked] = []
  private var signals: [BeaconIdentity: BeaconSignal] = [:]
  /// Beacons that were dropped.
  private(set) var dropped: UInt64 = 0

  var isWanted: Bool { !asked.isEmpty }

  /// When the next report is due.
  var deadline: Timestamp? {
    asked.lazy.map { $0.last.advanced(bySeconds: Self.interval) }.min()
  }

  /// Starts; nothing where it has started. Returns why it cannot.
  mutating func start(
    _ constraint: BeaconConstraint, by client: ClientID, at now: Timestamp
  ) -> String? {
    if let problem = constraint.problem { return problem }
    let mine = asked.lazy.filter { $0.client == client }
    if mine.contains(where: { $0.constraint == constraint }) { return nil }
    guard mine.count < Self.mostConstraints else {
      return "\(Self.mostConstraints) constraints are ranged already"
    }
    asked.append(Asked(client: client, constraint: constraint, last: now, told: now))
    return nil
  }

  mutating func stop(_ constraint: BeaconConstraint, by client: ClientID) {
    asked.removeAll { $0.client == client && $0.constraint == constraint }
    forgetUnwanted()
  }

  mutating func release(_ client: ClientID) {
    asked.removeAll { $0.client == client }
    forgetUnwanted()
  }

  /// The radio begins to listen: what it has heard before says nothing any more.
  mutating func begin(at now: Timestamp) {
    signals = [:]
    for index in asked.indices { (asked[index].last, asked[index].told) = (now, now) }
  }

  /// Takes what was heard, if anybody wants it.
  mutating func take(_ sighting: BeaconSighting) {
    let identity = sighting.advertisement.identity
    guard asked.contains(where: { $0.constraint.includes(identity) }) else { return }
    if signals[identity] == nil, signals.count >= Self.mostBeacons,
      let oldest = signals.min(by: { $0.value.lastHeard < $1.value.lastHeard })
    {
      signals[oldest.key] = nil
      dropped += 1
    }
    signals[identity, default: BeaconSignal(sighting)].take(sighting)
  }

  /// Tells what is due.
  mutating func advance(to now: Timestamp, tell: (ClientID, BeaconReport) -> Void) {
    guard let deadline, now >= deadline else { return }
    signals = signals.filter { !$0.value.isGone(at: now) }
    for index in asked.indices {
      let (last, told) = (asked[index].last, asked[index].told)
      let late = now.seconds(since: last)
      guard late >= Self.interval else { continue }
      // A rhythm that does not drift, and no bursts after a standstill.
      asked[index].last =
        late < 2 * Self.interval ? last.advanced(bySeconds: Self.interval) : now
      asked[index].told = now
      let constraint = asked[index].constraint
      let beacons = signals.filter { constraint.includes($0.key) }
        .map { $1.report($0, at: now, since: told) }.sorted(by: Self.isNearer)
      tell(asked[index].client, BeaconReport(constraint: constraint, beacons: beacons))
    }
  }

  /// Who is to be told of a failure.
  func forEach(_ body: (ClientID, BeaconConstraint) -> Void) {
    for asked in asked { body(asked.client, asked.constraint) }
  }

  private mutating func forgetUnwanted() {
    signals = signals.filter { signal in
      asked.contains { $0.constraint.includes(signal.key) }
    }
  }

  // Of equal distances always in the same order.
  private static func isNearer(_ a: RangedBeacon, _ b: RangedBeacon) -> Bool {
    let (first, second) = (a.accuracy ?? .infinity, b.accuracy ?? .infinity)
    return first == second ? a.identity < b.identity : first < second
  }
}
