import CoreLocation
import FacadeTestSupport
import Lodestone
import Testing

// The inventory of Core Location, the manager: its older names, and what it refuses or answers by itself. What else it does is in
// the tests that `Tests/api-inventory.txt` names.

/// What a program of 2014, and one for macOS, calls: deprecated today, so that it is asked through a protocol.
private protocol OldManager: AnyObject {
  static func authorizationStatus() -> CLAuthorizationStatus
  var purpose: String? { get set }
  func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy)
  func startMonitoringForRegion(_ region: CLRegion)
  func stopMonitoringForRegion(_ region: CLRegion)
  func requestStateForRegion(_ region: CLRegion)
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
