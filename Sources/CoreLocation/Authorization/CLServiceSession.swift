// Sessions: what says that the application needs its authorization, and that it is in use.

import Inboxes
package import LocationServices
import Synchronization

/// Says what authorization the application needs, as long as the object is held and not invalidated.
///
/// What is needed is asked for as soon as it can be: in the foreground, where nothing is decided yet, with the usage
/// descriptions that a request needs. What nobody has answered is asked again the next time that the application comes to
/// the foreground. Other than on a phone no service requires one.
public final class CLServiceSession: Sendable {
  /// What authorization is needed.
  public enum AuthorizationRequirement: Int, Sendable, Hashable, CaseIterable {
    /// None: nothing is asked.
    case none = 0
    /// To have locations while the application is in use.
    case whenInUse = 1
    /// To have locations at all times.
    case always = 2
  }

  /// What stands between the application and what it needs.
  public struct Diagnostic: Sendable, Hashable {
    /// Whether the application may not use the services.
    public let authorizationDenied: Bool
    /// Whether nobody may use them: never on a board.
    public var authorizationDeniedGlobally: Bool { false }
    /// Whether the machine's owner has forbidden it.
    public let authorizationRestricted: Bool
    /// Whether somebody is being asked.
    public let authorizationRequestInProgress: Bool
    /// Whether it is allowed while the application is in use, and needed at all times.
    public let alwaysAuthorizationDenied: Bool
    /// Whether exact locations are needed, and not allowed.
    public let fullAccuracyDenied: Bool
    /// Whether locations are less exact than they could be, because no more is permitted.
    public let accuracyLimited: Bool
    /// Whether the application is not in use, so that it gets no locations.
    public let insufficientlyInUse: Bool
    /// Whether another session is missing: never on a board.
    public var serviceSessionRequired: Bool { false }
  }

  private let session: ServiceSession
  private let held: HeldClient

  /// Begins a session.
  public convenience init(authorization requirement: AuthorizationRequirement) {
    self.init(requirement, nil, processPort)
  }

  /// Begins a session that needs exact locations too, for a purpose that the application has described
  /// (`NSLocationTemporaryUsageDescriptionDictionary`).
  public convenience init(
    authorization requirement: AuthorizationRequirement, fullAccuracyPurposeKey purposeKey: String
  ) { self.init(requirement, purposeKey, processPort) }

  /// The same as the public declaration, with the services of `port` instead of the process's. For tests.
  package init(
    _ requirement: AuthorizationRequirement, _ purpose: String?, _ port: any ServicePort
  ) {
    let needed: ServiceSession.Requirement =
      switch requirement {
      case .none: .none
      case .whenInUse: .whenInUse
      case .always: .always
      }
    session = ServiceSession(needed, fullAccuracyPurpose: purpose)
    held = HeldClient(session, port)
  }

  /// Ends the session; nothing where it has ended.
  public func invalidate() { held.end() }

  /// What stands in the way now, and then whenever that is another thing; it ends with the task that iterates.
  public var diagnostics: Diagnostics { Diagnostics(session: session, port: held.port) }

  /// Diagnostics, one after the other.
  public struct Diagnostics: AsyncSequence, Sendable {
    /// What it consists of.
    public typealias Element = Diagnostic
    let session: ServiceSession
    let port: any ServicePort

    /// Begins anew.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(session: session, reports: AuthorizationReports(port))
    }

    /// One way through the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let session: ServiceSession
      let reports: AuthorizationReports
      private var last: Diagnostic?

      init(session: ServiceSession, reports: AuthorizationReports) {
        (self.session, self.reports) = (session, reports)
      }

      /// The next diagnostic; `nil` once the task is cancelled. It throws nothing on a board.
      public mutating func next() async throws -> Diagnostic? {
        while let report = await reports.next() {
          let diagnostic = Diagnostic(report, session)
          guard diagnostic != last else { continue }
          last = diagnostic
          return diagnostic
        }
        return nil
      }
    }
  }
}

