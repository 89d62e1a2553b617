import SensorTypes

/// Decides who gets one of a server's places.
///
/// When all places are taken, a connection that has not shown the token is evicted for a newcomer. Holding every place, or
/// taking each one again at once, therefore does not keep out a client that has the token. The connection comes from the
/// address with the most such connections, so that a flood from a few addresses does not evict the only connection of
/// another one.
struct Places {
  /// A connection that holds a place.
  struct Occupant {
    var address: PeerAddress
    var standing: ConnectionPriority
    /// The time of its last change of standing.
    var since: Timestamp
  }

  enum Decision: Equatable {
    /// There is a free place.
    case free
    /// The occupant at this index is evicted.
    case evict(Int)
    /// All occupants are busy.
    case full
  }

  /// The maximum number of connections.
  var total = 64
  /// The maximum number of connections from one address.
  var perAddress = 16

  /// Decides whether a new connection gets a place.
  func decide(for address: PeerAddress, among occupants: [Occupant]) -> Decision {
    let isCrowded = occupants.count { $0.address == address } >= perAddress
    guard isCrowded || occupants.count >= total else { return .free }
    return leaver(among: occupants, from: isCrowded ? address : nil).map(Decision.evict) ?? .full
  }

  /// Returns the index of the occupant to evict first.
  ///
  /// - Parameter address: Only occupants from this address are considered; all of them if `nil`.
  /// - Returns: `nil` if all of them are busy.
  func leaver(among occupants: [Occupant], from address: PeerAddress? = nil) -> Int? {
    var unknown: [PeerAddress: Int] = [:]
    for occupant in occupants where occupant.standing == .unknown {
      unknown[occupant.address, default: 0] += 1
    }
    let candidates = occupants.indices.filter { index in
      occupants[index].standing != .busy
        && (address == nil || occupants[index].address == address)
    }
    return candidates.min { a, b in
      let (a, b) = (occupants[a], occupants[b])
      guard a.standing == b.standing else { return a.standing.rawValue < b.standing.rawValue }
      let (others, more) = (unknown[a.address] ?? 0, unknown[b.address] ?? 0)
      if a.standing == .unknown, others != more { return others > more }
      return a.since < b.since
    }
  }
}

/// How much a connection would lose if it were closed, in ascending order.
enum ConnectionPriority: Int {
  /// Its last response is sent.
  case finished
  /// It has not shown the token.
  case unknown
  /// It has shown the token and waits for the next request. Its client can open another connection.
  case idle
  /// A response is being made or sent, or it streams.
  case busy
}
