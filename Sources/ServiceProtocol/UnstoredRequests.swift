// What a program has asked a daemon to store, until it is known to be stored.

import LocationServices

/// The requests that no daemon is known to have stored, in order. Of each region the newest that begins or ends it, and the newest that
/// says that it was told.
struct UnstoredRequests: Sendable {
  /// The number of requests that are remembered. The oldest goes when there are more: of a daemon that stores nothing it is one that ended
  /// a region, which the next daemon does not know.
  private static let most = 256
  var requests: [(number: UInt64, request: ServiceRequest)] = []

  mutating func add(_ request: ServiceRequest, number: UInt64) {
    requests.removeAll { old in
      old.request.action.storedRegion == request.action.storedRegion
        && old.request.action.isTold == request.action.isTold
    }
    requests.append((number, request))
    if requests.count > Self.most {
      let ended = requests.firstIndex {
        if case .stopRegion = $0.request.action { true } else { false }
      }
      requests.remove(at: ended ?? 0)
    }
  }

  mutating func remove(_ number: UInt64) { requests.removeAll { $0.number == number } }
  mutating func remove(upTo number: UInt64) { requests.removeAll { $0.number <= number } }
}

extension ServiceAction {
  /// Whether the request says that the application was told an event of a region.
  var isTold: Bool { if case .regionTold = self { true } else { false } }
}
