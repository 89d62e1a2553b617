// The errors of the location services.

public import Foundation

/// The domain of Core Location's errors.
public let kCLErrorDomain = "kCLErrorDomain"
/// Under which key of an error's `userInfo` the larger region is that is monitored instead: in no error of a board.
public let kCLErrorUserInfoAlternateRegionKey = "kCLErrorUserInfoAlternateRegionKey"

/// An error of the location services.
public struct CLError: CustomNSError, Hashable, Sendable {
  /// The kinds of error, with the SDK's numbers.
  public enum Code: Int, Sendable {
    /// No location at the moment; the service keeps trying.
    case locationUnknown = 0
    /// The application may not use the service: it should stop it.
    case denied = 1
    /// The network is not there, or failed: how every geocoding ends on a board.
    case network = 2
    /// No heading, because of interference or a lost sensor; the service keeps trying.
    case headingFailure = 3
    /// The application may not monitor regions.
    case regionMonitoringDenied = 4
    /// A region cannot be monitored.
    case regionMonitoringFailure = 5
    /// Monitoring could not be set up at once: never on a board.
    case regionMonitoringSetupDelayed = 6
    /// Events of a region will be late: never on a board.
    case regionMonitoringResponseDelayed = 7
    /// Geocoding found nothing: never on a board, which does not search.
    case geocodeFoundNoResult = 8
    /// Geocoding found a part: never on a board, which does not search.
    case geocodeFoundPartialResult = 9
    /// Geocoding was cancelled, or asked for while another request was under way.
    case geocodeCanceled = 10
    /// Deferral has ended: the receiver has no fix, or as many locations wait as may.
    case deferredFailed = 11
    /// Deferral without location updates.
    case deferredNotUpdatingLocation = 12
    /// Deferral needs a better `desiredAccuracy`.
    case deferredAccuracyTooLow = 13
    /// Deferral cannot be combined with a distance filter.
    case deferredDistanceFiltered = 14
    /// Deferral was cancelled.
    case deferredCanceled = 15
    /// Ranging is not possible: no adapter, switched off, or not permitted.
    case rangingUnavailable = 16
    /// Ranging failed.
    case rangingFailure = 17
    /// The user has dismissed a prompt, or nobody has answered it.
    case promptDeclined = 18
    /// Past locations could not be read: always so on a board, which keeps none.
    case historicalLocationError = 19
  }

  /// What kind of error it is.
  public let code: Code
  private let info: ErrorInfo

  /// Makes an error; `userInfo` may hold a description for a person.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    info = ErrorInfo(userInfo)
  }

  /// The domain, `kCLErrorDomain`.
  public static var errorDomain: String { kCLErrorDomain }
  /// The number of `code`.
  public var errorCode: Int { code.rawValue }
  /// What it was made with, and a description for a person.
  public var errorUserInfo: [String: Any] { info.described(as: "\(code)") }
  /// What it was made with.
  public var userInfo: [String: Any] { info.userInfo }
  /// The description for a person; the name of the code where it was made without one.
  public var localizedDescription: String { info.description ?? "\(code)" }

  /// The larger region that is monitored instead, where `code` is `regionMonitoringResponseDelayed`; `nil` in every error of
  /// a board.
  public var alternateRegion: CLRegion? {
    userInfo[kCLErrorUserInfoAlternateRegionKey] as? CLRegion
  }

  /// No location at the moment; the service keeps trying.
  public static var locationUnknown: Code { .locationUnknown }
  /// The application may not use the service: it should stop it.
  public static var denied: Code { .denied }
  /// The network is not there, or failed: how every geocoding ends on a board.
  public static var network: Code { .network }
  /// No heading, because of interference or a lost sensor; the service keeps trying.
  public static var headingFailure: Code { .headingFailure }
  /// The application may not monitor regions.
  public static var regionMonitoringDenied: Code { .regionMonitoringDenied }
  /// A region cannot be monitored.
  public static var regionMonitoringFailure: Code { .regionMonitoringFailure }
  /// Monitoring could not be set up at once: never on a board.
  public static var regionMonitoringSetupDelayed: Code { .regionMonitoringSetupDelayed }
  /// Events of a region will be late: never on a board.
  public static var regionMonitoringResponseDelayed: Code { .regionMonitoringResponseDelayed }
  /// Geocoding found nothing: never on a board, which does not search.
  public static var geocodeFoundNoResult: Code { .geocodeFoundNoResult }
  /// Geocoding found a part: never on a board, which does not search.
  public static var geocodeFoundPartialResult: Code { .geocodeFoundPartialResult }
  /// Geocoding was cancelled, or asked for while another request was under way.
  public static var geocodeCanceled: Code { .geocodeCanceled }
  /// Deferral has ended: the receiver has no fix, or as many locations wait as may.
  public static var deferredFailed: Code { .deferredFailed }
  /// Deferral without location updates.
  public static var deferredNotUpdatingLocation: Code { .deferredNotUpdatingLocation }
  /// Deferral needs a better `desiredAccuracy`.
  public static var deferredAccuracyTooLow: Code { .deferredAccuracyTooLow }
  /// Deferral cannot be combined with a distance filter.
  public static var deferredDistanceFiltered: Code { .deferredDistanceFiltered }
  /// Deferral was cancelled.
  public static var deferredCanceled: Code { .deferredCanceled }
  /// Ranging is not possible: no adapter, switched off, or not permitted.
  public static var rangingUnavailable: Code { .rangingUnavailable }
  /// Ranging failed.
  public static var rangingFailure: Code { .rangingFailure }
  /// The user has dismissed a prompt, or nobody has answered it.
  public static var promptDeclined: Code { .promptDeclined }
  /// Past locations could not be read: always so on a board, which keeps none.
  public static var historicalLocationError: Code { .historicalLocationError }
}

extension CLError.Code {
  /// Whether an error that was caught is one of this kind: a `CLError`, or an `NSError` of its domain and number.
  public static func ~= (code: CLError.Code, error: any Error) -> Bool {
    ErrorInfo.isError(error, code.rawValue, in: kCLErrorDomain)
  }
}
