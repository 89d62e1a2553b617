import CoreLocation
import FacadeTestSupport
import Testing

// The inventory of Core Location, values: what they are made of, and what is kept of them.

/// The deprecated ones; a witness may be deprecated without a warning where it is called.
private protocol OldValues: Sendable {
  func distance(_ a: CLLocation, _ b: CLLocation) -> CLLocationDistance
  func uuid(_ beacon: CLBeacon) -> UUID
  func regions(_ uuid: UUID) -> [CLBeaconRegion]
  func uuid(_ region: CLBeaconRegion) -> UUID
  func circle(_ latitude: Double, _ radius: Double) -> CLRegion
  func shape(_ region: CLRegion) -> [Double]
  func holds(_ region: CLRegion, _ latitude: Double) -> Bool
}
private struct Old: OldValues {
  @available(*, deprecated)
  func distance(_ a: CLLocation, _ b: CLLocation) -> CLLocationDistance { a.getDistanceFrom(b) }
  @available(*, deprecated)
  func uuid(_ beacon: CLBeacon) -> UUID { beacon.proximityUUID }
  @available(*, deprecated)
  func regions(_ uuid: UUID) -> [CLBeaconRegion] {
    [
      CLBeaconRegion(proximityUUID: uuid, identifier: "a"),
      CLBeaconRegion(proximityUUID: uuid, major: 1, identifier: "b"),
      CLBeaconRegion(proximityUUID: uuid, major: 1, minor: 2, identifier: "c"),
    ]
  }
  @available(*, deprecated)
  func uuid(_ region: CLBeaconRegion) -> UUID { region.proximityUUID }
  @available(*, deprecated)
  func circle(_ latitude: Double, _ radius: Double) -> CLRegion {
    CLRegion(
      circularRegionWithCenter: CLLocationCoordinate2DMake(latitude, 13), radius: radius,
      identifier: "circle")
  }
  @available(*, deprecated)
  func shape(_ region: CLRegion) -> [Double] { [region.center.latitude, region.radius] }
  @available(*, deprecated)
  func holds(_ region: CLRegion, _ latitude: Double) -> Bool {
    region.contains(CLLocationCoordinate2DMake(latitude, 13))
  }
}
private let old: any OldValues = Old()

/// What comes back out of an archive.
private func archived<Value: NSObject & NSSecureCoding>(_ value: Value) throws -> Value {
  let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: data))
}

