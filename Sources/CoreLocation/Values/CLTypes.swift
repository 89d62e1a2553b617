// The scalar types, constants and enumerations of Core Location, with the SDK's names and values.

@_exported public import Foundation
@_exported public import FoundationCombine

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

/// Microtesla.
public typealias CLHeadingComponentValue = Double

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

/// The best accuracy, whatever it costs. On a board it is what `kCLLocationAccuracyBest` is.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
/// The best accuracy; the default. The receiver is as fast as the board file says.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
/// Ten metres: a fix a second, or as `activityType` has it.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
/// A hundred metres: a fix in 3.3 s, or as `activityType` has it.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
/// A kilometre: a fix in 33 s, or as `activityType` has it.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1_000
/// Three kilometres: a fix in 60 s, or as `activityType` has it.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3_000
/// What an application without permission for full accuracy gets: the middle of a cell of 5.6 km.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = 6_380_000

/// That there are conditions, `CLMonitor`'s: 1.
public var CL_TARGET_SUPPORTS_CONDITIONS: Int32 { 1 }

/// Whether the application may use the services.
public enum CLAuthorizationStatus: Int32, Sendable {
  /// Nobody has decided yet. On a board only where there is somebody to ask: an agent, or a rule of the machine's owner.
  case notDetermined = 0
  /// Forbidden, and the user cannot change it: by a rule of the machine's owner, or because that file has a mistake.
  case restricted = 1
  /// The user has said no.
  case denied = 2
  /// Allowed at all times: what a program on a board has where nobody is asked.
  case authorizedAlways = 3
  /// Allowed while the application is in use.
  case authorizedWhenInUse = 4

  /// Allowed, by the name that it had before there were two kinds.
  @available(*, deprecated, renamed: "authorizedAlways")
  public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// How exact the locations are that the application may see.
public enum CLAccuracyAuthorization: Int, Sendable {
  /// As exact as they are.
  case fullAccuracy = 0
  /// Blurred: the middle of a cell of 5.6 km.
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
  /// On the water. On a board it is what `otherNavigation` is.
  case maritime = 6
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

/// On which side of a region's boundary the board is.
public enum CLRegionState: Int, Sendable {
  /// Not known yet.
  case unknown = 0
  /// Inside.
  case inside = 1
  /// Outside.
  case outside = 2
}

/// How far away a beacon is.
public enum CLProximity: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// Within half a metre or so.
  case immediate = 1
  /// Within three metres or so.
  case near = 2
  /// Farther.
  case far = 3
}