extension CLServiceSession.Diagnostic {
  init(_ report: AuthorizationReport, _ session: ServiceSession) {
    self.init(
      authorizationDenied: report.status == .denied,
      authorizationRestricted: report.status == .restricted,
      authorizationRequestInProgress: report.isBeingAsked,
      alwaysAuthorizationDenied: session.requirement == .always && report.status == .whenInUse
        && !report.isBeingAsked,
      fullAccuracyDenied: session.fullAccuracyPurpose != nil && report.isGranted
        && report.accuracy == .reduced && !report.isBeingAsked,
      accuracyLimited: report.isGranted && report.accuracy == .reduced,
      insufficientlyInUse: report.status == .whenInUse && !report.isInUse)
  }
}

/// Says that the application is in use although it is in the background, as long as the object is held and not invalidated:
/// it gets what is authorized *when in use*, and may start updates. Other than on a phone it may be made in the background
/// too, and nothing shows it: a board has no display of its own.
public final class CLBackgroundActivitySession: Sendable {
  /// What stands between the application and its locations.
  public struct Diagnostic: Sendable, Hashable {
    /// Whether the application may not use the services.
    public let authorizationDenied: Bool
    /// Whether nobody may use them: never on a board.
    public var authorizationDeniedGlobally: Bool { false }
    /// Whether the machine's owner has forbidden it.
    public let authorizationRestricted: Bool
    /// Whether somebody is being asked.
    public let authorizationRequestInProgress: Bool
    /// Whether the application is not in use, because the session has ended.
    public let insufficientlyInUse: Bool
    /// Whether another session is missing: never on a board.
    public var serviceSessionRequired: Bool { false }

    init(_ report: AuthorizationReport) {
      authorizationDenied = report.status == .denied
      authorizationRestricted = report.status == .restricted
      authorizationRequestInProgress = report.isBeingAsked
      insufficientlyInUse = !report.isInUse
    }
  }

  private let held: HeldClient

  /// Begins a session.
  public convenience init() { self.init(on: processPort) }

  /// The same as the public declaration, with the services of `port` instead of the process's. For tests.
  package init(on port: any ServicePort) {
    held = HeldClient(ServiceSession(keepsInUse: true), port)
  }

  /// Ends the session; nothing where it has ended.
  public func invalidate() { held.end() }

  /// What stands in the way now, and then whenever that is another thing; it ends with the task that iterates.
  public var diagnostics: Diagnostics { Diagnostics(port: held.port) }

  /// Diagnostics, one after the other.
  public struct Diagnostics: AsyncSequence, Sendable {
    /// What it consists of.
    public typealias Element = Diagnostic
    let port: any ServicePort

    /// Begins anew.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(reports: AuthorizationReports(port))
    }

    /// One way through the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let reports: AuthorizationReports
      private var last: Diagnostic?

      init(reports: AuthorizationReports) { self.reports = reports }

      /// The next diagnostic; `nil` once the task is cancelled. It throws nothing on a board.
      public mutating func next() async throws -> Diagnostic? {
        while let report = await reports.next() {
          let diagnostic = Diagnostic(report)
          guard diagnostic != last else { continue }
          last = diagnostic
          return diagnostic
        }
        return nil
      }
    }
  }
}

/// What becomes of the authorization, for a sequence.
final class AuthorizationReports: Sendable {
  private let feed: LiveFeed

  init(_ port: any ServicePort) {
    feed = LiveFeed(port, [.hold(ServiceSession())])
  }

  /// The next report, at first how it stands; `nil` once the task is cancelled.
  func next() async -> AuthorizationReport? {
    while let content = await feed.next() {
      if case .authorization(let report) = content { return report }
    }
    return nil
  }
}

/// A client that holds a session until it goes, and hears nothing.
private final class HeldClient: Sendable {
  let port: any ServicePort
  private let client: Mutex<ClientID?>

  init(_ session: ServiceSession, _ port: any ServicePort) {
    self.port = port
    let id = port.connect(EventInbox(.mute))
    client = Mutex(id)
    port.send(ServiceRequest(id, .hold(session)))
  }

  deinit { end() }

  func end() {
    let id = client.withLock { client in
      defer { client = nil }
      return client
    }
    if let id { port.send(ServiceRequest(id, .release)) }
  }
}
