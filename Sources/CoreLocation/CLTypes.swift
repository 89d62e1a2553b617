// The scalar types, constants and enumerations of Core Location, with the SDK's names and values.

@_exported public import Foundation

/// Latitude or longitude in degrees, WGS 84.
public typealias CLLocationDegrees = Double
/// Metres.
public typealias CLLocationDistance = Double
/// Degrees clockwise from north, 0 up to 360; negative is invalid.
public typealias CLLocationDirection = Double
/// One sigma of a direction in degrees; negative is invalid.
public typealias CLLocationDirectionAccuracy = Double
/// Metres per second; negative is invalid.
public typealias CLLocationSpeed = Double
/// One sigma of a speed in m/s; negative is invalid.
public typealias CLLocationSpeedAccuracy = Double
/// Metres; negative is invalid.
public typealias CLLocationAccuracy = Double

/// A point on the earth, WGS 84.
public struct CLLocationCoordinate2D: Sendable {
  /// Degrees north, -90 to 90.
  public var latitude: CLLocationDegrees
  /// Degrees east, -180 to 180.
  public var longitude: CLLocationDegrees

  /// The point at zero degrees north and east.
  public init() {
    self.init(latitude: 0, longitude: 0)
  }

  /// Makes a point; it is not checked, see `CLLocationCoordinate2DIsValid`.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// Makes a point from degrees north and east.
public func CLLocationCoordinate2DMake(
  _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
  CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Whether latitude is within 90 and longitude within 180 degrees of zero.
public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
  abs(coord.latitude) <= 90 && abs(coord.longitude) <= 180
}

/// A point that is not one.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// No distance filter: every location is delivered.
public let kCLDistanceFilterNone: CLLocationDistance = -1
/// No heading filter: every heading is delivered.
public let kCLHeadingFilterNone: CLLocationDegrees = -1
/// The largest distance.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude
/// The longest time.
public let CLTimeIntervalMax: TimeInterval = .greatestFiniteMagnitude

/// The best accuracy, whatever it costs.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
/// The best accuracy; the default.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
/// Ten metres.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
/// A hundred metres.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
/// A kilometre.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1_000
/// Three kilometres.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3_000
/// What an application without permission for full accuracy gets.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = 6_380_000

/// Whether the application may use the services.
public enum CLAuthorizationStatus: Int32, Sendable {
  /// Nobody has decided yet.
  case notDetermined = 0
  /// Forbidden, and the user cannot change it.
  case restricted = 1
  /// The user has said no.
  case denied = 2
  /// Allowed at all times.
  case authorizedAlways = 3
  /// Allowed while the application is in use.
  case authorizedWhenInUse = 4
}

/// How exact the locations are that the application may see.
public enum CLAccuracyAuthorization: Int, Sendable {
  /// As exact as they are.
  case fullAccuracy = 0
  /// Blurred.
  case reducedAccuracy = 1
}

/// What kind of movement the application expects.
public enum CLActivityType: Int, Sendable {
  /// None of the others.
  case other = 1
  /// In a car, on roads.
  case automotiveNavigation = 2
  /// On foot.
  case fitness = 3
  /// Any other vehicle: a boat, a train.
  case otherNavigation = 4
  /// In the air.
  case airborne = 5
}

/// How a device is held; decides which of its edges a heading is measured from.
public enum CLDeviceOrientation: Int32, Sendable {
  /// Not known.
  case unknown = 0
  /// Upright; the top edge, body +y, is on top.
  case portrait = 1
  /// Upright on its head; the bottom edge, body -y, is on top.
  case portraitUpsideDown = 2
  /// Upright with the home button on the right; the right edge, body +x, is on top.
  case landscapeLeft = 3
  /// Upright with the home button on the left; the left edge, body -x, is on top.
  case landscapeRight = 4
  /// Flat, the screen up.
  case faceUp = 5
  /// Flat, the screen down.
  case faceDown = 6
}

/// The domain of Core Location's errors.
public let kCLErrorDomain = "kCLErrorDomain"

/// An error of the location services.
public struct CLError: CustomNSError, Hashable, Sendable {
  /// The kinds of error, with the SDK's numbers.
  public enum Code: Int, Sendable {
    /// No location at the moment; the service keeps trying.
    case locationUnknown = 0
    /// The application may not use the service: it should stop it.
    case denied = 1
    /// The network is not there, or failed.
    case network = 2
    /// No heading, because of interference or a lost sensor; the service keeps trying.
    case headingFailure = 3
    /// The application may not monitor regions.
    case regionMonitoringDenied = 4
    /// A region cannot be monitored.
    case regionMonitoringFailure = 5
    /// Monitoring could not be set up at once.
    case regionMonitoringSetupDelayed = 6
    /// Events of a region will be late.
    case regionMonitoringResponseDelayed = 7
    /// Geocoding found nothing.
    case geocodeFoundNoResult = 8
    /// Geocoding found a part.
    case geocodeFoundPartialResult = 9
    /// Geocoding was cancelled.
    case geocodeCanceled = 10
    /// Deferral could not be entered.
    case deferredFailed = 11
    /// Deferral without location updates.
    case deferredNotUpdatingLocation = 12
    /// Deferral needs a better `desiredAccuracy`.
    case deferredAccuracyTooLow = 13
    /// Deferral cannot be combined with a distance filter.
    case deferredDistanceFiltered = 14
    /// Deferral was cancelled.
    case deferredCanceled = 15
    /// Ranging is not possible.
    case rangingUnavailable = 16
    /// Ranging failed.
    case rangingFailure = 17
    /// The user has dismissed a prompt.
    case promptDeclined = 18
    /// Past locations could not be read.
    case historicalLocationError = 19
  }

  /// What kind of error it is.
  public let code: Code
  // Why, in words; part of the description only.
  private let reason: String

  /// Makes an error; `userInfo` may hold a description for a person.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    reason = userInfo[NSLocalizedDescriptionKey] as? String ?? "\(code)"
  }

  /// The domain, `kCLErrorDomain`.
  public static var errorDomain: String { kCLErrorDomain }
  /// The number of `code`.
  public var errorCode: Int { code.rawValue }
  /// The description for a person.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: reason] }
  /// The description for a person.
  public var userInfo: [String: Any] { errorUserInfo }
  /// The description for a person.
  public var localizedDescription: String { reason }

  /// No location at the moment.
  public static var locationUnknown: Code { .locationUnknown }
  /// The application may not use the service.
  public static var denied: Code { .denied }
  /// The network is not there, or failed.
  public static var network: Code { .network }
  /// No heading at the moment.
  public static var headingFailure: Code { .headingFailure }
}

extension CLError.Code {
  /// Whether an error that was caught is one of this kind.
  public static func ~= (code: CLError.Code, error: any Error) -> Bool {
    (error as? CLError)?.code == code
  }
}
