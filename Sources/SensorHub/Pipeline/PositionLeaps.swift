// Positions that nothing could have travelled between.

import LinearAlgebra
import SensorTypes

/// Finds a receiver whose positions leap farther than anything that carries it can move: a spoofed one, one with a broken clock, or two
/// that share a line. Which of the places is the right one cannot be known, so none counts until the position has stayed for `settling`.
struct PositionLeaps: Sendable {
  /// The greatest speed in m/s: most receivers work up to 500 (u-blox NEO-M8 data sheet, operational limits). What a receiver states to be
  /// faster may be twice as fast as it states, up to what an orbit takes.
  static let usualSpeed = 600.0
  static let greatestSpeed = 8_000.0
  /// What is never a leap, in meters: epochs come late, and a first position is rough.
  static let margin = 3_000.0
  /// A leap is more than this many times the sum of the two accuracies.
  static let spread = 5.0
  /// The seconds without a leap after which positions count again.
  static let settling = 10.0
  /// Seconds between two notes.
  static let pause = 600.0
  private static let earthRadius = 6_371_000.0
  private static let day = 86_400.0

  private var last: GNSSFix?
  /// The newest leap, and the longest one since positions counted.
  private var leap: (time: Timestamp, distance: Double)?
  private var count: UInt64 = 0
  private var noted: Timestamp?

  /// Takes a valid, measured fix.
  ///
  /// - Returns: The error in meters that its position may have after a leap, or `nil` if it counts; what a person should know.
  mutating func take(_ fix: GNSSFix) -> (error: Double?, note: String?) {
    defer { last = fix }
    let now = fix.moment()
    guard let last, let distance = Self.distance(from: last, to: fix) else { return (nil, nil) }
    let passed = Self.seconds(from: last, to: fix)
    let known = (last.horizontalAccuracy ?? 0) + (fix.horizontalAccuracy ?? 0)
    let speed = min(
      max(Self.usualSpeed, 2 * max(last.speed ?? 0, fix.speed ?? 0)), Self.greatestSpeed)
    if distance > Self.margin + speed * passed + Self.spread * min(known, Self.margin) {
      leap = (now, max(distance, leap?.distance ?? 0))
      count &+= 1
      return (leap?.distance, note(distance, passed, now))
    }
    guard let leap else { return (nil, nil) }
    guard abs(now.seconds(since: leap.time)) < Self.settling else {
      self.leap = nil
      return (nil, nil)
    }
    return (leap.distance, nil)
  }

  private mutating func note(_ distance: Double, _ passed: Double, _ now: Timestamp) -> String? {
    if let noted, abs(now.seconds(since: noted)) < Self.pause { return nil }
    noted = now
    let kilometers = Int((distance / 1_000).rounded())
    let seconds = (passed * 10).rounded() / 10
    return
      "the receiver's position leaps: \(kilometers) km within \(seconds) s (leaps so far: \(count)). It may be spoofed, or two "
      + "receivers share its line. Until 10 s without a leap its accuracy is published as that distance"
  }

  /// The seconds between two fixes: by the clock that says more. A board sleeps, and a log is played faster than it was written.
  private static func seconds(from a: GNSSFix, to b: GNSSFix) -> Double {
    let passed = abs(b.moment().seconds(since: a.moment()))
    if let before = a.utc, let after = b.utc { return max(passed, abs(after - before)) }
    guard let before = a.timeOfDay ?? a.utc, let after = b.timeOfDay ?? b.utc else { return passed }
    return max(passed, abs((after - before).remainder(dividingBy: day)))
  }

  /// Meters between two positions, on a sphere.
  private static func distance(from a: GNSSFix, to b: GNSSFix) -> Double? {
    guard let latitude = a.latitude, let longitude = a.longitude, let otherLatitude = b.latitude,
      let otherLongitude = b.longitude
    else { return nil }
    let degree = Double.pi / 180
    let north = sin((otherLatitude - latitude) * degree / 2)
    let east = sin((otherLongitude - longitude) * degree / 2)
    let square =
      north * north + cos(latitude * degree) * cos(otherLatitude * degree) * east * east
    return 2 * earthRadius * atan2(square.squareRoot(), max(0, 1 - square).squareRoot())
  }
}
