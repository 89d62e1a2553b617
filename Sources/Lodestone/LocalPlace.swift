package import BoardFile
package import Geomagnetism
package import SensorTypes
package import StateStore

/// A place to ask the magnetic model of.
package struct LocalPlace {
  /// Degrees north and east, metres.
  var latitude: Double
  var longitude: Double
  var altitude: Double
  /// Where it is known from, for people.
  package var source: String

  package init(_ latitude: Double, _ longitude: Double, altitude: Double = 0, source: String) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
    self.source = source
  }

  /// Where a receiver says it is; `nil` where it does not say.
  package init?(_ fix: GNSSFix) {
    guard let latitude = fix.latitude, let longitude = fix.longitude else { return nil }
    self.init(
      latitude, longitude, altitude: fix.ellipsoidalAltitude ?? fix.altitude ?? 0, source: "the fix"
    )
  }

  /// Where the board file says it is, or else where it was last; `nil` where neither is known, or the command may not know
  /// it exactly.
  package init?(of board: Board?, _ state: StateStore, _ access: PositionAccess) {
    guard access == .full else { return nil }
    if let declared = board?.position {
      self.init(
        declared.latitude, declared.longitude, altitude: declared.altitude,
        source: "the board file's position")
    } else if let last = state.lastPosition {
      self.init(
        last.latitude, last.longitude, altitude: last.altitude, source: "the last known position")
    } else {
      return nil
    }
  }

  /// The earth's field here, by the newest model that has begun.
  package func field(decimalYear year: Double) throws -> MagneticField {
    let newer = MagneticModelFile.newest().file?.model
    let model = newer.flatMap { $0.epoch <= year ? $0 : nil } ?? .wmm2025
    return try model.field(
      latitude: latitude, longitude: longitude, altitude: min(1e5, max(-1e3, altitude)),
      decimalYear: year)
  }
}
