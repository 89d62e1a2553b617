// What an application holds to say that it needs its authorization.

/// A session of a client: as long as it is held, what it needs is asked for whenever it can be.
package struct ServiceSession: Hashable, Codable, Sendable {
  /// What a session needs.
  package enum Requirement: String, Hashable, Codable, Sendable, CaseIterable {
    case none
    /// Positions while the application is in use.
    case whenInUse
    /// Positions at all times.
    case always
  }

  package var requirement: Requirement
  /// For which purpose exact positions are needed; `nil`: they are not.
  package var fullAccuracyPurpose: String?
  /// Whether the application counts as in use meanwhile, also in the background.
  package var keepsInUse: Bool

  package init(
    _ requirement: Requirement = .none, fullAccuracyPurpose: String? = nil, keepsInUse: Bool = false
  ) {
    self.requirement = requirement
    self.fullAccuracyPurpose = fullAccuracyPurpose
    self.keepsInUse = keepsInUse
  }
}

/// A session that is held, and what was asked for it already: each thing once until the application comes to the foreground
/// again, because a prompt that nobody has answered would come again at once.
struct HeldSession: Hashable, Sendable {
  let session: ServiceSession
  private var hasAskedForUse = false
  private var hasAskedForAlways = false
  private var hasAskedForAccuracy = false

  init(_ session: ServiceSession) { self.session = session }

  /// What is to be asked for next.
  mutating func next(_ report: AuthorizationReport) -> AuthorizationRequest? {
    if report.status == .notDetermined, session.requirement != .none, !hasAskedForUse {
      hasAskedForUse = true
      return session.requirement == .always ? .always : .whenInUse
    }
    if report.status == .whenInUse, session.requirement == .always, !hasAskedForAlways {
      hasAskedForAlways = true
      return .always
    }
    if let purpose = session.fullAccuracyPurpose, report.isGranted, report.accuracy == .reduced,
      !hasAskedForAccuracy
    {
      hasAskedForAccuracy = true
      return .fullAccuracy(purpose: purpose)
    }
    return nil
  }

  /// The application has come to the foreground.
  mutating func begin() { self = HeldSession(session) }
}
