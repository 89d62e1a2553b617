import Foundation
import Testing

@testable import CoreLocation

// Foundation names the classes of an archive by their modules: they cannot be nested.

/// A subclass as mocks have it: it keeps its value by itself, and writes it by itself.
final class ChosenFloor: CLFloor, @unchecked Sendable {
  private let chosen: Int
  override var level: Int { chosen }

  init(_ level: Int) {
    chosen = level
    super.init()
  }

  override func encode(with coder: NSCoder) { coder.encode(chosen, forKey: "chosen") }

  required init?(coder: NSCoder) {
    chosen = coder.decodeInteger(forKey: "chosen")
    super.init(coder: coder)
  }
}

/// The same of values that are many.
final class ChosenHeading: CLHeading, @unchecked Sendable {
  override func encode(with coder: NSCoder) { coder.encode(1, forKey: "chosen") }
}
final class ChosenVisit: CLVisit, @unchecked Sendable {
  override func encode(with coder: NSCoder) { coder.encode(1, forKey: "chosen") }
}

/// Archives that come from outside, of every value that is written to one.
struct ArchiveTests {
  private static let identity = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")

  private static func samples() throws -> [any NSObject & NSSecureCoding] {
    let uuid = try #require(identity)
    let berlin = CLLocationCoordinate2D(latitude: 52.5, longitude: 13.4)
    let region = CLCircularRegion(center: berlin, radius: 120, identifier: "home")
    (region.notifyOnEntry, region.notifyOnExit) = (false, true)
    return [
      CLLocation(latitude: 52.5, longitude: 13.4), CLHeading(), CLFloor(level: -2),
      CLLocationSourceInformation(softwareSimulationState: true, andExternalAccessoryState: false),
      region, CLBeaconIdentityConstraint(uuid: uuid, major: 65_535, minor: 0),
      CLBeaconRegion(uuid: uuid, major: 7, identifier: "door"),
      CLVisit(
        arrivalDate: Date(timeIntervalSince1970: 1e9), departureDate: .distantFuture,
        coordinate: berlin, horizontalAccuracy: 8),
    ]
  }