struct InventoryValueTests {
  @Test("L: inventory: every value is copied and archived")
  func conformances() throws {
    let types: [any NSSecureCoding.Type] = [
      CLLocation.self, CLHeading.self, CLFloor.self, CLVisit.self,
      CLLocationSourceInformation.self, CLRegion.self, CLCircularRegion.self, CLBeaconRegion.self,
      CLBeacon.self, CLBeaconIdentityConstraint.self, CLPlacemark.self,
    ]
    #expect(types.allSatisfy { $0.supportsSecureCoding })
    let uuid = UUID()
    let values: [NSObject] = [
      CLLocation(), CLHeading(), CLFloor(), CLVisit(), CLLocationSourceInformation(), CLBeacon(),
      CLBeaconIdentityConstraint(uuid: uuid), CLBeaconRegion(uuid: uuid, identifier: "a"),
      CLCircularRegion(center: .init(), radius: 1, identifier: "b"), CLPlacemark(),
    ]
    for value in values { #expect(value.copy() as? NSObject == value) }
    let beacon = try archived(CLBeacon())
    #expect(beacon.accuracy < 0 && beacon.rssi == 0 && beacon.uuid == CLBeacon().uuid)
    #expect(try archived(CLPlacemark()).name == nil)
  }

  @Test("L: inventory: a location and where it comes from")
  func location() throws {
    let source = CLLocationSourceInformation(
      softwareSimulationState: true, andExternalAccessoryState: false)
    #expect(source.isSimulatedBySoftware && !source.isProducedByAccessory)
    #expect(CLLocationSourceInformation() != source)
    let place = CLLocationCoordinate2DMake(50, 13)
    let date = Date(timeIntervalSince1970: 1e9)
    let short = CLLocation(
      coordinate: place, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, timestamp: date)
    #expect(short.course < 0 && short.speed < 0 && short.sourceInformation == nil)
    let longer = CLLocation(
      coordinate: place, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6,
      speed: 7, timestamp: date)
    #expect(longer.courseAccuracy < 0 && longer.speedAccuracy < 0 && longer.course == 6)
    let long = CLLocation(
      coordinate: place, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6,
      courseAccuracy: 8, speed: 7, speedAccuracy: 9, timestamp: date)
    #expect(long.sourceInformation == nil)
    let full = CLLocation(
      coordinate: place, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6,
      courseAccuracy: 8, speed: 7, speedAccuracy: 9, timestamp: date, sourceInfo: source)
    let paths: [KeyPath<CLLocation, Double>] = [
      \.altitude, \.horizontalAccuracy, \.verticalAccuracy, \.course, \.speed, \.courseAccuracy,
      \.speedAccuracy,
    ]
    #expect(paths.map { full[keyPath: $0] } == [3, 4, 5, 6, 7, 8, 9])
    #expect(full.coordinate.latitude == 50 && full.timestamp == date)
    #expect(full.sourceInformation == source && full.ellipsoidalAltitude.isNaN)
    #expect(full.floor == nil && CLFloor().level == 0 && CLLocation().horizontalAccuracy < 0)
    let north = CLLocation(latitude: 51, longitude: 13)
    // A degree of the meridian at 50.5 degrees of latitude, by the tables of WGS 84.
    #expect(abs(full.distance(from: north) - 111_239) < 10)
    #expect(old.distance(full, north) == full.distance(from: north))
    #expect(full.description.hasPrefix("<+50.00000000,+13.00000000> +/- 4.00m"))
  }

  @Test("L: inventory: a heading and a visit")
  func headingAndVisit() {
    #expect(CLHeading().trueHeading < 0 && CLHeading().headingAccuracy < 0)
    #expect(CLVisit().arrivalDate == .distantPast && CLVisit().horizontalAccuracy < 0)
    #expect(!CLLocationCoordinate2DIsValid(CLVisit().coordinate))
  }

  @Test("L: inventory: regions")
  func regions() {
    let circle = CLCircularRegion(
      center: CLLocationCoordinate2DMake(50, 13), radius: 100, identifier: "circle")
    #expect(circle.radius == 100 && circle.contains(circle.center) && circle.notifyOnExit)
    #expect(!circle.contains(CLLocationCoordinate2DMake(50.01, 13)))
  }

  @Test("L: inventory: a circle that is a plain region holds, is copied, archived and monitored")
  func plainCircle() async throws {
    let circle = old.circle(50, 100)
    circle.notifyOnExit = false
    #expect(!(circle is CLCircularRegion) && old.shape(circle) == [50, 100])
    #expect(old.holds(circle, 50.000_5) && !old.holds(circle, 50.01))
    let copies = [try #require(circle.copy() as? CLRegion), try archived(circle)]
    for copy in copies {
      #expect(copy !== circle && copy == circle && old.shape(copy) == [50, 100])
      #expect(!copy.notifyOnExit && copy.notifyOnEntry)
    }
    #expect(old.shape(old.circle(50, -1)) == [50, 0])
    // Beacons have no shape.
    let beacons = CLBeaconRegion(uuid: UUID(), identifier: "beacons")
    #expect(old.shape(beacons) == [-180, -1] && !old.holds(beacons, 50))
    #expect(old.shape(CLCircularRegion(center: .init(), radius: 7, identifier: "")) == [0, 7])
    let watched = await onThread {
      let manager = CLLocationManager(port: quiet())
      let region = old.circle(50, 100)
      region.notifyOnExit = false
      manager.startMonitoring(for: region)
      return manager.monitoredRegions
    }
    let region = try #require(watched.first as? CLCircularRegion)
    #expect(region.identifier == "circle" && region.radius == 100 && !region.notifyOnExit)
  }

  @Test("L: a region made of nothing is nowhere, and can be copied and archived")
  func noRegion() throws {
    let circle = CLCircularRegion()
    #expect(circle.identifier.isEmpty && circle.radius == 0)
    #expect(!CLLocationCoordinate2DIsValid(circle.center) && !circle.contains(circle.center))
    for region in [CLRegion(), circle] {
      #expect(region.copy() as? CLRegion == region && region.notifyOnEntry)
      #expect(try archived(region) == region)
    }
  }

  @Test("L: inventory: beacons, by constraint, region and what was heard")
  func beacons() {
    let uuid = UUID()
    let constraints = [
      CLBeaconIdentityConstraint(uuid: uuid), CLBeaconIdentityConstraint(uuid: uuid, major: 1),
      CLBeaconIdentityConstraint(uuid: uuid, major: 1, minor: 2),
    ]
    let regions = [
      CLBeaconRegion(uuid: uuid, identifier: "a"),
      CLBeaconRegion(uuid: uuid, major: 1, identifier: "b"),
      CLBeaconRegion(uuid: uuid, major: 1, minor: 2, identifier: "c"),
    ]
    #expect(regions.map(\.beaconIdentityConstraint) == constraints)
    #expect(old.regions(uuid).map(\.beaconIdentityConstraint) == constraints)
    #expect(old.uuid(regions[0]) == uuid && !regions[0].notifyEntryStateOnDisplay)
    let made = CLBeaconRegion(beaconIdentityConstraint: constraints[2], identifier: "d")
    #expect(made.uuid == uuid && made.major == 1 && made.minor == 2)
    let nowhere = CLBeacon()
    #expect(nowhere.accuracy < 0 && nowhere.proximity == .unknown && nowhere.rssi == 0)
    #expect(old.uuid(nowhere) == nowhere.uuid)
  }

  @Test(
    "L: inventory: what a beacon advertises is an iBeacon's 21 bytes",
    arguments: [(nil, 0xC5), (-70, 0xBA), (-300, 0x80), (500, 0x7F)] as [(Int?, UInt8)])
  func advertisement(power: Int?, byte: UInt8) throws {
    let uuid = try #require(UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
    let region = CLBeaconRegion(uuid: uuid, major: 0x0102, minor: 0xFFFE, identifier: "a")
    let all = region.peripheralData(withMeasuredPower: power.map { NSNumber(value: $0) })
    let data = try #require(all["kCBAdvDataAppleBeaconKey"] as? Data)
    #expect(
      Array(data) == [
        0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96,
        0xE0, 0x01, 0x02, 0xFF, 0xFE, byte,
      ])
    let any = CLBeaconRegion(uuid: uuid, identifier: "b").peripheralData(withMeasuredPower: nil)
    #expect((any["kCBAdvDataAppleBeaconKey"] as? Data)?[16..<20] == Data([0, 0, 0, 0]))
  }
}
