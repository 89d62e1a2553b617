import CoreLocation
import FacadeTestSupport
import Lodestone
import Testing

// The inventory of Core Location, the manager: each symbol once, with its type. What it does stands in the tests that
// `Tests/api-inventory.txt` names.

/// What a program of 2014, and one for macOS, calls: deprecated today, so that it is asked through a protocol.
private protocol OldManager: AnyObject {
  static func authorizationStatus() -> CLAuthorizationStatus
  static func regionMonitoringAvailable() -> Bool
  static func regionMonitoringEnabled() -> Bool
  var headingAvailable: Bool { get }
  var locationServicesEnabled: Bool { get }
  var purpose: String? { get set }
  var rangedRegions: Set<CLRegion> { get }
  func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy)
  func startMonitoringForRegion(_ region: CLRegion)
  func stopMonitoringForRegion(_ region: CLRegion)
  func requestStateForRegion(_ region: CLRegion)
  func startRangingBeacons(in region: CLBeaconRegion)
  func stopRangingBeacons(in region: CLBeaconRegion)
}
extension CLLocationManager: OldManager {}

/// A runtime on a board that says nothing.
func quiet() -> LodestoneRuntime { LodestoneRuntime(source: ScriptedSource()) }

private final class Body: NSObject, CLBodyIdentifiable {}

/// A manager that notes what reaches the methods of today.
private final class Noting: CLLocationManager {
  var calls: [String] = []
  override func startMonitoring(for region: CLRegion) { calls.append("start \(region.identifier)") }
  override func stopMonitoring(for region: CLRegion) { calls.append("stop \(region.identifier)") }
  override func requestState(for region: CLRegion) { calls.append("state \(region.identifier)") }
}

struct InventoryManagerTests {
  @Test("inventory: a manager's properties")
  func properties() {
    changes(\CLLocationManager.delegate, (any CLLocationManagerDelegate)?.self)
    changes(\CLLocationManager.distanceFilter, CLLocationDistance.self)
    changes(\CLLocationManager.desiredAccuracy, CLLocationAccuracy.self)
    changes(\CLLocationManager.headingFilter, CLLocationDegrees.self)
    changes(\CLLocationManager.headingOrientation, CLDeviceOrientation.self)
    changes(\CLLocationManager.headingBody, (any CLBodyIdentifiable)?.self)
    changes(\CLLocationManager.activityType, CLActivityType.self)
    changes(\CLLocationManager.pausesLocationUpdatesAutomatically, Bool.self)
    changes(\CLLocationManager.allowsBackgroundLocationUpdates, Bool.self)
    changes(\CLLocationManager.showsBackgroundLocationIndicator, Bool.self)
    has(\CLLocationManager.location, CLLocation?.self)
    has(\CLLocationManager.heading, CLHeading?.self)
    has(\CLLocationManager.authorizationStatus, CLAuthorizationStatus.self)
    has(\CLLocationManager.accuracyAuthorization, CLAccuracyAuthorization.self)
    has(\CLLocationManager.isAuthorizedForWidgetUpdates, Bool.self)
    has(\CLLocationManager.monitoredRegions, Set<CLRegion>.self)
    has(\CLLocationManager.maximumRegionMonitoringDistance, CLLocationDistance.self)
    has(\CLLocationManager.rangedBeaconConstraints, Set<CLBeaconIdentityConstraint>.self)
  }

  @Test("inventory: a manager's methods")
  func methods() {
    gives(CLLocationManager.init, (() -> CLLocationManager).self)
    let questions: [() -> Bool] = [
      CLLocationManager.locationServicesEnabled, CLLocationManager.headingAvailable,
      CLLocationManager.significantLocationChangeMonitoringAvailable,
      CLLocationManager.isRangingAvailable, CLLocationManager.deferredLocationUpdatesAvailable,
    ]
    gives(CLLocationManager.isMonitoringAvailable(for:), ((AnyClass) -> Bool).self)
    let switches: [(CLLocationManager) -> () -> Void] = [
      { $0.requestWhenInUseAuthorization },
      { $0.requestAlwaysAuthorization }, { $0.startUpdatingLocation },
      { $0.stopUpdatingLocation }, { $0.requestLocation },
      { $0.startUpdatingHeading }, { $0.stopUpdatingHeading },
      { $0.dismissHeadingCalibrationDisplay },
      { $0.startMonitoringSignificantLocationChanges },
      { $0.stopMonitoringSignificantLocationChanges },
      { $0.startMonitoringVisits }, { $0.stopMonitoringVisits },
      { $0.disallowDeferredLocationUpdates },
      { $0.stopMonitoringLocationPushes },
    ]
    gives(questions, [() -> Bool].self)
    gives(switches, [(CLLocationManager) -> () -> Void].self)
    typealias OfRegion = (CLLocationManager) -> (CLRegion) -> Void
    gives({ $0.startMonitoring(for:) }, OfRegion.self)
    gives({ $0.stopMonitoring(for:) }, OfRegion.self)
    gives({ $0.requestState(for:) }, OfRegion.self)
    typealias OfBeacons = (CLLocationManager) -> (CLBeaconIdentityConstraint) -> Void
    gives({ $0.startRangingBeacons(satisfying:) }, OfBeacons.self)
    gives({ $0.stopRangingBeacons(satisfying:) }, OfBeacons.self)
    gives(
      { $0.allowDeferredLocationUpdates(untilTraveled:timeout:) },
      ((CLLocationManager) -> (CLLocationDistance, TimeInterval) -> Void).self)
    gives(
      { $0.requestTemporaryFullAccuracyAuthorization(withPurposeKey:) },
      ((CLLocationManager) -> (String) -> Void).self)
    gives(
      { $0.requestTemporaryFullAccuracyAuthorization(withPurposeKey:completion:) },
      ((CLLocationManager) -> (String, (((any Error)?) -> Void)?) -> Void).self)
  }

