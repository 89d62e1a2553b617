import Foundation
import LocationServices
import SensorTypes
import Testing

@testable import CoreLocation

struct ValueTests {
  private let place = CLLocation(
    coordinate: CLLocationCoordinate2D(latitude: 52.516272, longitude: -13.377722), altitude: 36.5,
    horizontalAccuracy: 5, verticalAccuracy: 8, course: 271.5, courseAccuracy: 2, speed: 1.2,
    speedAccuracy: 0.3, timestamp: Date(timeIntervalSince1970: 1_700_000_000),
    sourceInfo: CLLocationSourceInformation(
      softwareSimulationState: true, andExternalAccessoryState: false))

  private let heading = CLHeading(
    magneticHeading: 20.408, trueHeading: -1, headingAccuracy: 2.5, x: 1.25, y: -20.5, z: -43,
    timestamp: Date(timeIntervalSince1970: 1_700_000_000))

  @Test("L: values survive archiving, securely, and equal themselves afterwards")
  func archiving() throws {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: place, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: data)
    #expect(back == place)
    #expect(back?.hash == place.hash)
    #expect(back?.ellipsoidalAltitude.isNaN == true)
    #expect(back?.sourceInformation?.isSimulatedBySoftware == true)
    let bytes = try NSKeyedArchiver.archivedData(
      withRootObject: heading, requiringSecureCoding: true)
    let other = try NSKeyedUnarchiver.unarchivedObject(ofClass: CLHeading.self, from: bytes)
    #expect(other == heading)
    #expect(other?.z == -43)
  }

  @Test("L: copies are equal, and another value is not")
  func equality() throws {
    #expect(try #require(place.copy() as? CLLocation) == place)
    #expect(try #require(heading.copy() as? CLHeading) == heading)
    let elsewhere = CLLocation(latitude: 52.516272, longitude: -13.377722)
    #expect(elsewhere != place)
    let turned = CLHeading(
      magneticHeading: 21, trueHeading: -1, headingAccuracy: 2.5, x: 1.25, y: -20.5, z: -43,
      timestamp: heading.timestamp)
    #expect(turned != heading)
  }

  @Test("L: without a magnetometer a heading has no field, and is still equal to itself")
  func missingField() throws {
    // As the engine writes it down.
    let text = #"{"time":{"nanoseconds":0},"magneticHeading":90,"trueHeading":92,"accuracy":4}"#
    let report = try JSONDecoder().decode(HeadingReport.self, from: Data(text.utf8))
    let heading = CLHeading(report, timestamp: Date(timeIntervalSince1970: 1_700_000_000))
    #expect(heading.x.isNaN && heading.y.isNaN && heading.z.isNaN)
    #expect(heading.magneticHeading == 90 && heading.headingAccuracy == 4)
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: heading, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CLHeading.self, from: data)
    #expect(back == heading)
    #expect(back?.hash == heading.hash)
    #expect(back?.x.isNaN == true)
  }

  @Test("L: descriptions have the SDK's form")
  func descriptions() {
    #expect(
      place.description.hasPrefix(
        "<+52.51627200,-13.37772200> +/- 5.00m (speed 1.20 mps / course 271.50) @ "))
    #expect(
      heading.description
        == "magneticHeading 20.41 trueHeading -1.00 accuracy 2.50 x +1.250 y -20.500 z -43.000 @ "
        + "2023-11-14 22:13:20 +0000")
  }

  @Test("L: a location from coordinates alone has nothing else")
  func bare() {
    let location = CLLocation(latitude: 1, longitude: 2)
    #expect(location.horizontalAccuracy == 0)
    #expect(location.verticalAccuracy == -1)
    #expect(location.course == -1 && location.courseAccuracy == -1)
    #expect(location.speed == -1 && location.speedAccuracy == -1)
    #expect(location.floor == nil && location.sourceInformation == nil)
    #expect(abs(location.timestamp.timeIntervalSinceNow) < 60)
  }

  @Test("L: what a receiver does not say is negative, never zero")
  func missing() throws {
    var fix = GNSSFix(received: Timestamp(seconds: 0), mode: .twoDimensional)
    fix.latitude = 50
    fix.longitude = 13
    fix.altitude = 36
    fix.verticalAccuracy = 4
    let report = try #require(LocationReport(LocationEstimate(fix: fix, isSimulated: false)))
    let location = CLLocation(report, timestamp: Date())
    #expect(location.horizontalAccuracy < 0)
    #expect(location.verticalAccuracy < 0)
    #expect(location.course < 0 && location.courseAccuracy < 0)
    #expect(location.speed < 0 && location.speedAccuracy < 0)
  }

  @Test("L: distance is the geodesic's")
  func distance() {
    // GeographicLib: 5 554 910.136 850 m between two airports.
    let one = CLLocation(latitude: 40.6413111, longitude: -73.7781391)
    let two = CLLocation(latitude: 51.4700223, longitude: -0.4542955)
    #expect(abs(one.distance(from: two) - 5_554_910.136850) < 1e-3)
  }

  @Test("L: coordinates are valid up to the pole and the date line")
  func coordinates() {
    #expect(CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(-90, 180)))
    #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(90.1, 0)))
    #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(0, .nan)))
    #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
  }

  @Test("constants and codes have the SDK's values")
  func constants() {
    #expect(kCLDistanceFilterNone == -1 && kCLHeadingFilterNone == -1)
    #expect(kCLLocationAccuracyBestForNavigation == -2 && kCLLocationAccuracyBest == -1)
    #expect(CLDeviceOrientation.landscapeLeft.rawValue == 3)
    #expect(CLActivityType.airborne.rawValue == 5)
    #expect(CLAuthorizationStatus.authorizedAlways.rawValue == 3)
    #expect(CLError.Code.headingFailure.rawValue == 3)
    #expect(CLError.Code.rangingFailure.rawValue == 17)
    #expect(CLError.errorDomain == "kCLErrorDomain")
  }

  @Test("an error can be caught by its name, and says its reason")
  func catching() {
    func fail() throws {
      throw CLError(.denied, userInfo: [NSLocalizedDescriptionKey: "not here"])
    }
    var caught = ""
    do {
      try fail()
    } catch CLError.locationUnknown {
      caught = "unknown"
    } catch CLError.denied {
      caught = "denied"
    } catch {
      caught = "other"
    }
    #expect(caught == "denied")
    let error: any Error = CLError(.denied, userInfo: [NSLocalizedDescriptionKey: "not here"])
    #expect((error as? CLError)?.code == .denied)
    #expect(error.localizedDescription == "not here")
    #expect((error as? CLError)?.errorCode == 1)
  }
}
