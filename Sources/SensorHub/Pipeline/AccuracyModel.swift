import LinearAlgebra
import SensorTypes

/// Fills in the accuracies that a receiver does not state, and marks them as assumed; takes away a course that
/// means nothing.
///
/// From dilution: the user-equivalent range error of a single-frequency receiver under open sky, 5 m one
/// sigma (GPS SPS Performance Standard, 5th edition, appendix B gives 4.5 to 6 m with a consumer
/// receiver's noise and multipath). Without dilution: a bound that a fix under trees and between houses
/// keeps. Both accuracies of a fix have one mark: assumed as soon as one of them is.
enum AccuracyModel {
  static let rangeError = 5.0
  static let worstHorizontal = 50.0
  static let worstVertical = 100.0
  /// One sigma of a speed of which nothing is stated, m/s: a bound, used to judge a course and never published.
  static let worstSpeed = 0.5
  /// A course with a greater sigma than this says nothing, degrees: the error of the velocity is as large as the
  /// velocity.
  static let worstCourse = 45.0
  /// So many sigma of each axis hold a velocity's error in 95 of 100 cases (Rayleigh): at a standstill what is measured is
  /// error alone, and its direction no course.
  static let certainty = 2.45

  static func completed(_ fix: GNSSFix) -> GNSSFix {
    guard fix.latitude != nil else { return fix }
    var fix = fix
    if fix.horizontalAccuracy == nil {
      let assumed = assumed(usable(fix.hdop), else: worstHorizontal)
      fix.horizontalAccuracy = assumed.accuracy
      fix.accuracySource = assumed.source
    }
    if fix.mode == .threeDimensional, (fix.altitude ?? fix.ellipsoidalAltitude) != nil,
      fix.verticalAccuracy == nil
    {
      // The vertical part of the same geometry; 1.5 times the horizontal where only that is known.
      let dilution = usable(fix.vdop) ?? usable(fix.hdop).map { 1.5 * $0 }
      let assumed = assumed(dilution, else: worstVertical)
      fix.verticalAccuracy = assumed.accuracy
      if !fix.accuracySource.isAssumed || assumed.source == .worstCase {
        fix.accuracySource = assumed.source
      }
    }
    judgeCourse(of: &fix)
    return fix
  }

  private static func usable(_ dilution: Double?) -> Double? {
    dilution.flatMap { $0 > 0 && $0 < 50 ? $0 : nil }
  }

  private static func assumed(
    _ dilution: Double?, else worst: Double
  ) -> (accuracy: Double, source: GNSSFix.AccuracySource) {
    dilution.map { ($0 * rangeError, .dilution) } ?? (worst, .worstCase)
  }

  // The direction of a velocity is as good as the velocity: the angle that its error has at its tip.
  private static func judgeCourse(of fix: inout GNSSFix) {
    guard fix.course != nil else { return }
    if let speed = fix.speed {
      if fix.courseAccuracy == nil, let accuracy = fix.speedAccuracy {
        fix.courseAccuracy = atan2(accuracy, speed) * 180 / .pi
      }
      let error = fix.speedAccuracy.map { certainty * $0 } ?? worstSpeed
      if error < speed, fix.courseAccuracy ?? 0 < worstCourse { return }
    } else if fix.courseAccuracy ?? 0 < worstCourse {
      return
    }
    fix.course = nil
    fix.courseAccuracy = nil
  }
}
