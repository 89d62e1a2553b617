// What the application may have of the services, and how it asks for it.

import Foundation
import Inboxes
import LocationServices
import Synchronization

extension CLLocationManager {
  /// Asks for exact locations until the application is no longer in use, and throws why there are none: see
  /// `requestTemporaryFullAccuracyAuthorization(withPurposeKey:completion:)`. It needs no run loop.
  public func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    let request = FullAccuracyRequest(purposeKey, port)
    let problem = await withTaskCancellationHandler {
      await withCheckedContinuation { answer in
        request.send { answer.resume(returning: $0) }
      }
    } onCancel: {
      request.cancel()
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

/// A request for exact positions and its answer. Each request is a separate client of the services, so that two cannot be
/// confused.
///
/// The answer is read on a dispatch queue, because a program may keep all threads of Swift's tasks busy.
final class FullAccuracyRequest: Sendable {
  private struct Progress: Sendable {
    var client: ClientID?
    var handler: (@Sendable (AuthorizationProblem?) -> Void)?
    var isOver = false
  }

  private let purpose: String
  private let port: any ServicePort
  private let inbox = EventInbox(.feed)
  private let progress = Mutex(Progress())

  init(_ purpose: String, _ port: any ServicePort) {
    self.purpose = purpose
    self.port = port
  }

  /// Sends the request, once.
  ///
  /// - Parameter handler: Receives why there are no exact positions, or `nil` if they are allowed. It is called once, on the
  ///   request's queue, and keeps the request until then. After `cancel()` it is called at once.
  func send(_ handler: @escaping @Sendable (AuthorizationProblem?) -> Void) {
    inbox.setWake(.onQueue { self.readAnswer() })
    let client = port.connect(inbox)
    let isOver = progress.withLock { progress in
      (progress.client, progress.handler) = (client, handler)
      return progress.isOver
    }
    if isOver { return end(.unanswered) }
    port.send(ServiceRequest(client, .requestAuthorization(.fullAccuracy(purpose: purpose))))
  }

  /// Ends the request: it counts as unanswered, unless an answer has come.
  func cancel() { end(.unanswered) }

  private func readAnswer() {
    inbox.beginRound()
    while let content = inbox.take() {
      if case .fullAccuracyAnswered(let problem) = content { return end(problem) }
    }
  }

  private func end(_ problem: AuthorizationProblem?) {
    let last = progress.withLock { progress in
      defer { progress = Progress(isOver: true) }
      return progress
    }
    inbox.setWake(.nobody)
    if let client = last.client { port.send(ServiceRequest(client, .release)) }
    last.handler?(problem)
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
