// Locations as an asynchronous sequence.

package import LocationServices

/// What there is to say of the board's position at a moment: a location, or why there is none.
public struct CLLocationUpdate: Sendable {
  /// What the locations are for.
  ///
  /// It decides, as `CLLocationManager.activityType` does, how long the board has to stand before it is said to be
  /// stationary, and whether its course is a measurement of heading. The rate is the receiver's: the board file says how
  /// fast it can, one a second where it says nothing. `default` asks for one a second at most.
  public enum LiveConfiguration: Int, Sendable, Hashable, CaseIterable {
    /// One location a second; stationary after ten minutes.
    case `default`
    /// In a car: as fast as the receiver goes; stationary after five minutes. The board points the way it goes.
    case automotiveNavigation
    /// In another vehicle, a boat or a train: as fast as the receiver goes; stationary after ten minutes. The board points
    /// the way it goes.
    case otherNavigation
    /// On foot or on a bicycle: as fast as the receiver goes; stationary after three minutes.
    case fitness
    /// In the air: as fast as the receiver goes; stationary after fifteen minutes.
    case airborne
    /// On the water: what `otherNavigation` is.
    case maritime

    var settings: ClientSettings {
      var settings = ClientSettings(waitsForUse: true)
      switch self {
      case .default: settings.desiredAccuracy = kCLLocationAccuracyNearestTenMeters
      case .automotiveNavigation: settings.activity = .automotiveNavigation
      case .otherNavigation, .maritime: settings.activity = .otherNavigation
      case .fitness: settings.activity = .fitness
      case .airborne: settings.activity = .airborne
      }
      return settings
    }
  }

  /// Where the board is; while it is stationary where it stands. `nil` while there is none to say.
  public let location: CLLocation?
  /// Whether the board stands: the receiver rests, and nothing more is said until the board moves.
  public let stationary: Bool
  /// Whether there is no position at the moment; locations follow as soon as there is one again.
  public let locationUnavailable: Bool
  private let authorization: AuthorizationReport
  /// Whether the application may not use the services.
  public var authorizationDenied: Bool { authorization.limits.contains(.refused) }
  /// Whether nobody may use them: never on a board.
  public var authorizationDeniedGlobally: Bool { false }
  /// Whether the machine's owner has forbidden it.
  public var authorizationRestricted: Bool { authorization.limits.contains(.restricted) }
  /// Whether somebody is being asked for permission.
  public var authorizationRequestInProgress: Bool {
    authorization.limits.contains(.isBeingAsked)
  }
  /// Whether locations are less exact than they could be, because no more is permitted.
  public var accuracyLimited: Bool { authorization.limits.contains(.accuracy) }
  /// Whether the application is not in use, so that it gets no locations; they follow when it is.
  public var insufficientlyInUse: Bool { authorization.limits.contains(.use) }
  /// Whether a `CLServiceSession` is missing: never on a board.
  public var serviceSessionRequired: Bool { false }

  /// Whether the board stands.
  @available(*, deprecated, renamed: "stationary")
  public var isStationary: Bool { stationary }

  /// Locations from now on.
  ///
  /// The receiver is asked from the first `next()` on, and no longer than the sequence is iterated: it stops with the loop
  /// that is left, and with the task that is cancelled, where the sequence ends. Each iteration is a client of its own.
  /// What comes faster than it is taken waits, the newest 256; a suspended application gets it afterwards.
  ///
  /// Nothing fails where the application may have no locations: an update says why, and locations follow when it may. So it
  /// may be begun in the background too; where the authorization is *when in use* it waits until the application is in use.
  public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
    Updates(configuration: configuration, port: processPort)
  }

  /// The same as the public declaration, with the services of `port` instead of the process's. For tests.
  package static func liveUpdates(
    _ configuration: LiveConfiguration = .default, on port: any ServicePort
  ) -> Updates {
    Updates(configuration: configuration, port: port)
  }

  /// Locations, one after the other.
  public struct Updates: AsyncSequence, Sendable {
    /// What it consists of.
    public typealias Element = CLLocationUpdate
    let configuration: LiveConfiguration
    let port: any ServicePort

    /// Begins anew.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(
        feed: LiveFeed(
          port,
          [.configure(configuration.settings), .hold(ServiceSession()), .start(.location)]))
    }

    /// One way through the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let feed: LiveFeed
      private var last: CLLocation?
      private var authorization: AuthorizationReport?

      init(feed: LiveFeed) { self.feed = feed }

      private func update(
        _ location: CLLocation? = nil, stationary: Bool = false, locationUnavailable: Bool = false
      ) -> CLLocationUpdate {
        CLLocationUpdate(
          location: location, stationary: stationary, locationUnavailable: locationUnavailable,
          authorization: authorization ?? ServiceQuery.authorization.unanswered)
      }

      /// The next update; `nil` once the task is cancelled. It throws nothing on a board.
      public mutating func next() async throws -> CLLocationUpdate? {
        while let content = await feed.next() {
          switch content {
          case .location(let report):
            let location = CLLocation(
              report, timestamp: feed.port.date(utc: report.utc, report.time))
            last = location
            return update(location)
          case .paused: return update(last, stationary: true)
          // That somebody has said no is told with the authorization.
          case .failure(let failure) where failure.isDenied: continue
          case .failure: return update(locationUnavailable: true)
          case .authorization(let report):
            let said = authorization?.limits ?? []
            authorization = report
            // That nothing stands in the way any more is said by the next location.
            guard report.limits != said, !report.limits.isEmpty else { continue }
            return update()
          // The location that ends a pause follows.
          case .resumed, .heading, .headingExpired, .significantChange, .visit, .region,
            .regionsUnreadable, .altitude,
            .beacons,
            .absoluteAltitude, .motion, .rangingFailed, .deferredLocations, .deferralEnded,
            .requestedLocation, .requestFailed, .question, .questionClosed, .fullAccuracyAnswered,
            .observation, .reading:
            continue
          }
        }
        return nil
      }
    }
  }
}

extension AuthorizationReport {
  /// What an update says of it.
  fileprivate struct Limits: OptionSet {
    let rawValue: Int
    static let refused = Limits(rawValue: 1)
    static let restricted = Limits(rawValue: 2)
    static let isBeingAsked = Limits(rawValue: 4)
    static let accuracy = Limits(rawValue: 8)
    static let use = Limits(rawValue: 16)
  }

  fileprivate var limits: Limits {
    var limits: Limits = []
    if status == .denied { limits.insert(.refused) }
    if status == .restricted { limits.insert(.restricted) }
    if isBeingAsked { limits.insert(.isBeingAsked) }
    if isGranted, accuracy == .reduced { limits.insert(.accuracy) }
    if status == .whenInUse, !isInUse { limits.insert(.use) }
    return limits
  }
}
