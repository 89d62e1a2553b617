// What a monitor says of its conditions.

public import Foundation
import LocationServices

extension CLMonitor {
  /// That a condition has come to another state, and when.
  public struct Event: Sendable {
    /// The states of a condition.
    public enum State: Int, Sendable, Hashable, CaseIterable {
      /// Not known yet.
      case unknown = 0
      /// It is fulfilled.
      case satisfied = 1
      /// It is not.
      case unsatisfied = 2
      /// It is not watched; the event says why.
      case unmonitored = 3
    }

    /// The name of the condition.
    public let identifier: String
    /// What more is known of the condition than was asked: nothing of a circle.
    public var refinement: (any CLCondition)? { nil }
    /// The state.
    public let state: State
    /// Since when.
    public let date: Date
    /// Whether no more conditions are watched.
    public internal(set) var conditionLimitExceeded = false
    /// Whether the condition is none that can be watched.
    public internal(set) var conditionUnsupported = false
    /// Whether nothing can be kept: the condition is watched until the program ends.
    public internal(set) var persistenceUnavailable = false
    /// Whether positions are less exact than they could be, because no more is permitted.
    public internal(set) var accuracyLimited = false
    /// Whether the application may not use the services.
    public internal(set) var authorizationDenied = false
    /// Whether nobody may use them: never on a board.
    public var authorizationDeniedGlobally: Bool { false }
    /// Whether the machine's owner has forbidden it.
    public internal(set) var authorizationRestricted = false
    /// Whether somebody is being asked for permission.
    public internal(set) var authorizationRequestInProgress = false
    /// Whether the application is not in use, so that it gets no positions.
    public internal(set) var insufficientlyInUse = false
    /// Whether a `CLServiceSession` is missing: never on a board.
    public var serviceSessionRequired: Bool { false }

    init(identifier: String, state: State, date: Date) {
      self.identifier = identifier
      self.state = state
      self.date = date
    }
  }

  /// A condition and what was said of it last.
  public struct Record: Sendable {
    /// The condition.
    public let condition: any CLCondition
    /// The event that was handled last: while one is being handled it is the one before. Of a condition about which
    /// nothing was said yet it holds the state that was assumed.
    public internal(set) var lastEvent: Event
  }
}

extension CLMonitor.Event.State {
  init(_ state: RegionState) {
    switch state {
    case .unknown: self = .unknown
    case .inside: self = .satisfied
    case .outside: self = .unsatisfied
    }
  }

  /// The state of a circle; `nil` for one that is not watched.
  var region: RegionState? {
    switch self {
    case .unknown: .unknown
    case .satisfied: .inside
    case .unsatisfied: .outside
    case .unmonitored: nil
    }
  }
}
