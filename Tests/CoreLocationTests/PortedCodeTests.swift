import FacadeTestSupport
import Lodestone
import SensorTypes
import Synchronization
import Testing

@testable import CoreLocation

// What code that was written for a phone does with the classes: it subclasses them, catches their errors, and asks for
// services that a board has not.

private final class FixedLocation: CLLocation, @unchecked Sendable {
  override var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2DMake(0, 179) }
  override var floor: CLFloor? { CLFloor(level: 3) }
}

private final class FixedHeading: CLHeading, @unchecked Sendable {
  override var magneticHeading: CLLocationDirection { 90 }
  override var headingAccuracy: CLLocationDirection { 1 }
}

private final class FixedVisit: CLVisit, @unchecked Sendable {
  override var arrivalDate: Date { Date(timeIntervalSince1970: 5) }
}

/// A manager that an application's tests put in the place of the real one.
private final class MockManager: CLLocationManager {
  var monitored: [CLRegion] = []
  override class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool { true }
  override var monitoredRegions: Set<CLRegion> { Set(monitored) }
  override func startMonitoring(for region: CLRegion) { monitored.append(region) }
  override func startMonitoringVisits() {}
}

struct PortedCodeTests {
  @Test("L: what a subclass says counts, in distances, descriptions and comparisons too")
  func subclasses() {
    let location = FixedLocation(latitude: 1, longitude: 2)
    let other = CLLocation(latitude: 0, longitude: -179)
    // Two degrees of the equator, by its length in WGS 84.
    #expect(abs(other.distance(from: location) - 2 * .pi / 180 * 6_378_137) < 1e-3)
    #expect(location.description.hasPrefix("<+0.00000000,+179.00000000>"))
    #expect(location.floor?.level == 3 && location != CLLocation(latitude: 1, longitude: 2))
    let heading = FixedHeading()
    #expect(heading.magneticHeading == 90 && heading.trueHeading < 0)
    #expect(heading.description.hasPrefix("magneticHeading 90.00"))
    let visit = FixedVisit()
    #expect(visit.arrivalDate == Date(timeIntervalSince1970: 5))
    #expect(visit.departureDate == .distantFuture && visit.horizontalAccuracy < 0)
    #expect(CLHeading().headingAccuracy < 0 && CLLocation().horizontalAccuracy < 0)
  }

