import CoreLocation
import Testing

// The inventory of Core Location, constants, enumerations and errors: their values.

/// The deprecated ones; a witness may be deprecated without a warning where it is called.
private protocol OldTypes {
  func status() -> CLAuthorizationStatus
}
private struct Old: OldTypes {
  @available(*, deprecated)
  func status() -> CLAuthorizationStatus { CLAuthorizationStatus.authorized }
}

struct InventoryTypeTests {
  @Test("inventory: coordinates, and what is valid of them")
  func coordinates() {
    var place = CLLocationCoordinate2D()
    #expect(place.latitude == 0 && place.longitude == 0)
    place = CLLocationCoordinate2D(latitude: 52.5, longitude: 13.4)
    place.latitude = -90
    place.longitude = 180
    let made: CLLocationCoordinate2D = CLLocationCoordinate2DMake(-90, 180)
    #expect(made.latitude == place.latitude && made.longitude == place.longitude)
    #expect(CLLocationCoordinate2DIsValid(made))
    #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
    #expect(kCLLocationCoordinate2DInvalid.latitude == -180)
    #expect(kCLLocationCoordinate2DInvalid.longitude == -180)
  }

  @Test("inventory: constants have the SDK's values")
  func constants() {
    let accuracies: [CLLocationAccuracy] = [
      kCLLocationAccuracyBestForNavigation, kCLLocationAccuracyBest,
      kCLLocationAccuracyNearestTenMeters, kCLLocationAccuracyHundredMeters,
      kCLLocationAccuracyKilometer, kCLLocationAccuracyThreeKilometers, kCLLocationAccuracyReduced,
    ]
    #expect(accuracies == [-2, -1, 10, 100, 1_000, 3_000, 6_380_000])
    #expect(kCLDistanceFilterNone == -1 && kCLHeadingFilterNone == -1)
    #expect(CLLocationDistanceMax == .greatestFiniteMagnitude)
    #expect(CLTimeIntervalMax == .greatestFiniteMagnitude)
    #expect(CL_TARGET_SUPPORTS_CONDITIONS == 1)
    #expect(kCLErrorDomain == "kCLErrorDomain")
    #expect(kCLErrorUserInfoAlternateRegionKey == "kCLErrorUserInfoAlternateRegionKey")
    #expect(CLLocationPushServiceErrorDomain == "CLLocationPushServiceErrorDomain")
  }

  @Test("inventory: enumerations have the SDK's values, and no others")
  func enumerations() {
    let statuses: [CLAuthorizationStatus] = [
      .notDetermined, .restricted, .denied, .authorizedAlways, .authorizedWhenInUse,
    ]
    #expect(statuses.map(\.rawValue) == [0, 1, 2, 3, 4] as [Int32])
    #expect(CLAuthorizationStatus(rawValue: 5) == nil)
    let old: any OldTypes = Old()
    #expect(old.status() == .authorizedAlways)
    let accuracies: [CLAccuracyAuthorization] = [.fullAccuracy, .reducedAccuracy]
    #expect(accuracies.map(\.rawValue) == [0, 1] && CLAccuracyAuthorization(rawValue: 2) == nil)
    let activities: [CLActivityType] = [
      .other, .automotiveNavigation, .fitness, .otherNavigation, .airborne, .maritime,
    ]
    #expect(activities.map(\.rawValue) == [1, 2, 3, 4, 5, 6] && CLActivityType(rawValue: 0) == nil)
    let orientations: [CLDeviceOrientation] = [
      .unknown, .portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight, .faceUp, .faceDown,
    ]
    #expect(orientations.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6] as [Int32])
    #expect(CLDeviceOrientation(rawValue: 7) == nil)
    let states: [CLRegionState] = [.unknown, .inside, .outside]
    #expect(states.map(\.rawValue) == [0, 1, 2] && CLRegionState(rawValue: 3) == nil)
    let distances: [CLProximity] = [.unknown, .immediate, .near, .far]
    #expect(distances.map(\.rawValue) == [0, 1, 2, 3] && CLProximity(rawValue: 4) == nil)
  }

