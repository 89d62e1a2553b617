import FoundationEssentials
import JSONReading
package import SensorTypes

/// Where the board was when a receiver last said so, kept from run to run.
///
/// It gives declination until the first fix: an error that grows with the position's age is added to it,
/// and the heading's error bar says so.
package struct LastPosition: Sendable, Hashable {
  /// The WGS 84 latitude in degrees, positive north.
  package var latitude: Double
  /// The WGS 84 longitude in degrees, positive east.
  package var longitude: Double
  /// Metres above mean sea level.
  package var altitude: Double
  /// UTC of the fix, seconds since 1970.
  package var utc: Double

  package init(latitude: Double, longitude: Double, altitude: Double, utc: Double) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
    self.utc = utc
  }

  /// What a fix leaves behind; `nil` for one without place or date.
  init?(_ fix: GNSSFix) {
    guard let latitude = fix.latitude, let longitude = fix.longitude, let utc = fix.utc else {
      return nil
    }
    self.init(
      latitude: latitude, longitude: longitude, altitude: fix.altitude ?? 0, utc: utc)
  }

  /// How far the board may have gone since, metres (one sigma): what the fix leaves open, and from then
  /// on five kilometres an hour, a hundred and twenty a day. An assumption: most boards are switched on
  /// where they were switched off; one that has flown is wrong until its receiver has a fix.
  package func spread(at utc: Double) -> Double {
    let age = max(0, utc - self.utc)
    return 500 + age * 5_000 / 3_600
  }
}

extension LastPosition {
  private struct Stored: Codable {
    var schema: Int
    var latitude: Double
    var longitude: Double
    var altitude: Double
    var utc: Double
  }

  /// Reads a stored position; `nil` where there is none, or one that is damaged or no place.
  package init?(_ content: StateFileContent) {
    guard case .bytes(let json) = content,
      let stored = try? JSONDocument.decode(Stored.self, from: json), stored.schema == 1,
      abs(stored.latitude) <= 90, abs(stored.longitude) <= 180, abs(stored.altitude) <= 100_000,
      stored.utc.isFinite
    else { return nil }
    self.init(
      latitude: stored.latitude, longitude: stored.longitude, altitude: stored.altitude,
      utc: stored.utc)
  }

  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return Array(
      try encoder.encode(
        Stored(
          schema: 1, latitude: latitude, longitude: longitude, altitude: altitude, utc: utc)))
  }
}

/// Decides when a position is worth writing: a memory card wears with every write.
package struct PositionMemory: Sendable {
  /// Seconds and degrees (1 km of latitude) between two writes.
  private static let interval = 600.0
  private static let distance = 0.01
  /// A worse fix is not worth keeping, metres.
  private static let worstAccuracy = 500.0

  private var kept: LastPosition?
  private var due: LastPosition?

  package mutating func take(_ fix: GNSSFix) {
    guard let position = LastPosition(fix), (fix.horizontalAccuracy ?? 0) <= Self.worstAccuracy
    else { return }
    if let kept, abs(position.utc - kept.utc) < Self.interval,
      abs(position.latitude - kept.latitude) < Self.distance,
      abs(position.longitude - kept.longitude) < Self.distance
    {
      return
    }
    kept = position
    due = position
  }

  /// The position to write now, once.
  package mutating func takeDue() -> LastPosition? {
    defer { due = nil }
    return due
  }

  package init() {}
}