  @Test("inventory: the older names lead to the newer ones")
  func older() async {
    let calls = await onThread {
      let manager = Noting(port: quiet())
      let old: any OldManager = manager
      let region = CLCircularRegion(
        center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "r")
      old.startMonitoring(for: region, desiredAccuracy: 10)
      old.startMonitoringForRegion(region)
      old.requestStateForRegion(region)
      old.stopMonitoringForRegion(region)
      old.purpose = "to find the way"
      return manager.calls + [old.purpose ?? ""]
    }
    #expect(calls == ["start r", "start r", "state r", "stop r", "to find the way"])
    typealias Of<Value> = (any OldManager) -> Value
    gives({ $0.headingAvailable }, Of<Bool>.self)
    gives({ $0.locationServicesEnabled }, Of<Bool>.self)
    gives({ $0.rangedRegions }, Of<Set<CLRegion>>.self)
    gives({ $0.startRangingBeacons(in:) }, Of<(CLBeaconRegion) -> Void>.self)
    gives({ $0.stopRangingBeacons(in:) }, Of<(CLBeaconRegion) -> Void>.self)
  }

  @Test("inventory: what a manager answers without a board's help")
  func answers() async {
    let result = await onThread {
      let manager = CLLocationManager(port: quiet())
      return [
        manager.isAuthorizedForWidgetUpdates, manager.maximumRegionMonitoringDistance == 10_000_000,
        type(of: manager as any OldManager).authorizationStatus() == manager.authorizationStatus,
        manager.authorizationStatus == .authorizedAlways,
        manager.accuracyAuthorization == .fullAccuracy,
      ]
    }
    #expect(result == [false, true, true, true, true])
  }

  @Test(
    "M16 S: inventory: locations that may go on in the background do, where only use is authorized",
    arguments: [false, true])
  func backgroundUpdates(isAllowed: Bool) async {
    let latitudes = await onThread {
      let bench = AuthorizationBench("authorization: whenInUse")
      let spy = Spy()
      let manager = bench.manager(spy)
      manager.allowsBackgroundLocationUpdates = isAllowed
      manager.startUpdatingLocation()
      bench.fix(50)
      turn { spy.log.locations.count == 1 }
      bench.runtime.applicationState = .background
      bench.fix(51)
      turnWithoutEvents { spy.log.locations.count == (isAllowed ? 2 : 1) }
      bench.runtime.applicationState = .foreground
      bench.fix(52)
      turn { spy.log.locations.last?.last?.coordinate.latitude == 52 }
      return spy.log.locations.joined().map(\.coordinate.latitude)
    }
    #expect(latitudes == (isAllowed ? [50, 51, 52] : [50, 52]))
  }

  @Test("inventory: a heading's body is kept, not held, and changes nothing")
  func body() async {
    let result = await onThread {
      let manager = CLLocationManager(port: quiet())
      manager.headingOrientation = .landscapeLeft
      var body: Body? = Body()
      manager.headingBody = body
      let isKept = manager.headingBody === body
      body = nil
      return [isKept, manager.headingBody == nil, manager.headingOrientation == .landscapeLeft]
    }
    #expect(result == [true, true, true])
  }

  @Test("inventory: pushes and the past are refused, later and on the manager's run loop")
  func refusals() async {
    let (early, answers) = await onThread {
      let manager = CLLocationManager(port: quiet())
      let answers = Transcript<String>()
      manager.startMonitoringLocationPushes { token, error in
        answers.add(
          "push \(token == nil) \((error as? CLLocationPushServiceError)?.errorCode ?? -1)")
      }
      manager.startMonitoringLocationPushes()
      manager.requestHistoricalLocations(purposeKey: "route", sampleCount: 3) { places, error in
        answers.add("past \(places.count) \((error as? CLError)?.errorCode ?? -1)")
      }
      let early = answers.elements
      turn { answers.elements.count == 2 }
      manager.stopMonitoringLocationPushes()
      return (early, answers.elements)
    }
    #expect(early.isEmpty && answers == ["push true 4", "past 0 19"])
  }

  @Test("inventory: asked by async code the refusals are thrown")
  func asyncRefusals() async {
    let manager = CLLocationManager(port: quiet())
    do {
      let token: Data = try await manager.startMonitoringLocationPushes()
      Issue.record("a board has the token \(token)")
    } catch CLLocationPushServiceError.unsupportedPlatform {} catch { Issue.record(error) }
    do {
      let places = try await manager.historicalLocations(purposeKey: "route", sampleCount: 3)
      Issue.record("a board remembers \(places)")
    } catch CLError.historicalLocationError {} catch { Issue.record(error) }
  }

  @Test(
    "inventory: exact locations are asked for without a run loop, and refused without a purpose")
  func fullAccuracy() async throws {
    // Exact they are: nobody is asked.
    let manager = CLLocationManager(port: quiet())
    try await manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "route")
  }
}