  private func archive(_ object: any NSObject & NSSecureCoding) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
  }

  /// What comes back out of an archive.
  private func unarchive(_ data: Data, like object: any NSObject & NSSecureCoding) -> NSObject? {
    (try? NSKeyedUnarchiver.unarchivedObject(ofClasses: [type(of: object)], from: data))
      as? NSObject
  }

  @Test("L: a subclass that wrote keys of its own can be read, and what it inherits is not known")
  func subclasses() throws {
    let floor = unarchive(try archive(ChosenFloor(14)), like: ChosenFloor(0)) as? ChosenFloor
    #expect(floor?.level == 14)
    let heading = ChosenHeading()
    let read = unarchive(try archive(heading), like: heading) as? ChosenHeading
    #expect(read?.headingAccuracy == -1 && read?.x.isNaN == true)
    let visit = ChosenVisit()
    #expect(
      (unarchive(try archive(visit), like: visit) as? ChosenVisit)?.horizontalAccuracy == -1)
  }

  // Swift's hashes have a seed of their own in every process: two of 64 bits are equal by chance once in 10^19.
  @Test("L: values that differ in one part are not equal, and have another hash")
  func parts() throws {
    let uuid = try #require(Self.identity)
    let beacons = [
      CLBeaconIdentityConstraint(uuid: uuid), CLBeaconIdentityConstraint(uuid: UUID()),
      CLBeaconIdentityConstraint(uuid: uuid, major: 1),
      CLBeaconIdentityConstraint(uuid: uuid, major: 1, minor: 2),
      CLBeaconIdentityConstraint(uuid: uuid, major: 1, minor: 3),
      CLBeaconIdentityConstraint(uuid: uuid, major: 2, minor: 3),
    ]
    let date = Date(timeIntervalSince1970: 1e9)
    let plain: [Double] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    let locations = (0...plain.count).map { place in
      var n = plain
      if place < n.count { n[place] += 0.5 }
      return CLLocation(
        coordinate: CLLocationCoordinate2D(latitude: n[0], longitude: n[1]), altitude: n[2],
        horizontalAccuracy: n[3], verticalAccuracy: n[4], course: n[5], courseAccuracy: n[6],
        speed: n[7], speedAccuracy: n[8], timestamp: date)
    }
    let visits = [(8.0, 0.0), (9, 0), (8, 1)].map { accuracy, later in
      CLVisit(
        arrivalDate: date + later, departureDate: .distantFuture,
        coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2), horizontalAccuracy: accuracy)
    }
    let sources = [(false, false), (false, true), (true, false), (true, true)].map {
      CLLocationSourceInformation(
        softwareSimulationState: $0.0, andExternalAccessoryState: $0.1)
    }
    for group: [NSObject] in [beacons, locations, visits, sources] {
      for (place, one) in group.enumerated() {
        for other in group[(place + 1)...] {
          #expect(one != other && one.hash != other.hash, "\(one), \(other)")
        }
      }
    }
  }

  @Test("L: every value comes back equal, and not the same object")
  func roundTrip() throws {
    for object in try Self.samples() {
      let back = try #require(unarchive(try archive(object), like: object))
      #expect(back == object && back !== object, "\(object)")
      #expect(back.hash == object.hash)
    }
    let region = try #require(try Self.samples()[4] as? CLCircularRegion)
    let back = try #require(unarchive(try archive(region), like: region) as? CLCircularRegion)
    #expect(back.center.latitude == 52.5 && back.radius == 120)
    #expect(!back.notifyOnEntry && back.notifyOnExit)
    let door = try #require(try Self.samples()[6] as? CLBeaconRegion)
    let found = try #require(unarchive(try archive(door), like: door) as? CLBeaconRegion)
    #expect(found.major == 7 && found.minor == nil && found.uuid == Self.identity)
  }

  /// The dictionary of the archived object, changed: what each of its keys stands for is replaced.
  private func damaged(_ data: Data, _ key: String, by value: Any?) throws -> Data {
    var list = try #require(
      try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    var objects = try #require(list["$objects"] as? [Any])
    var root = try #require(objects[1] as? [String: Any])
    root[key] = value
    objects[1] = root
    list["$objects"] = objects
    return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
  }

  private func keys(_ data: Data) throws -> [String] {
    let list = try #require(
      try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    let root = try #require((list["$objects"] as? [Any])?[1] as? [String: Any])
    return root.keys.filter { !$0.hasPrefix("$") }.sorted()
  }

  @Test("a value that is missing, or of another type, makes nothing, and no program ends by it")
  func hostile() throws {
    for object in try Self.samples() {
      let data = try archive(object)
      for key in try keys(data) {
        // These say nothing where they are missing, which is no damage.
        let mayLack = ["source", "fixKind", "major", "minor"].contains(key)
        if !mayLack {
          #expect(unarchive(try damaged(data, key, by: nil), like: object) == nil, "\(key)")
        }
        for value in ["text", Data([1, 2]), [1, 2], true] as [Any] {
          let back = unarchive(try damaged(data, key, by: value), like: object)
          #expect(back == nil || mayLack, "\(type(of: object)) \(key) \(value)")
        }
      }
      for length in stride(from: 0, to: data.count, by: 7) {
        #expect(unarchive(data.prefix(length), like: object) == nil)
      }
    }
  }

  @Test("numbers beyond what they stand for are none")
  func ranges() throws {
    let uuid = try #require(Self.identity)
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode(uuid.uuidString as NSString, forKey: "uuid")
    archiver.encode(number: 70_000, forKey: "major")
    archiver.encode(number: .nan, forKey: "level")
    archiver.encode(number: 2, forKey: "simulated")
    archiver.encode(number: 0, forKey: "accessory")
    archiver.finishEncoding()
    let coder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    #expect(CLBeaconIdentityConstraint(coder: coder) == nil)
    #expect(CLFloor(coder: coder) == nil)
    #expect(CLLocationSourceInformation(coder: coder) == nil)
    #expect(CLRegion(coder: coder) == nil)
  }
}
