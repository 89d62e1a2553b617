// A receiver that stands still and knows its place: what a base station of RTK is.

/// How a receiver comes to the place that it holds as a base station.
package enum BasePlace: Sendable, Hashable, Codable {
  /// It measures the place itself, for at least so many seconds and until the mean is good to `accuracy`, meters.
  case survey(seconds: Double, accuracy: Double)
  /// The place of its antenna is known: degrees (WGS 84), and meters above the ellipsoid. `accuracy` is in meters, `nil` where
  /// nobody has said it.
  case known(latitude: Double, longitude: Double, height: Double, accuracy: Double?)
}

/// How a receiver that is a base station is doing. Its place is in its fixes, and not here: not everybody who may look at a sensor
/// may know it.
public struct BaseStatus: Sendable, Hashable, Codable {
  /// How far it has come.
  public enum BasePhase: String, Sendable, Hashable, Codable, CaseIterable {
    /// It has not been told yet.
    case waiting
    /// It measures its place; its fixes are measured as before.
    case surveying
    /// It holds a fixed place, and solves for time alone.
    case fixed
  }

  /// How far it has come.
  public var phase: BasePhase
  /// Seconds that the survey has lasted; `nil` for a place that was given, and where the receiver does not report it.
  public var surveySeconds: Int?
  /// The accuracy of the mean so far, or of the fixed place, meters; `nil` where nobody has said it.
  public var accuracy: Double?

  /// Makes the status of a receiver in a phase of which nothing else is known.
  public init(phase: BasePhase) { self.phase = phase }

  /// The same with figures that change all the time left out: what is left is news.
  package var withoutCounters: BaseStatus { phase == .surveying ? BaseStatus(phase: phase) : self }
}

/// What a receiver reports of the survey of its own place.
package struct BaseSurvey: Sendable, Hashable, Codable {
  /// Whether it goes on.
  package var isActive: Bool
  /// Whether its mean is the place that the receiver holds.
  package var isValid: Bool
  /// Seconds that it has lasted.
  package var seconds: Int
  /// The accuracy of the mean, meters.
  package var accuracy: Double
  /// The mean, degrees (WGS 84) and meters above the ellipsoid; `nil` before there is any.
  package var latitude, longitude, height: Double?

  /// Makes the report of a survey whose mean is not known.
  package init(isActive: Bool, isValid: Bool, seconds: Int, accuracy: Double) {
    (self.isActive, self.isValid, self.seconds, self.accuracy) = (
      isActive, isValid, seconds, accuracy
    )
  }
}
