// Who gets the places of a port.

import LinuxIO

/// The connections that a port, or all ports together, accept from clients whose program is not known. A peer is a machine, or a user of
/// this machine. If all connections are in use, a new peer replaces one of the peer that has the most.
struct PortPlaces {
  /// A place that is taken.
  struct TakenPlace {
    /// Tokens grow: the last connection has the greatest.
    var token: UInt64
    var peer: NetworkPeer?
    /// The time since which nothing was taken of what waits.
    var stuckSince: Double?
  }

  /// What becomes of a new connection.
  enum PlaceDecision: Hashable {
    case granted
    /// It gets the place of another connection, for a reason.
    case instead(of: UInt64, String)
    /// It is refused, for a reason.
    case refused(String)
  }

  /// The number of places.
  var most: Int
  var taken: [TakenPlace] = []
  var isFull: Bool { taken.count >= most }

  /// Decides about a new connection.
  func decision(for peer: NetworkPeer?) -> PlaceDecision {
    guard isFull else { return .granted }
    var counts: [NetworkPeer?: Int] = [:]
    for place in taken { counts[place.peer, default: 0] += 1 }
    let (own, count) = (counts[peer] ?? 0, counts.values.max() ?? 0)
    let full = "all \(most) connections are taken"
    guard let place = victim(of: taken.filter { counts[$0.peer] == count }) else {
      return .refused(full)
    }
    guard count > own + 1 else {
      return .refused("\(full), \(count) of them by \(Self.name(place.peer))")
    }
    return .instead(
      of: place.token, "\(full): \(Self.name(place.peer)), which has \(count), loses one")
  }

  /// The connection that has taken nothing for longest; without such a one the newest.
  private func victim(of crowd: [TakenPlace]) -> TakenPlace? {
    let stuck = crowd.filter { $0.stuckSince != nil }
      .min { ($0.stuckSince ?? 0) < ($1.stuckSince ?? 0) }
    return stuck ?? crowd.max { $0.token < $1.token }
  }

  private static func name(_ peer: NetworkPeer?) -> String {
    peer.map { "\($0)" } ?? "an unknown machine"
  }
}
