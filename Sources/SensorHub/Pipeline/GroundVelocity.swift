import FusionCore
import LinearAlgebra
import SensorTypes

/// A receiver's speed and course as the attitude filter wants them.
struct GroundVelocity {
  /// What a receiver's own filter smooths away, m/s; it states less.
  private static let leastDeviation = 0.2
  /// Where the receiver states nothing, m/s.
  private static let assumedDeviation = 0.5
  /// Slower than this a receiver often gives no course, m/s.
  private static let standstill = 0.5

  /// East and magnetic north, m/s.
  let value: SIMD2<Double>
  /// One sigma of each, m/s.
  let deviation: Double
  /// When it was true.
  let time: Timestamp

  /// `nil` for a fix without speed or direction, or where the declination is not known.
  init?(_ fix: GNSSFix, declination: Result<TrueNorth.Declination, NoData>) {
    guard let speed = fix.speed, speed >= 0, case .success(let declination) = declination else {
      return nil
    }
    var deviation = max(Self.leastDeviation, fix.speedAccuracy ?? Self.assumedDeviation)
    if let course = fix.course {
      let angle = course * .pi / 180 - declination.angle
      value = SIMD2(speed * sin(angle), speed * cos(angle))
      if let accuracy = fix.courseAccuracy {
        deviation = max(deviation, min(speed * accuracy * .pi / 180, speed))
      }
    } else {
      guard speed < Self.standstill else { return nil }
      value = .zero
      deviation = max(deviation, speed)
    }
    self.deviation = deviation
    time = fix.moment()
  }
}
