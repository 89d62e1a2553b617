// What a program has asked a daemon to store, until it is known to be stored.

import LocationServices

/// The requests that no daemon is known to have stored, in order. Of each region the newest that begins or ends it, and the newest that
/// says that it was told.
struct UnstoredRequests: Sendable {
  var requests: [(number: UInt64, request: ServiceRequest)] = []

  mutating func add(_ request: ServiceRequest, number: UInt64) {
    requests.removeAll { old in
      old.request.action.storedRegion == request.action.storedRegion
        && old.request.action.isTold == request.action.isTold
    }
    requests.append((number, request))
  }

  mutating func remove(_ number: UInt64) { requests.removeAll { $0.number == number } }
  mutating func remove(upTo number: UInt64) { requests.removeAll { $0.number <= number } }
}

extension ServiceAction {
  /// Whether the request says that the application was told an event of a region.
  var isTold: Bool { if case .regionTold = self { true } else { false } }
}