  @Test("an error is caught by its code also where it came as an NSError")
  func errors() {
    func kind(_ error: any Error) -> String {
      do { throw error } catch CLError.denied { return "denied" } catch CLError.network {
        return "network"
      } catch { return "other" }
    }
    #expect(kind(CLError(.denied)) == "denied")
    #expect(kind(NSError(domain: kCLErrorDomain, code: 2)) == "network")
    #expect(kind(NSError(domain: "other", code: 2)) == "other")
    let region = CLCircularRegion(
      center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "wider")
    let error = CLError(
      .regionMonitoringResponseDelayed, userInfo: [kCLErrorUserInfoAlternateRegionKey: region])
    #expect(error.alternateRegion === region && error.code.rawValue == 7)
    #expect((error as NSError).domain == kCLErrorDomain && (error as NSError).code == 7)
    #expect(
      (CLError(.network, userInfo: ["why": "no line"]) as NSError).userInfo["why"] as? String
        == "no line")
    #expect(CLError(.network) == CLError(.network) && CLError(.network) != CLError(.denied))
  }

  @Test(
    "L: a region holds what is nearer than its radius, over poles and the date line",
    arguments: [
      (0.0, 179.99, 0.0, -179.99), (89.99, 0, 89.99, 180), (-89.99, 90, -89.99, -90),
      (52.5, 13.4, 52.51, 13.42),
    ])
  func containment(_ a: Double, _ b: Double, _ c: Double, _ d: Double) {
    // The haversine on a sphere of the mean radius: within 0.6 % of the ellipsoid.
    let (p, q, r) = (a * .pi / 180, c * .pi / 180, (d - b) * .pi / 180)
    let h = pow(sin((q - p) / 2), 2) + cos(p) * cos(q) * pow(sin(r / 2), 2)
    let distance = 2 * 6_371_008.8 * asin(h.squareRoot())
    for (radius, isInside) in [(distance * 1.01, true), (distance * 0.99, false)] {
      let region = CLCircularRegion(
        center: CLLocationCoordinate2DMake(a, b), radius: radius, identifier: "r")
      #expect(region.contains(CLLocationCoordinate2DMake(c, d)) == isInside)
      #expect(region.contains(region.center))
      #expect(!region.contains(kCLLocationCoordinate2DInvalid))
    }
  }

  @Test("regions are told apart by their names alone, and a copy keeps shape and flags")
  func names() throws {
    let one = CLCircularRegion(
      center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "one")
    one.notifyOnExit = false
    #expect(
      one
        == CLCircularRegion(center: CLLocationCoordinate2DMake(4, 5), radius: 6, identifier: "one"))
    #expect(
      one
        != CLCircularRegion(center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "two"))
    let copy = try #require(one.copy() as? CLCircularRegion)
    #expect(copy !== one && copy.radius == 3 && !copy.notifyOnExit && copy.notifyOnEntry)
    #expect(
      CLCircularRegion(center: CLLocationCoordinate2DMake(1, 2), radius: -1, identifier: "").radius
        == 0)
  }

  // On the main queue, so that no answer comes between two requests.
  @MainActor
  @Test(
    "a geocoder fails as without a network: once for each request, later, and not two at a time")
  func geocoder() async {
    let geocoder = CLGeocoder()
    let results = await withCheckedContinuation {
      (done: CheckedContinuation<[CLError.Code], Never>) in
      let collected = Collected()
      for _ in 0..<2 {
        geocoder.reverseGeocodeLocation(CLLocation(latitude: 1, longitude: 2)) { places, error in
          let codes = collected.append((error as? CLError)?.code, hasPlaces: places != nil)
          if codes.count == 2 { done.resume(returning: codes) }
        }
      }
      #expect(geocoder.isGeocoding)
    }
    #expect(results == [.network, .geocodeCanceled])
    #expect(!geocoder.isGeocoding)
  }

  @Test("asked by async code a geocoder throws the same")
  func asyncGeocoder() async {
    do {
      _ = try await CLGeocoder().geocodeAddressString("Berlin")
      Issue.record("an address has a place")
    } catch CLError.network {} catch { Issue.record(error) }
  }

  @Test(
    "D3 D9-D14: what a board has not says so, on the manager's run loop; a mock may say otherwise")
  func refusals() async throws {
    let calls = await onThread {
      let manager = CLLocationManager(port: LodestoneRuntime(source: ScriptedSource()))
      let spy = RefusalSpy()
      manager.delegate = spy
      manager.startMonitoring(for: CLBeaconRegion(uuid: UUID(), identifier: "beacon"))
      manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: UUID()))
      manager.allowDeferredLocationUpdates(untilTraveled: 100, timeout: 10)
      #expect(spy.calls.isEmpty)
      turn { spy.calls.count >= 3 }
      return spy.calls
    }
    #expect(calls == ["region beacon 5", "ranging 16", "deferred 12"])
    let mock = MockManager(port: LodestoneRuntime(source: ScriptedSource()))
    mock.startMonitoring(
      for: CLCircularRegion(
        center: CLLocationCoordinate2DMake(1, 2), radius: 3, identifier: "home"))
    #expect(mock.monitoredRegions.count == 1)
  }

  @Test("M11 M14: significant changes come as locations and visits as visits; a stop ends both")
  func places() async {
    let result = await onThread {
      let source = ScriptedSource()
      let manager = CLLocationManager(port: LodestoneRuntime(source: source))
      let spy = RefusalSpy()
      manager.delegate = spy
      manager.startMonitoringSignificantLocationChanges()
      manager.startMonitoringVisits()
      for minute in 0..<8 { source.publish(.location(50, 13, at: Double(minute) * 60)) }
      turn { spy.calls.count >= 2 }
      source.publish(.location(51, 13, at: 600))
      turn { spy.calls.count >= 4 }
      source.publish(.location(52, 13, at: 1_200))
      manager.stopMonitoringSignificantLocationChanges()
      manager.stopMonitoringVisits()
      source.publish(.location(53, 13, at: 1_800))
      _ = RunLoop.current.run(mode: .default, before: Date())
      return (spy.calls, source.demands.last)
    }
    #expect(result.0 == ["location 50", "arrival 50", "location 51", "departure 50"])
    #expect(result.1?.location == false)
  }
}

private final class Collected: Sendable {
  private let codes = Mutex<[CLError.Code]>([])

  func append(_ code: CLError.Code?, hasPlaces: Bool) -> [CLError.Code] {
    codes.withLock { codes in
      if let code, !hasPlaces { codes.append(code) }
      return codes
    }
  }
}

/// Notes what a board has not, and what it has of places.
private final class RefusalSpy: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is in the mutex.
  private let state = Mutex<[String]>([])

  var calls: [String] { state.withLock { $0 } }

  private func note(_ text: String) { state.withLock { $0.append(text) } }

  private func code(_ error: (any Error)?) -> Int { (error as? CLError)?.errorCode ?? -1 }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { note("region \(region?.identifier ?? "") \(code(error))") }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { note("state \(region.identifier) \(state.rawValue)") }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) { note("ranging \(code(error))") }

  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) { note("deferred \(code(error))") }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations { note("location \(Int(location.coordinate.latitude))") }
  }

  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    let kind = visit.departureDate == .distantFuture ? "arrival" : "departure"
    note("\(kind) \(Int(visit.coordinate.latitude))")
  }
}
