// What an application may know of the board's position, and what was decided about it.

/// Whether the application may use the services, as it is told.
public enum AuthorizationStatus: String, Hashable, Codable, Sendable, CaseIterable {
  /// Nobody has decided yet.
  case notDetermined
  /// Forbidden, and nobody who uses the application can change it.
  case restricted
  /// Forbidden by whoever was asked.
  case denied
  /// Allowed while the application is in use.
  case whenInUse
  /// Allowed at all times.
  case always
}

/// How exact its positions are.
public enum AccuracyAuthorization: String, Hashable, Codable, Sendable, CaseIterable {
  /// As exact as they are measured.
  case full
  /// A place of some kilometres.
  case reduced
}

/// What the application may have at the moment.
public struct AuthorizationReport: Hashable, Codable, Sendable {
  /// Whether it may use the services.
  public var status: AuthorizationStatus
  /// How exactly.
  public var accuracy: AccuracyAuthorization
  /// Whether it is in use: in the foreground, or in the background with a session.
  public var isInUse: Bool
  /// Whether a prompt stands.
  public var isBeingAsked: Bool

  /// Whether somebody has said no.
  public var isRefused: Bool { status == .denied || status == .restricted }
  /// Whether somebody has said yes, to whatever extent.
  public var isGranted: Bool { status == .whenInUse || status == .always }
}

/// What was decided about an application.
public struct AuthorizationDecision: Hashable, Codable, Sendable {
  /// The decisions there are.
  public enum Grant: String, Hashable, Codable, Sendable, CaseIterable {
    /// None yet.
    case notDetermined
    /// Forbidden for good.
    case restricted
    /// Forbidden.
    case denied
    /// Allowed until the application is no longer in use.
    case once
    /// Allowed while the application is in use.
    case whenInUse
    /// Allowed at all times until somebody is asked whether that is right: the first of two steps. The application is told
    /// `always`.
    case provisional
    /// Allowed at all times.
    case always
  }

  /// What is allowed.
  public var grant: Grant
  /// How exactly.
  public var accuracy: AccuracyAuthorization
  /// Whether somebody was asked for Always: that happens once.
  public var hasAskedForAlways: Bool

  /// Makes a decision.
  public init(
    _ grant: Grant, accuracy: AccuracyAuthorization = .full, hasAskedForAlways: Bool = false
  ) {
    self.grant = grant
    self.accuracy = accuracy
    self.hasAskedForAlways = hasAskedForAlways
  }

  /// What holds where nobody is there to be asked: everything.
  public static let unasked = AuthorizationDecision(.always, hasAskedForAlways: true)

  /// What is kept of it for the next run: what was allowed once is over by then.
  public var kept: AuthorizationDecision {
    grant == .once ? AuthorizationDecision(.notDetermined) : self
  }

  /// What the application is told of it.
  public var status: AuthorizationStatus {
    switch grant {
    case .notDetermined: .notDetermined
    case .restricted: .restricted
    case .denied: .denied
    case .once, .whenInUse: .whenInUse
    case .provisional, .always: .always
    }
  }
}