  @Test("inventory: the codes of errors")
  func codes() {
    let codes: [CLError.Code] = [
      .locationUnknown, .denied, .network, .headingFailure, .regionMonitoringDenied,
      .regionMonitoringFailure, .regionMonitoringSetupDelayed, .regionMonitoringResponseDelayed,
      .geocodeFoundNoResult, .geocodeFoundPartialResult, .geocodeCanceled, .deferredFailed,
      .deferredNotUpdatingLocation, .deferredAccuracyTooLow, .deferredDistanceFiltered,
      .deferredCanceled, .rangingUnavailable, .rangingFailure, .promptDeclined,
      .historicalLocationError,
    ]
    #expect(codes.map(\.rawValue) == Array(0...19) && CLError.Code(rawValue: 20) == nil)
    // The same through the error, as patterns name them.
    let names: [CLError.Code] = [
      CLError.locationUnknown, CLError.denied, CLError.network, CLError.headingFailure,
      CLError.regionMonitoringDenied, CLError.regionMonitoringFailure,
      CLError.regionMonitoringSetupDelayed, CLError.regionMonitoringResponseDelayed,
      CLError.geocodeFoundNoResult, CLError.geocodeFoundPartialResult, CLError.geocodeCanceled,
      CLError.deferredFailed, CLError.deferredNotUpdatingLocation, CLError.deferredAccuracyTooLow,
      CLError.deferredDistanceFiltered, CLError.deferredCanceled, CLError.rangingUnavailable,
      CLError.rangingFailure, CLError.promptDeclined, CLError.historicalLocationError,
    ]
    #expect(names == codes)
    let pushes: [CLLocationPushServiceError.Code] = [
      .unknown, .missingPushExtension, .missingPushServerEnvironment, .missingEntitlement,
      .unsupportedPlatform,
    ]
    #expect(pushes.map(\.rawValue) == Array(0...4))
    #expect(CLLocationPushServiceError.Code(rawValue: 5) == nil)
    let pushNames: [CLLocationPushServiceError.Code] = [
      CLLocationPushServiceError.unknown, CLLocationPushServiceError.missingPushExtension,
      CLLocationPushServiceError.missingPushServerEnvironment,
      CLLocationPushServiceError.missingEntitlement, CLLocationPushServiceError.unsupportedPlatform,
    ]
    #expect(pushNames == pushes)
  }

  @Test("inventory: an error says what it was made with, as itself and as an NSError")
  func errors() {
    let region = CLCircularRegion(
      center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "wider")
    let error = CLError(
      .regionMonitoringResponseDelayed,
      userInfo: [
        kCLErrorUserInfoAlternateRegionKey: region, NSLocalizedDescriptionKey: "will be late",
      ])
    #expect(error.alternateRegion === region && error.userInfo.count == 2)
    #expect(error.errorCode == 7 && CLError.errorDomain == kCLErrorDomain)
    #expect(error.errorUserInfo.count == 2 && error.localizedDescription == "will be late")
    #expect(CLError.Code.regionMonitoringResponseDelayed ~= error)
    #expect(CLError(.denied).alternateRegion == nil)

    let push = CLLocationPushServiceError(.unsupportedPlatform, userInfo: ["why": "a board"])
    #expect(push.userInfo["why"] as? String == "a board" && push.errorCode == 4)
    #expect(CLLocationPushServiceError.errorDomain == CLLocationPushServiceErrorDomain)
    #expect(push.errorUserInfo[NSLocalizedDescriptionKey] as? String == "unsupportedPlatform")
    #expect(push.localizedDescription == "unsupportedPlatform")
    let bridged = NSError(domain: CLLocationPushServiceErrorDomain, code: 4)
    #expect(CLLocationPushServiceError.Code.unsupportedPlatform ~= bridged)
    #expect(!(CLLocationPushServiceError.Code.unknown ~= bridged))
    #expect((push as NSError).domain == CLLocationPushServiceErrorDomain)
  }
}
