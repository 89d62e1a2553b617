// What the application may have of the services, and how it asks for it.

import Foundation
import LocationServices

extension CLLocationManager {
  /// Asks for exact locations until the application is no longer in use, and throws why there are none: see
  /// `requestTemporaryFullAccuracyAuthorization(withPurposeKey:completion:)`. It needs no run loop.
  public func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    let request = FullAccuracyRequest(purposeKey, port)
    if let problem = await request.problem() { throw CLError(problem) }
  }

  func deliverAuthorization(_ report: AuthorizationReport) {
    defer { authorizationTold = report }
    delegate?.locationManagerDidChangeAuthorization(self)
  }

  /// Whether what is told of the authorization is news for a delegate that knows the status alone.
  func isStatusNews(_ status: CLAuthorizationStatus) -> Bool {
    authorizationTold.map { CLAuthorizationStatus($0.status) != status } ?? true
  }
}

/// A request for exact positions, on its way to its answer. It is a client of its own, so that two cannot be mixed up.
struct FullAccuracyRequest: Sendable {
  private let feed: LiveFeed

  /// Has somebody asked, at once.
  init(_ purpose: String, _ port: any ServicePort) {
    feed = LiveFeed(port, [.requestAuthorization(.fullAccuracy(purpose: purpose))])
    feed.begin()
  }

  /// Why there are no exact positions; `nil` where they are allowed.
  func problem() async -> AuthorizationProblem? {
    while let content = await feed.next() {
      if case .fullAccuracyAnswered(let problem) = content { return problem }
    }
    return .unanswered
  }
}

extension CLAuthorizationStatus {
  init(_ status: AuthorizationStatus) {
    switch status {
    case .notDetermined: self = .notDetermined
    case .restricted: self = .restricted
    case .denied: self = .denied
    case .whenInUse: self = .authorizedWhenInUse
    case .always: self = .authorizedAlways
    }
  }
}

extension CLError {
  /// Why exact locations are not to be had.
  init(_ problem: AuthorizationProblem) {
    let code: Code = problem == .declined || problem == .unanswered ? .promptDeclined : .denied
    self.init(code, userInfo: [NSLocalizedDescriptionKey: problem.description])
  }
}
