// Beacons on their way to a delegate.

import Foundation
import LocationServices

/// What one manager ranges.
struct RangedBeacons {
  var constraints: Set<CLBeaconIdentityConstraint> = []
  /// By region, in the order in which they were started.
  var regions: [CLBeaconRegion] = []
}

extension CLLocationManager {
  func deliver(_ report: BeaconReport) {
    let beacons = report.beacons.map { CLBeacon($0, timestamp: date(utc: nil, $0.time)) }
    tell(report.constraint) { manager, constraint in
      manager.delegate?.locationManager(manager, didRange: beacons, satisfying: constraint)
    } _: { manager, region in
      manager.delegate?.locationManager(manager, didRangeBeacons: beacons, in: region)
    }
  }

  func deliver(_ failure: RangingFailure) {
    let error = CLError(
      failure.failure.isUnavailable ? .rangingUnavailable : .rangingFailure,
      userInfo: [NSLocalizedDescriptionKey: failure.failure.reason])
    tell(failure.constraint) { manager, constraint in
      manager.delegate?.locationManager(manager, didFailRangingFor: constraint, error: error)
    } _: { manager, region in
      manager.delegate?.locationManager(
        manager, rangingBeaconsDidFailFor: region, withError: error)
    }
  }

  /// Tells of a constraint to whom it was started for. A delegate may stop one of them while it is told of another.
  private func tell(
    _ constraint: BeaconConstraint,
    _ byConstraint: (CLLocationManager, CLBeaconIdentityConstraint) -> Void,
    _ byRegion: (CLLocationManager, CLBeaconRegion) -> Void
  ) {
    let wanted = CLBeaconIdentityConstraint(constraint)
    if ranged.constraints.contains(wanted) { byConstraint(self, wanted) }
    for region in ranged.regions where region.beaconIdentityConstraint == wanted {
      guard ranged.regions.contains(where: { $0 === region }) else { continue }
      byRegion(self, region)
    }
  }

  func endRanging(in region: CLBeaconRegion) {
    // Regions are told apart by their identifiers: the one that is ranged may have other beacons.
    guard let index = ranged.regions.firstIndex(of: region) else { return }
    stopUnlessRanged(ranged.regions.remove(at: index).beaconIdentityConstraint)
  }

  func stopUnlessRanged(_ constraint: CLBeaconIdentityConstraint) {
    guard !ranged.constraints.contains(constraint),
      !ranged.regions.contains(where: { $0.beaconIdentityConstraint == constraint })
    else { return }
    let stopped = BeaconConstraint(constraint)
    port.send(ServiceRequest(client, .stopRanging(stopped)))
    delivery.discardBeacons(stopped)
  }
}

extension BeaconConstraint {
  init(_ constraint: CLBeaconIdentityConstraint) {
    self.init(
      uuid: BeaconUUID(constraint.uuid), major: constraint.major, minor: constraint.minor)
  }
}

extension BeaconUUID {
  init(_ uuid: UUID) {
    let (high, low) = withUnsafeBytes(of: uuid.uuid) { bytes in
      func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
      }
      return (number(bytes[..<8]), number(bytes[8...]))
    }
    self.init(high: high, low: low)
  }
}

extension UUID {
  fileprivate init(_ uuid: BeaconUUID) {
    var bytes = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &bytes) { place in
      place.storeBytes(of: uuid.high.bigEndian, toByteOffset: 0, as: UInt64.self)
      place.storeBytes(of: uuid.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    self.init(uuid: bytes)
  }
}

extension CLBeaconIdentityConstraint {
  convenience init(_ constraint: BeaconConstraint) {
    let uuid = UUID(constraint.uuid)
    switch (constraint.major, constraint.minor) {
    case (let major?, let minor?): self.init(uuid: uuid, major: major, minor: minor)
    case (let major?, nil): self.init(uuid: uuid, major: major)
    // A minor without a major is refused before it comes here.
    case (nil, _): self.init(uuid: uuid)
    }
  }
}

extension CLBeaconRegion {
  /// For the older methods of a delegate, where no region was started.
  convenience init(_ constraint: CLBeaconIdentityConstraint) {
    self.init(beaconIdentityConstraint: constraint, identifier: constraint.uuid.uuidString)
  }
}

extension CLBeacon {
  convenience init(_ beacon: RangedBeacon, timestamp: Date) {
    let proximity: CLProximity =
      switch beacon.proximity {
      case .unknown: .unknown
      case .immediate: .immediate
      case .near: .near
      case .far: .far
      }
    self.init(
      uuid: UUID(beacon.identity.uuid), major: beacon.identity.major, minor: beacon.identity.minor,
      proximity: proximity, accuracy: beacon.accuracy ?? -1, rssi: beacon.strength ?? 0,
      timestamp: timestamp)
  }
}
