// What of a position protocols may tell.

import SensorTypes

extension LocationEstimate {
  /// The 68 % radius in metres beyond which a position is coarse: 500, chosen. That of reduced accuracy is some kilometres, and no
  /// receiver's fix is that bad.
  private static let coarseRadius = 500.0

  /// Whether the place is roughly known: by its radius it is no receiver's fix, although one may be behind it. Protocols without a
  /// field for the radius have to call it estimated, or to leave it out.
  var isCoarse: Bool { (fix.horizontalAccuracy ?? 0) > Self.coarseRadius }

  /// Whether satellites of the moment have a part in the position. One that is carried on, entered by hand or made by a receiver's
  /// simulator has none.
  var isMeasured: Bool { carried == nil && (fix.kind?.isMeasured ?? true) }

  /// Whether the position is dead-reckoned: by the board, or by the receiver itself.
  var isDeadReckoned: Bool { carried != nil || fix.kind == .deadReckoning }

  /// The 68 % radius in metres about the position at a moment; `nil` where it is not known. For protocols that do not say of which moment a
  /// position is.
  ///
  /// A carried position is published once a second, and the board goes on meanwhile: until the next one the circle grows by the way that it
  /// goes, at its speed and one sigma more. Added to the radius, this holds for each share of the errors, since no error grows by more than
  /// the way. A fix stays as it is, because its age is told with it.
  func radius(at now: Timestamp) -> Double? {
    // A coarse one has no speed: the way of a second is little beside its radius.
    guard let radius = fix.horizontalAccuracy, carried != nil, let speed = fix.speed.finite else {
      return fix.horizontalAccuracy
    }
    let fastest = max(0, speed) + max(0, fix.speedAccuracy.finite ?? 0)
    return radius + max(0, now.seconds(since: fix.received)) * fastest
  }

  /// The position as it may be told.
  ///
  /// Without a fix in three dimensions a height and a climb rate are assumed and not measured. A coarse position is not of the kind of the
  /// fix behind it: nobody would look at the radius of one that is called RTK.
  var told: LocationEstimate {
    var told = self
    if fix.mode < .threeDimensional {
      (told.fix.altitude, told.fix.ellipsoidalAltitude) = (nil, nil)
      (told.fix.verticalAccuracy, told.fix.verticalSpeed) = (nil, nil)
    }
    if isCoarse, isMeasured { told.fix.kind = nil }
    return told
  }
}
