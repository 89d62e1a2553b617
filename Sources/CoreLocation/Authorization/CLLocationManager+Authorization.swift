// What the application may have of the services, and how it asks for it.

import Foundation
import LocationServices
import Lodestone

extension CLLocationManager {
  /// Asks for exact locations until the application is no longer in use, and throws why there are none: see
  /// `requestTemporaryFullAccuracyAuthorization(withPurposeKey:completion:)`. It needs no run loop.
  public func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    let runtime = runtime
    let problem = await withCheckedContinuation { continuation in
      runtime.requestFullAccuracy(purpose: purposeKey) { continuation.resume(returning: $0) }
    }
    if let problem { throw CLError(problem) }
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
